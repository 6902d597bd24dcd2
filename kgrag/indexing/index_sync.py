"""Synchronisation of a passage index outside the graph: only differences are removed and added.

An interrupted run resumes. Memory holds the ids of both sides.
"""

from dataclasses import dataclass

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.passages import PassageIndex, open_index
from kgrag.settings import Settings
from kgrag.values.events import Progress

_BATCH = 1000
_STAGE = "passage index"


@dataclass(frozen=True, slots=True)
class Difference:
    """Ids of passages that an index lacks, and ids of passages that only the index has."""

    missing: list[str]
    stale: list[str]


def index_of(collection: Collection, settings: Settings) -> PassageIndex | None:
    """Return the index of a collection outside the graph, or None if Neo4j's own is used."""
    label, slot = collection.label("Passage"), collection.embedding
    return open_index(settings, label, collection.embedder, collection.dimension, slot)


def difference(graph: Graph, collection: Collection, index: PassageIndex) -> Difference:
    """Return the missing and the extra passages of an index."""
    name, slot = collection.name, collection.embedding
    there = {r["id"] for r in graph.stream("look_up/indexed_passages", collection=name, embedding=slot)}
    ids = set(index.ids())
    return Difference(sorted(there - ids), sorted(ids - there))


def synchronise(graph: Graph, collection: Collection, settings: Settings, progress: Progress) -> None:
    """Synchronise the collection's index outside the graph, if it has one. Raises DatabaseError."""
    index = index_of(collection, settings)
    if index is None:
        return
    apart = difference(graph, collection, index)
    if not apart.missing and not apart.stale:
        return
    for start in range(0, len(apart.stale), _BATCH):
        index.remove(apart.stale[start : start + _BATCH])
    for start in range(0, len(apart.missing), _BATCH):
        progress(_STAGE, start, len(apart.missing))
        ids = apart.missing[start : start + _BATCH]
        entries = [dict(r) for r in graph.run("look_up/index_entries", ids=ids, embedding=collection.embedding)]
        if entries:
            index.put(entries)
    index.settle()
    progress(_STAGE, len(apart.missing), len(apart.missing))
