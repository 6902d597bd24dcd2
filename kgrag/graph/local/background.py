"""Have a server plan searches in advance, and fill the cache: an archive of Java's classes, a prepared database.

A separate process does this when the machine is idle: python -m kgrag.graph.local.background
"""

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from kgrag.graph.collections import create_collection
from kgrag.graph.connection import Graph
from kgrag.graph.local.archive import Archive
from kgrag.graph.local.config import PasswordFile
from kgrag.graph.local.java import Java
from kgrag.graph.local.prepared import DIMENSION, PARTS, PreparedStore
from kgrag.graph.local.releases import Line, line_named
from kgrag.graph.local.server import Endpoint, LocalServer
from kgrag.runtime.files import free_bytes
from kgrag.runtime.jars import JarStore
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.errors import KgragError

_MEMORY = 1_500_000_000  # bytes of memory that must be available; Java takes 850 MB to make an archive
_QUIET = 2  # consecutive checks without any write
_SPACE = 600_000_000  # bytes that must be free on disk; an archive takes 150 MB


def plan(endpoint: Endpoint, patience: float = 900) -> None:
    """Plan searches once there are passages and nothing was written for some seconds.

    Raises DatabaseError if the server ends.
    """
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
        state, quiet, deadline = "", 0, time.monotonic() + patience
        while quiet < _QUIET and time.monotonic() < deadline:
            time.sleep(2)
            records = graph.run("look_up/collections", name="")
            before, state = state, graph.state()
            quiet = quiet + 1 if state == before and any(r["collection"]["passages"] for r in records) else 0
        graph.plan_searches()


def make(store: JarStore, line: Line, java: Java, settings: Settings) -> None:
    """Make the missing parts, unless another process does, or memory or disk is short. Raises KgragError, OSError."""
    archive, prepared = Archive(store, line, java), PreparedStore(store, line)
    with suppress(Timeout), FileLock(archive.folder / ".lock", timeout=0):
        if psutil.virtual_memory().available < _MEMORY or free_bytes(archive.folder) < _SPACE:
            return
        for left in archive.folder.glob("making-*"):  # left by a killed process
            shutil.rmtree(left, ignore_errors=True)
        archive.make()
        prepare(prepared, settings)


def prepare(store: PreparedStore, settings: Settings) -> None:
    """Make the prepared database with a separate server, unless it exists.

    Raises KgragError if that server fails, and OSError.
    """
    if store.path.exists():
        return
    folder = store.path.parent
    for left in folder.glob("preparing-*"):  # left by a killed process
        LocalServer(_within(settings, left, store.line)).stop()
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="preparing-", dir=folder) as name:
        server = LocalServer(_within(settings, Path(name), store.line))
        try:
            endpoint = server.ensure_running()
            with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
                _prepare(graph)
        finally:
            server.stop()
        data, copy = server.home.server / "data", Path(name) / "made"
        for part in PARTS:
            shutil.copytree(data / part, copy / part)
        for old in folder.glob(f"store-{store.line.name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        copy.replace(store.path)


def _prepare(graph: Graph) -> None:
    """Create the schema, and the indexes of a collection that is then removed and of some future ones."""
    record = create_collection(graph, "prepared", "none", DIMENSION, IndexingSettings(), unused_seconds=0)
    graph.run("write/close_collection", collection=record.name, indexed=list(record.indexed), most=1)
    graph.run("write/remove_collection", collection=record.name)


def _within(settings: Settings, home: Path, line: Line) -> Settings:
    """Return the settings for a server with that home folder which prepares nothing itself."""
    local = settings.local.model_copy(update={"archive": False, "version": line.name})
    return settings.model_copy(update={"home": home, "local": local})


def main() -> None:
    """Do the work when the machine is idle."""
    jars, line, java, version, delay, uri, user, database, password = sys.argv[1:]
    if sys.platform != "win32":
        os.nice(19)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if delay:
        time.sleep(float(delay))
        store = JarStore(Path(jars))
        settings = Settings().model_copy(update={"cache": store.folder.parent})
        with suppress(KgragError):  # the next start tries again
            make(store, line_named(line), Java(Path(java), int(version), ""), settings)
    with suppress(KgragError):  # the server was stopped meanwhile
        plan(Endpoint(uri, user, PasswordFile(Path(password)).read(), database, ""))


if __name__ == "__main__":
    main()
