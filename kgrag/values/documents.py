"""Documents, as loaders make them, and what reading files says of these: frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from kgrag.values.errors import InputError


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading.

    Attributes:
        text: the text without its heading.
        heading: the path of headings, "Guide > Install", or empty.
        breaks: (offset in the text, number of the page that begins there), in order; empty in a document without pages.

    Example:
        >>> Section("Pull the lever.", "Guide > Brakes").heading
        'Guide > Brakes'
    """

    text: str
    heading: str = ""
    breaks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide or sheet.

    Attributes:
        number: counted from 1.
        text: the text of the page without its tables.
        label: the document's own number, such as "iv"; empty without one.
        confidence: of a page that was recognised from a picture, 0 to 1; None for one with a text of its own.

    Example:
        >>> Page(3, "Preface", label="iv").name
        'p. 3 (iv)'
    """

    number: int
    text: str
    label: str = ""
    confidence: float | None = None

    @property
    def name(self) -> str:
        """How a page is cited: "p. 3", with a label that is no number "p. 3 (iv)"."""
        plain = not self.label or self.label == str(self.number)
        return f"p. {self.number}" if plain else f"p. {self.number} ({self.label})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document.

    Attributes:
        number: counted from 1 in the document.
        rows: texts of the cells; the first row is the header, its cells empty if the table has none.
        caption: empty without one.
        page: the page where the table begins, 0 in a document without pages.
        last_page: the page where it ends, 0 in a document without pages.

    Example:
        >>> table = Table(2, (("Ship", "Launched"), ("Fram", "1892")))
        >>> table.name
        'Table 2'
    """

    number: int
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    page: int = 0
    last_page: int = 0

    @property
    def name(self) -> str:
        """Its caption, or "Table 2"."""
        return self.caption or f"Table {self.number}"

    @property
    def markdown(self) -> str:
        """The table in Markdown; a line break in a cell is a space."""
        width = max(map(len, self.rows), default=0)
        lines = []
        for row in self.rows:
            cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
            lines.append("| " + " | ".join(cells + [""] * (width - len(cells))) + " |")
        return "\n".join([*lines[:1], "|" + " --- |" * width, *lines[1:]]) if lines else ""


SHOWN = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
"""Media types of pictures that every browser shows and none executes, and the endings of their files."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a document.

    Attributes:
        number: counted from 1 in the document.
        sha: the SHA-256 of the picture, in hexadecimal digits.
        caption: empty without one.
        page: the page that shows it, 0 in a document without pages.
        box: left, top, right and bottom on that page in points from its top left corner; empty where nothing says so.
        width: in pixels, 0 where nobody knows.
        height: in pixels, 0 where nobody knows.
        media_type: such as "image/png".
        data: the picture; empty for one that is too large, or that no browser shows.
        description: what a model sees in it; empty where none was asked.

    Example:
        >>> figure = Figure(3, "e3b0c442", "Figure 3: The hull of the Fram", page=2)
        >>> figure.name
        'Figure 3: The hull of the Fram'
    """

    number: int
    sha: str
    caption: str = ""
    page: int = 0
    box: tuple[float, ...] = ()
    width: int = 0
    height: int = 0
    media_type: str = ""
    data: bytes = field(default=b"", compare=False, repr=False)
    description: str = ""

    @property
    def name(self) -> str:
        """Its caption, or "Figure 3"."""
        return self.caption or f"Figure {self.number}"


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact (subject, predicate, object) that one passage states.

    Attributes:
        subject: a name, as the passage writes it.
        predicate: the relation in words.
        object: a name or a value.

    Example:
        >>> Triple("Fram", "designed by", "Colin Archer").text
        'Fram designed by Colin Archer'
    """

    subject: str
    predicate: str
    object: str

    @property
    def text(self) -> str:
        """The triple as the text that is embedded and searched: "subject predicate object"."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of the file of a document when it was read.

    `key`: the key of the file; `root`: the folder to which the key is relative, empty if absolute. `fingerprint`: the
    format, size, mark and hash (see `kgrag.loaders.folder_walk`). `documents`: the number of documents in the whole
    file, set only on the last of them; 0 on all others, and on all if the file could not be read completely.
    `problems`: lasting problems, which recur at every reading, also on the last document, as lines
    "PLACE<tab>MESSAGE", where PLACE is the place in the file.
    """

    key: str
    root: str = ""
    fingerprint: str = ""
    documents: int = 0
    problems: str = ""

    @property
    def path(self) -> str:
        """Its place in the source."""
        return f"{self.root}/{self.key}" if self.root else self.key


@dataclass(frozen=True, slots=True)
class Document:
    """A document as a loader yields it.

    Attributes:
        key: the user's own id or path, unique in a collection.
        sections: its text, in order.
        title: empty without one.
        source: the path or address that it comes from, or empty.
        metadata: name -> scalar or JSON-able value.
        triples: facts extracted elsewhere; each is attached to the passage that mentions its names.
        pages: of a PDF, slides or a workbook; empty for others.
        tables: its tables.
        figures: its pictures without decorations.
        file: the file that it was read from, None without one; not part of its content.

    Example:
        >>> document = Document("fram", (Section("The Fram was built at Larvik."),), title="Fram")
        >>> report = kg["notes"].ingest([document])
        >>> document.text
        'The Fram was built at Larvik.'
    """

    key: str
    sections: tuple[Section, ...]
    title: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    triples: tuple[Triple, ...] = ()
    pages: tuple[Page, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    file: FileState | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Raise InputError for a key that is no text, and for a text in place of sections."""
        if not isinstance(self.key, str) or isinstance(self.sections, str):
            wrong = f"The key {self.key!r} is no text." if not isinstance(self.key, str) else "Its sections are a text."
            raise InputError(f"This is no document: {wrong}", 'Write Document("key", (Section("The text."),)).')

    @property
    def text(self) -> str:
        """The text of all sections, a blank line between them."""
        return "\n\n".join(s.text for s in self.sections)


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file that was not read, because the collection holds its documents as they are.

    `recorded`: what the collection has of it, which differs from `file` when it was touched, copied or moved.
    """

    file: FileState
    recorded: FileState


@dataclass(slots=True)
class Scan:
    """The files and folders of a load, complete once the load has ended.

    `files`: key of each existing file -> its fingerprint if it was read completely, else "". `folders`: the walked
    folders, as prefixes of their files' keys; `empty`: folders without files; `unreadable`: parts of folders that could
    not be read; `missing`: paths that do not exist. `root`: as in FileState; `moved`: former roots of its files.
    `skipped`: number of files without a loader, by extension; `converted`: number of files by legacy encoding;
    `left_out`: parts left out of the text of the files that were read, counted by kind, such as running heads;
    `unsettled`: files left for later.
    """

    root: str = ""
    files: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)
    skipped: dict[str, int] = field(default_factory=dict)
    converted: dict[str, int] = field(default_factory=dict)
    unsettled: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def root_of(self, key: str) -> str:
        """Return the folder that a file's key is relative to; empty for an absolute path."""
        return "" if PurePath(key).is_absolute() else self.root


@dataclass(frozen=True, slots=True)
class Replaced:
    """A document that another took the place of, because it has the same key: where they came from."""

    key: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the input that could not be read.

    Attributes:
        place: a path, with ":LINE" where a line is to blame.
        message: the fault.
        lasting: whether it is part of the file, such as a scanned page, so that reading again gives the same.

    Example:
        >>> report = kg["notes"].ingest([Problem("notes.pdf", "it is encrypted")])
        >>> [problem.place for problem in report.problems]
        ['notes.pdf']
    """

    place: str
    message: str
    lasting: bool = False
