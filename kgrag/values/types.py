"""The values that flow through kgrag: frozen dataclasses without input or output."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from kgrag.values.html_table import html_table

Scalar = str | int | float | bool
Range = tuple[Scalar | None, Scalar | None]
Progress = Callable[[str, int, int | None], None]
"""Called as progress(stage, done, total); total is None while it is not known."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading; `heading` is the path of headings, "Guide > Install", or empty.

    `breaks`: (where in the text, number of the page that begins there), in order; empty where there are no pages.
    """

    text: str
    heading: str = ""
    breaks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide or sheet; `number` counts from 1, `label` is what the document calls it ("iv"), or empty.

    `text` is what stands on it, without its tables.
    """

    number: int
    text: str
    label: str = ""

    @property
    def name(self) -> str:
        """How a page is cited: "p. 3", with a label that is no number "p. 3 (iv)"."""
        plain = not self.label or self.label == str(self.number)
        return f"p. {self.number}" if plain else f"p. {self.number} ({self.label})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `number` counts from 1 in its document, the first of the rows is its head.

    `page` to `last_page` is where it stands, 0 in a document without pages.
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


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact (subject, predicate, object) that one passage states."""

    subject: str
    predicate: str
    object: str

    @property
    def text(self) -> str:
        """The triple as the text that is embedded and searched: "subject predicate object"."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class FileState:
    """The file that a document was read from, as it was then.

    `key`: the file's own; `root`: the folder in which that is a path, empty where it is absolute. `fingerprint`: the
    format that read it, its size, time and hash (see `kgrag.loaders.fingerprint`). `documents`: how many documents the
    whole file gave; on the last of them alone, else 0, and 0 on all of a file that could not be read without problems.
    `problems`: those that it will have whenever it is read, on the last of them, too, as lines "PLACE<tab>MESSAGE":
    the place in the file.
    """

    key: str
    root: str = ""
    fingerprint: str = ""
    documents: int = 0
    problems: str = ""

    @property
    def path(self) -> str:
        """Where it lay."""
        return f"{self.root}/{self.key}" if self.root else self.key


@dataclass(frozen=True, slots=True)
class Document:
    """One document as a loader yields it.

    `key` is the user's own id or path, unique in a collection. `metadata` holds scalars or JSON-able values.
    `triples` are facts that were extracted elsewhere; each is attached to the passage that mentions its names.
    `file`: what it was read from, if that was a file; no part of its content.
    """

    key: str
    sections: tuple[Section, ...]
    title: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    triples: tuple[Triple, ...] = ()
    pages: tuple[Page, ...] = ()
    tables: tuple[Table, ...] = ()
    file: FileState | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """All sections' text, a blank line between them."""
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
    """What a load has seen of files and folders, complete when the load is through.

    `files`: every file that is there by its key -> the fingerprint with which it was read whole, else "". `folders`:
    those that were walked, by the beginning of their files' keys, and `empty` those without any file; `unreadable`:
    parts of them that could not be looked into; `missing`: paths that do not exist. `root`: as in FileState; `moved`:
    other roots that its files had before. `skipped`: number of files that no loader reads, by extension; `converted`:
    number of files by the legacy encoding that they are in; `unsettled`: files that were left for later.
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

    def root_of(self, key: str) -> str:
        """The folder in which the key of a file is a path; empty for an absolute path."""
        return "" if PurePath(key).is_absolute() else self.root


@dataclass(frozen=True, slots=True)
class Replaced:
    """A document that another took the place of, because it has the same key: where they came from."""

    key: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the input that could not be read; `place` is a path, with ":LINE" where a line is to blame.

    `lasting`: part of the file, such as a scanned page; the file need not be read again to find the same.
    """

    place: str
    message: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it stands in the graph. `ordinal` counts from 0 within its document.

    `page` to `last_page` is where it stands in a document that has pages. `collection`: which one it is of.
    """

    id: str
    document: str
    title: str
    text: str
    ordinal: int = 0
    section: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    page: int | None = None
    last_page: int | None = None
    collection: str = ""

    @property
    def place(self) -> str:
        """Its pages as they are cited, "p. 3" or "pp. 3-4"; empty in a document without pages."""
        if self.page is None:
            return ""
        return f"p. {self.page}" if self.last_page in (None, self.page) else f"pp. {self.page}-{self.last_page}"

    @property
    def heading(self) -> str:
        """Its title, pages and section: "Guide, p. 3 › Install"; a section that begins with the title repeats none."""
        section = self.section if self.section != self.title else ""
        title = ", ".join(filter(None, (self.title, self.place)))
        path = [title, *section.removeprefix(f"{self.title} > ").split(" > ")]
        return " › ".join(filter(None, path))


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, or a report on a community, as a reader is shown it; `passages`: what it rests on, which is cited."""

    title: str
    text: str
    passages: tuple[Passage, ...] = ()


Item = Sequence[Passage] | Summary
"""What a reader is shown under one number: a passage, several that are read together, or a summary in their place."""


@dataclass(frozen=True, slots=True)
class Step:
    """One node on the trail to a passage, and the edge (or index) that led to it: `via` -> (`label` `name`).

    `edge` is the type of that edge in the graph, such as MENTIONS; empty where none was followed.
    """

    via: str
    label: str
    name: str
    score: float | None = None
    edge: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved passage. `score` is comparable only within its ranking; `why` is the trail that led to it.

    `copies`: other passages of the same text, which a search ranks as one.
    """

    passage: Passage
    score: float
    why: tuple[Step, ...] = ()
    copies: tuple[Passage, ...] = ()

    @property
    def also_in(self) -> str:
        """The documents of its copies: "also in b.html and c.epub", the first three; empty if there are none."""
        names = list(dict.fromkeys(copy.document for copy in self.copies))
        shown = [*names[:3], f"{len(names) - 3} more"] if len(names) > 3 else names
        *first, last = shown or [""]
        return f"also in {', '.join(first)} and {last}" if first else f"also in {last}" if last else ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages in descending order of score; iterates over its hits."""

    query: str
    retriever: str
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        return self.hits[rank]

    def _repr_html_(self) -> str:
        rows = (
            (str(rank), f"{hit.score:.3f}", f"{hit.passage.title} {hit.also_in}".strip(), hit.passage.text)
            for rank, hit in enumerate(self, 1)
        )
        notes = self.notes if self.hits else (f"{self.retriever} found nothing.", *self.notes)
        return html_table(("rank", "score", "title", "text"), rows, notes)


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a language model took.

    `calls` were answered, `cached` of them from the cache. Tokens are those of all calls; `cost` is that of the calls
    that were not cached, in the currency of the prices that are set, and None where a price is unknown.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
        )

    @property
    def tokens(self) -> int:
        """Tokens that went in and came out."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may be searched.

    `where`: metadata key -> value, compared as text, or (least, most), of which either may be None and both belong to
    the range; of a list, one that fits is enough. `source`: part of the document's source; `since`: only documents
    dated at or after this time by what their metadata says, or ingested then, if it says nothing.
    """

    where: Mapping[str, Scalar | Range] = field(default_factory=dict)
    source: str | None = None
    since: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self.where) or self.source is not None or self.since is not None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. Counts are of documents, except `passages` (written) and `embedded` (vectors computed).

    `gone`: keys of documents whose files, or rows, are no longer there; `pruned`: how many of them were deleted.
    `replaced`: changed documents that came from another file or address than before. `skipped`, `converted` and
    `unsettled` are of files, as in Scan.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    passages: int = 0
    embedded: int = 0
    embedded_batches: int = 0
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    gone: tuple[str, ...] = ()
    pruned: int = 0
    replaced: tuple[Replaced, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    converted: Mapping[str, int] = field(default_factory=dict)
    unsettled: int = 0


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair made: names of indexes, numbers of vectors by what has them, nodes whose linking was finished.

    `problems`: what the embedder gives no vector for.
    """

    indexes: tuple[str, ...] = ()
    vectors: Mapping[str, int] = field(default_factory=dict)
    finished: int = 0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document at a glance, with how many passages, pages and tables it has; `updated`: when it was last written."""

    key: str
    title: str
    source: str
    passages: int
    pages: int
    tables: int
    updated: datetime


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A collection at a glance; `counts` is label or relationship type -> number; `kind`: documents or knowledge."""

    name: str
    embedder: str
    dimension: int
    schema_version: int
    counts: Mapping[str, int]
    finished: bool
    kind: str = "documents"
