"""The plan that the server makes of a statement: rules on it, and its operators as rows."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from kgrag.graph.gateway.allowed import OPERATORS
from kgrag.graph.gateway.cost_guards import unguarded
from kgrag.values.errors import RefusedError

PlanKind = Literal["explain", "profile"]
"""What the server says of a statement: how it would run it, or how it did, with the rows and accesses of each step."""

_COLUMNS = ("operator", "details", "estimated rows", "rows", "database hits")


def check_plan(query_type: str | None, plan: Mapping[str, Any] | None) -> None:
    """Check that a plan only reads. Raises RefusedError."""
    if query_type != "r" or plan is None:
        raise RefusedError("The server says that this statement does not only read.", "Write one that only reads.")
    for operator in _operators(plan):
        if operator.removeprefix("Partitioned").replace(" ", "") not in OPERATORS:
            raise RefusedError(
                f"The server would run {operator}, which is not on the list of what reads.",
                "Write it with MATCH, WHERE, WITH, UNWIND, CALL and RETURN alone.",
            )


def plan_rows(plan: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Return the columns and a row for each operator, the last one first; its inputs are indented below it.

    Rows and database hits are there in a profile alone.
    """
    plan = plan or {}
    profiled = "dbHits" in plan
    return _COLUMNS if profiled else _COLUMNS[:3], tuple(_plan_rows(plan, 0, profiled))


def _plan_rows(plan: Mapping[str, Any], depth: int, profiled: bool) -> Iterator[tuple[Any, ...]]:
    arguments = plan.get("args", {})
    name = str(plan.get("operatorType", "")).partition("@")[0]
    row = ("| " * depth + name, unguarded(str(arguments.get("Details", ""))), arguments.get("EstimatedRows"))
    yield (*row, plan.get("rows"), plan.get("dbHits")) if profiled else row
    for child in plan.get("children", ()):
        yield from _plan_rows(child, depth + 1, profiled)


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan["operatorType"]).partition("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)
