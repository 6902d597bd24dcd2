"""Repair: make again what a collection should have and has not, be it lost by hand, by a crash or by an old version."""

import time
from collections.abc import Sequence

from kgrag.graph import schema
from kgrag.graph.collections import Collection, needed_labels, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.graph.description import describe
from kgrag.indexing.finish import finish
from kgrag.indexing.reembed import add_vectors, discard_old_vectors, without_vector
from kgrag.indexing.synonyms import is_fit
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER
from kgrag.text.tokenised import TokenisedPassage
from kgrag.values.documents import Problem
from kgrag.values.events import Progress
from kgrag.values.results import RepairReport

_BATCH = 5000
_STEMMED = 1000  # passages a transaction


def repair(graph: Graph, name: str, embedder: Embedder | None, settings: Settings, progress: Progress) -> RepairReport:
    """Make the indexes and vectors that are missing, and finish what was interrupted; touches nothing that is whole.

    Interrupted and run again, it goes on where it was. `embedder` is the collection's own,
    None of one without vectors, of which only the indexes are looked after.
    """
    began = time.monotonic()
    collection = open_collection(graph, name)
    discard_old_vectors(graph, collection, settings)
    slot = collection.embedding
    labels = needed_labels(collection, count_nodes(graph, name))
    indexes = _indexes(graph, collection.number, slot, labels)
    if indexes:
        progress("indexes", 0, len(indexes))
        schema.ensure_schema(graph)  # of a database that was just imported, nothing says what its schema is
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
            vectors[node.plural], found = add_vectors(graph, name, node.label, slot, embedder, progress)
            problems += found
    names = _names(graph, name, slot)
    if collection.indexing.synonyms:
        for start in range(0, len(names), _BATCH):
            graph.run("stages/due", label="Entity", ids=names[start : start + _BATCH], stage="similar")
    if collection.stemmer != STEMMER:
        _stem(graph, collection)
    unfinished = graph.run("stages/unfinished", collection=name)[0]["number"]
    finish(graph, collection, settings, progress, embedder)
    if names and collection.indexing.synonyms:
        vectors["names"] = len(set(names).difference(_names(graph, name, slot)))
    return RepairReport(
        tuple(indexes),
        {kind: number for kind, number in vectors.items() if number},
        unfinished,
        time.monotonic() - began,
        tuple(problems),
    )


def _stem(graph: Graph, collection: Collection) -> None:
    """Make the stems of a collection anew, whose words another stemmer has stemmed; its words are due to be counted."""
    name = collection.name
    graph.run("write/uncount_words", collection=name)
    graph.run("write/uncount_names", collection=name)
    passages = (
        (r["id"], TokenisedPassage(r["title"], r["text"], r["section"], collection.language))
        for r in graph.stream("look_up/passage_texts", collection=name)
    )
    rows = [
        {"id": id, "stems": p.stems(), "title_stems": p.title_stems(), "sentences": p.sentences()} for id, p in passages
    ]
    for start in range(0, len(rows), _STEMMED):
        graph.run("write/recount_passages", rows=rows[start : start + _STEMMED])
    schema.renew_fulltext_indexes(graph, collection.number, collection.indexed)
    graph.run("write/stemmed_by", name=name, stemmer=STEMMER)


def _names(graph: Graph, name: str, slot: str) -> list[str]:
    """The ids of the names that should have a vector, and have none."""
    found = graph.stream("stages/named_without_vector", collection=name, embedding=slot)
    return [r["id"] for r in found if is_fit(r["normal"])]


def _indexes(graph: Graph, number: int, slot: str, labels: Sequence[str]) -> list[str]:
    """The indexes that are missing; of the collection's own, those that failed or are binary are dropped first."""
    states = schema.index_states(graph, number, slot, labels)
    for name in schema.collection_indexes(number, slot, labels):
        if states[name] and (states[name]["state"] == "FAILED" or states[name]["quantization"] == "BINARY"):
            graph.run("schema/drop_index", index=name)
            states[name] = {}
    return [name for name, row in states.items() if not row]
