"""A cached database with the schema and some spare indexes, which is copied into a new home.

Otherwise the first ingest would create some fifty indexes on a new server, which takes as long as its start.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from kgrag.graph import schema
from kgrag.graph.description import describe
from kgrag.graph.local.archive import Archive
from kgrag.graph.local.java import Java
from kgrag.graph.local.process import start_detached
from kgrag.graph.local.releases import SERVER, Line, lock_groups
from kgrag.runtime.jars import JarStore

DIMENSION = 256
"""The dimension of the default embedder, for which the spare indexes are made."""
DELAY = 60.0  # seconds, so that the first work with a new server does not have to share the processors
_DATABASE = "neo4j"
PARTS = (Path("transactions") / _DATABASE, Path("databases") / _DATABASE)
"""The folders of the database within `data`. Users are in another one, which the first start makes."""


class PreparedStore:
    """The prepared database of a line of Neo4j; it may not exist yet."""

    def __init__(self, store: JarStore, line: Line) -> None:
        """Derive its name from its inputs: the server's jars and kgrag's schema."""
        self.line = line
        jars = sorted(jar.sha256 for jar in lock_groups(line)[SERVER])
        made_of = json.dumps([jars, schema.SCHEMA_VERSION, describe().digest(), DIMENSION])
        digest = hashlib.sha256(made_of.encode()).hexdigest()[:16]
        self.path = store.folder.parent / "java" / f"store-{line.name}-{digest}"

    def place(self, data: Path) -> None:
        """Copy it into the folder `data` of a server that has no database yet. Raises OSError."""
        if not self.path.exists() or any((data / part).exists() for part in PARTS[1:]):
            return
        for part in PARTS:
            copy = (data / part).with_name(f"{part.name}.part")
            shutil.rmtree(copy, ignore_errors=True)  # left by an interrupted copy
            shutil.copytree(self.path / part, copy)
            shutil.rmtree(data / part, ignore_errors=True)
            copy.replace(data / part)  # the last one makes it a database


def make_soon(store: JarStore, line: Line, java: Java, server: Sequence[str]) -> None:
    """Start a background process that makes what the cache lacks, and has a server plan searches.

    `server`: its address, user, database and password file.
    """
    archive = Archive(store, line, java)
    delay = "" if archive.is_settled and PreparedStore(store, line).path.exists() else str(DELAY)
    arguments = [str(store.folder), line.name, str(java.path), str(java.version), delay, *server]
    with suppress(OSError, psutil.Error):  # a start works without it
        archive.folder.mkdir(parents=True, exist_ok=True)
        start_detached(
            [sys.executable, "-m", "kgrag.graph.local.background", *arguments],
            cwd=archive.folder,
            output=Path(os.devnull),
        )
