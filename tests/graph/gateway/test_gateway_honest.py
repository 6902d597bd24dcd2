"""What analysts ask is answered with plain values, without embeddings unless they are asked for."""

from typing import Any

import pytest
from gateway_honest import HONEST, PARAMETERS

from kgrag.client import KnowledgeGraph
from kgrag.errors import DatabaseError, RefusedError
from kgrag.graph.gateway import read_only
from kgrag.rows import Edge, Node, Path
from kgrag.settings import GatewaySettings


@pytest.mark.parametrize(("statement", "expected"), HONEST, ids=[s[:60] for s, _ in HONEST])
def test_analysts_are_answered(
    gateway_graph: KnowledgeGraph, statement: str, expected: list[list[Any]] | int | None
) -> None:
    rows = gateway_graph.cypher(statement, PARAMETERS)
    assert rows.cut is None
    if isinstance(expected, list):
        assert [list(row) for row in rows.values] == expected
    elif expected is not None:
        assert len(rows) == expected


def test_there_are_enough() -> None:
    assert len(HONEST) >= 60


def test_embeddings_are_left_out_unless_asked_for(gateway_graph: KnowledgeGraph) -> None:
    statement = "MATCH (n:Web) RETURN n, n {.*} AS map, [n] AS list, {embedding: n.embedding, near: 1} AS made LIMIT 1"
    (row,) = gateway_graph.cypher(statement)
    assert "embedding" not in row["n"].properties and "embedding" not in row["map"] and row["made"] == {"near": 1}
    assert "embedding" not in row["list"][0].properties
    (row,) = gateway_graph.cypher(statement, embeddings=True)
    assert len(row["n"].properties["embedding"]) == 64 == len(row["map"]["embedding"])


def test_paths_and_edges(gateway_graph: KnowledgeGraph) -> None:
    (row,) = gateway_graph.cypher("MATCH p = (a:Web {number: 1})-[r:NEXT]->(b) RETURN p, r, a LIMIT 1")
    path, edge, node = row["p"], row["r"], row["a"]
    assert isinstance(path, Path) and isinstance(edge, Edge) and isinstance(node, Node)
    assert path.edges == (edge,) and path.nodes[0] == node
    assert (edge.start, edge.end) == (path.nodes[0].element, path.nodes[1].element)
    assert node.labels == ("Web",)


def test_columns_are_named_as_they_are_written(gateway_graph: KnowledgeGraph) -> None:
    rows = gateway_graph.cypher("MATCH (n:Web) RETURN collect( n.number )[..2], size(collect(n)) AS n, count(*)")
    assert rows.columns == ("collect( n.number )[..2]", "n", "count(*)")


@pytest.mark.parametrize("rows", [1, 7, 500])
def test_row_cap(gateway_graph: KnowledgeGraph, rows: int) -> None:
    limits = GatewaySettings(rows=rows)
    found = read_only(gateway_graph.graph, "UNWIND range(1, 500) AS i RETURN i", None, limits)
    assert len(found) == rows
    assert (found.cut is None) == (rows == 500)


def test_errors_say_what_to_mend(gateway_graph: KnowledgeGraph) -> None:
    with pytest.raises(DatabaseError, match="`nobody` not defined"):
        gateway_graph.cypher("MATCH (n) WITH collect(n) AS l RETURN nobody")
    with pytest.raises(DatabaseError, match="Expected parameter"):
        gateway_graph.cypher("RETURN $missing")
    with pytest.raises(RefusedError, match="500 values; in this statement at most 100"):
        limits = GatewaySettings(list_items=100)
        read_only(gateway_graph.graph, "UNWIND range(1, 500) AS i RETURN collect(i)", None, limits)
