"""A JSON Lines file that grows by a line whenever something is done, so that interrupted work resumes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from kgrag.values.errors import InputError


class Ledger:
    """The file, opened to be added to; its first line says what the others are about. A context manager."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        """Open the file, which is made if need be. Raises InputError when it cannot be written.

        A last line that a kill cut short is dropped.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("ab+", buffering=0)
        except OSError as error:
            raise InputError(
                f"{path} cannot be written ({error.strerror}).", "Name another folder with --out."
            ) from error
        self._rows = list(self._read())
        if self._file.tell() == 0:
            self.add(head)
            self._rows = [dict(head)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The objects that were there when it was opened, the first line's first; lines that hold none are left out."""
        return self._rows

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a line at once."""
        self._file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode("utf-8", "surrogatepass"))

    def _read(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        lines = list(takewhile(lambda line: line.endswith(b"\n"), self._file.readlines()))
        end = sum(map(len, lines))
        self._file.truncate(end)
        self._file.seek(end)
        return _objects(lines)


def _objects(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The objects of lines; one that a kill cut short is left out."""
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row
