"""Embedding anew: the old vectors serve until the new ones are complete; broken off, it goes on where it was."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kgrag.client import KnowledgeGraph
from kgrag.graph import collections
from kgrag.indexing.digest import similar_edges, similar_names
from kgrag.models.embed import Vectors, unit
from kgrag.types import Document

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]


class LetterEmbedder:
    """Letter counts: a small embedder of another dimension that can be told to fail."""

    def __init__(self, fail_after: int | None = None, name: str = "letters") -> None:
        self.name = name
        self.dimension = 32
        self.texts = 0
        self.fail_after = fail_after

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fail_after is not None and self.texts >= self.fail_after:
            raise ConnectionError("the embedder is gone")
        self.texts += len(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for c in text.lower():
                row[ord(c) % self.dimension] += 1
        return unit(rows)


def test_reembed_is_resumed(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    documents = make_documents(0, 600)
    kg.ingest(documents, collection_name)
    before = kg.search("Banor built near", collection_name, retriever="dense")
    total = next(c for c in kg.collections() if c.name == collection_name).counts
    opened = collections.open_collection(kg.graph, collection_name)
    names = kg.graph.run("search/count_entity_vectors", collection=collection_name, embedding=opened.embedding)
    assert names[0]["number"] > 0
    vectors = total["Passage"] + total["Triple"] + names[0]["number"]
    near, alike = similar_edges(kg.graph, collection_name), similar_names(kg.graph, collection_name)

    failing = LetterEmbedder(fail_after=512)
    with pytest.raises(ConnectionError):
        kg.reembed(collection_name, failing)
    assert kg.search("Banor built near", collection_name, retriever="dense") == before

    going_on = LetterEmbedder()
    info = kg.reembed(collection_name, going_on)
    assert (info.embedder, info.dimension) == ("letters", 32)
    assert info.finished
    assert going_on.texts == vectors - failing.texts
    assert sum(map(len, similar_edges(kg.graph, collection_name).values())) == sum(map(len, near.values()))
    assert similar_names(kg.graph, collection_name) != alike
    found = collections.open_collection(kg.graph, collection_name)
    assert found.embedding == "embedding_b"
    assert found.discard is None

    kg._embedders["letters"] = going_on
    try:
        ranking = kg.search(documents[7].text, collection_name, retriever="dense", k=3)
        assert ranking.hits[0].score > 0.9
    finally:
        del kg._embedders["letters"]
    kg.reembed(collection_name, "wordllama")
    assert kg.search("Banor built near", collection_name, retriever="dense") == before
    assert (similar_edges(kg.graph, collection_name), similar_names(kg.graph, collection_name)) == (near, alike)
    found = collections.open_collection(kg.graph, collection_name)
    assert found.embedding == "embedding"
    with kg.graph._driver.session() as session:
        left = session.run(
            "MATCH (n {collection: $name}) WHERE n.embedding_b IS NOT NULL RETURN count(n) AS n", name=collection_name
        ).single()
    assert left is not None
    assert left["n"] == 0


def test_another_embedder_takes_over(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    kg.ingest(make_documents(0, 600), collection_name)
    with pytest.raises(ConnectionError):
        kg.reembed(collection_name, LetterEmbedder(fail_after=512, name="first"))
    info = kg.reembed(collection_name, LetterEmbedder(name="second"))
    assert info.embedder == "second"


def test_reembed_with_the_same_does_nothing(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    kg.ingest(make_documents(0, 5), collection_name)
    assert kg.reembed(collection_name, "wordllama").embedder == "wordllama"
