"""Runs a statement that only reads, with caps on time and size, for two levels of trust.

The owner's statements go as they are: the server's plan has to be one that reads. A guest's statements are checked
before (`guest`), since Neo4j cannot interrupt everything.
"""

import difflib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import neo4j
import neo4j.graph
import neo4j.spatial
import neo4j.time
from neo4j.exceptions import BrokenRecordError, Neo4jError

from kgrag.graph.connection import Graph, missing_index, unreadable_words
from kgrag.graph.description import describe
from kgrag.graph.gateway.allowed import OPERATORS, PROCEDURES, SHOWING
from kgrag.graph.gateway.guest import check_guest, check_values
from kgrag.settings import GatewaySettings
from kgrag.values.errors import KgragError, RefusedError, StatementError
from kgrag.values.rows import Edge, Node, Path, Rows

Trust = Literal["owner", "guest"]
"""The author of a statement: the person who runs kgrag, or a guest who reaches it over a server."""
PlanKind = Literal["explain", "profile"]
"""The server's plan of a statement; with "profile" also the rows and accesses of each step of its run."""

_COLUMNS = ("operator", "details", "estimated rows", "rows", "database hits")


def check_plan(query_type: str | None, plan: Mapping[str, Any] | None, trust: Trust) -> None:
    """Check that a plan only reads this database. Raises RefusedError."""
    if query_type != "r" or plan is None:
        raise RefusedError("The server says that this statement does not only read.", "Write one that only reads.")
    for _, step in _steps(plan):
        operator = step["operatorType"].partition("@")[0]
        name = operator.replace(" ", "")
        if not OPERATORS.fullmatch(name) and not (trust == "owner" and name in SHOWING):
            raise RefusedError(
                f"The server would run {operator}, which is not on the list of what reads.",
                "Write it with MATCH, WHERE, WITH, UNWIND, CALL and RETURN alone.",
            )
        procedure = step.get("args", {}).get("Details", "").partition("(")[0].strip()
        if name == "ProcedureCall" and procedure not in PROCEDURES:
            raise RefusedError(
                f"The procedure {procedure} is not on the list.", f"There are: {', '.join(sorted(PROCEDURES))}."
            )


def plan_rows(plan: Mapping[str, Any] | None) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Return the columns and a row for each operator, the last one first; its inputs are indented below it.

    Rows and database hits are there in a profile alone.
    """
    rows = []
    for depth, step in _steps(plan or {}):
        operator, details = step.get("operatorType", "").partition("@")[0], step.get("args", {})
        row = ("| " * depth + operator, details.get("Details", ""), details.get("EstimatedRows"))
        rows.append((*row, step.get("rows"), step.get("dbHits")))
    columns = 5 if "dbHits" in (plan or {}) else 3
    return _COLUMNS[:columns], tuple(row[:columns] for row in rows)


def _steps(plan: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield depth, plan
    for child in plan.get("children", ()):
        yield from _steps(child, depth + 1)


_EMBEDDING = re.compile(r"embedding\w*", re.IGNORECASE)
_LONG = 8


def plain(value: Any, embeddings: bool = False) -> Any:
    """Return a driver's value as one of Rows; without `embeddings`, vectors are removed from maps."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case neo4j.graph.Node():
            return Node(value.element_id, tuple(sorted(value.labels)), _properties(value.items(), embeddings))
        case neo4j.graph.Relationship():
            start, end = (node.element_id if node is not None else "" for node in value.nodes)
            return Edge(value.element_id, value.type, start, end, _properties(value.items(), embeddings))
        case neo4j.graph.Path():
            return Path(
                tuple(plain(node, embeddings) for node in value.nodes),
                tuple(plain(edge, embeddings) for edge in value.relationships),
            )
        case Mapping():
            return _properties(value.items(), embeddings)
        case neo4j.spatial.Point():  # a tuple, as is a duration
            return f"point({', '.join(map(str, value))})"
        case neo4j.time.Duration():
            return value.iso_format()
        case list() | tuple():
            return [plain(item, embeddings) for item in value]
        case bytes() | bytearray():
            return value.hex()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


def _properties(items: Iterable[tuple[str, Any]], embeddings: bool) -> dict[str, Any]:
    def is_vector(key: str, value: Any) -> bool:
        long = _EMBEDDING.fullmatch(key) and isinstance(value, list) and len(value) >= _LONG
        return bool(long) and all(isinstance(item, float) for item in value)

    return {key: plain(value, embeddings) for key, value in items if embeddings or not is_vector(key, value)}


_LANGUAGE = "CYPHER 5 "  # understood by every server; 2026.x would otherwise assume Cypher 25
_PLANNED = re.compile(r"\s*(EXPLAIN|PROFILE)\b", re.IGNORECASE)
_CHECKED: set[tuple[str, str, str, Trust]] = set()
"""Statements of a server whose plans only read: what a plan does depends on the statement alone."""
_MOST_CHECKED = 1000
GRACE = 5.0  # seconds beyond its time-out that the server has to end a statement before the connection is dropped
_MISSING = re.compile(r"[Tt]he (label|relationship type|property)(?: key)? `(.+?)` does not exist")
_FETCHED = 100  # records per network message, and so at most beyond a cap


def run_read(
    graph: Graph,
    statement: str,
    parameters: Mapping[str, Any] | None,
    limits: GatewaySettings,
    trust: Trust,
    *,
    embeddings: bool = False,
    plan: PlanKind | None = None,
) -> Rows:
    """Run a statement that only reads, and return at most as many of its rows as the limits say.

    Args:
        graph: the database.
        statement: Cypher; with EXPLAIN or PROFILE before it, the rows are the server's plan.
        parameters: name -> value.
        limits: caps on time, rows and size.
        trust: whose statement it is.
        embeddings: whether vectors stay in nodes, relationships and maps.
        plan: "explain" or "profile", as the words before a statement.

    Returns:
        The rows, and a sentence about rows that were cut.

    Raises:
        RefusedError: the statement does not only read, or a guest may not ask it; the message says why.
        StatementError: it is wrong, or took too much time or memory.
    """
    started = time.perf_counter()
    parameters = dict(parameters or {})
    if word := _PLANNED.match(statement):
        plan, statement = ("explain" if word[1].upper() == "EXPLAIN" else "profile"), statement[word.end() :]
    check_values(parameters)
    if trust == "guest":
        check_guest(statement, parameters, limits.hops)
    if not statement.strip():
        raise RefusedError("The statement is empty.", "Write one that begins with MATCH, for example.")
    with graph.reading(_FETCHED, limits.seconds + GRACE, warned=True) as session:
        try:
            with session.begin_transaction(timeout=limits.seconds) as transaction:

                def send(kind: str) -> neo4j.Result:
                    text: Any = f"{_LANGUAGE}{kind} {statement}"
                    return transaction.run(text, parameters)

                cut, key = None, (graph.uri, graph.database, statement, trust)
                columns: tuple[str, ...]
                if plan == "explain" or key not in _CHECKED:
                    summary = send("EXPLAIN").consume()
                    check_plan(summary.query_type, summary.plan, trust)
                    if len(_CHECKED) >= _MOST_CHECKED:
                        _CHECKED.clear()
                    _CHECKED.add(key)
                if plan == "explain":
                    columns, values = plan_rows(summary.plan)
                else:
                    result = send("PROFILE" if plan else "")
                    if not plan:
                        columns, values, cut = read_rows(result, limits, embeddings)
                    summary = result.consume()
                    if plan:
                        columns, values = plan_rows(summary.profile)
                notes = _unknown(summary)
        except Neo4jError as error:
            if explained_error := _explained(error, limits):
                raise explained_error from error
            raise
    return Rows(columns, values, cut, time.perf_counter() - started, notes)


def _unknown(summary: neo4j.ResultSummary) -> tuple[str, ...]:
    """Return the names of a statement that the database lacks, by the server's notes, and similar names."""
    nodes, edges = describe().nodes, describe().edges
    vocabulary = {kind.label for kind in nodes} | {kind.type for kind in edges}
    vocabulary |= {property.name for kinds in (nodes, edges) for kind in kinds for property in kind.properties}
    names = []
    for status in summary.gql_status_objects:
        if named := _MISSING.search(status.status_description):
            name = named[2]
            near = difflib.get_close_matches(name, sorted(vocabulary), n=1)
            hint = f" Did you mean {near[0]}?" if near and near[0] != name else ""
            names.append(f"Nothing in the database has the {named[1]} {name}.{hint}")
    return tuple(dict.fromkeys(names))


def read_rows(
    result: neo4j.Result, limits: GatewaySettings, embeddings: bool
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], str | None]:
    """Read the columns and rows of a result within the limits, and report what they cut."""
    columns = tuple(result.keys())
    values: list[tuple[Any, ...]] = []
    size = 0
    for record in result:
        if len(values) == limits.rows:
            return columns, tuple(values), f"only the first {limits.rows:,} rows are given (KGRAG_GATEWAY__ROWS)"
        try:
            row = tuple(plain(value, embeddings) for value in record.values())
        except BrokenRecordError as error:
            raise StatementError(
                "A value cannot be given, such as a date beyond the year 9999.", "Return it as text: toString(value)."
            ) from error
        size += len(repr(row))  # about its size as text
        if size > limits.megabytes * 1e6:
            notice = f"only the rows of the first {limits.megabytes:g} MB are given (KGRAG_GATEWAY__MEGABYTES)"
            return columns, tuple(values), notice
        values.append(row)
    return columns, tuple(values), None


def _explained(error: Neo4jError, limits: GatewaySettings) -> KgragError | None:
    """Return the error for the caller, None for one that is not about the statement."""
    code, message = error.code or "", error.message or str(error)
    # the places are wrong by the word before the statement
    first = re.sub(r" \(line \d+, column \d+ \(offset: \d+\)\)", "", message.partition("\n")[0])
    complaint = f"Neo4j does not take the statement: {first}"
    if missing := missing_index(message):
        return StatementError(missing.message, missing.remedy)
    if unreadable := unreadable_words(message):
        return unreadable
    for holds, problem, remedy in (
        (
            "TimedOut" in code or "Terminated" in code,
            f"The statement took longer than {limits.seconds:g} seconds, so the server ended it.",
            "Start from fewer nodes, bound its paths, or raise KGRAG_GATEWAY__SECONDS.",
        ),
        (
            "OutOfMemory" in code,
            "The statement took more memory than the server gives to one, so it was ended.",
            "Sort, collect and combine fewer rows: filter or LIMIT them first.",
        ),
        (
            re.search(r"Invalid input '(LET|FILTER|NEXT|SEARCH|WHEN|FOR)'", message),
            complaint,
            "It is read as Cypher 5, by every server: write WITH for LET, WHERE for FILTER, UNWIND for FOR.",
        ),
        ("ClientError" in code, complaint, "Correct it and try again."),
    ):
        if holds:
            return StatementError(problem, remedy)
    return None
