"""What was read of a PDF's page: lines of text and grids of cells, with where they stand."""

import re
from dataclasses import dataclass, field
from typing import Any

_CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabela|tabella|tabel|tabell|tabulka|таблица|表)\s*"
    r"((?:[A-Z]\.?)?\d+(?:[.-]\d+)*|[IVXLC]+)(?=\s*[.:：|—–(]|\s*$|\s+[^\W\d_a-z]|\s+[-])",
    re.IGNORECASE,
)


def caption_number(text: str) -> str | None:
    """Return the printed number of a table's caption, "3" of "Table 3: Ships"; None for other text."""
    match = _CAPTION.match(text)
    if match is None or (text[0].islower() and text[match.end() :].lstrip().startswith(".")):
        return None  # "as in" stands on the line above "table 3. The scores ..."
    return match[1]


@dataclass(slots=True)
class Line:
    """A line of text; points from the page's upper left corner. `pitch`: the width of each letter of code, else 0."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    bold: bool
    pitch: float = 0.0


@dataclass(slots=True)
class Grid:
    """A table, or the part of one that stands on a page; box: x0, top, x1, bottom; title: a first row of one cell."""

    cells: list[list[str]]
    box: tuple[float, float, float, float]
    title: str = ""


@dataclass(slots=True)
class PageLines:
    """What was read of a page: its flows in reading order, or the problem that there was."""

    number: int
    flows: list[list[Line | Grid]] = field(default_factory=list)
    height: float = 0.0
    images: int = 0
    garbled: bool = False
    problem: str = ""

    @classmethod
    def of(cls, number: int, answer: dict[str, Any]) -> "PageLines":
        """Return a page from the reply of the reading process."""
        if "problem" in answer:
            return cls(number, problem=answer["problem"])
        blocks = () if answer["garbled"] else answer["blocks"]
        flows = [
            [Grid(i["cells"], i["box"], i["title"]) if isinstance(i, dict) else Line(*i) for i in flow]
            for flow in blocks
        ]
        return cls(number, flows, answer["height"], answer["images"], answer["garbled"])

    @property
    def has_content(self) -> bool:
        """Whether any text was read."""
        return any(self.flows)

    @property
    def is_scanned(self) -> bool:
        """Whether it shows a picture and no text."""
        return self.images > 0 and not self.has_content and not self.garbled
