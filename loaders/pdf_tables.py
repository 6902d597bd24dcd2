"""Tables on a PDF page: drawn with lines, framed by rules, or aligned near a rule or a caption."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from statistics import median
from typing import Any

from pdfplumber.utils.text import extract_text

from kgrag.loaders.grid import Cell, table_of
from kgrag.loaders.pdf_layout import Box, Grid, Row, Segment, box_of, caption_number, holds, is_code, line, rows, union

Cells = list[list[str]]

_MIN_FILLED = 0.3  # share of a ruled table's cells that have text; the boxes of a drawing are mostly empty
_MAX_CELLS = 20_000  # per page
_MIN_ROWS = 3  # rows of a table without lines
_MAX_CELL_WORDS = 8  # mean words per cell of a table without lines; prose has more
_ITEM = re.compile(r"(?:[-–—•·▪◦*‣]|\(?[\divxa-zA-Z]{1,4}[.)])$")
_SECTION = re.compile(r"\d+(?:\.\d+)+\.?\s+[A-Z]")  # a heading
_LEADERS = re.compile(r"\.\s?\.\s?\.\s?\.")
_RULE = 40.0  # points; shorter lines are fraction bars
_UNDER = 0.6  # least share of a table's width that its rule spans
_SPANNING = 0.15  # share of the rows of a framed table that may run across two columns
_NEAR = 6.0  # type sizes between a table and the first line of its caption


def ruled_tables(page: Any, chars: Sequence[dict[str, Any]]) -> tuple[list[Grid], list[dict[str, Any]]]:
    """Return the tables with lines between cells on a pdfplumber page, and the characters outside them."""
    rest = list(chars)
    grids: list[Grid] = []
    if len(page.edges) < 4:
        return grids, rest
    boxes: list[Box] = []
    for table in sorted(page.find_tables(), key=lambda t: (t.bbox[1], t.bbox[0])):
        if not 2 <= len(table.cells) <= _MAX_CELLS or any(holds(box, table.bbox) for box in boxes):
            continue
        within = [holds(table.bbox, box_of(char)) for char in rest]
        if (grid := _fill(table, list(compress(rest, within)))) is not None:
            grids.append(grid)
            boxes.append(table.bbox)
            rest = [char for char, inside in zip(rest, within, strict=True) if not inside]
    return grids, rest


def _fill(table: Any, chars: list[dict[str, Any]]) -> Grid | None:
    """Return the table with its text, or None; the text of a merged cell fills all places that it covers."""
    boxes: list[Box] = sorted(set(table.cells), key=lambda box: (box[1], box[0]))
    tops, lefts = (_edges(box[i] for box in boxes) for i in (1, 0))
    if len(lefts) < 2:
        return None
    at: dict[tuple[int, int], int] = {}  # (row, column) -> the number of the cell there
    for number, (x0, top, x1, bottom) in enumerate(boxes):
        for row in range(_place(tops, top), _place(tops, bottom - 2) + 1):
            for column in range(_place(lefts, x0), _place(lefts, x1 - 2) + 1):
                at.setdefault((row, column), number)
    inside: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for char in chars:
        x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
        number = at.get((bisect_right(tops, y) - 1, bisect_right(lefts, x) - 1), -1)
        if number >= 0:
            inside[number].append(char)
    texts = [_cell_text(inside[n]) if n in inside else "" for n in range(len(boxes))]
    filled = sum(map(bool, texts))
    if filled < 2 or filled < _MIN_FILLED * len(boxes):
        return None
    owners = list(map(Cell, texts))
    laid = [
        [owners[number] if (number := at.get((row, column), -1)) >= 0 else None for column in range(len(lefts))]
        for row in range(len(tops))
    ]
    used = [i for i in range(len(lefts)) if any(row[i] is not None and texts[at[y, i]] for y, row in enumerate(laid))]
    title, cells = table_of([[row[i] for i in used] for row in laid], heads=1)  # with_head decides on the whole table
    trimmed = _trim(cells) if cells and cells[0] else None
    return None if trimmed is None else Grid(trimmed, table.bbox, title)


def _edges(values: Iterable[float]) -> list[float]:
    """Return the positions of lines in order; lines within a point of each other count as one."""
    result: list[float] = []
    for value in sorted(values):
        if not result or value - result[-1] > 1:
            result.append(value)
    return result


def _place(edges: Sequence[float], value: float) -> int:
    return max(0, bisect_right(edges, value + 1) - 1)


def _cell_text(chars: list[dict[str, Any]]) -> str:
    text: str = extract_text(chars, x_tolerance_ratio=0.15)
    return text.replace("\u00ad\n", "").strip()  # rejoins words hyphenated at line ends


def _trim(cells: Cells) -> Cells | None:
    """Return cells without the empty rows and columns that double lines produce."""
    filled = [row for row in cells if any(row)]
    columns = [i for i in range(len(cells[0])) if any(row[i] for row in filled)]
    trimmed = [[row[i] for i in columns] for row in filled]
    if len(columns) < 2 or (len(trimmed) < 2 and not all(trimmed[0])):  # a full single row may end a longer table
        return None
    return trimmed


@dataclass(frozen=True, slots=True)
class Signs:
    """The evidence for a table of aligned cells: the horizontal rules of a page (x0, x1, y) and its captions."""

    rules: tuple[tuple[float, float, float], ...]
    captions: tuple[Segment, ...]

    @classmethod
    def of(cls, page: Any, parts: Iterable[Segment]) -> "Signs":
        """Return the signs of a pdfplumber page and its segments."""
        rules: list[tuple[float, float, float]] = []
        edges = ((e["top"], e["x0"], e["x1"]) for e in page.edges if e["orientation"] == "h")
        for y, x0, x1 in sorted((round(y), x0, x1) for y, x0, x1 in edges):
            if rules and rules[-1][2] == y and x0 <= rules[-1][1] + 3:
                rules[-1] = (rules[-1][0], max(rules[-1][1], x1), y)
            else:
                rules.append((x0, x1, y))
        captions = tuple(s for s in parts if caption_number(s.text) is not None)
        return cls(tuple(rule for rule in rules if rule[1] - rule[0] >= _RULE), captions)

    def mark(self, box: Box, size: float) -> bool:
        """Return whether a rule spans most of a box, or a caption is close above or below it."""
        x0, top, x1, bottom = box
        return any(
            min(x1, right) - max(x0, left) >= _UNDER * (x1 - x0) and top - size < y < bottom + size
            for left, right, y in self.rules
        ) or any(self.is_near(caption, box) for caption in self.captions)

    def without(self, box: Box) -> "Signs":
        """Return the signs outside of the table in a box."""
        return Signs(
            tuple(r for r in self.rules if not box[1] - 1 <= r[2] <= box[3] + 1),
            tuple(c for c in self.captions if not self.is_near(c, box)),
        )

    @staticmethod
    def is_near(caption: Segment, box: Box) -> bool:
        """Return whether a caption is close above or below a box."""
        if caption.x0 > box[2] or caption.x1 < box[0]:
            return False
        return max(box[1] - caption.bottom, caption.top - box[3]) < _NEAR * caption.size


def framed_tables(parts: Sequence[Segment], signs: Signs, height: float) -> list[tuple[list[Segment], Grid]]:
    """Return the tables between rules of equal length (booktabs): the segments of each, and its grid."""
    tables: list[tuple[list[Segment], Grid]] = []
    rules = list(signs.rules)
    while rules:
        first = rules.pop(0)
        frame = [first]
        for rule in [r for r in rules if abs(r[0] - first[0]) <= 3 and abs(r[1] - first[1]) <= 3]:
            between = _within(parts, first[0], frame[-1][2], first[1], rule[2])
            if any(caption_number(s.text) is not None for s in between):
                break
            frame.append(rule)
        box = (first[0], first[2], first[1], frame[-1][2])
        within = _within(parts, *box)
        captioned = any(signs.is_near(caption, box) for caption in signs.captions)
        if not within or len(frame) < (2 if captioned else 3) or (box[3] - box[1] > 0.6 * height and not captioned):
            continue  # two rules without a caption frame a figure
        lines = rows(within)
        columns = _gutters(lines)
        if len(columns) > 1 and (cells := _fill_columns(lines, columns, strict=not captioned)) is not None:
            tables.append((within, Grid(cells, box)))
            rules = [rule for rule in rules if rule not in frame]
    return tables


def _within(parts: Iterable[Segment], x0: float, top: float, x1: float, bottom: float) -> list[Segment]:
    return [s for s in parts if x0 - 3 <= (s.x0 + s.x1) / 2 <= x1 + 3 and top - 2 <= s.middle <= bottom + 2]


def _gutters(lines: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the columns as ranges of x, separated by gaps that hardly any line crosses."""
    most = int(_SPANNING * len(lines))
    edges = sorted({x for row in lines for s in row for x in (s.x0, s.x1)})
    columns: list[tuple[float, float]] = []
    for x0, x1 in pairwise(edges):
        crossed = sum(any(s.x0 < x1 and x0 < s.x1 for s in row) for row in lines)
        if crossed <= most and x1 - x0 >= 3:
            continue
        if columns and columns[-1][1] == x0:
            columns[-1] = (columns[-1][0], x1)
        else:
            columns.append((x0, x1))
    merged: list[tuple[float, float]] = []
    for x0, x1 in columns:
        own = sum(any(x0 - 1 <= s.x0 and s.x1 <= x1 + 1 for s in row) for row in lines)
        if merged and own <= max(1, most):  # ends of long lines do not form a column
            merged[-1] = (merged[-1][0], x1)
        else:
            merged.append((x0, x1))
    return merged


def aligned_tables(parts: Sequence[Segment], words: int, signs: Signs) -> list[tuple[list[Segment], Grid]]:
    """Return the tables of aligned segments that a rule or a caption marks: the segments of each, and its grid.

    `words` is the largest number of words in a cell; it is small while the text may still hold columns of prose. Code,
    equations and lists of definitions are aligned, too, so aligned text without a mark stays text.
    """
    lines = rows(parts)
    tables: list[tuple[list[Segment], Grid]] = []
    start = 0
    while start < len(lines):
        end = start
        last = start  # the end of the last line with several segments
        while end < len(lines) and (end == start or _follows(lines[end - 1], lines[end])):
            if any(s.words > words or s.table is not None for s in lines[end]) or is_code(line(lines[end])):
                break
            if end > start and _SECTION.match(lines[end][0].text):
                break
            if len(lines[end]) > 1:
                last = end + 1
            elif end == start or end - last >= 2:
                break
            end += 1
        last += _wraps(lines[start:last], lines[last:end])
        within = [s for row in lines[start:last] for s in row]
        cells = None
        if last - start >= _MIN_ROWS:
            box = union(part.box for part in within)
            if signs.mark(box, within[0].size):
                cells = _align(lines[start:last])
        if cells is None:
            start = max(start + 1, last if last - start < _MIN_ROWS else start + 1)
        else:
            tables.append((within, Grid(cells, box)))
            start = last
    return tables


def _wraps(above: Sequence[Row], below: Sequence[Row]) -> int:
    """Return 1 if the first line below continues a cell of the last line above, else 0."""
    if len(above) < _MIN_ROWS or not below:
        return 0
    tops = [min(s.top for s in row) for row in (*above, below[0])]
    second = min(row[1].x0 for row in above if len(row) > 1)
    return int(
        below[0][0].x0 > second - 2 and tops[-1] - tops[-2] < 0.9 * median(b - a for a, b in pairwise(tops[:-1]))
    )


def _follows(above: Row, below: Row) -> bool:
    one, other = line(above), line(below)
    return other.top - one.bottom < 1.6 * max(one.size, other.size)


def _align(lines: Sequence[Row]) -> Cells | None:
    """Return the cells of lines whose segments form columns, or None if they do not."""
    counts = Counter(len(row) for row in lines if len(row) > 1)
    width = max(counts, key=lambda n: (counts[n], n))
    columns = _columns([row for row in lines if len(row) == width])
    if len(columns) != width or counts.total() < _MIN_ROWS or counts[width] < max(2, 0.5 * counts.total()):
        return None
    return _fill_columns(lines, columns)


def _fill_columns(lines: Sequence[Row], columns: Sequence[tuple[float, float]], *, strict: bool = True) -> Cells | None:
    """Return the cells of lines in columns; None if there are too few. `strict` also rejects prose and lists."""
    width = len(columns)
    cells: list[list[list[str]]] = []
    tops = [min(s.top for s in row) for row in lines]
    pitch = median(b - a for a, b in pairwise(tops)) if len(tops) > 1 else 0.0
    for i, row in enumerate(lines):
        placed: list[list[str]] = [[] for _ in columns]
        for part in row:
            overlaps = [min(part.x1, x1) - max(part.x0, x0) for x0, x1 in columns]
            placed[overlaps.index(max(overlaps))].append(part.text)
        close = i > 0 and tops[i] - tops[i - 1] < 0.9 * pitch
        goes_on = bool(cells) and (
            (close or len(row) <= max(1, width // 2)) if not placed[0] else len(row) == 1 and placed[0][0][0].islower()
        )
        if goes_on:
            for cell, more in zip(cells[-1], placed, strict=True):
                cell.extend(more)
        else:
            cells.append(placed)
    if len(cells) < (_MIN_ROWS if strict else 2):
        return None
    table = [[" ".join(cell) for cell in row] for row in cells]
    words = [len(cell.split()) for row in table for cell in row if cell]
    filled = len(words) / (len(table) * width)
    items = sum(_ITEM.match(row[0]) is not None for row in table)
    leaders = sum(any(_LEADERS.search(cell) for cell in row) for row in table)
    if leaders > len(table) / 3 or filled < (0.7 if strict else 0.4):
        return None
    if strict and (median(words) > _MAX_CELL_WORDS or items > len(table) / 2):
        return None
    return table


def _columns(lines: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the ranges of x that the segments cover, with gaps between them."""
    merged: list[tuple[float, float]] = []
    for x0, x1 in sorted((s.x0, s.x1) for row in lines for s in row):
        if merged and x0 <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    return merged
