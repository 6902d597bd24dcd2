"""Headings, paragraphs and tables with the pages that they stand on -> sections, pages and tables of a Document."""

from collections import Counter
from collections.abc import Iterable, Sequence

from kgrag.loaders.base import one_line, plain
from kgrag.loaders.grid import numbered
from kgrag.values.documents import Page, Section, Table

Pieces = Sequence[tuple[int, str]]
"""A block as (page, text), one for each page that it stands on; page 0 where there are no pages."""


class PagedOutline:
    """Takes a document's headings, paragraphs and tables in order; each heading begins a section.

    `left_out`: how much stands beside its text, by kind (see beside.py).
    """

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.first_heading = ""
        self._path: list[tuple[int, str]] = []
        self._parts: list[str] = []
        self._size = 0
        self._told = False  # the last heading is a table's caption
        self._breaks: list[tuple[int, int]] = []
        self._sections: list[Section] = []
        self._pages: dict[int, list[str]] = {}
        self._tables: list[Table] = []
        self._page = 0  # that of the last heading

    def heading(self, level: int, text: str, page: int = 0) -> None:
        """Begin a section under a heading of `level` 1 or more."""
        text = one_line(text)
        if not any(map(str.isalnum, text)):  # signs alone part what is above them from what is below
            return
        self.first_heading = self.first_heading or text
        self._close(level)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))
        self._page = page
        self.note(text, page)

    def add(self, pieces: Pieces, *, tight: bool = False) -> None:
        """Add a paragraph after a blank line, or with `tight` after a newline."""
        joint = "\n" if tight else "\n\n"
        for page, raw in pieces:
            text = plain(raw).strip("\n").rstrip()
            if not text:
                continue
            if self._parts:
                self._put(joint)
            if not self._breaks or self._breaks[-1][1] != page:
                self._breaks.append((self._size, page))
            self._put(text)
            self.note(text, page, tight=tight)
            joint = "" if _is_cjk(text[-1]) else " "

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    def note(self, text: str, page: int, *, tight: bool = False) -> None:
        """Add text to a page alone: a heading, or what is said again elsewhere."""
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
        """Add a table; the first of its rows is its head. With `headed` the heading stands for a caption."""
        if not caption and headed and self._path:
            caption = self._path[-1][1]
            self._told = True
        cells = [tuple(one_line(cell) for cell in row) for row in rows]
        cells = [row for row in cells if any(row)]
        if cells:
            self._tables.append(Table(0, tuple(cells), one_line(caption), page, max(page, last_page)))

    def sections(self) -> tuple[Section, ...]:
        """Return all sections with text."""
        self._close(0)
        return tuple(self._sections)

    def pages(self, number: int, labels: Sequence[str] = ()) -> tuple[Page, ...]:
        """Return the pages from 1 to `number`, empty ones included."""
        named = [one_line(label) for label in labels] + [""] * number
        return tuple(Page(n, "".join(self._pages.get(n, ())), named[n - 1]) for n in range(1, number + 1))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in order, numbered."""
        return numbered(self._tables)

    def _close(self, next_level: int) -> None:
        text = "".join(self._parts)
        if not text and self._path and next_level <= self._path[-1][0] and not self._told:
            text = self._path[-1][1]  # a heading over nothing: its own words would be lost
            self._breaks = [(0, self._page)]
        if text:
            breaks = tuple(self._breaks) if self._breaks[-1][1] else ()
            self._sections.append(Section(text, " > ".join(heading for _, heading in self._path), breaks))
        self._parts, self._size, self._breaks, self._told = [], 0, [], False


def _is_cjk(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff"
