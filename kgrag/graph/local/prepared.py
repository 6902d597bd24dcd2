"""A database with the schema and some spare indexes, in the cache: a new home begins with a copy of it.

Else the first ingest makes some fifty indexes with a server that has just started, which takes as long as the start.
"""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from kgrag.graph import schema
from kgrag.graph.collections import create_collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.graph.local.lines import SERVER, Line, lock_groups
from kgrag.runtime.jars import JarStore
from kgrag.settings import IndexingSettings, Settings

DIMENSION = 256
"""Of the default embedder, for whose vectors the spare indexes are."""
_DATABASE = "neo4j"
_PARTS = (Path("transactions") / _DATABASE, Path("databases") / _DATABASE)
"""What a database is of the folder `data`; users are in another, which the first start makes."""


class PreparedStore:
    """The prepared database of a line of Neo4j, which may not be there (yet)."""

    def __init__(self, store: JarStore, line: Line) -> None:
        """Name it by what it is made of: the server's jars and kgrag's schema."""
        self._folder = store.folder.parent / "java"
        self._line = line
        jars = sorted(jar.sha256 for jar in lock_groups(line)[SERVER])
        made_of = json.dumps([jars, schema.SCHEMA_VERSION, describe().digest(), DIMENSION])
        self.path = self._folder / f"store-{line.name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"

    def place(self, data: Path) -> None:
        """Copy it into the folder `data` of a server that has no database yet. Raises OSError."""
        if not self.path.exists() or any((data / part).exists() for part in _PARTS[1:]):
            return
        for part in _PARTS:
            copy = (data / part).with_name(f"{part.name}.part")
            shutil.rmtree(copy, ignore_errors=True)  # of one that was interrupted
            shutil.copytree(self.path / part, copy)
            shutil.rmtree(data / part, ignore_errors=True)
            copy.replace(data / part)  # the last one makes it a database

    def make(self, settings: Settings) -> None:
        """Make it by a server of its own, unless it is there.

        Raises KgragError if that server fails, OSError.
        """
        if self.path.exists():
            return
        from kgrag.graph.local.server import LocalServer  # which uses this module

        for left in self._folder.glob("preparing-*"):  # by one that was killed
            LocalServer(_within(settings, left, self._line)).stop()
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="preparing-", dir=self._folder) as name:
            server = LocalServer(_within(settings, Path(name), self._line))
            try:
                endpoint = server.ensure_running()
                with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
                    _prepare(graph)
            finally:
                server.stop()
            data, made = server.home.server / "data", Path(name) / "made"
            for part in _PARTS:
                shutil.copytree(data / part, made / part)
            for old in self._folder.glob(f"store-{self._line.name}-*"):
                shutil.rmtree(old, ignore_errors=True)
            made.replace(self.path)


def _prepare(graph: Graph) -> None:
    """Make the schema, and the indexes of a collection that is gone again and of some to come."""
    made = create_collection(graph, "prepared", "none", DIMENSION, IndexingSettings(), unused_seconds=0)
    graph.run("write/close_collection", collection=made.name, indexed=list(made.indexed), most=1)
    graph.run("write/remove_collection", collection=made.name)


def _within(settings: Settings, home: Path, line: Line) -> Settings:
    """The settings for a server whose home is that folder, and which prepares nothing itself."""
    local = settings.local.model_copy(update={"archive": False, "version": line.name})
    return settings.model_copy(update={"home": home, "local": local})
