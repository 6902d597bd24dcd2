"""Lay out the words of a PDF page: lines in reading order, columns one after the other, and grids of cells."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from kgrag.loaders.pdf_directions import RIGHT_TO_LEFT

_CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabela|tabella|tabel|tabell|tabulka|таблица|表)\s*"
    r"((?:[A-Z]\.?)?\d+(?:[.-]\d+)*|[IVXLC]+)(?=\s*[.:：|—–(]|\s*$|\s+[^\W\d_a-z]|\s+[-])",
    re.IGNORECASE,
)


def caption_number(text: str) -> str | None:
    """Return the printed number of a table caption ("3" for "Table 3: Ships"), or None for other text."""
    match = _CAPTION.match(text)
    if match is None or (text[0].islower() and text[match.end() :].lstrip().startswith(".")):
        return None  # the middle of a sentence: "table 3. The scores ..." after a line that ends in "as in"
    return match[1]


Box = tuple[float, float, float, float]


def box_of(char: Mapping[str, Any]) -> Box:
    """Return the box of a character or another object of a pdfplumber page."""
    return char["x0"], char["top"], char["x1"], char["bottom"]


def union(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all boxes."""
    x0, top, x1, bottom = zip(*boxes, strict=True)
    return min(x0), min(top), max(x1), max(bottom)


def holds(outer: Box, box: Box, slack: float = 0.0) -> bool:
    """Return whether the middle of a box lies inside another, or at most `slack` points outside it."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return outer[0] - slack <= x <= outer[2] + slack and outer[1] - slack <= y <= outer[3] + slack


@dataclass(slots=True)
class Line:
    """A line of text, in points from the page's upper left corner; `pitch` is the letter width of code, else 0."""

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
    """A table, or its part on one page; `box` is x0, top, x1, bottom, and `title` a first row of a single cell."""

    cells: list[list[str]]
    box: Box
    title: str = ""


@dataclass(slots=True)
class PageLines:
    """The result of reading a page: its flows in reading order, or its problem."""

    number: int
    flows: list[list[Line | Grid]] = field(default_factory=list)
    height: float = 0.0
    images: int = 0
    garbled: bool = False
    problem: str = ""
    confidence: float | None = None  # set on recognised pages only

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
        seen = answer["height"], answer["images"], answer["garbled"]
        return cls(number, flows, *seen, confidence=answer.get("confidence"))

    @property
    def has_content(self) -> bool:
        """Whether any text was read."""
        return any(self.flows)

    @property
    def is_scanned(self) -> bool:
        """Whether the page shows a picture and no text."""
        return self.images > 0 and not self.has_content and not self.garbled


_ROW = 0.4  # type sizes: the middles of words on one line lie no further apart
_GAP = 0.8  # type sizes: words with a wider gap may belong to different columns
_MIN_ROWS = 3  # lines that two columns must have side by side
_MIN_WORDS = 2.5  # mean words per line in a column of prose; table cells have fewer
_MIN_FILL = 0.45  # mean share of a column's width that its lines fill
_MAX_COLUMNS = 6
_HEADING = 1.12  # least type size of a heading, relative to the text beneath it
_NARROW, _WIDE = re.compile(r"[fijlI.,'!|:;]"), re.compile(r"[a-eghkm-qu-zA-HJ-Z]")
_BOLD = re.compile(r"bold|black|heavy|demi|bx\d", re.IGNORECASE)  # matched in font names; bx is from TeX


@dataclass(slots=True)
class Segment:
    """Words next to each other on one line; points from the page's upper left corner."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    bold: bool = False
    words: int = 1
    table: int | None = None  # set on a placeholder: the index of its table on this page
    pitch: float = 0.0  # the width of its characters in points if all are equally wide, else 0

    @property
    def box(self) -> Box:
        """The box on the page."""
        return self.x0, self.top, self.x1, self.bottom

    @property
    def middle(self) -> float:
        """The vertical middle."""
        return (self.top + self.bottom) / 2


Row = list[Segment]


def segments(words: Iterable[Mapping[str, Any]]) -> list[Segment]:
    """Join words from pdfplumber (with their `chars`) into segments, wherever the gap is at most a word space."""
    result: list[Segment] = []
    for row in rows([_segment(word) for word in words]):
        joined: Segment | None = None
        for word in row:
            if joined is None or word.x0 - joined.x1 > _GAP * min(word.size, joined.size):  # min: heading next to text
                joined = word
                result.append(joined)
            else:
                _join(joined, word)
    return result


def rows(parts: Iterable[Segment]) -> list[Row]:
    """Group segments into lines from top to bottom, each line from left to right."""
    result: list[Row] = []
    for part in sorted(parts, key=lambda s: s.middle):
        for row in reversed(result[-4:]):
            tolerance = _ROW * max(part.size, row[0].size)
            if part.table is None and row[0].table is None and abs(part.middle - row[0].middle) <= tolerance:
                row.append(part)
                break
        else:
            result.append([part])
    for row in result:
        row.sort(key=lambda s: s.x0)
    return result


def flows(parts: Sequence[Segment], depth: int = 0) -> list[list[Segment]]:
    """Return groups of segments in reading order: columns, or full-width text between them."""
    gutter = _gutter(parts) if depth < _MAX_COLUMNS else None
    if gutter is None:
        return [list(parts)] if parts else []
    spanning = sorted((s for s in parts if s.x0 < gutter < s.x1), key=lambda s: s.top)
    sides = ([s for s in parts if s.x1 <= gutter], [s for s in parts if s.x0 >= gutter])
    ends = [s for s in sides[0] if _ends_paragraph(s, spanning, sides[1]) or _heads_columns(s, *sides)]
    if ends:
        spanning = sorted([*spanning, *ends], key=lambda s: s.top)
        sides[0][:] = [s for s in sides[0] if s not in ends]
    result: list[list[Segment]] = []
    for band, after in _bands(spanning, sides):
        for side in band:
            result.extend(flows(side, depth + 1))
        if after:
            result.append(after)
    return result


def line(row: Sequence[Segment]) -> Segment:
    """Join the segments of a row into one."""
    whole = replace(row[0])
    for part in row[1:]:
        _join(whole, part)
    return whole


def is_code(part: Segment) -> bool:
    """Return whether a line is set in a monospaced font, proven by a narrow and a wide letter."""
    return part.pitch > 0 and _NARROW.search(part.text) is not None and _WIDE.search(part.text) is not None


def _ends_paragraph(part: Segment, spanning: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Return whether a segment is the short last line of a paragraph that spans the columns."""
    return any(
        abs(above.x0 - part.x0) < 2
        and abs(above.size - part.size) < 0.5
        and -0.5 * part.size < part.top - above.bottom < 0.6 * part.size
        for above in spanning
    ) and not any(s.top < part.bottom and part.top < s.bottom for s in right)


def _heads_columns(part: Segment, left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Return whether a segment is a heading over both columns, too short to reach the second.

    Both columns then begin beneath it at the same height.
    """
    below = [[s for s in side if s.top >= part.bottom] for side in (left, right)]
    if part.table is not None or not all(below) or any(s.top < part.bottom and part.top < s.bottom for s in right):
        return False
    first, other = (min(side, key=lambda s: s.top) for side in below)
    return part.size >= _HEADING * first.size and abs(first.top - other.top) < 0.2 * first.size


def _bands(
    spanning: list[Segment], sides: tuple[list[Segment], list[Segment]]
) -> list[tuple[tuple[list[Segment], list[Segment]], list[Segment]]]:
    """Return bands: the segments on either side of the gutter, and the spanning segments that follow them."""
    bands: list[tuple[tuple[list[Segment], list[Segment]], list[Segment]]] = []
    rest = [sorted(side, key=lambda s: s.middle) for side in sides]
    for part in [*spanning, None]:
        above: tuple[list[Segment], list[Segment]] = ([], [])
        for side, higher in zip(rest, above, strict=True):
            while side and (part is None or side[0].middle < part.middle):
                higher.append(side.pop(0))
        if part is not None and bands and not any(above):
            bands[-1][1].append(part)
        else:
            bands.append((above, [] if part is None else [part]))
    return bands


def _gutter(parts: Sequence[Segment]) -> float | None:
    """Return an x that separates two columns of prose, or None."""
    if len(parts) < 2 * _MIN_ROWS:
        return None
    best: tuple[int, float] | None = None
    edges = sorted(round(s.x0, 1) for s in parts)
    for i, edge in enumerate(edges):
        if (i and edges[i - 1] >= edge - 2) or sum(edge <= x < edge + 2 for x in edges[i:]) < _MIN_ROWS:
            continue  # several lines must begin at the left edge of a column
        x = edge - 0.5
        left = [s for s in parts if s.x1 <= x]
        right = [s for s in parts if s.x0 >= x]
        if len(left) < _MIN_ROWS or len(right) < _MIN_ROWS:
            continue
        crossing = len(parts) - len(left) - len(right)
        beside = sum(any(a.top < b.bottom and b.top < a.bottom for a in left) for b in right)
        if beside < _MIN_ROWS or crossing > 3 * beside or not (_is_prose(left) and _is_prose(right)):
            continue
        score = beside - crossing
        if best is None or score > best[0]:
            best = (score, x)
    return None if best is None else best[1]


def _is_prose(side: Sequence[Segment]) -> bool:
    lines = [line(row) for row in rows(s for s in side if s.table is None)]
    if not lines:
        return True
    width = max(s.x1 for s in lines) - min(s.x0 for s in lines)
    fill = sum(s.x1 - s.x0 for s in lines) / len(lines)
    return sum(s.words for s in lines) / len(lines) >= _MIN_WORDS and fill >= _MIN_FILL * width


def _segment(word: Mapping[str, Any]) -> Segment:
    chars = word["chars"]
    size = median(c["size"] for c in chars[:3])
    bold = _BOLD.search(str(chars[0].get("fontname", ""))) is not None
    # glyph boxes differ in height between fonts of one size, so lines are compared by their middles
    widths = [c["width"] for c in chars]
    pitch = max(widths) if max(widths) - min(widths) < 0.02 * max(widths) else 0.0
    # an Arabic glyph may stand for two letters; reverse them, since the line is later reversed letter by letter
    text = "".join([c["text"][::-1] for c in chars]) if RIGHT_TO_LEFT.search(word["text"]) else word["text"]
    return Segment(text, word["x0"], word["x1"], word["top"], word["bottom"], size, bold, pitch=pitch)


def _join(one: Segment, other: Segment) -> None:
    """Append the segment to the right of another to it."""
    larger = len(other.text) > len(one.text)
    one.size = other.size if larger else one.size
    one.bold = one.bold and other.bold
    same = one.pitch > 0 and abs(one.pitch - other.pitch) < 0.02 * one.pitch
    spaces = max(1, round((other.x0 - one.x1) / one.pitch)) if same else 1
    one.pitch = one.pitch if same else 0.0
    one.text = f"{one.text}{' ' * spaces}{other.text}"
    one.x1 = max(one.x1, other.x1)
    one.top, one.bottom = min(one.top, other.top), max(one.bottom, other.bottom)
    one.words += other.words
