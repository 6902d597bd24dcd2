"""The files of a bulk load: CSV as `neo4j-admin database import` reads it, and rows that wait on disk."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from kgrag.models.embed import Vectors

_DECIMALS = 12  # exact for float32 from 0.00002 on; smaller numbers are off by 5e-13 at most
_DIGITS = np.frombuffer("".join(f"{n:04d}" for n in range(10_000)).encode(), "<u4")
_MINUS, _PLUS = np.frombuffer(b";-0.;00.", "<u4")
_MORE_COLUMNS = 200  # documents with further metadata take the other way
_TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}


class Ready(str):
    """A field as it stands in the file: a list, or a vector."""

    __slots__ = ()


class Lines:
    """Rows of a CSV file, held in memory."""

    def __init__(self) -> None:
        self.rows = 0
        self.longest = 0
        self.multiline = False
        self._held: list[str] = []

    def write(self, *values: object) -> None:
        """Write a row: text, numbers, Ready, or None for nothing. What is missing at its end is nothing, too."""
        line = ",".join([_field(value) for value in values]).rstrip(",")
        self.rows += 1
        self.longest = max(self.longest, len(line))
        self.multiline = self.multiline or "\n" in line or "\r" in line
        self._put(line + "\n")

    def link(self, start: str, end: str, more: object = "") -> None:
        """Write a row of ids and what is Ready, or a number, quicker."""
        self.rows += 1
        self._put(f"{start},{end},{more}\n" if more else f"{start},{end}\n")

    def text(self) -> str:
        """The rows."""
        return "".join(self._held)

    def _put(self, line: str) -> None:
        self._held.append(line)


class Table(Lines):
    """A CSV file; its header, in a file of its own, is written at the end."""

    def __init__(self, folder: Path, name: str, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = list(columns)
        self.path = folder / f"{name}.csv"
        self.header = folder / f"{name}-header.csv"
        self._file = self.path.open("w", encoding="utf-8", errors="replace", newline="", buffering=1 << 20)

    def take(self, lines: Lines) -> None:
        """Write rows that were held."""
        self._put(lines.text())
        self.rows += lines.rows
        self.longest = max(self.longest, lines.longest)
        self.multiline = self.multiline or lines.multiline

    def close(self) -> None:
        """Write what is left, and the header."""
        self._file.close()
        self.header.write_text(",".join(self.columns) + "\n", encoding="utf-8")

    def _put(self, line: str) -> None:
        self._file.write(line)


def _field(value: object) -> str:
    kind = type(value)
    if kind is Ready:
        return value  # type: ignore[return-value]
    if kind is str:
        return '"' + value.replace('"', '""') + '"'  # type: ignore[attr-defined,no-any-return]
    if value is None:
        return ""
    return ("true" if value else "false") if kind is bool else repr(value)


def integers(values: Iterable[int] | None) -> Ready | None:
    """A field of type long[]; there is none that is empty."""
    return Ready(";".join(map(str, values))) if values else None


def strings(values: Iterable[str]) -> Ready | None:
    """A field of type string[] of plain names; there is none that is empty."""
    return Ready(";".join(values)) or None


def floats(vectors: Vectors) -> list[Ready]:
    """Fields of type float[], one a row of the vectors, each number below 10."""
    if vectors.size == 0:
        return [Ready()] * len(vectors)
    if not np.abs(vectors).max() < 10:
        return [Ready(";".join(map(repr, row))) for row in vectors.tolist()]
    text = np.empty((*vectors.shape, 4), "<u4")  # four characters each: ;-0. 1234 5678 9012
    rest = np.rint(np.abs(vectors.astype(np.float64)) * 10**_DECIMALS)
    for group in (3, 2, 1):
        above = np.floor(rest / 10_000)
        np.take(_DIGITS, (rest - above * 10_000).astype(np.uint16), out=text[..., group])
        rest = above
    text[..., 0] = np.where(np.signbit(vectors), _MINUS, _PLUS) + (rest.astype(np.uint32) << 16)
    joined = text.tobytes().decode("ascii")
    width = 16 * vectors.shape[1]
    return [Ready(joined[i * width + 1 : (i + 1) * width]) for i in range(len(vectors))]


class MetadataColumns:
    """The columns that documents add to those that all have: one for each key, found as they come."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._fixed = len(table.columns)
        self._place: dict[str, tuple[int, str]] = {}

    def values(self, properties: dict[str, Any]) -> list[object] | None:
        """The fields of a row for these properties, or None if they do not fit into the table.

        A property whose type is another than before does not, nor a name or number that CSV does not know.
        """
        place: dict[str, tuple[int, str]] = {}
        for key, value in properties.items():
            kind = _TYPES.get(type(value), "")
            known = self._place.get(key, (len(self._place) + len(place), kind))
            finite = kind not in ("long", "double") or abs(value) < 2**63
            if known[1] != kind or not kind or not finite or any(c in key for c in '{}",\r\n'):
                return None
            place[key] = known
        if len(self._place.keys() | place.keys()) > _MORE_COLUMNS:
            return None
        for key, (_, kind) in place.items():
            if key not in self._place:
                self._place[key] = (len(self._place), kind)
                self._table.columns.append(f"{key}:{kind}")
        values: list[object] = [None] * len(self._place)
        for key, value in properties.items():
            values[self._place[key][0]] = value
        return values


class Spill:
    """Values that wait in a file until they are read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb", buffering=1 << 20)
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def add(self, value: object) -> None:
        """Put a value at the end."""
        self._places.append(self._file.tell())
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)

    def flush(self) -> None:
        """Let other processes see what was added."""
        self._file.flush()

    def __getitem__(self, number: int) -> Any:
        with self._path.open("rb") as file:
            file.seek(self._places[number])
            return pickle.load(file)

    def __iter__(self) -> Iterator[Any]:
        self.flush()
        with self._path.open("rb") as file:
            for _ in self._places:
                yield pickle.load(file)

    def close(self) -> None:
        """Forget the values."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class Partitions:
    """Counts of millions of names or words, dealt by id into files, each small enough to be added up in memory."""

    def __init__(self, folder: Path, name: str, number: int = 64, held: int = 200_000) -> None:
        """`held`: rows that wait in memory before they are written."""
        self._spills = [Spill(folder / f"{name}-{i}.rows") for i in range(number)]
        self._waiting: list[list[tuple[Any, ...]]] = [[] for _ in range(number)]
        self._held = held
        self._count = 0

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Put rows away; each begins with the id of its node."""
        number = len(self._spills)
        for row in rows:
            self._waiting[int(row[0][:8], 16) % number].append(row)
            self._count += 1
        if self._count >= self._held:
            self._flush()

    def __iter__(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of each part; all rows of one id are in one part, in their order."""
        self._flush()
        for spill in self._spills:
            yield (row for rows in spill for row in rows)

    def close(self) -> None:
        """Forget the rows."""
        for spill in self._spills:
            spill.close()

    def _flush(self) -> None:
        for spill, rows in zip(self._spills, self._waiting, strict=True):
            if rows:
                spill.add(rows)
                rows.clear()
        self._count = 0


class VectorFile:
    """Rows of float32 in a file: written one block after the other, then read as one array that stays on disk."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._file: IO[bytes] | None = None
        self.rows = 0

    def __enter__(self) -> Self:
        self._file = self._path.open("wb", buffering=1 << 20)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, vectors: Vectors) -> None:
        """Put rows at the end."""
        assert self._file is not None
        self._file.write(np.ascontiguousarray(vectors, np.float32).tobytes())
        self.rows += len(vectors)

    def read(self) -> Vectors:
        """All rows, once they are written."""
        if self.rows == 0:
            return np.empty((0, self._dimension), np.float32)
        return np.memmap(self._path, np.float32, "r", shape=(self.rows, self._dimension))
