"""Checks a statement and runs it, in a transaction that can only read, with caps on time, rows and size."""

import difflib
import re
import time
from collections.abc import Mapping
from typing import Any

import neo4j
from neo4j.exceptions import BrokenRecordError, Neo4jError

from kgrag.graph.connection import Graph
from kgrag.graph.description import EdgeKind, NodeKind, describe
from kgrag.graph.driver_errors import missing_index, unreadable_words
from kgrag.graph.gateway.cost_guards import MARK, guarded, unguarded
from kgrag.graph.gateway.growth import Growth, check_walked
from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parameters import check_parameters
from kgrag.graph.gateway.patterns import check_labels, check_paths, check_regular_expressions, check_searches
from kgrag.graph.gateway.plain_values import plain, size_of
from kgrag.graph.gateway.plan import PlanKind, check_plan, plan_rows
from kgrag.graph.gateway.rules import check_calls, check_cases, check_size, check_words
from kgrag.graph.gateway.searches import computed_results
from kgrag.settings import GatewaySettings
from kgrag.values.errors import KgragError, RefusedError, StatementError
from kgrag.values.rows import Rows

_LANGUAGE = "CYPHER 5 "  # what the rules read; 2026.x takes it for Cypher 25 otherwise, with clauses of its own
_GRACE = 5.0  # seconds beyond its time-out that the server has to end a statement before the connection is dropped
_MISSING = re.compile(r"[Tt]he (label|relationship type|property)(?: key)? `(.+?)` does not exist")
_FETCHED = 100  # records per network message: what is fetched beyond a cap is at most that


def read_only(
    graph: Graph,
    statement: str,
    parameters: Mapping[str, Any] | None,
    limits: GatewaySettings,
    embeddings: bool = False,
    plan: PlanKind | None = None,
) -> Rows:
    """Run a statement that only reads and give back its rows, at most as many as the limits say.

    `embeddings`: whether they stay in nodes, relationships and maps. `plan`: the rows are the server's plan instead;
    for "profile" the statement is run, for "explain" it is not. Raises RefusedError, naming the rule, for a statement
    that the gateway does not run; StatementError when it is wrong, takes too long or too much memory.
    """
    started = time.perf_counter()
    parameters = dict(parameters or {})
    text = prepared(statement, parameters, limits)
    with graph.reading(_FETCHED, limits.seconds + _GRACE, warned=True) as session:
        try:
            with session.begin_transaction(timeout=limits.seconds) as transaction:
                explained: Any = "EXPLAIN " + text
                summary = transaction.run(explained, parameters).consume()
                check_plan(summary.query_type, summary.plan)
                notes = _unknown(summary)
                columns: tuple[str, ...]
                if plan == "explain":
                    explained = "EXPLAIN " + unguarded(text)
                    columns, values, cut = *plan_rows(transaction.run(explained, parameters).consume().plan), None
                elif plan == "profile":
                    profiled: Any = "PROFILE " + text
                    columns, values, cut = *plan_rows(transaction.run(profiled, parameters).consume().profile), None
                else:
                    checked: Any = text
                    columns, values, cut = _rows(transaction.run(checked, parameters), limits, embeddings)
        except Neo4jError as error:
            if explained_error := _explained(error, limits):
                raise explained_error from error
            raise
    return Rows(columns, values, cut, time.perf_counter() - started, notes)


def prepared(statement: str, parameters: Mapping[str, Any], limits: GatewaySettings) -> str:
    """Return the text to send, after every rule on tokens. Raises RefusedError."""
    if len(statement) > limits.characters:
        raise RefusedError(
            f"The statement has {len(statement):,} characters; at most {limits.characters:,} are taken.",
            "Give long lists and texts as parameters.",
        )
    check_parameters(parameters, limits)
    read = Statement(statement)
    check_words(read)
    check_calls(read)
    check_size(read)
    check_cases(read)
    check_labels(read)
    check_paths(read, limits.hops)
    grown = Growth(read, parameters)
    check_regular_expressions(grown, parameters)
    check_searches(grown)
    length = grown.list_length(limits)
    check_walked(grown, length)
    numbers = computed_results(read, parameters, limits.list_items)
    return _LANGUAGE + guarded(read, length, numbers, limits.list_items)


def _unknown(summary: neo4j.ResultSummary) -> tuple[str, ...]:
    """Return the names of a statement that the database lacks, by the server's notes, and similar names."""
    kinds: tuple[NodeKind | EdgeKind, ...] = (*describe().nodes, *describe().edges)
    known = {name for kind in kinds for name in (_name(kind), *(p.name for p in kind.properties))}
    found = []
    for told in summary.gql_status_objects:
        if named := _MISSING.search(told.status_description):
            name = unguarded(named[2])
            near = difflib.get_close_matches(name, sorted(known), n=1)
            meant = f" Did you mean {near[0]}?" if near and near[0] != name else ""
            found.append(f"Nothing in the database has the {named[1]} {name}.{meant}")
    return tuple(dict.fromkeys(found))


def _name(kind: NodeKind | EdgeKind) -> str:
    return kind.label if isinstance(kind, NodeKind) else kind.type


def _rows(
    result: neo4j.Result, limits: GatewaySettings, embeddings: bool
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], str | None]:
    columns = tuple(unguarded(key) for key in result.keys())  # noqa: SIM118
    values: list[tuple[Any, ...]] = []
    size = 0
    for record in result:
        if len(values) == limits.rows:
            return columns, tuple(values), f"only the first {limits.rows:,} rows are given"
        try:
            row = tuple(plain(value, embeddings) for value in record.values())
        except BrokenRecordError as error:
            raise StatementError(
                "A value cannot be given, such as a date beyond the year 9999.", "Return it as text: toString(value)."
            ) from error
        size += sum(map(size_of, row))
        if size > limits.megabytes * 1e6:
            return columns, tuple(values), f"only the rows of the first {limits.megabytes:g} MB are given"
        values.append(row)
    return columns, tuple(values), None


def _explained(error: Neo4jError, limits: GatewaySettings) -> KgragError | None:
    """Return the error for the caller, None for one that is not about the statement."""
    code, message = error.code or "", error.message or str(error)
    if length := re.search(rf"{MARK} (\d+) not (\d+)", message):
        most, found = (f"{int(number):,}" for number in length.groups())
        return RefusedError(
            f"A list (or the result of a search) has {found} values; in this statement at most {most} are allowed.",
            "Narrow it down with WHERE, a LIMIT before collect(), or use count(), sum() and UNWIND instead.",
        )
    if "TimedOut" in code or "Terminated" in code:
        return StatementError(
            f"The statement took longer than {limits.seconds:g} seconds, so the server ended it.",
            "Start from fewer nodes, bound its paths, or raise KGRAG_GATEWAY__SECONDS.",
        )
    if "OutOfMemory" in code:
        return StatementError(
            "The statement took more memory than the server gives to one, so it was ended.",
            "Sort, collect and combine fewer rows: filter or LIMIT them first.",
        )
    if re.search(r"Invalid input '(LET|FILTER|NEXT|SEARCH|WHEN|FOR)'", message):
        return StatementError(
            f"Neo4j does not take the statement: {_complaint(message)}",
            "It is read as Cypher 5, by every server: write WITH for LET, WHERE for FILTER, UNWIND for FOR.",
        )
    if missing := missing_index(message):
        return StatementError(missing.message, missing.remedy)
    if unreadable := unreadable_words(message):
        return unreadable
    if "ClientError" in code:
        return StatementError(f"Neo4j does not take the statement: {_complaint(message)}", "Correct it and try again.")
    return None


def _complaint(message: str) -> str:
    """Return the server's message without the parts added to the statement, and without positions.

    The added parts displace them.
    """
    first, _, _ = unguarded(message).partition("\n")
    return re.sub(r" \(line \d+, column \d+ \(offset: \d+\)\)", "", first)
