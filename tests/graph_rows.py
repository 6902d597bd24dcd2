"""Rows of the graph, read by Cypher without kgrag."""

from typing import Any

from kgrag import KnowledgeGraph


def rows(kg: KnowledgeGraph, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the records of a query, which may write."""
    return [record.data() for record in kg.graph.driver.execute_query(query, **parameters).records]
