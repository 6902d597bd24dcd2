"""Similar names: exact, few, and the same whatever the collection's history."""

from collections.abc import Callable

import pytest
from graph_rows import rows
from neighbours import overlap, similar

from kgrag import KnowledgeGraph
from kgrag.graph import collections
from kgrag.graph.counts import collection_info
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.events import no_progress

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]


def _names(kg: KnowledgeGraph, collection: str) -> dict[tuple[str, str], float]:
    """Return (name, similar name) -> score."""
    query = "MATCH (e:Entity {collection: $name})-[s:SIMILAR]->(f) RETURN e.normal AS e, f.normal AS f, s.score AS s"
    return {(row["e"], row["f"]): row["s"] for row in rows(kg, query, name=collection)}


def _stating(*names: str, key: str = "a") -> Document:
    triples = tuple(Triple("Skibladner", "met", name) for name in names)
    return Document(key, (Section(f"Skibladner met {' and '.join(names)}. Of {key}."),), "Skibladner", triples=triples)


def test_names_alike_are_linked_and_numbers_are_not(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([_stating("Portuguese", "Portugal", "1876", "1867", "Oslo")])
    found = _names(kg, collection_name)
    assert {("portuguese", "portugal"), ("portugal", "portuguese")} == found.keys()
    model = kg.embedder("wordllama")
    one, other = model.embed(["portuguese", "portugal"])
    assert all(score == pytest.approx((1 + one @ other) / 2, abs=1e-5) for score in found.values())
    query = "MATCH (e:Entity {collection: $name}) WHERE e.embedding IS NOT NULL RETURN e.normal AS n"
    assert {row["n"] for row in rows(kg, query, name=collection_name)} == {
        "skibladner",
        "portuguese",
        "portugal",
        "oslo",
    }


def test_halves_and_removals(kg: KnowledgeGraph, collection_name: str, make_documents: Make) -> None:
    documents = make_documents(0, 90)
    kg[collection_name].ingest(documents[:60])
    part = similar(kg.graph, collection_name, "Entity")
    kg[collection_name].ingest(documents[60:])
    whole = similar(kg.graph, collection_name, "Entity")
    assert len(whole) > len(part) > 0
    kg[collection_name].delete()
    kg[collection_name].ingest(documents)
    assert similar(kg.graph, collection_name, "Entity") == whole
    kg[collection_name].delete(documents=[d.key for d in documents[60:]])
    assert similar(kg.graph, collection_name, "Entity") == part
    assert collection_info(kg.graph, collections.open_collection(kg.graph, collection_name)).finished


def test_a_name_that_is_none_any_more_is_forgotten(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([_stating("Portuguese", "Portugal")])
    kg[collection_name].ingest([_stating("Portugal")])
    assert _names(kg, collection_name) == {}
    kg[collection_name].ingest([_stating("Portuguese", "Portugal")])
    assert len(_names(kg, collection_name)) == 2


def test_without_an_embedder_new_names_wait(kg: KnowledgeGraph, collection_name: str, graph_settings: Settings) -> None:
    kg[collection_name].ingest([_stating("Portuguese", "Portugal")])
    found = collections.open_collection(kg.graph, collection_name)
    rows(
        kg,
        "MATCH (e:Entity {collection: $name}) WHERE e.normal IN ['portuguese', 'portugal'] SET e.todo = ['similar']"
        " SET e.embedding = CASE WHEN e.normal = 'portugal' THEN e.embedding END",
        name=collection_name,
    )
    run_corpus_stages(kg.graph, found, graph_settings, no_progress)
    assert [r["id"] for r in kg.graph.run("stages/todo", label="Entity", collection=collection_name, stage="similar")]
    assert not collection_info(kg.graph, found).finished
    kg[collection_name].ingest([_stating("Portuguese", "Portugal")])
    assert len(_names(kg, collection_name)) == 2
    assert collection_info(kg.graph, found).finished


def test_the_index_finds_what_the_exact_search_finds(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = make_documents(0, 60)
    kg[collection_name].ingest(documents)
    exact = similar(kg.graph, collection_name, "Entity")
    kg[collection_name].delete()
    monkeypatch.setattr("kgrag.indexing.similar.link_exactly", None)
    kg.settings.exact_neighbours_mb = 0
    try:
        kg[collection_name].ingest(documents[:30])
        kg[collection_name].ingest(documents[30:])
    finally:
        kg.settings.exact_neighbours_mb = 512
    assert overlap(similar(kg.graph, collection_name, "Entity"), exact) > 0.98
    assert collection_info(kg.graph, collections.open_collection(kg.graph, collection_name)).finished


def test_similar_names_can_be_left_out(kg: KnowledgeGraph, collection_name: str, graph_settings: Settings) -> None:
    none = graph_settings.model_copy(update={"indexing": IndexingSettings(synonyms=0)})
    with KnowledgeGraph.connect(settings=none) as other:
        other[collection_name].ingest([_stating("Portuguese", "Portugal")])
        assert _names(other, collection_name) == {}
        opened = collections.open_collection(other.graph, collection_name)
        assert collection_info(other.graph, opened).finished
