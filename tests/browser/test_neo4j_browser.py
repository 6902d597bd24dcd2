"""A collection in Neo4j Browser, as an analyst sees it."""

from pathlib import Path

import neo4j
import neo4j.graph
import pytest
from analyst import Analyst, QueryFailed, reads_as

from kgrag import KnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.browser

DOCUMENTS = [
    Document(
        "fram",
        (
            Section("The Fram is a polar ship. She was designed by Colin Archer and sailed to the ice of the Arctic."),
            Section("Her planks are of oak. " * 150),
        ),
        title="Fram",
        triples=(Triple("Colin Archer", "designed", "Fram"),),
    ),
    Document(
        "archer",
        (Section("Colin Archer was a naval architect. He lived in Larvik, where his yard stood."),),
        title="Colin Archer",
    ),
    Document("larvik", (Section("Larvik is a town on the coast of Norway. Its harbour is old."),), title="Larvik"),
    Document(
        "andrée",
        (Section("Salomon August Andrée flew a balloon towards the pole. He never met Colin Archer."),),
        title="Salomon August Andrée",
    ),
]
EVERYTHING = "MATCH path = ({{collection: '{}'}})-->() RETURN path"
NEIGHBOURS = (
    "MATCH path = (:Entity {{normal: 'colin archer', collection: '{}'}})<-[:ABOUT]-(:Document)"
    "-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS]->(:Entity) RETURN path LIMIT 50"
)


def graph_of(settings: Settings, cypher: str) -> neo4j.graph.Graph:
    """Return the nodes and edges of a query, without Browser."""
    assert settings.neo4j_uri and settings.neo4j_password
    auth = (settings.neo4j_user, settings.neo4j_password.get_secret_value())
    with neo4j.GraphDatabase.driver(settings.neo4j_uri, auth=auth) as driver:
        return driver.execute_query(cypher, database_=settings.neo4j_database, result_transformer_=neo4j.Result.graph)


def number(node: neo4j.graph.Node) -> str:
    """Return Browser's number of a node."""
    return node.element_id.rsplit(":", 1)[-1]


def test_every_kind_of_node_is_drawn_with_its_name(
    analyst: Analyst, kg: KnowledgeGraph, graph_settings: Settings, collection_name: str, tmp_path: Path
) -> None:
    kg[collection_name].ingest(DOCUMENTS)
    cypher = EVERYTHING.format(collection_name)
    expected = graph_of(graph_settings, cypher)
    analyst.run(cypher)
    analyst.screenshot(tmp_path / "everything.png")
    captions = analyst.captions()
    labels = {label for node in expected.nodes for label in node.labels}
    assert labels >= {"Collection", "Document", "Passage", "Entity", "Triple", "Keyword"}
    names = {number(node): node["name"] for node in expected.nodes}
    assert "NEXT" in {edge.type for edge in expected.relationships}
    assert captions.keys() == names.keys()
    assert [(caption, names[n]) for n, caption in captions.items() if not reads_as(caption, names[n])] == []
    assert {collection_name, "Fram", "Colin Archer", "Larvik", "designed"} <= set(captions.values())
    drawn = f"Displaying {len(expected.nodes)} nodes, {len(expected.relationships)} relationships."
    assert drawn in analyst.overview()


def test_a_passage_tells_its_text(
    analyst: Analyst, kg: KnowledgeGraph, graph_settings: Settings, collection_name: str, tmp_path: Path
) -> None:
    kg[collection_name].ingest(DOCUMENTS)
    cypher = NEIGHBOURS.format(collection_name)
    passage = next(node for node in graph_of(graph_settings, cypher).nodes if "Passage" in node.labels)
    analyst.run(cypher)
    panel = analyst.click(number(passage))
    analyst.screenshot(tmp_path / "passage.png")
    assert "He lived in Larvik, where his yard stood." in panel


def test_a_query_that_fails_is_noticed(analyst: Analyst) -> None:
    with pytest.raises(QueryFailed, match="SyntaxError"):
        analyst.run("MATCH (n RETURN n")
