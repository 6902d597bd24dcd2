"""A document whose removal was interrupted does not exist: it is written again, or its removal completed."""

import pytest

from kgrag import KnowledgeGraph
from kgrag.indexing import document_writer as writer
from kgrag.values.documents import Document, Section
from kgrag.values.identity import document_id


def test_a_removal_that_is_broken_off_takes_the_seal_first(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document("a", (Section("The Fram was built in Larvik."),), "Fram")
    kg[collection_name].ingest([document])
    ids = [document_id(collection_name, "a")]
    assert [row["content_hash"] for row in kg.graph.run("look_up/content_hashes", ids=ids)] != [None]

    def broken(*_: object) -> set[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(writer, "remove_passages", broken)
        kg[collection_name].delete(documents=["a"])
    assert [row["content_hash"] for row in kg.graph.run("look_up/content_hashes", ids=ids)] == [None]
    assert kg[collection_name].ingest([document]).unchanged == 0
    assert [hit.passage.document for hit in kg[collection_name].search("Fram", retriever="bm25")] == ["a"]


def test_a_removed_document_leaves_no_word(kg: KnowledgeGraph, collection_name: str) -> None:
    documents = [Document(key, (Section(text),)) for key, text in (("a", "Salt of Bergen."), ("b", "Salt quokka."))]
    kg[collection_name].ingest(documents)
    found = "MATCH (w:Word {collection: $name}) RETURN w.stem AS stem, w.df AS df ORDER BY stem"

    def words() -> dict[str, int]:
        rows = kg.graph.driver.execute_query(found, name=collection_name).records
        return {row["stem"]: row["df"] for row in rows}

    before = words()
    assert {"bergen", "salt", "quokka"} <= before.keys()
    kg[collection_name].delete(documents=["b"])
    assert words() == {stem: df - (stem == "salt") for stem, df in before.items() if stem != "quokka"}


def test_every_stage_visits_what_is_marked_for_it(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = ("Fram was built in Larvik.", "Larvik built Fram of oak.", "Oak of Larvik went into Fram.")
    kg[collection_name].ingest([Document(f"d{n}", (Section(text),)) for n, text in enumerate(texts)])
    found = (
        "MATCH (p:Passage {collection: $name})-[s:SIMILAR]->(:Passage) RETURN count(s) AS ties, count(p.todo) AS todo"
    )
    (row,) = kg.graph.driver.execute_query(found, name=collection_name).records
    assert (row["ties"], row["todo"]) == (6, 0)
