"""The queries that run, except those on running jobs, and the database hits that they need."""

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
    """Yield the names of the queries that run in the `with` block."""
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
    """Return the names of the queries of a search for k passages, in order, on a freshly opened collection."""
    retriever.context.refresh()  # a slow run might refresh within the search, which must not count
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
