"""Watch folders of the operator: a thread for each submits the job that reads the changes."""

import logging
import os
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from kgrag.client.watching import looks
from kgrag.graph.jobs import Job
from kgrag.server.jobs import Jobs
from kgrag.values.errors import KgragError

_LOG = logging.getLogger(__name__)
_QUIET = 2.0  # seconds without a change before files are read
_AGAIN = 10.0  # seconds before a missing folder or database is tried again
_OFTEN = 0.5  # seconds between polls of the job


class WatchedFolders(AbstractContextManager["WatchedFolders"]):
    """Watches folders, by the names of their collections, within the `with` block.

    Each server first checks all files, and so reads the changes that a killed server missed.
    """

    def __init__(self, jobs: Jobs, folders: Mapping[str, Path]) -> None:
        self._jobs = jobs
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, args=entry, name=f"kgrag-watch-{entry[0]}", daemon=True)
            for entry in folders.items()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(_AGAIN)

    def _watch(self, collection: str, folder: Path) -> None:
        while not self._ending.is_set():
            top = Path(os.path.realpath(folder))
            try:
                if top.is_dir():
                    for _ in looks([top], lambda: self._read(collection), _unsettled, quiet=_QUIET, ended=self._ending):
                        pass
                else:
                    _LOG.warning("the watched folder %s of collection %s is not there", folder, collection)
            except (KgragError, OSError) as error:
                _LOG.warning("the watched folder of collection %s: %s", collection, error)
            self._ending.wait(_AGAIN)

    def _read(self, collection: str) -> Job:
        """Submit the job that reads the folder, and wait until it or the server ends."""
        queued = self._jobs.list([collection], "queued", 1, "watched")
        job = queued[0] if queued else self._jobs.submit("watched", collection, owner="the watched folder")
        while not job.over and not self._ending.wait(_OFTEN):
            job = self._jobs.get(job.id)
        return job


def _unsettled(job: Job) -> bool:
    return bool(job.result.get("unsettled"))
