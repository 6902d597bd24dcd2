"""Watch folders and keep a collection up to date with them."""

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
_TICK = 200  # milliseconds between two polls for changes
_LONGEST = 30.0  # seconds of constant changes after which the settled files are read


def watch(
    collection: "Collection", folders: Sequence[str | Path], *, quiet: float = 2.0, prune: bool = True, **options: Any
) -> Iterator[IngestReport]:
    """Ingest folders now and after each change in them, without end; yield each report.

    Files are read once nothing has changed for `quiet` seconds, never while they are written. Documents of files that
    are gone are deleted, unless `prune` is False. `options` are passed to `Collection.ingest`. Watching can be
    interrupted at any moment, and resumes. Raises InputError if a path is not a folder or no longer exists.
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
    """Yield the result of `read` at once, and again each time the folders have changed and then been quiet.

    Args:
        tops: the folders.
        read: reads the folders.
        unsettled: whether `read` must be called again, since a file was too new.
        quiet: seconds without a change before `read` is called.
        ended: ends the loop once it is set.
    """
    from watchfiles import watch as changes_in

    ticks = changes_in(
        *tops, watch_filter=Visible(tops), step=_TICK, debounce=2 * _TICK, rust_timeout=_TICK, yield_on_timeout=True,
        stop_event=ended,
    )  # fmt: skip
    next(ticks, None)  # watching has begun, so no later change is missed
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
    """A filter of changes: it passes files that an ingest would read, not hidden ones."""

    def __init__(self, tops: Sequence[Path]) -> None:
        self._tops = tops

    def __call__(self, change: "Change", path: str) -> bool:
        """Return whether the changed file is visible, so not hidden."""
        inner = next((Path(path).relative_to(top) for top in self._tops if Path(path).is_relative_to(top)), Path(path))
        return not any(part.startswith(".") for part in inner.parts)
