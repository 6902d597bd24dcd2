"""Formats, and the reading processes for untrusted files, which have limits and are replaced when they die."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgrag.loaders.base import BadInput, Item, Source, check_size
from kgrag.runtime.child import Child, Died
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document

if TYPE_CHECKING:
    from kgrag.loaders.markup import Boilerplate
    from kgrag.loaders.named_rows import Columns


_START = 60.0  # seconds; on a busy machine, loading the libraries may take long


class Reader(Child):
    """One reading process."""

    def __init__(self, memory_mb: int) -> None:
        super().__init__("kgrag.loaders.worker", silent=True)
        self._starting = True
        self.send(memory_mb)

    def ask(self, seconds: float, **request: object) -> dict[str, Any]:
        """Return the reply to a request.

        Raises BadInput if the process dies, or is killed because it takes longer than `seconds`.
        """
        self.send(request)
        try:
            if self._starting:
                self.receive(_START)  # the process reports that it is ready
                self._starting = False
            answer: dict[str, Any] = self.receive(seconds)
        except Died as death:
            late = f"took longer than {max(0, seconds):.0f} s to read"
            raise BadInput(late if death.code is None else f"made its reader fail ({death})") from death
        except BaseException:
            self.kill()
            raise
        return answer


class Readers:
    """A pool of reading processes, reused between files to save their start-up time."""

    def __init__(self, settings: LoadingSettings, cache: Path | None = None) -> None:
        """Prepare a pool without starting a process; `cache`: the folder of recognised pages."""
        self.settings = settings
        self.cache = cache
        self._idle: list[Reader] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().kill()

    def processes(self) -> int:
        """Return the number of processes that may read one file together."""
        return self.settings.processes or min(8, os.cpu_count() or 1)

    def is_tired(self, reader: Reader) -> bool:
        """Return whether a process has ended, or uses so much memory that a new one is better."""
        return reader.is_large(self.settings.memory_mb / 2)

    def give(self, reader: Reader) -> None:
        """Return an idle process to the pool."""
        if self.is_tired(reader):
            reader.kill()
        else:
            self._idle.append(reader)

    def open(self, path: Path, form: str, seconds: float, **options: object) -> tuple[Reader, dict[str, Any]]:
        """Start a process that opens a file; returns it with the file's header. Raises BadInput."""
        reader = self._idle.pop() if self._idle else Reader(self.settings.memory_mb)
        answer = reader.ask(seconds, open=str(path.absolute()), format=form, options=options)
        if "header" in answer:
            return reader, answer["header"]
        if answer.get("fatal"):
            reader.kill()
        else:
            self.give(reader)
        raise BadInput(answer["problem"])

    def read(self, source: Source, form: str) -> dict[str, Any]:
        """Read a whole file in a reading process with the function `form`, "module:function". Raises BadInput."""
        check_size(source)
        reader, content = self.open(source.path, form, self.settings.file_seconds)
        self.give(reader)
        return content


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of a load: the names of `columns`, and `readers`, the processes for untrusted files.

    `boilerplate`: the common blocks of HTML pages, found once per folder.
    """

    columns: "Columns"
    readers: "Readers"
    boilerplate: "dict[Path, Boilerplate]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files, registered by an entry point of the group `kgrag.loaders`.

    Attributes:
        name: the name of the format in messages.
        extensions: the extensions of its files, in lower case with the dot.
        load: yields one document per file or row, and Problems; it may raise BadInput.
        untrusted: whether its files are recognised by their content and read in a separate process.
        version: the version of the reader; after an increase, unchanged files are read again.

    Example:
        >>> def shout(source: Source) -> Document:
        ...     return Document(source.key, (Section(read_text(source).upper()),), title=source.title)
        >>> Format("loud text", (".loud",), single_document(shout)).version
        1
    """

    name: str
    extensions: tuple[str, ...]
    load: Callable[[Source, Reading], Iterator[Item]]
    untrusted: bool = False
    version: int = 1


def single_document(load: Callable[[Source], Document]) -> Callable[[Source, Reading], Iterator[Item]]:
    """Make the `load` of a format with one document per file.

    Args:
        load: reads a file into its document; it may raise BadInput.

    Returns:
        The `load` of a Format.
    """

    def items(source: Source, reading: Reading) -> Iterator[Item]:
        yield load(source)

    return items
