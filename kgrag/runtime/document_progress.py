"""Report progress within a document, since long work on one would look idle."""

import threading
import time
from collections.abc import Sequence
from typing import Self

from kgrag.values.events import Progress

PATIENCE = 2.0
"""Seconds without a report after which progress within the document is shown."""
EVERY = 1.0
"""Seconds between two checks."""
SECONDS = "seconds for "
WITHIN = (SECONDS, "pages of ", "passages of ")
"""Prefix of the names of stages within a document."""


class DocumentProgress:
    """A Progress that reports the current document if nothing was reported for some seconds; a context manager.

    A thread reports, never at the same time as another caller. If the other Progress raises there, the next call raises
    that error.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="kgrag-progress", daemon=True)
        self._reported: tuple[str, int] = ("", 0)
        self._news = self._start = time.monotonic()
        self._what, self._unit = "", ""
        self._counts: Sequence[int] = ()
        self._failed: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """See Progress."""
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if (stage, done) != self._reported:
                self._reported, self._news = (stage, done), time.monotonic()
            self._progress(stage, done, total)

    def at(self, what: str, unit: str, counts: Sequence[int]) -> None:
        """Set the current item, "" for none; `counts`: [done, total] in units, as they change.

        A third count: the seconds of each unit, if that is long.
        """
        with self._lock:
            self._what, self._unit, self._counts, self._start = what, unit, counts, time.monotonic()

    def _tell(self) -> None:
        while not self._over.wait(EVERY):
            with self._lock:
                now = time.monotonic()
                if not self._what or now - max(self._news, self._start) < PATIENCE:
                    continue
                try:
                    if self._counts:
                        done, total, *seconds = self._counts
                        slow = f", recognised from pictures in about {seconds[0]} s each" if seconds else ""
                        self._progress(f"{self._unit} of {self._what}{slow}", done, total)
                    else:
                        self._progress(SECONDS + self._what, int(now - self._start), None)
                except BaseException as error:
                    self._failed = error
                    return


def at(progress: Progress, what: str, unit: str = "", counts: Sequence[int] = ()) -> None:
    """Report the current document to a Progress that supports it; see `DocumentProgress.at`."""
    if isinstance(progress, DocumentProgress):
        progress.at(what, unit, counts)
