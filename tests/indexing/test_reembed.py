"""Re-embedding: the old vectors serve until the new ones are complete; an interrupted run resumes."""

from collections.abc import Callable

import pytest
from graph_rows import rows
from letter_embedder import LetterEmbedder
from neighbours import similar

from kgrag import KnowledgeGraph
from kgrag.graph import collections
from kgrag.values.documents import Document

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]


def test_reembed_is_resumed(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    documents = make_documents(0, 600)
    kg[collection_name].ingest(documents)
    kg[collection_name].build_tree()
    kg[collection_name].build_communities()
    before = kg[collection_name].search("Banor built near", retriever="dense")
    topics = kg[collection_name].search("Banor built near", retriever="raptor")
    total = next(c for c in kg.collections() if c.name == collection_name).counts
    opened = collections.open_collection(kg.graph, collection_name)
    held = kg.graph.run("inspect/count_vectors", label="Entity", collection=collection_name, embedding=opened.embedding)
    assert held[0]["having"] > 0
    vectors = held[0]["having"] + sum(total[label] for label in ("Passage", "Triple", "Summary", "Community"))
    assert total["Summary"] > 50 and total["Community"] > 10
    near, alike = similar(kg.graph, collection_name), similar(kg.graph, collection_name, "Entity")

    failing = LetterEmbedder(fail_after=512)
    with pytest.raises(ConnectionError):
        kg[collection_name].reembed(failing)
    assert kg[collection_name].search("Banor built near", retriever="dense") == before

    going_on = LetterEmbedder()
    info = kg[collection_name].reembed(going_on)
    assert (info.embedder, info.dimension) == ("letters", 32)
    assert info.finished
    assert going_on.texts == vectors - failing.texts
    assert sum(map(len, similar(kg.graph, collection_name).values())) == sum(map(len, near.values()))
    assert similar(kg.graph, collection_name, "Entity") != alike
    found = collections.open_collection(kg.graph, collection_name)
    assert found.embedding == "embedding_b"
    assert found.discard is None

    kg.models._embedders["letters"] = going_on
    try:
        ranking = kg[collection_name].search(documents[7].text, retriever="dense", k=3)
        assert ranking.hits[0].score > 0.9
        found = kg[collection_name].search(documents[7].text, retriever="raptor", k=3)
        assert any(step.label == "Summary" for hit in found for step in hit.why)
        assert not kg[collection_name].build_tree().written
        assert not kg[collection_name].build_communities().written
    finally:
        del kg.models._embedders["letters"]
    kg[collection_name].reembed("wordllama")
    assert kg[collection_name].search("Banor built near", retriever="dense") == before
    assert kg[collection_name].search("Banor built near", retriever="raptor") == topics
    assert (similar(kg.graph, collection_name), similar(kg.graph, collection_name, "Entity")) == (near, alike)
    found = collections.open_collection(kg.graph, collection_name)
    assert found.embedding == "embedding"
    left = "MATCH (n {collection: $name}) WHERE n.embedding_b IS NOT NULL RETURN n"
    assert rows(kg, left, name=collection_name) == []


def test_another_embedder_takes_over(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    kg[collection_name].ingest(make_documents(0, 600))
    with pytest.raises(ConnectionError):
        kg[collection_name].reembed(LetterEmbedder(fail_after=512, name="first"))
    info = kg[collection_name].reembed(LetterEmbedder(name="second"))
    assert info.embedder == "second"


def test_reembed_with_the_same_does_nothing(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    kg[collection_name].ingest(make_documents(0, 5))
    assert kg[collection_name].reembed("wordllama").embedder == "wordllama"
