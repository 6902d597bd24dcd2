"""Which queries are run, apart from those that say who is at work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kgrag.graph import connection
from kgrag.graph.connection import lookup
from kgrag.graph.queries import Query

_AT_WORK = ("write/hold_collection", "write/beat_job", "write/release_collection")


@contextmanager
def modes_of_queries() -> Iterator[set[str]]:
    """The modes (read, write, ...) of the queries that run while the `with` block does."""
    modes = set()

    def noted(name: str, parameters: dict[str, Any]) -> Query:
        query = lookup(name, parameters)
        if name not in _AT_WORK:
            modes.add(query.mode)
        return query

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "lookup", noted)
        yield modes
