"""Embedding a collection again, with another embedder: new vectors and index beside the old, swapped when complete."""

from kgrag.graph import schema
from kgrag.graph.collections import Collection, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.indexing.finish import finish
from kgrag.indexing.index_sync import index_of
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.text import embedding_text
from kgrag.types import Progress

_BATCH = 512


def reembed(graph: Graph, name: str, embedder: Embedder, settings: Settings, progress: Progress) -> Collection:
    """Embed every passage, triple and name of a collection with `embedder`; searches use the old vectors until the end.

    Interrupted and run again, it goes on where it was. Returns the collection as it is afterwards.
    """
    collection = before = open_collection(graph, name)
    discard_old_vectors(graph, collection)
    if (collection.embedder, collection.dimension) != (embedder.name, embedder.dimension):
        slot = next(s for s in schema.SLOTS if s != collection.embedding)
        if collection.reembedding not in (None, embedder.name):
            _discard(graph, collection, slot)  # another embedder's unfinished work
        graph.run("write/begin_reembed", name=name, embedder=embedder.name, dimension=embedder.dimension, slot=slot)
        schema.ensure_vector_indexes(graph, collection.number, embedder.dimension, slot)
        for label in describe().labels("embedded"):
            add_vectors(graph, name, label, slot, embedder, progress)
        schema.await_collection_indexes(graph, collection.number, slot)
        graph.run("write/swap_embedding", name=name)
        collection = open_collection(graph, name)
        discard_old_vectors(graph, collection)
    finish(graph, collection, settings, progress, embedder)
    if collection.embedding != before.embedding and (old := index_of(before, settings)) is not None:
        old.drop()
    return collection


def discard_old_vectors(graph: Graph, collection: Collection) -> None:
    """Remove what a swap left behind; nearest neighbours and similar names must be found again."""
    if collection.discard is None:
        return
    graph.run("write/due_all_passages", collection=collection.name, stage="similar")
    graph.run("write/due_named_entities", collection=collection.name, stage="similar")
    _discard(graph, collection, collection.discard)
    graph.run("write/end_discard", name=collection.name)


def _discard(graph: Graph, collection: Collection, slot: str) -> None:
    schema.drop_vector_indexes(graph, collection.number, slot)
    for label in describe().labels("embedded"):
        graph.run("write/drop_vectors", label=label, collection=collection.name, embedding=slot)


def add_vectors(graph: Graph, name: str, label: str, slot: str, embedder: Embedder, progress: Progress) -> int:
    """Embed the nodes of a label that have no vector in a slot; returns how many."""
    ids = without_vector(graph, name, label, slot)
    parts = list(describe().node(label).embedded)
    stage = f"{label.lower()} vectors"
    for start in range(0, len(ids), _BATCH):
        progress(stage, start, len(ids))
        records = graph.run("search/embedded", label=label, ids=ids[start : start + _BATCH], parts=parts)
        vectors = embedder.embed([embedding_text(*r["parts"]) for r in records]).tolist()
        rows = [{"id": r["id"], "vector": v} for r, v in zip(records, vectors, strict=True)]
        graph.run("write/vectors", label=label, rows=rows, embedding=slot)
    if ids:
        progress(stage, len(ids), len(ids))
    return len(ids)


def without_vector(graph: Graph, name: str, label: str, slot: str) -> list[str]:
    """The ids of the nodes of a label that should have a vector in a slot, and have none."""
    sparse = describe().node(label).sparse
    records = graph.stream("search/without_vector", label=label, collection=name, embedding=slot, sparse=sparse)
    return [r["id"] for r in records]
