"""The queries that run, except those on running jobs, and the content that they touch."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from kgrag.graph import connection
from kgrag.graph.connection import Graph, lookup
from kgrag.graph.queries import Query
from kgrag.retrieval.base import Retriever

_AT_WORK = ("jobs/hold", "jobs/beat", "jobs/release")


@contextmanager
def queries_run() -> Iterator[dict[str, Query]]:
    """The queries, by their names, that run while the `with` block does."""
    found: dict[str, Query] = {}

    def noted(name: str, parameters: dict[str, Any]) -> Query:
        query = lookup(name, parameters)
        if name not in _AT_WORK:
            found[name] = query
        return query

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "lookup", noted)
        yield found


def queries_of(retriever: Retriever, question: str, k: int) -> list[str]:
    """The names of the queries of a search for k passages, in order, when its collection was opened just now."""
    retriever.context.refresh()  # a search in a slow run might refresh, which must not be counted
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "lookup", lambda name, given: found.append(name) or lookup(name, given))
        assert len(retriever.retrieve(question, k)) == k
    return found


def db_hits(graph: Graph, name: str, **parameters: Any) -> int:
    """Return the db hits of a query: nodes, edges, properties and index entries."""

    def hits(plan: Mapping[str, Any]) -> int:
        return int(plan.get("dbHits", 0)) + sum(map(hits, plan.get("children", ())))

    query = lookup(name, parameters)
    summary = graph.driver.execute_query("PROFILE " + query.text, parameters).summary
    assert summary.profile is not None
    return hits(summary.profile)
