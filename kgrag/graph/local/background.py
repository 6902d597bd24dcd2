"""What the cache gets once the first server runs: an archive of Java's classes, and a prepared database.

A process of its own makes both when the machine has nothing else to do: python -m kgrag.graph.local.background
"""

import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from kgrag.graph.local.archive import Archive
from kgrag.graph.local.java import Java
from kgrag.graph.local.lines import Line, line_named
from kgrag.graph.local.prepared import PreparedStore
from kgrag.graph.local.process import start_detached
from kgrag.runtime.files import free_bytes
from kgrag.runtime.jars import JarStore
from kgrag.settings import Settings
from kgrag.values.errors import KgragError

DELAY = 60.0  # seconds; what is done first with a new server has the processors to itself
_MEMORY = 1_500_000_000  # bytes that have to be available, of which Java takes 850 MB to make an archive
_SPACE = 600_000_000  # bytes that have to be free on the disk; an archive takes 150 MB


def make_soon(store: JarStore, line: Line, java: Java) -> None:
    """Have what is not in the cache yet made in the background."""
    archive = Archive(store, line, java)
    if archive.is_settled and PreparedStore(store, line).path.exists():
        return
    given = [str(store.folder), line.name, str(java.path), str(java.version), str(DELAY)]
    with suppress(OSError, psutil.Error):  # a start is as good without
        archive.folder.mkdir(parents=True, exist_ok=True)
        start_detached([sys.executable, "-m", __name__, *given], cwd=archive.folder, output=Path(os.devnull))


def make(store: JarStore, line: Line, java: Java, settings: Settings) -> None:
    """Make what is missing, unless somebody does, or memory or disk are short. Raises KgragError, OSError."""
    archive, prepared = Archive(store, line, java), PreparedStore(store, line)
    with suppress(Timeout), FileLock(archive.folder / ".lock", timeout=0):
        if psutil.virtual_memory().available < _MEMORY or free_bytes(archive.folder) < _SPACE:
            return
        for left in archive.folder.glob("making-*"):  # by one that was killed
            shutil.rmtree(left, ignore_errors=True)
        archive.make()
        prepared.make(settings)


def main() -> None:
    """Make it when the machine has nothing else to do."""
    jars, line, java, version, delay = sys.argv[1:]
    if sys.platform != "win32":
        os.nice(19)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    time.sleep(float(delay))
    store, settings = JarStore(Path(jars)), Settings()
    with suppress(KgragError):  # the next start tries again
        make(
            store, line_named(line), Java(Path(java), int(version), ""),
            settings.model_copy(update={"cache": store.folder.parent}),
        )  # fmt: skip


if __name__ == "__main__":
    main()
