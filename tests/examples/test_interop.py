"""The interoperability example runs on a live server, and each library reads the right content."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import py2neo
import pytest

from kgrag import KnowledgeGraph
from kgrag.adapters.py2neo import connect, neighbourhood, subgraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Answer, Citation

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "interop.py"
COLLECTION = "interop"
TEXTS = {
    "Fram": "The Fram was designed by Colin Archer for Fridtjof Nansen. Roald Amundsen took her south.",
    "Colin Archer": "Colin Archer of Larvik built the Fram. He was a naval architect.",
    "Fridtjof Nansen": "Fridtjof Nansen drifted over the Arctic Ocean in the Fram.",
    "Roald Amundsen": "Roald Amundsen sailed in the Fram, and later in the Maud, over the Arctic Ocean.",
    "Larvik": "Larvik is a town.",
}


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("interop_example", EXAMPLE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def fleet(fill: Callable[..., str]) -> str:
    return fill(COLLECTION, [Document(title, (Section(text),), title) for title, text in TEXTS.items()])


@pytest.fixture(scope="module")
def graph(graph_settings: Settings) -> Iterator[py2neo.Graph]:
    graph = connect(graph_settings)
    yield graph
    graph.service.connector.close()


def test_pandas(example: ModuleType, kg: KnowledgeGraph, fleet: str) -> None:
    table = example.largest_documents(kg, fleet)
    assert sorted(table["title"]) == sorted(TEXTS)
    assert table["tokens"].is_monotonic_decreasing and table.iloc[-1]["title"] == "Larvik"
    edges = next(e.number for e in kg[fleet].inspect().edges if e.type == "MENTIONS")
    assert table["mentions"].sum() == edges
    with pytest.raises(NotFoundError, match="none of that name"):
        example.largest_documents(kg, "none of that name")


def test_networkx(example: ModuleType, kg: KnowledgeGraph, fleet: str) -> None:
    rows = kg.cypher(
        "MATCH path = (:Passage {collection: $collection})-[:MENTIONS]->(:Entity) RETURN path, 1 AS one",
        {"collection": fleet},
    )
    graph = example.to_networkx(rows)
    assert graph.number_of_edges() == len(rows)
    assert {data["label"] for _, data in graph.nodes(data=True)} == {"Passage", "Entity"}
    assert {data["name"] for _, data in graph.nodes(data=True)} >= set(TEXTS)
    assert all(data["type"] == "MENTIONS" for _, _, data in graph.edges(data=True))
    names = example.names_in_between(kg, fleet)
    assert names[0][0] == "Fram" and names[0][1] > names[-1][1]


def test_py2neo(example: ModuleType, graph: py2neo.Graph, kg: KnowledgeGraph, fleet: str) -> None:
    rows = kg.cypher(
        """
        MATCH (e:Entity {collection: $collection, normal: 'fram'})<-[:MENTIONS]-(p)-[:MENTIONS]->(o) WHERE o <> e
        RETURN o.name AS name, count(*) AS number ORDER BY number DESC, name LIMIT 5
        """,
        {"collection": fleet},
    )
    assert example.neighbours(graph, fleet, "Fram") == [tuple(row.values()) for row in rows] != []
    assert example.neighbours(graph, fleet, "Nobody") == []
    table = example.sentences(graph, fleet, "Arctic Ocean").to_table()
    assert [row[0] for row in table] == ["Fridtjof Nansen", "Roald Amundsen"]
    node = graph.nodes.match("Entity", collection=fleet, normal="fram").first()
    assert node["df"] == 4 and "Entity" in node.labels


def test_results_are_subgraphs_that_lose_nothing_when_they_are_pushed(
    graph: py2neo.Graph, kg: KnowledgeGraph, fleet: str
) -> None:
    ranking = kg[fleet].search("Who designed the Fram?", k=2)
    found = subgraph(graph, ranking)
    passages = {node["id"]: node for node in found.nodes if node.has_label("Passage")}
    assert set(passages) == {hit.passage.id for hit in ranking} and len(ranking) == 2
    names = {node["name"] for node in found.nodes if node.has_label("Entity")}
    assert {"Fram", "Colin Archer"} <= names and not names & {"Maud", "Larvik"}  # names in both
    assert found.types() >= {"HAS_PASSAGE", "MENTIONS"} and graph.exists(found)
    passage = ranking[0].passage
    answer = Answer(
        question="?", text="", found=True, system="", ranking=ranking, citations=(Citation(1, ranking[1].passage),)
    )
    cited = [node["id"] for node in subgraph(graph, answer).nodes if node.has_label("Passage")]
    assert cited == [ranking[1].passage.id]
    passages[passage.id]["remark"] = "read"
    graph.push(passages[passage.id])
    stored = "MATCH (p:Passage {id: $id}) RETURN p.remark, size(p.embedding)"
    rows = kg.cypher(stored, {"id": passage.id}).values
    assert rows == (("read", kg[fleet].info().dimension),)
    around = neighbourhood(graph, fleet, "Fram")
    assert {"Fram", "Roald Amundsen"} <= {node["name"] for node in around.nodes}
    assert not neighbourhood(graph, fleet, "Nobody").nodes


def test_as_a_program(
    example: ModuleType,
    graph_settings: Settings,
    fleet: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert graph_settings.neo4j_uri and graph_settings.neo4j_password
    monkeypatch.setenv("KGRAG_NEO4J_URI", graph_settings.neo4j_uri)
    monkeypatch.setenv("KGRAG_NEO4J_PASSWORD", graph_settings.neo4j_password.get_secret_value())
    example.main(fleet)
    shown = capsys.readouterr().out
    for library in ("pandas", "networkx", "py2neo"):
        assert f"{library}: " in shown
    assert "Colin Archer" in shown
