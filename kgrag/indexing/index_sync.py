"""A passage index outside the graph is brought in step with the graph: what differs is removed and put, and no more.

Interrupted at any moment and run again, it goes on with what still differs. It holds the ids of both sides.
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
    """Return the index outside the graph of a collection; None where that is Neo4j's own."""
    label, slot = collection.label("Passage"), collection.embedding
    return open_index(settings, label, collection.embedder, collection.dimension, slot)


def difference(graph: Graph, collection: Collection, index: PassageIndex) -> Difference:
    """Return the missing and the extra passages of an index."""
    name, slot = collection.name, collection.embedding
    there = {r["id"] for r in graph.stream("look_up/indexed_passages", collection=name, embedding=slot)}
    ids = set(index.ids())
    return Difference(sorted(there - ids), sorted(ids - there))


def synchronise(graph: Graph, collection: Collection, settings: Settings, progress: Progress) -> None:
    """Bring the collection's index in step, where it has one outside the graph. Raises DatabaseError."""
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
