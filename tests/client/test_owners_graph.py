"""A database with foreign nodes under kgrag's own labels: they stay unchanged, whatever kgrag does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph import collections, schema
from kgrag.graph.contents import fingerprint
from kgrag.graph.description import describe
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import MismatchError

pytestmark = [pytest.mark.alone, pytest.mark.long]

_LABELS = describe().labels("all")
_OWNERS = "MATCH (n) WHERE n.theirs RETURN labels(n) AS labels, properties(n) AS properties ORDER BY n.place"
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'owner' OR name ENDS WITH '_id' RETURN name ORDER BY name"
)
_SCHEMA = {"types": {"Person": {}, "Place": {}}, "predicates": {"BORN_IN": {"from": ["Person"], "to": ["Place"]}}}


def _run(kg: KnowledgeGraph, query: str, **parameters: Any) -> list[dict[str, Any]]:
    return [record.data() for record in kg.graph.driver.execute_query(query, parameters).records]


@pytest.fixture
def owner(kg: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    """A thousand nodes with kgrag's labels, every fourth without an id, the others with recurring ids and names."""
    _run(
        kg,
        "UNWIND range(0, 999) AS i CREATE (n:$($labels[i % size($labels)]) {theirs: true, place: i}) "
        "SET n.name = 'Part ' + i % 90, n.id = CASE WHEN i % 4 > 0 THEN i % 50 END, n.text = 'A valve of pump ' + i",
        labels=_LABELS,
    )
    yield kg
    for name in ("owner_person", "owner_page"):
        _run(kg, f"DROP CONSTRAINT {name} IF EXISTS")
    _run(kg, "MATCH (n) WHERE n.theirs DETACH DELETE n")


def test_nodes_of_others_stay_as_they_are(owner: KnowledgeGraph, collection_name: str) -> None:
    _run(owner, "CREATE CONSTRAINT owner_person FOR (p:Person) REQUIRE p.name IS UNIQUE")
    before = _run(owner, _OWNERS), _run(owner, _CONSTRAINTS)
    name, attached = owner[collection_name], owner[f"{collection_name}-parts"]
    proposal = owner.propose_attachment(["Document", "Chunk"][:1])
    assert proposal.labels["Document"].key == ""
    assert attached.attach(proposal).added == proposal.labels["Document"].nodes == 1000 // len(_LABELS) + 1
    name.ingest([Document("a", (Section("Ada Lund was born in Kiel."),))])
    name.set_fact_schema(_SCHEMA)
    name.extract(rules=True)
    assert [row["place"] for row in _run(owner, "MATCH (:Person)-[:BORN_IN]->(p:Place) RETURN p.name AS place")] == [
        "Kiel"
    ]
    name.resolve(apply=True)
    assert name.search("valve of pump 7", retriever="bm25").hits == ()
    assert name.inspect().nodes["Passage"] == 1
    name.repair()
    attached.delete()
    name.delete()
    assert (_run(owner, _OWNERS), _run(owner, _CONSTRAINTS)) == before
    every = "SHOW INDEXES YIELD name, type, owningConstraint WHERE type <> 'LOOKUP' AND owningConstraint IS NULL"
    page = (Path(__file__).parents[2] / "docs" / "owners.md").read_text(encoding="utf-8")
    printed = {
        row["statement"] for row in _run(owner, page[page.index("SHOW INDEXES") : page.index(" ORDER BY statement")])
    }
    assert printed == {f"DROP INDEX {row['name']};" for row in _run(owner, every)}
    _run(
        owner,
        "UNWIND $labels AS label CREATE (:$(label) {theirs: true, id: 1}), (:$(label) {theirs: true, id: 1})",
        labels=_LABELS,
    )


def test_a_constraint_that_kgrag_would_break_is_told_before_anything_is_written(
    owner: KnowledgeGraph, collection_name: str
) -> None:
    _run(owner, "CREATE CONSTRAINT owner_page FOR (p:Page) REQUIRE (p.name, p.place) IS UNIQUE")
    with pytest.raises(MismatchError, match=r"owner_page on Page \(name, place\) is not kgrag's"):
        owner[collection_name].ingest([Document("a", (Section("Ada Lund was born in Kiel."),))])
    with pytest.raises(MismatchError, match="owner_page"):
        collections.create_knowledge(owner.graph, collection_name, "en", 0)
    assert collection_name not in owner


def test_a_database_of_schema_14_is_brought_to_this_one_in_place(
    kg: KnowledgeGraph, collection_name: str, others_aside: None
) -> None:
    kg[collection_name].ingest(
        [Document("a", (Section("Ada Lund was born in Kiel. Kiel is in Holstein."),), "Ada Lund")]
    )
    before = fingerprint(kg.graph, collection_name).hashes()
    _run(kg, "DROP CONSTRAINT kgrag_id")
    _run(kg, "MATCH (n:Kgrag) REMOVE n:Kgrag")
    _run(kg, "MATCH (c:Collection) REMOVE c.id")
    _run(kg, "MATCH (s:Schema) SET s.id = 'kgrag', s.version = 14")
    for label in _LABELS:
        key = "name" if label == "Collection" else "id"
        _run(kg, f"CREATE CONSTRAINT {label.lower()}_{key} FOR (n:{label}) REQUIRE n.{key} IS UNIQUE")
    with pytest.raises(MismatchError) as refused:
        kg[collection_name].search("Kiel")
    assert "kgrag db repair" in refused.value.remedy
    with pytest.raises(MismatchError, match="schema 14"):  # not a conflict with foreign constraints
        collections.create_collection(kg.graph, f"{collection_name}-new", "wordllama", 256, IndexingSettings(), 0)
    _run(kg, "CREATE (:Document {theirs: true, id: 1})")
    assert schema.upgrade(kg.graph)
    assert not schema.upgrade(kg.graph)
    assert _run(kg, "MATCH (n) WHERE n.theirs RETURN labels(n) AS labels") == [{"labels": ["Document"]}]
    _run(kg, "MATCH (n) WHERE n.theirs DELETE n")
    assert _run(kg, "MATCH (n:!Kgrag {collection: $c}) RETURN count(n) AS n", c=collection_name) == [{"n": 0}]
    _run(kg, "MATCH (n:!Kgrag) WHERE n.collection IS NOT NULL SET n:Kgrag")  # restores the collections set aside
    assert [row["name"] for row in _run(kg, _CONSTRAINTS)] == ["kgrag_id"]
    assert schema.stored_version(kg.graph) == schema.SCHEMA_VERSION
    assert fingerprint(kg.graph, collection_name).hashes() == before
    assert kg[collection_name].search("Where was Ada Lund born?")[0].passage.title == "Ada Lund"
