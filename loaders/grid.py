"""Turn tables of all formats, with cells that span rows and columns, into rows of equal length under one header."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kgrag.loaders.base import one_line
from kgrag.loaders.pdf_layout import caption_number
from kgrag.text.letters import word_lists
from kgrag.values.documents import Table

_MAX_SPAN = 200  # columns
_MAX_FACTOR = 20  # cells of the laid-out table for each cell of the file
_PARAGRAPH = 100  # characters
MAX_CAPTION = 500  # characters
_LABEL = 60  # characters
NO_HEAD = -1
"""The number of header rows if the file says that the table has no header."""
_NUMBER = r"[<>~≈±+−(-]*\s?(?:[A-Z]{3}|[$€£¥₹])?\s?\d[\d.,'’\u00a0 /:%°+)-]*"
_VALUE = re.compile(
    rf"{_NUMBER}(?:[^\W\d]{{1,12}}[.²³]?|[$€£¥₹%])?|[^\w]*|n\.?/?a\.?|none|unknown|yes|no|true|false|x", re.I
)
_DATE = re.compile(r"\d{1,2}\.?(?: de)? [^\W\d]{3,10}\.?,?(?: de)? \d{2,4}|[^\W\d]{3,10}\.? \d{1,2}(?:, \d{4})?")
_LISTS = word_lists("kgrag.loaders")
_GENERAL = _LISTS["general"]
"""Headers of a second column, as opposed to values."""
_LABELS = _LISTS["labels"]
"""Names of properties; in the first of two columns they show that the rows above are not headers."""
_DIGITS = re.compile(r"[\d.,'’\s/:%+−()-]+")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d(?:[/–-]\d{2,4})?")


@dataclass(slots=True)
class Cell:
    """A cell with the rows and columns that it covers; `head`: it is marked as a label, or bold."""

    text: str
    down: int = 1
    across: int = 1
    head: bool = False


Laid = list[list[Cell | None]]


def lay_out(rows: Sequence[Sequence[Cell]]) -> Laid:
    """Lay out the cells of an HTML-like table: each place gets the cell that covers it, and rows have equal length."""
    cells = sum(map(len, rows))
    wide = max((sum(_across(cell) for cell in row) for row in rows), default=0)
    if wide * len(rows) > _MAX_FACTOR * cells + 10_000:  # absurd spans: keep only the cells themselves
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


def table_of(
    laid: Sequence[Sequence[Cell | None]], heads: int = 0, *, usual: bool = False
) -> tuple[str, list[list[str]]]:
    """Return the title that spans a table's first row, or "", and its rows.

    The first row is the header, or empty cells if the table has none. If all rows begin with a label, they become
    lines of a single cell: "Built: 1893". The text of a cell is repeated at each place that it covers, but only at
    the first if the cell is as wide as the table.

    Args:
        laid: the cells at each place.
        heads: the number of header rows, joined into one; 0: unknown; `NO_HEAD`: the file says that there is no header.
        usual: whether tables of the format usually have a header, although its files do not say so.
    """
    for cell in {id(cell): cell for row in laid for cell in row if cell is not None}.values():
        cell.text = one_line(cell.text)
    heads -= sum(not any(map(_text, row)) for row in laid[: max(0, heads)])
    laid = [row for row in laid if any(map(_text, row))]
    title = ""
    while len(laid) > 2 and len(laid[0]) > 1 and _is_whole(laid[0]):
        title = f"{title} {_text(laid[0][0])}".strip()
        laid, heads = laid[1:], max(0, heads - 1) if heads > 0 else heads
    if heads < 1 and (lines := _labelled(laid)):
        return title, [[line] for line in lines]
    if not heads:
        marks = [len(own := _filled(row)) > 1 and all(cell.head for cell in own) for row in laid]
        heads = marks.index(False) if False in marks else 0
    heads = min(heads, len(laid) - 1)
    if 0 <= heads < 2 and len(laid) > 2 and _heads_two(laid[0], laid[1], laid[2]):
        heads = 2
    rows = [_texts(row) for row in laid]
    if heads > 1:
        rows[:heads] = [[_joined(column) for column in zip(*map(_spread, laid[:heads]), strict=True)]]
    elif rows:
        rows[0] = _spread(laid[0])
    width = max((i + 1 for row in rows for i, text in enumerate(row) if text), default=0)
    rows = [row[:width] for row in rows]
    return title, rows if heads > 0 else with_head(rows, usual=usual and heads == 0, sure=heads == 0)


def with_head(rows: Sequence[Sequence[str]], *, usual: bool, sure: bool = True) -> list[list[str]]:
    """Return rows with the header first; add a row of empty cells if no header is recognised.

    `usual`: as in `table_of`; `sure`: whether a header may be recognised by the cells below it.
    """
    listed = [list(row) for row in rows]
    if (
        len(listed) < 2
        or len(listed[0]) < 2
        or not any(listed[0])
        or (sure and _is_head(listed[0], listed[1:], usual=usual))
    ):
        return listed
    return [[""] * len(listed[0]), *listed]


def _is_head(head: Sequence[str], body: Sequence[Sequence[str]], *, usual: bool) -> bool:
    """Return whether a first row names the columns.

    A header holds no values (years over other numbers are names), and none of its cells repeats below. It must also
    differ from the rows: a column of values is below a name, or tables of the format usually have a header. Tables of
    two columns with different labels in the first rarely have a header, so they need more evidence.
    """
    if any(list(row) == list(head) for row in body):  # the header is repeated on the next page
        return True
    columns = [[row[place] for row in body if place < len(row) and row[place]] for place in range(len(head))]
    years = [_YEAR.fullmatch(cell) is not None for cell in head]
    dated = sum(years) > 1 and not any(y and all(map(_YEAR.fullmatch, c)) for y, c in zip(years, columns, strict=True))
    if any(is_value(cell) and not (dated and year) for cell, year in zip(head, years, strict=True) if cell):
        return False
    if any(cell and cell.lower() in map(str.lower, column) for cell, column in zip(head, columns, strict=True)):
        return False
    first = columns[0]
    small = head[0][:1].islower() and len(first) > 1 and all(cell[:1].isupper() for cell in first)
    if small or not head[0] or (first and all(map(is_value, first))):
        return True
    like = [_are_alike(column) for column in columns]
    if len(head) == 2 and len({cell.lower() for cell in first}) == len(first):
        label = any(cell.lower().rstrip(" :") in _LABELS or len(cell) > _LABEL for cell in first)
        return head[1].lower() in _GENERAL or (usual and like[1] and not label)
    if usual and sum(map(bool, head)) > len(head) / 2:
        return True
    return dated or any(cell and alike and len(c) > 1 for cell, alike, c in zip(head, like, columns, strict=True))


def _are_alike(cells: Sequence[str]) -> bool:
    """Return whether all cells are values of the same unit."""
    return all(map(is_value, cells)) and len({_DIGITS.sub("", cell) for cell in cells}) == 1


def is_value(text: str) -> bool:
    """Return whether a cell is a value (a number, a date, a sign, a word such as "yes") and so not a column name."""
    return _VALUE.fullmatch(text) is not None or _DATE.fullmatch(text) is not None


def _labelled(laid: Sequence[Sequence[Cell | None]]) -> list[str]:
    """Return the lines of a table if every row begins with a label: a header cell, or a text with a colon."""
    rows = [row for row in laid if not _is_whole(row)]
    firsts = [row[0] for row in rows]
    marked = all(
        row[0] is not None
        and row[0].head
        and not any(cell is not None and cell is not row[0] and cell.head for cell in row)
        for row in rows
    )
    colons = len(rows) > 1 and all(_text(cell).endswith((":", "：")) for cell in firsts)
    if not rows or len(rows[0]) < 2 or not (marked or colons):
        return []
    return [_line(row) for row in laid]


def _line(row: Sequence[Cell | None]) -> str:
    """Return a row as a line of its label and its other cells: "Built: 1893; Oslo"."""
    texts = list({id(cell): cell.text for cell in _filled(row)}.values())
    if not _text(row[0]) or len(texts) < 2:
        return "; ".join(texts)
    line = f"{texts[0].rstrip(' :：')}:"
    for text in texts[1:]:
        line += f" {text}" if line.endswith((":", "：")) else f"; {text}"
    return line


def _text(cell: Cell | None) -> str:
    return "" if cell is None else cell.text


def _filled(row: Sequence[Cell | None]) -> list[Cell]:
    return [cell for cell in row if cell is not None and cell.text]


def _is_whole(row: Sequence[Cell | None]) -> bool:
    return len(row) > 1 and row[0] is not None and all(cell is row[0] for cell in row)


def _texts(row: Sequence[Cell | None]) -> list[str]:
    return [_text(row[0]), *[""] * (len(row) - 1)] if _is_whole(row) else _spread(row)


def _spread(row: Sequence[Cell | None]) -> list[str]:
    return list(map(_text, row))


def _joined(column: Iterable[str]) -> str:
    """Join the headers of a column, from the widest to its own."""
    parts: list[str] = []
    for text in column:
        if text and (not parts or parts[-1] != text):
            parts.append(text)
    return " ".join(parts)


def _heads_two(first: Sequence[Cell | None], second: Sequence[Cell | None], third: Sequence[Cell | None]) -> bool:
    """Return whether a second header row follows a first one that spans columns."""
    spans = False
    for place, (above, below) in enumerate(zip(first, second, strict=True)):
        wide = above is not None and any(above is first[i] for i in (place - 1, place + 1) if 0 <= i < len(first))
        spans |= wide
        if below is not None and below is third[place]:
            return False  # the cell covers rows of the body
        if wide and (below is None or not below.text or below is above):
            return False
        if not wide and above is not below and _text(above) and _text(below):
            return False
    return spans


def only_lays_out(cells: int, text: int, inner: int) -> bool:
    """Return whether a table around others serves only for layout; `text` and `inner` count characters.

    The inner tables then have most of its text, or its cells are whole paragraphs.
    """
    return 2 * inner >= text or text > _PARAGRAPH * cells


def cell_text(pieces: Iterable[tuple[str, bool]]) -> str:
    """Return the text of a cell from its paragraphs, each with a flag for list items.

    Commas separate the items.
    """
    cell, after_item = "", False
    for text, item in pieces:
        if text:
            cell = joined(cell, text, listed=item and after_item)
            after_item = item
    return cell


def joined(before: str, text: str, *, listed: bool) -> str:
    """Append a paragraph to the text of a cell; commas separate list items."""
    return f"{before}{', ' if listed else ' ' if before else ''}{text}"


def as_text(rows: Sequence[Sequence[str]]) -> str:
    """Return a grid as lines of text; used if it has a single row or column and so is not a table."""
    return "\n".join(" | ".join(row) for row in rows)


def is_caption(text: str) -> bool:
    """Return whether a paragraph beside a table is its caption: "Table 3: Ships"."""
    return len(text) < MAX_CAPTION and caption_number(text) is not None


def numbered(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return tables numbered in order: by the printed numbers of their captions, else continuing the count."""
    printed: dict[int, int] = {}  # number -> the place of the first table with it
    for place, table in enumerate(tables):
        number = caption_number(table.caption) or ""
        if number.isdecimal() and int(number) > 0:
            printed.setdefault(int(number), place)
    rest = count(max(printed, default=0) + 1)
    numbers = {place: number for number, place in printed.items()}
    return tuple(replace(t, number=numbers.get(i) or next(rest)) for i, t in enumerate(tables))
