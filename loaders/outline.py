"""Blocks of text under headings -> Sections; shared by Markdown and HTML."""

from collections.abc import Iterable, Sequence

from kgrag.loaders.base import clean, one_line
from kgrag.types import Section


class Outline:
    """Takes a document's headings and blocks in order; each heading begins a section."""

    def __init__(self) -> None:
        self.first_h1 = ""
        self._path: list[tuple[int, str]] = []
        self._blocks: list[str] = []
        self._sections: list[Section] = []

    def heading(self, level: int, text: str) -> None:
        """Begin a section under a heading of `level` 1 to 6."""
        text = one_line(text)
        if not text:
            return
        if level == 1 and not self.first_h1:
            self.first_h1 = text
        self._close(level)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))

    def add(self, text: str, *, tight: bool = False) -> None:
        """Add a block after a blank line, or with `tight` after a newline."""
        text = clean(text).strip("\n")
        if text.strip():
            if self._blocks:
                self._blocks.append("\n" if tight else "\n\n")
            self._blocks.append(text)

    def sections(self) -> tuple[Section, ...]:
        """All sections that have text."""
        self._close(0)
        return tuple(self._sections)

    def _close(self, next_level: int) -> None:
        text = "".join(self._blocks).rstrip()
        if not text and self._path and next_level <= self._path[-1][0]:
            text = self._path[-1][1]  # a heading over nothing, not even other headings: its own words would be lost
        if text:
            self._sections.append(Section(text, " > ".join(heading for _, heading in self._path)))
        self._blocks = []


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """A table as text, one row a line: "Ship | Launched"."""
    lines = (" | ".join(one_line(cell) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
