"""Folders that are watched: a collection is kept in step with them."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgrag.values.errors import BusyError, InputError
from kgrag.values.results import IngestReport

if TYPE_CHECKING:
    from watchfiles import Change

    from kgrag.client.collection import Collection

T = TypeVar("T")
_TICK = 200  # milliseconds between two looks at what has changed
_LONGEST = 30.0  # seconds of constant changes after which files at rest are read


def watch(
    collection: "Collection", folders: Sequence[str | Path], *, quiet: float = 2.0, prune: bool = True, **options: Any
) -> Iterator[IngestReport]:
    """Ingest folders, and again whenever something in them has changed, without end; yields each report.

    A file is read when nothing has changed for `quiet` seconds, never while it is written. Documents of files that are
    gone are deleted, unless `prune` is False; `options` are those of `Collection.ingest`. It can be interrupted at any
    moment, and resumes. Raises InputError if a path is not a folder or no longer exists.
    """
    tops = [Path(os.path.realpath(folder)) for folder in folders]
    for top in tops:
        if not top.is_dir():
            raise InputError(f"{top} is not a folder that could be watched.", "Check the spelling.")

    def read() -> IngestReport:
        while True:
            try:
                return collection.ingest(folders, prune=prune, settle=quiet, **options)
            except BusyError:
                time.sleep(quiet)  # somebody else works on it

    yield from looks(tops, read, lambda report: report.unsettled > 0, quiet=quiet)


def looks(
    tops: Sequence[Path],
    read: Callable[[], T],
    unsettled: Callable[[T], bool],
    *,
    quiet: float,
    ended: threading.Event | None = None,
) -> Iterator[T]:
    """Yield what `read` returns: at once, and whenever something in the folders has changed and been quiet.

    Args:
        tops: the folders.
        read: brings what holds them up to date.
        unsettled: whether it has to be called again, since a file was too new.
        quiet: seconds.
        ended: what ends it, once it is set.
    """
    from watchfiles import watch as changes_in

    ticks = changes_in(
        *tops, watch_filter=Visible(tops), step=_TICK, debounce=2 * _TICK, rust_timeout=_TICK, yield_on_timeout=True,
        stop_event=ended,
    )  # fmt: skip
    next(ticks, None)  # from here on nothing is missed
    yield read()
    first = last = time.monotonic()  # times of the changes since then; files that were too new are checked again
    waiting = True
    for changes in ticks:
        now = time.monotonic()
        if changes:
            first, last, waiting = (first if waiting else now), now, True
        if waiting and (now - last >= quiet or now - first >= _LONGEST):
            report = read()
            first = last = time.monotonic()
            waiting = unsettled(report)
            yield report


class Visible:
    """Whether a change is of a file that an ingest would look at: hidden ones are not."""

    def __init__(self, tops: Sequence[Path]) -> None:
        self._tops = tops

    def __call__(self, change: "Change", path: str) -> bool:
        """Whether a change is one of no hidden file."""
        inner = next((Path(path).relative_to(top) for top in self._tops if Path(path).is_relative_to(top)), Path(path))
        return not any(part.startswith(".") for part in inner.parts)
