"""Rules on the plan that the server makes of a statement (EXPLAIN)."""

from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.errors import RefusedError
from kgrag.graph.gateway.allowed import OPERATORS


def check_plan(query_type: str | None, plan: Mapping[str, Any] | None) -> None:
    """The plan reads and does nothing else. Raises RefusedError."""
    if query_type != "r" or plan is None:
        raise RefusedError("The server says that this statement does not only read.", "Write one that only reads.")
    for operator in _operators(plan):
        if operator.removeprefix("Partitioned") not in OPERATORS:
            raise RefusedError(
                f"The server would run {operator}, which is not on the list of what reads.",
                "Write it with MATCH, WHERE, WITH, UNWIND, CALL and RETURN alone.",
            )


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan["operatorType"]).partition("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)
