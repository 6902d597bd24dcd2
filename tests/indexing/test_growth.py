"""The cost of a small change, in queries and db hits, does not grow with the collection."""

from collections.abc import Callable

import pytest
from neighbours import overlap, similar
from queries_run import db_hits, queries_run

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.indexing import mentions
from kgrag.indexing import similar as similar_stage
from kgrag.indexing.new_collection.relations import Mentioned
from kgrag.indexing.stage import StageContext
from kgrag.indexing.statistics import record_density, sample_bound
from kgrag.values.documents import Document

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
_MANY = 200


@pytest.fixture(scope="module")
def grown(fill: Callable[..., str], make_documents: Make) -> str:
    """A collection with many passages."""
    return fill("grown", make_documents(0, _MANY))


def test_few_documents_ask_for_the_names_in_them_alone(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "FEW", 2)
    documents = make_documents(0, _MANY)
    kg[collection_name].ingest(documents)
    whole = digest(kg.graph, collection_name)
    kg[collection_name].delete(documents=[d.key for d in documents[-4:]])
    with queries_run() as run:
        kg[collection_name].ingest(documents[-4:])
    assert "stages/gazetteer" not in run
    assert "stages/gazetteer_of" in run
    assert digest(kg.graph, collection_name) == whole


def test_neighbours_of_few_are_searched_in_the_index(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = make_documents(0, _MANY)
    kg[collection_name].ingest(documents)
    near = similar(kg.graph, collection_name)
    kg[collection_name].delete(documents=["d7"])
    monkeypatch.setattr(similar_stage, "SMALL", 20)
    monkeypatch.setattr(similar_stage, "SEARCHES", 1)
    with queries_run() as run:
        kg[collection_name].ingest([documents[7]])
    assert "stages/vectors" not in run
    assert overlap(similar(kg.graph, collection_name), near) > 0.99


def test_the_density_of_a_sample_touches_the_sample(kg: KnowledgeGraph, grown: str) -> None:
    def hits(sample: int) -> int:
        bound = sample_bound(_MANY, sample)
        below = None if bound is None else f"{bound:016x}"
        return db_hits(kg.graph, "write/density", collection=grown, cap=50, below=below)

    assert hits(20) < hits(_MANY) / 3


@pytest.mark.parametrize("sample", [40, 10_000])
def test_the_density_of_a_sample_is_that_of_a_bulk_load(kg: KnowledgeGraph, grown: str, sample: int) -> None:
    collection = open_collection(kg.graph, grown)
    with StageContext(kg.graph, collection, kg.settings, lambda stage, done, total: None) as work:
        record_density(work, sample)
    record = kg.graph.run("look_up/collections", name=grown)[0]["collection"]
    every, apart = Mentioned(), Mentioned()
    for passage, its in _mentions(kg, grown).items():
        every.add(passage, its)
        apart.add(passage, [entity for entity, via in its.items() if via != "triple"])
    assert record["density"] == pytest.approx(every.density(sample))
    assert record["density0"] == pytest.approx(apart.density(sample))
    assert record["density"] > 0
    assert record["density0"] > 0


def _mentions(kg: KnowledgeGraph, name: str) -> dict[str, dict[str, str]]:
    """Return passage -> entity -> via."""
    query = (
        "MATCH (p:Passage {collection: $name}) "
        "RETURN p.id AS passage, [(p)-[m:MENTIONS]->(e) | [e.id, m.via]] AS mentions"
    )
    rows = kg.graph.driver.execute_query(query, name=name).records
    return {r["passage"]: dict(r["mentions"]) for r in rows}
