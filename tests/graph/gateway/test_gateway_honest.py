"""Analysts get plain values, and embeddings only on request."""

import time
from contextlib import nullcontext

import pytest
from gateway_statements import Asked, statements
from stalling import Stalling

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph
from kgrag.graph.gateway import check_collection, run_read
from kgrag.settings import GatewaySettings, Settings
from kgrag.values.errors import DatabaseError, KgragError, NotFoundError, RefusedError
from kgrag.values.rows import Edge, Node, Path


@pytest.mark.parametrize("asked", statements("honest") + statements("analyst"), ids=str)
def test_owner_and_guest_are_answered(honest_graph: KnowledgeGraph, asked: Asked) -> None:
    rows = honest_graph.cypher(asked.text, asked.parameters)
    assert rows.cut is None
    if asked.rows is not None:
        assert (len(rows) if isinstance(asked.rows, int) else [list(row) for row in rows.values]) == asked.rows
    if asked.refused:
        with pytest.raises(RefusedError) as error:
            honest_graph.cypher(asked.text, asked.parameters, trust="guest")
        assert error.value.message.startswith(asked.refused) and error.value.remedy
    else:
        assert len(honest_graph.cypher(asked.text, asked.parameters, trust="guest")) == len(rows)


@pytest.mark.parametrize(("file", "number", "most"), [("honest", 87, 18), ("analyst", 40, 6)])
def test_guests_may_ask_nearly_all(file: str, number: int, most: int) -> None:
    asked = statements(file)
    assert len(asked) == number and sum(one.refused is not None for one in asked) <= most


def test_plan_is_checked_once(honest_graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused statement is refused again; an accepted one needs no second EXPLAIN."""
    for _ in range(2):
        with pytest.raises(RefusedError):
            honest_graph.cypher("CREATE (n:Evil)")
    honest_graph.cypher("MATCH (n:Web) RETURN count(n) AS n")
    monkeypatch.setattr("kgrag.graph.gateway.run.check_plan", None)
    assert honest_graph.cypher("MATCH (n:Web) RETURN count(n) AS n").values == ((150,),)
    assert honest_graph.cypher("MATCH (n:Web) RETURN count(n) AS n", plan="profile").columns[-1] == "database hits"
    with pytest.raises(TypeError):
        honest_graph.cypher("MATCH (n:Web) RETURN count(n) AS n", trust="guest")


@pytest.mark.parametrize(
    "statement",
    [
        "SHOW INDEXES YIELD name RETURN count(name) > 3", "SHOW CONSTRAINTS", "SHOW PROCEDURES YIELD name RETURN name",
        "SHOW FUNCTIONS", "CALL db.schema.visualization()",
    ],
)  # fmt: skip
def test_owner_sees_the_schema(honest_graph: KnowledgeGraph, statement: str) -> None:
    assert len(honest_graph.cypher(statement))
    if statement.startswith("SHOW"):
        with pytest.raises(RefusedError, match="may not begin with SHOW"):
            honest_graph.cypher(statement, trust="guest")


def test_cut_rows_warn_the_owner(honest_graph: KnowledgeGraph) -> None:
    with pytest.warns(UserWarning, match="first 1,000 rows.*KGRAG_GATEWAY__ROWS"):
        honest_graph.cypher("UNWIND range(1, 1001) AS i RETURN i")


def test_names_that_lead_to_nothing_are_told(honest_graph: KnowledgeGraph) -> None:
    with pytest.raises(NotFoundError, match="no collection 'nowhere'"):
        honest_graph["nowhere"].cypher("RETURN 1")
    rows = honest_graph.cypher("MATCH (e:Entity)-[:MENTIONS]->(p:Passage) RETURN e")
    assert rows.notes[-1] == "MENTIONS leads the other way: (:Passage)-[:MENTIONS]->(:Entity)."


def test_embeddings_are_left_out_unless_asked_for(honest_graph: KnowledgeGraph) -> None:
    statement = "MATCH (n:Web) RETURN n, n {.*} AS map, [n] AS list, {embedding: n.embedding, near: 1} AS made LIMIT 1"
    (row,) = honest_graph.cypher(statement)
    assert "embedding" not in row["n"].properties and "embedding" not in row["map"] and row["made"] == {"near": 1}
    assert "embedding" not in row["list"][0].properties
    (row,) = honest_graph.cypher(statement, embeddings=True)
    assert len(row["n"].properties["embedding"]) == 64 == len(row["map"]["embedding"])


def test_paths_and_edges(honest_graph: KnowledgeGraph) -> None:
    (row,) = honest_graph.cypher("MATCH p = (a:Web {number: 1})-[r:NEXT]->(b) RETURN p, r, a LIMIT 1")
    path, edge, node = row["p"], row["r"], row["a"]
    assert isinstance(path, Path) and isinstance(edge, Edge) and isinstance(node, Node)
    assert path.edges == (edge,) and path.nodes[0] == node
    assert (edge.start, edge.end) == (path.nodes[0].element, path.nodes[1].element)
    assert node.labels == ("Web",)


def test_columns_are_named_as_they_are_written(honest_graph: KnowledgeGraph) -> None:
    rows = honest_graph.cypher("MATCH (n:Web) RETURN collect( n.number )[..2], size(collect(n)) AS n, count(*)")
    assert rows.columns == ("collect( n.number )[..2]", "n", "count(*)")


@pytest.mark.parametrize("rows", [1, 7, 500])
def test_row_cap(honest_graph: KnowledgeGraph, rows: int) -> None:
    limits = GatewaySettings(rows=rows)
    found = run_read(honest_graph.graph, "UNWIND range(1, 500) AS i RETURN i", None, limits, "owner")
    assert len(found) == rows
    assert (found.cut is None) == (rows == 500)


def test_errors_say_what_to_mend(honest_graph: KnowledgeGraph) -> None:
    with pytest.raises(DatabaseError, match="`nobody` not defined"):
        honest_graph.cypher("MATCH (n) WITH collect(n) AS l RETURN nobody")
    with pytest.raises(DatabaseError, match="Expected parameter"):
        honest_graph.cypher("RETURN $missing")


def test_plans(honest_graph: KnowledgeGraph) -> None:
    statement = "MATCH (n:Web) RETURN count(n) AS n, collect(n.number)[..2] AS l"
    explained = honest_graph.cypher(statement, plan="explain")
    assert explained.columns == ("operator", "details", "estimated rows")
    assert any(row["operator"].endswith("NodeByLabelScan") for row in explained)
    profiled = honest_graph.cypher(statement, plan="profile")
    assert profiled.columns[-2:] == ("rows", "database hits")
    (scan,) = (row for row in profiled if row["operator"].endswith("NodeByLabelScan"))
    assert scan["rows"] == 150 and scan["database hits"] >= 150
    assert honest_graph.cypher(f" explain {statement}").columns == explained.columns
    assert honest_graph.cypher(f"PROFILE {statement}", trust="guest").columns == profiled.columns
    for refused in ("CREATE (n:Evil)", "SHOW TRANSACTIONS", "EXPLAIN CREATE (n:Evil)"):
        with pytest.raises((RefusedError, DatabaseError)):
            honest_graph.cypher(refused, plan="explain")


def test_a_statement_means_the_same_on_both_lines(honest_graph: KnowledgeGraph) -> None:
    for statement in ("MATCH (n:Web) LET x = n.number RETURN x", "MATCH (n:Web) FILTER n.number = 1 RETURN n"):
        with pytest.raises(DatabaseError, match="Invalid input") as error:
            honest_graph.cypher(statement)
        assert "Cypher 5" in error.value.remedy


def test_a_server_that_keeps_no_time_is_left(
    honest_graph: KnowledgeGraph, graph_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert graph_settings.neo4j_uri is not None
    monkeypatch.setattr("kgrag.graph.gateway.run.GRACE", 0.5)
    limits = GatewaySettings(seconds=0.5)
    with (
        Stalling(graph_settings.neo4j_uri) as line,
        Graph(line.uri, graph_settings.neo4j_user, graph_settings.neo4j_password) as graph,
    ):
        assert len(run_read(graph, "RETURN 1", None, limits, "owner")) == 1
        line.stall()
        started = time.monotonic()
        with pytest.raises(DatabaseError, match="did not answer within 1 seconds"):
            run_read(graph, "RETURN 2", None, limits, "owner")
        assert time.monotonic() - started < 10
        line.go_on()
        assert len(run_read(graph, "RETURN 3", None, GatewaySettings(), "owner")) == 1


@pytest.mark.parametrize("asked", statements("collection"), ids=str)
def test_statements_that_stay_within_a_collection(asked: Asked) -> None:
    with nullcontext() if asked.kind == "within" else pytest.raises(RefusedError):
        check_collection(asked.text, "demo")


def test_a_session_for_reading_refuses_to_write(kg: KnowledgeGraph) -> None:
    """A read session is the last barrier against statements that the rules and the plan would let through."""
    with pytest.raises(KgragError, match="Writing in read access mode"), kg.graph.reading(10) as session:
        session.run("CREATE (:Evil)").consume()
    assert not kg.graph.driver.execute_query("MATCH (n:Evil) RETURN n").records
