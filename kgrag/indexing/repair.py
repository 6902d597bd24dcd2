"""Repair: restore the missing indexes and vectors of a collection, or replace its vectors or its language."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from kgrag.graph import schema
from kgrag.graph.collections import Collection, needed_labels, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.graph.description import describe
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.index_sync import index_of, synchronise
from kgrag.indexing.rereading import change_language, read_again
from kgrag.indexing.similar import is_fit
from kgrag.indexing.vectors import embedded
from kgrag.models.embed import Embedder
from kgrag.runtime import limits
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER
from kgrag.text.tokens import embedding_text
from kgrag.values.documents import Problem
from kgrag.values.events import Progress
from kgrag.values.results import RepairReport

_LOG = logging.getLogger(__name__)
_VECTORS = 512


def reembed(graph: Graph, name: str, embedder: Embedder, settings: Settings, progress: Progress) -> Collection:
    """Embed every passage, triple and name of a collection with `embedder`. Searches use the old vectors until the end.

    The old vectors stay for some seconds more, since other processes reopen the collection only now and then. An
    interrupted run resumes. Returns the new state of the collection.
    """
    collection = open_collection(graph, name)
    discard_old_vectors(graph, collection, settings)
    swapped = None
    if (collection.embedder, collection.dimension) != (embedder.name, embedder.dimension):
        slot = next(s for s in schema.SLOTS if s != collection.embedding)
        if (other := collection.reembedding) is not None and other != embedder.name:
            dimension = collection.reembedding_dimension
            _discard(graph, replace(collection, embedder=other, dimension=dimension, embedding=slot), settings)
        graph.run("write/begin_reembed", name=name, embedder=embedder.name, dimension=embedder.dimension, slot=slot)
        schema.ensure_vector_indexes(graph, collection.number, embedder.dimension, slot, collection.indexed)
        for label in describe().labels("embedded"):
            _, problems = add_vectors(graph, name, label, slot, embedder, progress)
            for problem in problems:
                _LOG.warning("%s: %s", problem.place, problem.message)
        schema.await_collection_indexes(graph, collection.number, slot, collection.indexed)
        new = replace(collection, embedder=embedder.name, dimension=embedder.dimension, embedding=slot)
        synchronise(graph, new, settings, progress)  # an index outside the graph is whole before it is searched
        graph.run("stages/due_all_passages", collection=name, stage="similar")
        graph.run("stages/due_named_entities", collection=name, stage="similar")
        graph.run("write/swap_embedding", name=name)
        swapped = time.monotonic()
        collection = open_collection(graph, name)
    run_corpus_stages(graph, collection, settings, progress, embedder)
    if swapped is not None:
        _wait(swapped + settings.old_vectors_seconds, progress)
        discard_old_vectors(graph, collection, settings)
    return open_collection(graph, name)


def relanguage(
    graph: Graph, name: str, language: str, embedder: Embedder, settings: Settings, progress: Progress
) -> Collection:
    """Read a collection in another language: recompute its words, names, mentions, keywords and counts.

    Passages, vectors and facts stay. An interrupted run resumes. Returns the new state of the collection.
    """
    collection = change_language(graph, name, language, progress, always=True)
    run_corpus_stages(graph, collection, settings, progress, embedder)
    return open_collection(graph, name)


def discard_old_vectors(graph: Graph, collection: Collection, settings: Settings) -> None:
    """Remove the vectors that a swap left behind, with their indexes."""
    if collection.discard is None:
        return
    old = replace(collection, embedder=collection.discard_embedder, dimension=collection.discard_dimension)
    _discard(graph, replace(old, embedding=collection.discard), settings)
    graph.run("write/end_discard", name=collection.name)


def _wait(until: float, progress: Progress) -> None:
    """Wait until the time (time.monotonic) by which searches with the old vectors have ended."""
    start = time.monotonic()
    while (left := until - time.monotonic()) > 0:
        limits.remaining()
        progress("searches end", int(time.monotonic() - start), int(until - start))
        time.sleep(min(left, 1.0))


def _discard(graph: Graph, old: Collection, settings: Settings) -> None:
    """Remove the vectors of a collection as it was, with their indexes."""
    schema.drop_vector_indexes(graph, old.number, old.embedding)
    if (index := index_of(old, settings)) is not None:
        index.drop()
    for label in describe().labels("embedded"):
        graph.run("write/drop_vectors", label=label, collection=old.name, embedding=old.embedding)


def add_vectors(
    graph: Graph, name: str, label: str, slot: str, embedder: Embedder, progress: Progress
) -> tuple[int, list[Problem]]:
    """Embed the nodes of a label that have no vector in a slot. Returns their number, and the failed texts."""
    added, problems = 0, list[Problem]()
    ids = without_vector(graph, name, label, slot)
    parts = list(describe().node(label).embedded)
    stage = f"{label.lower()} vectors"
    for start in range(0, len(ids), _VECTORS):
        progress(stage, start, len(ids))
        records = graph.run("stages/embedded", label=label, ids=ids[start : start + _VECTORS], parts=parts)
        places = [f"{label} {r['parts'][0] or r['id']}" for r in records]
        vectors, failures = embedded(embedder, [embedding_text(*r["parts"]) for r in records], places)
        rows = [{"id": r["id"], "vector": v} for r, v in zip(records, vectors, strict=True) if v is not None]
        graph.run("write/vectors", label=label, rows=rows, embedding=slot)
        added, problems = added + len(rows), problems + failures
    if ids:
        progress(stage, len(ids), len(ids))
    return added, problems


def without_vector(graph: Graph, name: str, label: str, slot: str) -> list[str]:
    """Return the ids of the nodes of a label that lack a vector in a slot."""
    sparse = describe().node(label).sparse
    records = graph.stream("stages/without_vector", label=label, collection=name, embedding=slot, sparse=sparse)
    return [r["id"] for r in records]


_BATCH = 5000


def repair(graph: Graph, name: str, embedder: Embedder | None, settings: Settings, progress: Progress) -> RepairReport:
    """Restore missing indexes and vectors, and complete interrupted work. Intact parts stay untouched.

    An interrupted run resumes. `embedder`: the collection's own. If it is None, only the indexes are repaired.
    """
    began = time.monotonic()
    collection = open_collection(graph, name)
    discard_old_vectors(graph, collection, settings)
    slot = collection.embedding
    labels = needed_labels(collection, count_nodes(graph, name))
    indexes = _indexes(graph, collection.number, slot, labels)
    if indexes:
        progress("indexes", 0, len(indexes))
        schema.ensure_schema(graph)  # a database that was just imported does not record its schema
        schema.ensure_shared_indexes(graph)
        schema.ensure_collection_indexes(graph, name, collection.number, collection.dimension, slot, labels)
        progress("indexes", len(indexes), len(indexes))
    if embedder is None:
        return RepairReport(tuple(indexes), {}, 0, time.monotonic() - began)
    # Marked before they have vectors: after a kill nothing would tell that their neighbours are still to be found.
    passages = without_vector(graph, name, "Passage", slot)
    for start in range(0, len(passages), _BATCH):
        graph.run("stages/due", label="Passage", ids=passages[start : start + _BATCH], stage="similar")
    vectors: dict[str, int] = {}
    problems: list[Problem] = []
    for node in describe().nodes:
        if node.embedded and not node.sparse:
            vectors[node.plural], failures = add_vectors(graph, name, node.label, slot, embedder, progress)
            problems += failures
    names = _names(graph, name, slot)
    if collection.indexing.synonyms:
        for start in range(0, len(names), _BATCH):
            graph.run("stages/due", label="Entity", ids=names[start : start + _BATCH], stage="similar")
    if collection.stemmer != STEMMER or collection.rereading:
        read_again(graph, collection, progress)
    unfinished = graph.run("stages/unfinished", collection=name)[0]["number"]
    run_corpus_stages(graph, collection, settings, progress, embedder)
    if names and collection.indexing.synonyms:
        vectors["names"] = len(set(names).difference(_names(graph, name, slot)))
    return RepairReport(
        tuple(indexes),
        {kind: number for kind, number in vectors.items() if number},
        unfinished,
        time.monotonic() - began,
        tuple(problems),
    )


def _names(graph: Graph, name: str, slot: str) -> list[str]:
    """Return the ids of the names that lack a vector."""
    rows = graph.stream("stages/named_without_vector", collection=name, embedding=slot)
    return [r["id"] for r in rows if is_fit(r["normal"])]


def _indexes(graph: Graph, number: int, slot: str, labels: Sequence[str]) -> list[str]:
    """Return the missing indexes. Failed and binary indexes of the collection are dropped first."""
    states = schema.index_states(graph, number, slot, labels)
    for name in schema.collection_indexes(number, slot, labels):
        if states[name] and (states[name]["state"] == "FAILED" or states[name]["quantization"] == "BINARY"):
            graph.run("schema/drop_index", index=name)
            states[name] = {}
    return [name for name, row in states.items() if not row]
