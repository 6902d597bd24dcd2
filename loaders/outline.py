"""Collect text blocks and tables under headings, with or without pages, into Sections, Pages and Tables."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kgrag.loaders.base import BadInput, Source, one_line, plain, tell
from kgrag.loaders.figures import Figures, Pictures, figure_of, kind_of, no_picture
from kgrag.loaders.grid import Cell, as_text, is_caption, lay_out, numbered, table_of
from kgrag.loaders.inline import ordinal
from kgrag.values.documents import Document, Page, Section, Table

Pieces = Sequence[tuple[int, str]]
"""A block as (page, text), one for each page that it covers; page 0 in documents without pages."""


class _Sections:
    """Collects the sections and tables of a document; each heading begins a section.

    `left_out` counts the parts left out of the text, by kind (see `TOLD` in base.py).
    """

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._path: list[tuple[int, str]] = []
        self._parts: list[str] = []  # the text of the current section
        self._size = 0  # its characters so far; counted in documents with pages
        self._breaks: list[tuple[int, int]] = []  # (offset, page) of each page in it
        self._page = 0  # the page of the last heading
        self._is_caption = False  # the last heading is a table's caption
        self._sections: list[Section] = []
        self._tables: list[Table] = []

    def sections(self) -> tuple[Section, ...]:
        """Return all sections with text."""
        self._close(0)
        return tuple(self._sections)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in order, numbered."""
        return numbered(self._tables)

    def _begin(self, level: int, text: str, page: int = 0) -> str:
        """Begin a section and return its heading on one line; a heading of signs alone returns "" and begins none."""
        text = one_line(text)
        if not any(map(str.isalnum, text)):
            return ""
        self._close(level)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))
        self._page = page
        return text

    def _heading_as_caption(self) -> str:
        """Return the current heading as the caption of a table, "" without one."""
        self._is_caption = self._is_caption or bool(self._path)
        return self._path[-1][1] if self._path else ""

    def _close(self, next_level: int) -> None:
        text = "".join(self._parts).rstrip()
        if not text and self._path and next_level <= self._path[-1][0] and not self._is_caption:
            text = self._path[-1][1]  # keep the words of a heading that has neither text nor subheadings
            self._breaks = [(0, self._page)]
        if text:
            breaks = tuple(self._breaks) if self._breaks and self._breaks[-1][1] else ()
            self._sections.append(Section(text, " > ".join(heading for _, heading in self._path), breaks))
        self._parts, self._size, self._breaks, self._is_caption = [], 0, [], False


class PagedOutline(_Sections):
    """Collects the headings, paragraphs and tables of a document with or without pages, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.first_heading = ""
        self._pages: dict[int, list[str]] = {}

    def heading(self, level: int, text: str, page: int = 0) -> None:
        """Begin a section under a heading of `level` 1 or more."""
        if text := self._begin(level, text, page):
            self.first_heading = self.first_heading or text
            self.note(text, page)

    def add(self, pieces: Pieces, *, tight: bool = False) -> None:
        """Add a paragraph after a blank line, or with `tight` after a newline."""
        joint = "\n" if tight else "\n\n"
        for page, raw in pieces:
            text = plain(raw).strip("\n").rstrip()
            if not text:
                continue
            before = joint if self._parts else ""
            if not self._breaks or self._breaks[-1][1] != page:
                self._breaks.append((self._size + len(before), page))
            self._parts.append(before + text)
            self._size += len(self._parts[-1])
            self.note(text, page, tight=tight)
            joint = "" if _is_cjk(text[-1]) else " "

    def note(self, text: str, page: int, *, tight: bool = False) -> None:
        """Add text to a page only, not to the section: a heading, or text that is stored elsewhere too."""
        if page:
            on_page = self._pages.setdefault(page, [])
            on_page.append(("\n" if tight else "\n\n") if on_page else "")
            on_page.append(text)

    def table(
        self,
        rows: Iterable[Sequence[str]],
        caption: str = "",
        page: int = 0,
        last_page: int = 0,
        *,
        headed: bool = False,
    ) -> None:
        """Add a table; its first row is the header, which may be empty. `headed`: the heading is its caption."""
        caption = caption or (self._heading_as_caption() if headed else "")
        head, *body = [tuple(one_line(cell) for cell in row) for row in rows] or [()]
        cells = [head, *(row for row in body if any(row))]
        if any(map(any, cells)):
            self._tables.append(Table(0, tuple(cells), one_line(caption), page, max(page, last_page)))

    def pages(self, number: int, labels: Sequence[str] = ()) -> tuple[Page, ...]:
        """Return the pages from 1 to `number`, empty ones included."""
        named = [one_line(label) for label in labels] + [""] * number
        return tuple(Page(n, "".join(self._pages.get(n, ())), named[n - 1]) for n in range(1, number + 1))


def _is_cjk(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff"


_NAMES = frozenset(("name", "nom", "nome", "nombre", "naam", "bezeichnung"))
"""The first heading of a manual page in several languages."""
_NAMED = re.compile(r"([\w.+:-]+(?:, [\w.+:-]+)*)\s+[-–—]{1,2}\s")


def title_of(heading: str, sections: Sequence[Section]) -> str:
    """Return a heading as the title of its document; a manual page is titled by the text under "NAME", or ""."""
    if heading.lower() not in _NAMES:
        return heading
    text = next((s.text for s in sections if s.heading.rpartition(" > ")[2] == heading), "")
    named = _NAMED.match(text)
    return named[1] if named else ""


class Outline(_Sections):
    """Collects the headings, blocks, lists and tables of a document without pages, in order.

    `problems`: remarks on the file. `pictures` loads the picture at an address; `figures` collects pictures.
    """

    def __init__(self, pictures: Pictures = no_picture) -> None:
        super().__init__()
        self._first_h1 = ""
        self.problems: list[str] = []
        self.pictures = pictures
        self.figures = Figures(self.left_out)
        self._lists: list[tuple[int | None, str, int]] = []  # the open lists: their next number, kind and step
        self._marker = ""  # the marker of the list item or note whose first block comes next
        self._fresh = True  # the list has no item yet

    @property
    def first_h1(self) -> str:
        """The first heading of level 1, as a title."""
        return title_of(self._first_h1, self._sections)

    def heading(self, level: int, text: str) -> None:
        """Begin a section under a heading of `level` 1 to 6."""
        text = self._begin(level, text)
        if level == 1:
            self._first_h1 = self._first_h1 or text

    def add(self, text: str, *, tight: bool = False) -> None:
        """Add a block after a blank line, or with `tight` after a newline."""
        text = plain(text).strip("\n")
        if text.strip():
            self.figures.text_block(text)
            self._parts += ["\n" if tight else "\n\n"] if self._parts else []
            self._parts.append(text)

    def picture(self, address: str, caption: str) -> None:
        """Add the picture at an address, if it can be loaded and is a picture."""
        data = self.pictures(address)
        if data and kind_of(data)[0]:
            self.figures.add(figure_of(data, caption))

    def begin_list(self, number: int | None = None, kind: str = "1", step: int = 1) -> None:
        """Begin a list, nested in the open one if any; `number` is the first number of an ordered list."""
        self._fresh = not self._lists
        self._lists.append((number, kind, step))

    def item(self, number: int | None = None, marker: str = "") -> None:
        """Begin a list item, optionally with its own `number` or its whole `marker`."""
        if not self._lists:
            self.begin_list()
        following, kind, step = self._lists[-1]
        if following is not None:
            following = following if number is None else number
            self._lists[-1] = following + step, kind, step
        self._marker = marker or ("- " if following is None else f"{ordinal(following, kind)}. ")

    def end_list(self) -> None:
        """End the list."""
        if self._lists:
            self._lists.pop()
        self._marker = ""

    def mark(self, marker: str) -> None:
        """Record that the next part is a note with this marker."""
        self._marker = marker

    def block(self, text: str, *, tight: bool = True) -> None:
        """Add a block inside the open lists, after the marker of its item; `tight`: no blank lines between items."""
        if not text.strip():
            return
        marker, depth = self._marker, max(0, len(self._lists) - 1)
        if not self._lists:
            self.add(marker + text)
        else:
            indent = "  " * depth
            first, *rest = text.split("\n")
            lines = [f"{indent}{marker or '  '}{first}", *(f"{indent}  {line}" for line in rest)]
            self.add("\n".join(lines), tight=tight and bool(marker) and not self._fresh)
        self._marker, self._fresh = "", False

    def table(self, rows: Sequence[Sequence[Cell]], caption: str = "", heads: int = 0, *, usual: bool = False) -> None:
        """Add a table, or text if there is a single row or column. Without a caption, the heading becomes the caption.

        `heads` and `usual`: as in `table_of`.
        """
        title, texts = table_of(lay_out(rows), heads, usual=usual)
        caption = one_line(caption) or title
        if len(texts) < 2 or len(texts[0]) < 2:
            for text in (caption, as_text(texts)):
                self.block(text, tight=False)
            return
        if not caption and self._parts and is_caption(self._parts[-1]):
            caption = one_line(self._parts.pop())
            self._parts = self._parts[:-1]  # the separator before the caption
        self._tables.append(Table(0, tuple(map(tuple, texts)), caption or self._heading_as_caption()))

    def document(self, source: Source, title: str, metadata: dict[str, Any] | None = None) -> Document:
        """Return the document, titled by `title`, its first h1 or the file name. Raises BadInput if it is empty.

        Remarks on the file and counts of left-out parts are added to `source`.
        """
        sections = self.sections()
        if not sections and not self.tables:
            raise BadInput("has no readable text")
        source.problems.extend(self.problems)
        figures = self.figures.all()
        tell(source, self.left_out)
        title = title or self.first_h1 or source.title
        return Document(source.key, sections, title, source.shown, metadata or {}, tables=self.tables, figures=figures)
