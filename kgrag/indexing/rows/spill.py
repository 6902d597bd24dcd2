"""The files of a bulk load: rows that wait on disk, and vectors."""

import pickle
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from kgrag.models.embed import Vectors


class Spill:
    """Values that wait in a file until they are read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb", buffering=1 << 20)
        self._places = array("Q")
        self._end = 0

    def __len__(self) -> int:
        return len(self._places)

    def add(self, value: object) -> None:
        """Put a value at the end."""
        self.put(pickled(value))

    def put(self, value: bytes) -> None:
        """Put a value at the end that is pickled already."""
        self._places.append(self._end)
        self._end += self._file.write(value)

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


def pickled(value: object) -> bytes:
    """A value as it stands in a Spill."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


_PARTS = 64


def partition(rows: Iterable[tuple[Any, ...]]) -> list[bytes]:
    """Rows for Partitions, pickled part by part; each row begins with the id of its node."""
    parts: list[list[tuple[Any, ...]]] = [[] for _ in range(_PARTS)]
    for row in rows:
        parts[int(row[0][:8], 16) % _PARTS].append(row)
    return [pickled(part) if part else b"" for part in parts]


class Held:
    """Rows that are few enough to stay in memory, as one part."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Put rows away."""
        self._rows.extend(rows)

    def __iter__(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """All rows, in their order."""
        yield iter(self._rows)

    def close(self) -> None:
        """Forget the rows."""
        self._rows = []


class Partitions:
    """Counts of millions of names or words, dealt by id into files, each small enough to be added up in memory."""

    def __init__(self, folder: Path, name: str) -> None:
        self._spills = [Spill(folder / f"{name}-{i}.rows") for i in range(_PARTS)]

    def add(self, dealt: Iterable[bytes]) -> None:
        """Put rows away that were dealt."""
        for spill, rows in zip(self._spills, dealt, strict=True):
            if rows:
                spill.put(rows)

    def __iter__(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of each part; all rows of one id are in one part, in their order."""
        for spill in self._spills:
            yield (row for rows in spill for row in rows)

    def close(self) -> None:
        """Forget the rows."""
        for spill in self._spills:
            spill.close()


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
