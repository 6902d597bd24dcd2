"""Passage indexes outside the graph, which `bm25` and `dense` search instead of Neo4j's own.

The graph is the source of truth: it has every passage with its words and vector. An index here is a copy that can be
rebuilt at any time (`kgrag.indexing.index_sync`). A passage's id is a hash of its text, so comparing ids is enough.
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
    """The passages of a collection. Safe to share between threads; every method may raise DatabaseError.

    Changes are atomic even if a process is killed, and visible to the next search.
    """

    def __init__(self, settings: Settings, name: str, dimension: int) -> None:
        """Name the index; creates nothing yet.

        `name`: letters, digits and underscores, unique for each collection and embedder.
        """
        ...

    def words(self, stems: Sequence[str], title: float, limit: int) -> Scores:
        """Return (passage id, BM25 over its words + `title` x BM25 over its title's), best first, ties by id."""
        ...

    def nearest(self, vector: Sequence[float], limit: int) -> Scores:
        """Return (passage id, (1 + cosine) / 2), best first, ties by id."""
        ...

    def ids(self) -> Iterator[str]:
        """Return the ids of all passages."""
        ...

    def put(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add passages, or replace them: rows of `cypher/look_up/index_entries.cypher`."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Remove passages."""
        ...

    def settle(self) -> None:
        """Update the search structures after changes."""
        ...

    def drop(self) -> None:
        """Delete the index and its content, if it exists."""
        ...


PASSAGE_INDEXES: Plugins[type[PassageIndex]] = Plugins("kgrag.passage_indexes", "passage index")
"""The indexes outside the graph by name."""


def open_index(settings: Settings, label: str, embedder: str, dimension: int, slot: str) -> PassageIndex | None:
    """Return the index of a collection by the settings; None for Neo4j's own.

    `label`: the label of its passages, such as Passage_c7; `slot`: the property of the vectors. Raises NotFoundError,
    ConfigurationError.
    """
    if settings.passage_index == NEO4J:
        return None
    where = f"{settings.neo4j_uri or 'local'}\0{settings.neo4j_database}\0{embedder}\0{dimension}\0{slot}"
    name = f"{label.lower()}_{hashlib.blake2b(where.encode(), digest_size=6).hexdigest()}"
    return PASSAGE_INDEXES.find(settings.passage_index)(settings, name, dimension)


def best(scores: Iterable[tuple[str, float]], limit: int) -> Scores:
    """Return the highest scores, ties by id."""
    return sorted(scores, key=lambda hit: (-hit[1], hit[0]))[:limit]
