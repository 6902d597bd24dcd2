"""Embedding a collection anew with another embedder: new vectors and index beside the old, swapped when complete."""

from collections.abc import Callable, Mapping
from typing import Any

from kgrag.graph import schema
from kgrag.graph.collections import Collection, open_collection
from kgrag.graph.connection import Graph
from kgrag.indexing.documents import embedding_text
from kgrag.indexing.finish import finish
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.types import Progress

_BATCH = 512
_TEXTS: dict[str, tuple[str, str, Callable[[Mapping[str, Any]], str]]] = {
    "passage": ("passages", "passage_contents", lambda r: embedding_text(r["title"], r["section"], r["text"])),
    "triple": ("triples", "triple_contents", lambda r: str(r["text"])),
    "entity": ("entities", "entity_names", lambda r: str(r["normal"])),
}
"""What has vectors -> its plural, the query that fetches what they are made of, and the text that is embedded."""


def reembed(graph: Graph, name: str, embedder: Embedder, settings: Settings, progress: Progress) -> Collection:
    """Embed every passage, triple and name of a collection with `embedder`; searches use the old vectors until the end.

    Broken off and run again, it goes on where it was. Returns the collection as it is afterwards.
    """
    collection = open_collection(graph, name)
    discard_old_vectors(graph, collection)
    if (collection.embedder, collection.dimension) != (embedder.name, embedder.dimension):
        slot = next(s for s in schema.SLOTS if s != collection.embedding)
        if collection.reembedding not in (None, embedder.name):
            _discard(graph, collection, slot)  # another embedder's unfinished work
        graph.run("write/begin_reembed", name=name, embedder=embedder.name, dimension=embedder.dimension, slot=slot)
        schema.ensure_vector_indexes(graph, collection.number, embedder.dimension, slot)
        for kind in _TEXTS:
            add_vectors(graph, name, kind, slot, embedder, progress)
        schema.await_collection_indexes(graph, collection.number, slot)
        graph.run("write/swap_embedding", name=name)
        collection = open_collection(graph, name)
        discard_old_vectors(graph, collection)
    finish(graph, collection, settings, progress, embedder)
    return collection


def discard_old_vectors(graph: Graph, collection: Collection) -> None:
    """Remove what a swap left behind; nearest neighbours and similar names must be found anew."""
    if collection.discard is None:
        return
    graph.run("write/due_all_passages", collection=collection.name, stage="similar")
    graph.run("write/due_named_entities", collection=collection.name, stage="similar")
    _discard(graph, collection, collection.discard)
    graph.run("write/end_discard", name=collection.name)


def _discard(graph: Graph, collection: Collection, slot: str) -> None:
    schema.drop_vector_indexes(graph, collection.number, slot)
    for kind in _TEXTS:
        graph.run(f"write/drop_{kind}_vectors", collection=collection.name, embedding=slot)


def add_vectors(graph: Graph, name: str, kind: str, slot: str, embedder: Embedder, progress: Progress) -> int:
    """Embed what has no vector in a slot, of a kind: passage, triple or entity; returns how many."""
    plural, contents, text = _TEXTS[kind]
    ids = [r["id"] for r in graph.stream(f"search/{plural}_without_vector", collection=name, embedding=slot)]
    for start in range(0, len(ids), _BATCH):
        progress(f"{kind} vectors", start, len(ids))
        records = graph.run(f"search/{contents}", ids=ids[start : start + _BATCH])
        vectors = embedder.embed([text(r) for r in records]).tolist()
        rows = [{"id": r["id"], "vector": v} for r, v in zip(records, vectors, strict=True)]
        graph.run(f"write/{kind}_vectors", rows=rows, embedding=slot)
    if ids:
        progress(f"{kind} vectors", len(ids), len(ids))
    return len(ids)
