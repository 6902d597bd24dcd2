"""CSV for `neo4j-admin database import`: rows, fields, and columns that are discovered while rows arrive."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

ARRAY_DELIMITER = ";"
_DECIMALS = 12  # exact for float32 from 0.00002 on; smaller numbers are off by 5e-13 at most
_DIGITS = np.frombuffer("".join(f"{n:04d}" for n in range(10_000)).encode(), "<u4")
_MINUS, _PLUS = np.frombuffer(b";-0.;00.", "<u4")
_MORE_COLUMNS = 200  # documents with further metadata columns are ingested instead
_TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}


class CsvField(str):
    """A field in the format of the file: a list, or a vector."""

    __slots__ = ()


class Lines:
    """Rows of a CSV file in memory, which are pickled as one text."""

    def __init__(self) -> None:
        self.rows = 0
        self.longest = 0
        self.multiline = False
        self._rows: list[str] = []

    def write(self, *values: object) -> None:
        """Write a row of text, numbers, CsvField, or None for an empty field. Missing fields at its end are empty."""
        line = fields(*values).rstrip(",")
        self.rows += 1
        self.longest = max(self.longest, len(line))
        self.multiline = self.multiline or "\n" in line or "\r" in line
        self._append(line + "\n")

    def link(self, start: str, end: str, *values: object) -> None:
        """Write a row of two ids and short values."""
        self.rows += 1
        self._append(f"{start},{end},{fields(*values)}".rstrip(",") + "\n" if values else f"{start},{end}\n")

    def text(self) -> str:
        """Return the rows."""
        return "".join(self._rows)

    def __getstate__(self) -> tuple[int, int, bool, str]:
        return self.rows, self.longest, self.multiline, self.text()

    def __setstate__(self, state: tuple[int, int, bool, str]) -> None:
        self.rows, self.longest, self.multiline, text = state
        self._rows = [text]

    def _append(self, line: str) -> None:
        self._rows.append(line)


class Table(Lines):
    """A CSV file, or with `part` several of about this many characters.

    The header is written at the end, to a separate file.
    """

    def __init__(self, folder: Path, name: str, columns: Sequence[str], part: int | None = None) -> None:
        super().__init__()
        self.columns = list(columns)
        self.path = folder / f"{name}.csv"
        self.header = folder / f"{name}-header.csv"
        self.parts = [self.path]
        self._part = part
        self._file, self._bytes = _opened(self.path), 0

    def take(self, lines: Lines) -> None:
        """Write rows held in memory."""
        self._append(lines.text())
        self.rows += lines.rows
        self.longest = max(self.longest, lines.longest)
        self.multiline = self.multiline or lines.multiline

    def close(self) -> None:
        """Write the remaining rows, and the header."""
        self._file.close()
        self.header.write_text(",".join(self.columns) + "\n", encoding="utf-8")

    def _append(self, line: str) -> None:
        if self._part is not None and self._bytes >= self._part:
            self._file.close()
            self.parts.append(self.path.with_stem(f"{self.path.stem}-{len(self.parts) + 1}"))
            self._file, self._bytes = _opened(self.parts[-1]), 0
        self._bytes += self._file.write(line)


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", errors="replace", newline="", buffering=1 << 20)


def fields(*values: object) -> CsvField:
    """Return the fields of a row, or of its beginning."""
    return CsvField(",".join([_field(value) for value in values]))


def _field(value: object) -> str:
    kind = type(value)
    if kind is CsvField:
        return value  # type: ignore[return-value]
    if kind is str:
        return '"' + value.replace('"', '""') + '"'  # type: ignore[attr-defined,no-any-return]
    if value is None:
        return ""
    if kind is list:  # numbers or plain names, never empty
        return ARRAY_DELIMITER.join(map(str, value))  # type: ignore[call-overload]
    if kind is datetime:
        return value.isoformat(timespec="milliseconds")  # type: ignore[attr-defined,no-any-return]
    return ("true" if value else "false") if kind is bool else repr(value)


def array(texts: Sequence[str]) -> str | None:
    """Return values as one field; None if CSV cannot represent them: all are empty, or one contains the delimiter."""
    plain = any(texts) and not any(ARRAY_DELIMITER in text for text in texts)
    return ARRAY_DELIMITER.join(texts) if plain else None


def floats(vectors: NDArray[np.float32]) -> list[CsvField]:
    """Return fields of type float[], one per row of the vectors; each number must be below 10."""
    if vectors.size == 0:
        return [CsvField()] * len(vectors)
    if not np.abs(vectors).max() < 10:
        return [CsvField(ARRAY_DELIMITER.join(map(repr, row))) for row in vectors.tolist()]
    text = np.empty((*vectors.shape, 4), "<u4")  # four characters each: ;-0. 1234 5678 9012
    rest = np.rint(np.abs(vectors.astype(np.float64)) * 10**_DECIMALS)
    for group in (3, 2, 1):
        above = np.floor(rest / 10_000)
        np.take(_DIGITS, (rest - above * 10_000).astype(np.uint16), out=text[..., group])
        rest = above
    text[..., 0] = np.where(np.signbit(vectors), _MINUS, _PLUS) + (rest.astype(np.uint32) << 16)
    joined = text.tobytes().decode("ascii")
    width = 16 * vectors.shape[1]
    return [CsvField(joined[i * width + 1 : (i + 1) * width]) for i in range(len(vectors))]


class FoundColumns:
    """The columns besides those of every row: one for each key, discovered while rows arrive."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._place: dict[str, tuple[int, str]] = {}

    def values(self, properties: Mapping[str, object]) -> list[object] | None:
        """Return the fields of a row for these properties, or None if they do not fit into the table.

        Properties with a changed type do not fit, nor do names or numbers that CSV cannot represent.
        """
        place: dict[str, tuple[int, str]] = {}
        fields: dict[str, object] = {}
        for key, value in properties.items():
            kind, fields[key] = _typed(value)
            column = self._place.get(key, (len(self._place) + len(place), kind))
            if column[1] != kind or not kind or any(c in key for c in '{}",\r\n'):
                return None
            place[key] = column
        if len(self._place.keys() | place.keys()) > _MORE_COLUMNS:
            return None
        for key, (_, kind) in place.items():
            if key not in self._place:
                self._place[key] = (len(self._place), kind)
                self._table.columns.append(f"{key}:{kind}")
        values: list[object] = [None] * len(self._place)
        for key, field in fields.items():
            values[self._place[key][0]] = field
        return values


def _typed(value: object) -> tuple[str, object]:
    """Return the type and field of a text, number, boolean or homogeneous list; no type if CSV has none."""
    if isinstance(value, list):
        of = min(_typed(one)[0] for one in value)
        field = array(value if of == "string" else list(map(_field, value)))
        if not of or field is None:
            return "", None
        return f"{of}[]", field if of == "string" else CsvField(field)
    kind = _TYPES.get(type(value), "")
    finite = kind not in ("long", "double") or abs(value) < 2**63  # type: ignore[arg-type]
    return kind if finite else "", value
