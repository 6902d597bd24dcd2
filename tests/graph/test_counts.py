"""The counts of a collection, read from its record or counted in the store."""

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph import counts
from kgrag.graph.collections import open_collection
from kgrag.graph.description import describe
from kgrag.graph.queries import catalogue
from kgrag.values.documents import Document, Section, Triple

FRAM = Document(
    "fram",
    (
        Section("The Fram was designed by Colin Archer. Colin Archer lived in Larvik."),
        Section("The Fram sailed south."),
    ),
    "Fram",
    triples=(Triple("Fram", "designed by", "Colin Archer"),),
)


def test_the_store_counts_the_same_edges(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = kg[collection_name]
    collection.ingest([FRAM])
    opened = open_collection(kg.graph, collection_name)
    nodes = counts.count_nodes(kg.graph, collection_name)
    read = counts.count_edges(kg.graph, opened, nodes)
    info = collection.info()
    assert read["Passage", "MENTIONS"] >= 3 and read["Triple", "SUBJECT"] == 1
    asked: list[str] = []
    monkeypatch.setattr(counts, "READ", 0)
    with kg.graph.listening(lambda name, _: asked.append(name)):
        assert counts.count_edges(kg.graph, opened, nodes) == read
    assert asked.count("inspect/count_own_edges") == len([n for n in describe().labels("indexed") if n in nodes])
    assert collection.info() == info


def test_every_type_of_an_edge_is_counted() -> None:
    indexed = describe().labels("indexed")
    types = {edge.type for edge in describe().edges for source, _ in edge.between if source in indexed}
    text = catalogue()["inspect/count_own_edges"].text
    assert {type for type in types if f"{type}: COUNT {{ (:{{label}})-[:{type}]->() }}" not in text} == set()
