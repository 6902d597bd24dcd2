"""Passage indexes outside the graph, which `bm25` and `dense` search in place of Neo4j's own.

The graph is the ledger: it holds every passage with its words and vector, and an index here is a copy of these that can
be made again at any time (`kgrag.indexing.index_sync`). A passage's id hashes its text, so that the ids tell all.
Another index is a module with a class like `LanceIndex`, and an entry point of the group `kgrag.passage_indexes`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from kgrag.runtime.plugins import Plugins
from kgrag.settings import Settings

__all__ = ["PASSAGE_INDEXES", "PassageIndex", "Scores", "best"]

Scores = list[tuple[str, float]]
NEO4J = "neo4j"


class PassageIndex(Protocol):
    """The passages of one collection. Safe to share between threads; every method may raise DatabaseError.

    A change is there or not when a process is killed, and the next search sees it.
    """

    def __init__(self, settings: Settings, name: str, dimension: int) -> None:
        """Name the index; makes nothing yet.

        `name`: letters, digits and underscores, its own for each collection and embedder.
        """
        ...

    def words(self, stems: Sequence[str], title: float, limit: int) -> Scores:
        """Return (passage id, BM25 over its words + `title` x BM25 over its title's), best first, ties by id."""
        ...

    def nearest(self, vector: Sequence[float], limit: int) -> Scores:
        """Return (passage id, (1 + cosine) / 2), best first, ties by id."""
        ...

    def ids(self) -> Iterator[str]:
        """Return the ids of all its passages."""
        ...

    def put(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add passages, or replace them: rows of `cypher/look_up/index_entries.cypher`."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Remove passages."""
        ...

    def settle(self) -> None:
        """Bring what makes searches fast up to date, after changes."""
        ...

    def drop(self) -> None:
        """Remove it with all it holds, if it is there."""
        ...


PASSAGE_INDEXES: Plugins[type[PassageIndex]] = Plugins("kgrag.passage_indexes", "passage index")
"""The indexes outside the graph by name."""


def open_index(settings: Settings, label: str, embedder: str, dimension: int, slot: str) -> PassageIndex | None:
    """Return the index of a collection in the settings; None where that is Neo4j's own.

    `label`: of its passages, such as Passage_c7; `slot`: the property of its vectors. Raises NotFoundError,
    ConfigurationError.
    """
    if settings.passage_index == NEO4J:
        return None
    where = f"{settings.neo4j_uri or 'local'}\0{settings.neo4j_database}\0{embedder}\0{dimension}\0{slot}"
    name = f"{label.lower()}_{hashlib.blake2b(where.encode(), digest_size=6).hexdigest()}"
    return PASSAGE_INDEXES.find(settings.passage_index)(settings, name, dimension)


def best(scores: Iterable[tuple[str, float]], limit: int) -> Scores:
    """Return the best of some scores, ties by id."""
    return sorted(scores, key=lambda hit: (-hit[1], hit[0]))[:limit]
