"""Load CSV and TSV files: the delimiter is detected, and rows are read one at a time."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import BinaryIO, Literal

from kgrag.loaders.base import (
    MARK,
    SAMPLE,
    BadInput,
    EmptyInput,
    Item,
    Source,
    check_binary,
    find_bom,
    legacy_encoding,
    one_line,
    open_file,
    over_limit,
    told,
)
from kgrag.loaders.named_rows import Columns, RowReader, RowTable, is_table
from kgrag.loaders.reading import Format
from kgrag.values.documents import Document, Problem, Section

_LINES = 500  # lines beyond ASCII used to detect an encoding
_COMPARED = 20  # rows, including the header, used to detect a delimiter
_UNCLOSED = "opens a quote that is never closed; no row after it could be read"
_UNDECODED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, decoded with surrogateescape
_DECLARED = re.compile(r"sep=([,;|\t])\r?\n", re.IGNORECASE)  # the declaration of the delimiter for Excel


def load_csv(source: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of a CSV or TSV file with a header, one at a time. Raises BadInput."""
    # the limit holds for the whole process, so only ever raise it; _Lines checks the size of rows
    csv.field_size_limit(max(csv.field_size_limit(), min(source.limit, 2**31 - 1)))
    with open_file(source) as binary:
        head = binary.read(SAMPLE)
        binary.seek(0)
        check_binary(head)
        encoding = find_bom(head) or _legacy(source, binary) or "utf-8"
        errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        # newline="" lets the csv module handle newlines in quotes
        with io.TextIOWrapper(binary, encoding, errors=errors, newline="") as file:
            sample = file.read(SAMPLE)
            file.seek(0)
            if not sample.strip():
                raise EmptyInput()
            declared = _DECLARED.match(sample)
            delimiter = declared[1] if declared else _sniff(sample, source.path.suffix.lower())
            quoting = _quoting(file, source.limit) if delimiter == "\t" else csv.QUOTE_MINIMAL
            lines = _Lines(file, source.limit)
            if declared:
                next(lines)
            reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
            yield from _rows(source, columns, _records(lines, reader))


def _legacy(source: Source, file: BinaryIO) -> str | None:
    """Return the legacy encoding of a file; None if it has none, or if a line beyond ASCII is UTF-8."""
    lines = (line for line in iter(partial(file.readline, SAMPLE), b"") if not line.isascii())
    sample = b"".join(islice(lines, _LINES))
    file.seek(0)
    try:
        sample.decode()
        return None
    except UnicodeDecodeError:
        encoding = legacy_encoding(source, sample)
    if encoding is not None:
        source.converted.add(encoding)
    return encoding


def _rows(source: Source, columns: Columns, records: Iterator["_Record"]) -> Iterator[Item]:
    sample = list(islice(records, _COMPARED))
    head = _head_place(sample)
    above = "\n".join(
        " | ".join(filter(None, map(one_line, cells))) for _, cells in sample[:head] if isinstance(cells, list)
    )
    records = chain(sample[head:], records)
    first = next(records, None)
    if first is None:
        raise EmptyInput()
    cells, problem = _decoded(first[1])
    if problem:
        yield Problem(f"{source.shown}:{first[0]}", problem, lasting=True)
    header = _header(cells)
    above = _UNDECODED.sub(MARK, above)
    rows = _named(source, header, records)
    if is_table(columns, tuple(header)):
        table = RowTable(source, header)
        for entry in rows:
            if isinstance(entry, Problem):
                yield entry
            else:
                table.add_texts((name, one_line(cell or "")) for name, cell in entry[0].items())
        yield table.document([*map(one_line, cells), *[""] * (len(header) - len(cells))], above)
        return
    reader = RowReader(source, columns)
    reader.check(tuple(header))
    if above:
        yield Document(f"{source.key}#above", (Section(above),), source.title, source.shown)
    if not (start := list(islice(rows, 1))):
        raise BadInput("has a header but no rows")
    yield from reader.all(chain(start, rows))


def _named(
    source: Source, header: list[str], records: Iterable["_Record"]
) -> Iterator[tuple[dict[str, str | None], int, str] | Problem]:
    """Yield the rows by column name, as `Row`, and a Problem for each faulty or damaged row."""
    for number, record in records:
        place = f"{source.shown}:{number}"
        try:
            cells, problem = _decoded(record, header)
            row = _row(header, cells)
        except BadInput as error:
            yield Problem(place, str(error))
            continue
        if problem:
            yield Problem(place, problem, lasting=True)
        yield row, number, place


def _head_place(rows: list["_Record"]) -> int:
    """Return the position of the header among the first rows: 0, or below titles and comments.

    The header is as wide as most rows. Rows above it are narrower, and they begin with a single cell or a comment, or a
    blank line separates them from the header.
    """
    widths = [_width(cells) for _, cells in rows]
    usual = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(1, 0))[0]
    place = 0
    while place < len(rows) and (widths[place] < usual or _is_comment(rows[place][1])):
        place += 1
    if usual < 2 or not 0 < place < len(rows) - 1:
        return 0
    first = rows[0][1]
    parted = rows[place][0] > rows[place - 1][0] + 1
    alone = isinstance(first, list) and sum(map(bool, first)) == 1
    return place if alone or parted or _is_comment(first) else 0


def _width(cells: list[str] | BadInput) -> int:
    return max((n for n, cell in enumerate(cells, 1) if cell.strip()), default=0) if isinstance(cells, list) else 0


def _is_comment(cells: list[str] | BadInput) -> bool:
    return isinstance(cells, list) and cells[0].startswith(("# ", "##", "% ", "//"))


_Record = tuple[int, list[str] | BadInput]
"""The number of a row's first line, and its cells or its fault."""


def _records(lines: "_Lines", reader: Iterator[list[str]]) -> Iterator[_Record]:
    """Yield each non-blank row: the number of its first line, and its cells or its fault."""
    while True:
        lines.begin_row()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield lines.first, BadInput(_explain(error))
            continue
        except BadInput as error:
            yield lines.first, error
            continue
        if cells is None:
            return
        if any(cells):
            yield lines.first, cells


class _Lines:
    """Feeds lines to the csv reader, counts them, and skips rows over the size limit."""

    def __init__(self, file: io.TextIOWrapper, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._number = 0
        self._size = 0
        self._quotes = 0
        self.first = 1

    @property
    def in_row(self) -> int:
        """The number of lines of the row read so far."""
        return self._number + 1 - self.first

    def begin_row(self) -> None:
        """Record that the next line is the first of a row."""
        self.first = self._number + 1
        self._size = self._quotes = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._file.readline(self._limit + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._size += len(line)
        self._quotes += line.count('"')
        if self._size > self._limit:
            self._skip_row(line)
            raise BadInput(over_limit("row", self._limit))
        return line

    def _skip_row(self, line: str) -> None:
        """Read to the end of the row: a newline outside quotes."""
        while line and not (line.endswith(("\n", "\r")) and self._quotes % 2 == 0):
            ended = line.endswith(("\n", "\r"))
            line = self._file.readline(SAMPLE)
            self._number += bool(line) and ended
            self._quotes += line.count('"')


def _sniff(sample: str, suffix: str) -> str:
    """Return the delimiter with most columns in the header, preferably one with as many columns in the rows.

    Titles may precede the header. The file name decides ties; in a .tsv file, tabs win over other signs in the cells.
    """
    candidates = ["\t", ",", ";", "|"] if suffix == ".tsv" else [",", ";", "\t", "|"]

    def score(delimiter: str) -> tuple[bool, bool, int, int]:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        rows = list(islice(filter(any, reader), _COMPARED))
        widths = [len(row) for row in (rows[:-1] if len(sample) == SAMPLE and len(rows) > 1 else rows)] or [0]
        named = suffix == ".tsv" and delimiter == "\t" and widths[0] > 1
        even = widths[0] > 1 and len(set(widths)) == 1
        usual = Counter(widths).most_common(1)[0][0]
        below = widths[next(n for n, width in enumerate(widths) if width >= usual) :]
        same = len(below) if below[0] > 1 and len(set(below)) == 1 and len(below) > 1 else 0
        return named, even, 0 if even else same, widths[0] if even or not same else below[0]

    return max(candidates, key=score)


def _quoting(file: io.TextIOWrapper, limit: int) -> Literal[0, 3]:
    """Return the quoting mode for a file of tabs: quotes are plain characters if an opening quote is never closed."""
    lines = _Lines(file, limit)
    records = _records(lines, csv.reader(lines, delimiter="\t", strict=True))
    open_ = any(
        isinstance(record, BadInput) and (str(record) == _UNCLOSED or lines.in_row > 1) for _, record in records
    )
    file.seek(0)
    return csv.QUOTE_NONE if open_ else csv.QUOTE_MINIMAL


def _header(cells: list[str]) -> list[str]:
    """Return unique names for all columns; an unnamed column is named by its position."""
    names: list[str] = []
    for position, cell in enumerate(cells, 1):
        name = one_line(cell) or f"column_{position}"
        while name in names:
            name += "_2"
        names.append(name)
    return names


def _row(header: list[str], cells: list[str]) -> dict[str, str | None]:
    extra = cells[len(header) :]
    if any(cell.strip() for cell in extra):
        raise BadInput(
            f"has {len(cells)} cells where the header has {len(header)}; a cell with a delimiter in it must be quoted"
        )
    cells = cells + [""] * (len(header) - len(cells))
    return {name: cell or None for name, cell in zip(header, cells, strict=False)}


def _decoded(cells: list[str] | BadInput, header: list[str] | None = None) -> tuple[list[str], str]:
    """Return the cells of a row with U+FFFD for damaged bytes, and a remark on them. Raises BadInput."""
    if isinstance(cells, BadInput):
        raise cells
    count, place = 0, ""
    for position, cell in enumerate(cells):
        if not cell.isascii() and (damaged := _UNDECODED.findall(cell)):
            column = repr(header[position]) if header and position < len(header) else position + 1
            place = place or f" (byte 0x{ord(damaged[0]) - 0xDC00:02x} in column {column})"
            count += len(damaged)
    if count:
        cells = [_UNDECODED.sub(MARK, cell) for cell in cells]
    return cells, told(count, sum(map(len, cells)), "utf-8", place)


def _explain(error: csv.Error) -> str:
    message = str(error)
    if "unexpected end of data" in message:
        return _UNCLOSED
    if "expected after" in message:
        return "has a quote within a quoted cell; it must be doubled"
    return f"is not valid CSV: {message}"


CSV = Format("CSV file", (".csv", ".tsv"), lambda source, reading: load_csv(source, reading.columns), version=5)
