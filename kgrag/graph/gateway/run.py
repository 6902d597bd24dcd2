"""Checks a statement and its plan, and runs it in a transaction that can only read, with caps on time and size."""

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
from kgrag.graph.description import EdgeKind, NodeKind, describe
from kgrag.graph.gateway.growth import Growth, check_parameters, check_walked
from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parts import computed_results, literal_range, makes_list
from kgrag.graph.gateway.patterns import check_labels, check_paths, check_regular_expressions, check_searches
from kgrag.graph.gateway.rules import OPERATORS, check_calls, check_cases, check_size, check_words
from kgrag.settings import GatewaySettings
from kgrag.values.errors import KgragError, RefusedError, StatementError
from kgrag.values.rows import Edge, Node, Path, Rows

MARK = "longer than the gateway allows:"
_ITEM = "`kgrag list`"
_BEFORE = f"head([{_ITEM} IN ["
_AFTER_LIST = f"] | CASE WHEN size({_ITEM}) > {{0}} THEN [date('{MARK} {{0}} not ' + size({_ITEM}))] ELSE {_ITEM} END])"
_AFTER_NUMBER = f"] | CASE WHEN {_ITEM} > {{0}} THEN date('{MARK} {{0}} not ' + toInteger({_ITEM})) ELSE {_ITEM} END])"


def guarded(statement: Statement, length: int, numbers: Iterable[tuple[int, int]], most: int) -> str:
    """Return the text with a guard around each list, and around each of `numbers` (ranges of tokens).

    It fails where a list is longer than `length`, or a number larger than `most`.
    """
    before: dict[int, str] = {}
    after: dict[int, str] = {}
    for opened in sorted(statement.partner):
        if not makes_list(statement, opened):
            continue
        close = statement.partner[opened]
        begin = opened if statement.at(opened) == "[" else opened - 1
        if statement.at(begin) == "RANGE":
            literal = literal_range(statement, opened, length)
            if literal or (statement.at(begin - 1) == "UNWIND" and statement.at(close + 1) == "AS"):
                continue  # rows: they can be interrupted
        before[begin] = _BEFORE + before.get(begin, "")
        after[close] = after.get(close, "") + _AFTER_LIST.format(length)
    for start, end in numbers:
        before[start] = _BEFORE + before.get(start, "")
        after[end - 1] = after.get(end - 1, "") + _AFTER_NUMBER.format(most)
    parts, position = [], 0
    for index, token in enumerate(statement.tokens):
        parts += [statement.text[position : token.start], before.get(index, "")]
        parts += [statement.text[token.start : token.end], after.get(index, "")]
        position = token.end
    return "".join(parts).rstrip().removesuffix(";")


def unguarded(text: str) -> str:
    """Return the text (of a column's name, of an error) without its guards."""
    for guard in (_AFTER_LIST, _AFTER_NUMBER):
        text = re.sub(re.escape(guard).replace(r"\{0\}", r"\d+"), "", text)
    return text.replace(_BEFORE, "")


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


def size_of(value: Any) -> int:
    """Return about how many bytes a plain value takes as text."""
    match value:
        case str():
            return len(value) + 2
        case None | bool() | int() | float():
            return 8
        case Node(_, labels, properties):
            return 40 + sum(map(len, labels)) + size_of(properties)
        case Edge(_, _, _, _, properties):
            return 80 + size_of(properties)
        case Path(nodes, edges):
            return sum(map(size_of, nodes)) + sum(map(size_of, edges))
        case Mapping():
            return sum(len(key) + 4 + size_of(item) for key, item in value.items())
    return 2 + sum(map(size_of, value))


def _properties(items: Iterable[tuple[str, Any]], embeddings: bool) -> dict[str, Any]:
    return {
        key: plain(value, embeddings)
        for key, value in items
        if embeddings or not (_EMBEDDING.fullmatch(key) and _is_vector(value))
    }


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= _LONG and all(isinstance(item, float) for item in value)


_LANGUAGE = "CYPHER 5 "  # what the rules read; 2026.x takes it for Cypher 25 otherwise, with clauses of its own
GRACE = 5.0  # seconds beyond its time-out that the server has to end a statement before the connection is dropped
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
    with graph.reading(_FETCHED, limits.seconds + GRACE, warned=True) as session:
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
                    columns, values, cut = read_rows(transaction.run(checked, parameters), limits, embeddings)
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
    vocabulary = {name for kind in kinds for name in (_name(kind), *(p.name for p in kind.properties))}
    names = []
    for status in summary.gql_status_objects:
        if named := _MISSING.search(status.status_description):
            name = unguarded(named[2])
            near = difflib.get_close_matches(name, sorted(vocabulary), n=1)
            hint = f" Did you mean {near[0]}?" if near and near[0] != name else ""
            names.append(f"Nothing in the database has the {named[1]} {name}.{hint}")
    return tuple(dict.fromkeys(names))


def _name(kind: NodeKind | EdgeKind) -> str:
    return kind.label if isinstance(kind, NodeKind) else kind.type


def read_rows(
    result: neo4j.Result, limits: GatewaySettings, embeddings: bool
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], str | None]:
    """Read columns and rows of a result within the limits; and say what was left out."""
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
        most, size = (f"{int(number):,}" for number in length.groups())
        return RefusedError(
            f"A list (or the result of a search) has {size} values; in this statement at most {most} are allowed.",
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
