"""Tables of all formats: cells that span rows and columns -> rows of equal length under one header."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kgrag.loaders.base import one_line
from kgrag.loaders.pdf_layout import caption_number
from kgrag.values.documents import Table

_MAX_SPAN = 200  # columns
_MAX_FACTOR = 20  # cells that spans may make of each that is there
_PARAGRAPH = 100  # characters
MAX_CAPTION = 500  # characters


@dataclass(slots=True)
class Cell:
    """A cell and the rows and columns that it covers; `head`: it says what stands in its column or row."""

    text: str
    down: int = 1
    across: int = 1
    head: bool = False


Laid = list[list[Cell | None]]


def lay_out(rows: Sequence[Sequence[Cell]]) -> Laid:
    """Return each place of a table in HTML's form with the cell that covers it; all rows are equally long."""
    cells = sum(map(len, rows))
    wide = max((sum(_across(cell) for cell in row) for row in rows), default=0)
    if wide * len(rows) > _MAX_FACTOR * cells + 10_000:  # spans that no table has: the cells alone are kept
        rows = [[replace(cell, down=1, across=1) for cell in row] for row in rows]
    laid: Laid = [[] for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            while column < len(laid[number]) and laid[number][column] is not None:
                column += 1
            for line in laid[number : number + max(1, cell.down)]:
                line.extend([None] * (column + _across(cell) - len(line)))
                for place in range(column, column + _across(cell)):
                    line[place] = line[place] or cell
            column += _across(cell)
    width = max(map(len, laid), default=0)
    for line in laid:
        line.extend([None] * (width - len(line)))
    return laid


def _across(cell: Cell) -> int:
    return max(1, min(cell.across, _MAX_SPAN))


def table_of(laid: Sequence[Sequence[Cell | None]], heads: int = 0) -> tuple[str, list[list[str]]]:
    """Return the title that spans a table's first row, or "", and its rows.

    The first is the header, all `heads` in one.

    The text of a cell stands at each place that it covers; of one as wide as the table, at its first.
    """
    for cell in {id(cell): cell for row in laid for cell in row if cell is not None}.values():
        cell.text = one_line(cell.text)
    laid = [row for row in laid if any(cell is not None and cell.text for cell in row)]
    title = ""
    while len(laid) > 2 and len(laid[0]) > 1 and _is_whole(laid[0]):
        title = f"{title} {_text(laid[0][0])}".strip()
        laid, heads = laid[1:], max(0, heads - 1)
    heads = min(heads, len(laid) - 1)
    if heads < 2 and len(laid) > 2 and _heads_two(laid[0], laid[1], laid[2]):
        heads = 2
    rows = [_texts(row) for row in laid]
    if heads > 1:
        rows[:heads] = [[_joined(column) for column in zip(*map(_spread, laid[:heads]), strict=True)]]
    elif rows:
        rows[0] = _spread(laid[0])
    width = max((i + 1 for row in rows for i, text in enumerate(row) if text), default=0)
    return title, [row[:width] for row in rows]


def _text(cell: Cell | None) -> str:
    return "" if cell is None else cell.text


def _is_whole(row: Sequence[Cell | None]) -> bool:
    return len(row) > 1 and row[0] is not None and all(cell is row[0] for cell in row)


def _texts(row: Sequence[Cell | None]) -> list[str]:
    return [_text(row[0]), *[""] * (len(row) - 1)] if _is_whole(row) else _spread(row)


def _spread(row: Sequence[Cell | None]) -> list[str]:
    return list(map(_text, row))


def _joined(column: Iterable[str]) -> str:
    """Return the headers of a column, from the widest to its own."""
    parts: list[str] = []
    for text in column:
        if text and (not parts or parts[-1] != text):
            parts.append(text)
    return " ".join(parts)


def _heads_two(first: Sequence[Cell | None], second: Sequence[Cell | None], third: Sequence[Cell | None]) -> bool:
    """Return whether a second row of headers stands under a first one that spans columns."""
    spans = False
    for place, (above, below) in enumerate(zip(first, second, strict=True)):
        wide = above is not None and any(above is first[i] for i in (place - 1, place + 1) if 0 <= i < len(first))
        spans |= wide
        if below is not None and below is third[place]:
            return False  # it covers rows of the body
        if wide and (below is None or not below.text or below is above):
            return False
        if not wide and above is not below and _text(above) and _text(below):
            return False
    return spans


def only_lays_out(cells: int, text: int, inner: int) -> bool:
    """Return whether a table that holds others is none itself: `inner` of its `text`, in characters, stands in these.

    Then they hold most of it, or its cells are whole paragraphs.
    """
    return 2 * inner >= text or text > _PARAGRAPH * cells


def cell_text(pieces: Iterable[tuple[str, bool]]) -> str:
    """Return the text of a cell from its paragraphs, each with whether it is an item of a list.

    Commas separate items.
    """
    cell, after_item = "", False
    for text, item in pieces:
        if text:
            cell = joined(cell, text, listed=item and after_item)
            after_item = item
    return cell


def joined(before: str, text: str, *, listed: bool) -> str:
    """Return the paragraphs of a cell; commas separate items of a list."""
    return f"{before}{', ' if listed else ' ' if before else ''}{text}"


def as_text(rows: Sequence[Sequence[str]]) -> str:
    """Return lines of a grid that is no table, since it has a single row or column."""
    return "\n".join(" | ".join(row) for row in rows)


def is_caption(text: str) -> bool:
    """Return whether a paragraph beside a table is its caption: "Table 3: Ships"."""
    return len(text) < MAX_CAPTION and caption_number(text) is not None


def numbered(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return tables in order, with the printed numbers of their captions; the others are counted on from there."""
    printed: dict[int, int] = {}  # number -> place; the first that has it
    for place, table in enumerate(tables):
        number = caption_number(table.caption) or ""
        if number.isdecimal() and int(number) > 0:
            printed.setdefault(int(number), place)
    rest = count(max(printed, default=0) + 1)
    numbers = {place: number for number, place in printed.items()}
    return tuple(replace(t, number=numbers.get(i) or next(rest)) for i, t in enumerate(tables))
