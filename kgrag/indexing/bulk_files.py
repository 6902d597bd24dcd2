"""The files of a bulk load: rows that wait on disk, and vectors."""

import pickle
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
