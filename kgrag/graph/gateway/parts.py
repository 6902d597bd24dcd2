"""Parts of a statement: items of clauses, loops over lists, how much is searched, whether it stays in a collection."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.rules import SCALARS, called, is_query, path
from kgrag.values.errors import RefusedError

FEW = 100  # items of a list that counts as short
_ENDS = frozenset("WITH RETURN UNWIND MATCH OPTIONAL CALL WHERE ORDER SKIP LIMIT OFFSET UNION YIELD USING".split())
_BEFORE_LIST = frozenset(
    "RETURN WITH DISTINCT UNWIND IN AND OR XOR NOT WHERE CASE WHEN THEN ELSE BY CONTAINS LIMIT SKIP ALL ANY".split()
)


@dataclass(frozen=True, slots=True)
class Loop:
    """An expression that walks over a list: `opened` is its bracket; source, test and result are token ranges."""

    opened: int
    names: frozenset[str]
    source: tuple[int, int]
    test: tuple[int, int]
    result: tuple[int, int]
    adds: str  # the accumulator of reduce


def loop_at(statement: Statement, opened: int) -> Loop | None:
    """Return the loop whose bracket opens at a token; None if none does."""
    close = statement.partner[opened]
    if close < opened:
        return None
    start, adds = opened + 1, ""
    bracket, function = statement.at(opened), called(statement, opened)
    top = statement.top(start, close)
    if function == "reduce":
        comma = next((i for i in top if statement.at(i) == ","), close)
        adds, start = statement.name(start), comma + 1
    elif function not in ("all", "any", "none", "single") and (bracket != "[" or is_index(statement, opened)):
        return None
    if not statement.is_name(start) or statement.at(start + 1) != "IN":
        return None
    bar = next((i for i in top if i > start and statement.at(i) == "|"), close)
    where = next((i for i in top if start < i < bar and statement.at(i) == "WHERE"), bar)
    names = frozenset({statement.name(start), adds} - {""})
    test = (min(where + 1, bar), bar)
    return Loop(opened, names, (start + 2, where), test, (min(bar + 1, close), close), adds)


def makes_list(statement: Statement, opened: int) -> bool:
    """Return whether the bracket there makes a list of a length that only running it tells."""
    bracket = statement.at(opened)
    if bracket == "(":
        return called(statement, opened) in ("collect", "range", "split")
    if bracket == "{":
        return statement.at(opened - 1) == "COLLECT"
    if bracket != "[" or statement.partner.get(opened, -1) < opened or is_index(statement, opened):
        return False
    start = opened + 1
    if statement.is_name(start) and statement.at(start + 1) == "=":
        start += 2
    return statement.at(start) == "(" and any(
        statement.at(i) == "|" for i in statement.top(start, statement.partner[opened])
    )


def entities(statement: Statement) -> set[str]:
    """Return names of nodes and relationships of patterns: (n), (n:Label), -[r:TYPE]-."""
    names = set()
    for opened in statement.partner:
        if statement.partner[opened] < opened or not statement.is_name(opened + 1):
            continue
        follows = statement.at(opened + 2)
        node = statement.at(opened) == "(" and follows in (")", ":", "{", "WHERE") and not called(statement, opened)
        tie = statement.at(opened) == "[" and statement.at(opened - 1) == "-" and follows in ("]", ":", "*", "{")
        if node or tie:
            names.add(statement.name(opened + 1))
    for index in range(len(statement.tokens)):
        if statement.at(index) == "YIELD":  # procedures of the list give nodes, texts and numbers
            names |= {statement.name(i) for item in items(statement, index + 1) for i in range(*item)} - {"", "AS"}
    return names


def items(statement: Statement, start: int) -> list[tuple[int, int]]:
    """Return the ranges between the commas of the clause whose first token is `start`."""
    ranges, begin, index = [], start, start
    if statement.at(start) == "DISTINCT":
        begin = index = start + 1
    while index < len(statement.tokens):
        close = statement.partner.get(index, -1)
        if index < close:
            index = close
        elif close >= 0 or statement.at(index) == ";":
            break
        elif statement.at(index) == ",":
            ranges.append((begin, index))
            begin = index + 1
        elif statement.begins_clause(index, _ENDS):
            break
        index += 1
    return [*ranges, (begin, index)] if begin < index else ranges


def never_values(statement: Statement, start: int, end: int, loops: list[Loop]) -> set[int]:
    """Return tokens that decide or count, and are not part of the value.

    Such are tests, WHEN to THEN, and the arguments of scalar functions.
    """
    skipped: set[int] = set()
    when = -1
    for index in range(start, end):
        if statement.at(index) == "WHEN":
            when = index
        elif statement.at(index) == "THEN" and when >= 0:
            skipped.update(range(when, index))
            when = -1
        close = statement.partner.get(index, -1)
        if index < close and called(statement, index) in SCALARS:
            skipped.update(range(index, close))
        if index < close and is_query(statement, index):
            returned = [i for i in statement.top(index + 1, close) if statement.at(i) == "RETURN"]
            skipped.update(range(index, returned[-1] if returned else close))
    for loop in loops:
        skipped.update(range(*loop.test))
    return skipped


def passes(statement: Statement, index: int, start: int, end: int) -> bool:
    """Return whether the value is passed on unchanged."""
    before = index == start or statement.at(index - 1) in ("THEN", "ELSE")
    return before and (index == end - 1 or statement.at(index + 1) in ("ELSE", "END", "WHEN"))


def is_index(statement: Statement, opened: int) -> bool:
    """Return whether a square bracket indexes what stands before it (or is a relationship of a pattern)."""
    if statement.at(opened) != "[":
        return False
    before = statement.at(opened - 1)
    if before == "-" and statement.at(statement.partner[opened] + 1) == "-":
        return True
    if before in (")", "]", "}") or statement.kind(opened - 1) in ("quoted", "parameter", "string"):
        return True
    return statement.kind(opened - 1) == "word" and before not in _BEFORE_LIST


def literal_range(statement: Statement, opened: int, most: int = FEW) -> int:
    """Return about how many values a range() of plain numbers has; 0 if more than `most`, or unknown."""
    parts = [statement.at(i) for i in range(opened + 1, statement.partner[opened])]
    if not all(p.isdecimal() for p in parts[::2]) or any(p != "," for p in parts[1::2]) or len(parts) < 3:
        return 0
    length = abs(int(parts[2]) - int(parts[0])) + 1
    return length if length <= most else 0


def replacements(statement: Statement) -> int:
    """Return how many times as long replace() can make a text, all of them together."""
    factor = 1
    for opened in statement.partner:
        if called(statement, opened) != "replace":
            continue
        commas = [i for i in statement.top(opened + 1, statement.partner[opened]) if statement.at(i) == ","]
        if len(commas) != 2:
            continue
        old, new = commas[0] + 1, commas[1] + 1
        literal = statement.kind(new) == "string" and statement.partner[opened] == new + 1
        length = len(statement.tokens[new].name) if literal else FEW
        literal_pattern = statement.kind(old) == "string" and commas[1] == old + 1
        if not (literal_pattern and length <= len(statement.tokens[old].name)):
            factor *= length + 1
    return factor


# Whether a statement stays within one collection: each pattern holds a node of it, or goes on from one that does.
#
# Relationships never leave a collection, so one node of each pattern is enough.


_MATCH = frozenset(["MATCH"])


def check_collection(text: str, collection: str) -> None:
    """Check that every pattern, and every search of an index, is of that collection, or $collection.

    Raises RefusedError.

    It holds a model to what it was told; a condition that undoes itself (... OR true) passes.
    """
    statement = Statement(text)
    for start, end in _patterns(statement):
        if not _is_within(statement, start, end, collection):
            raise RefusedError(
                f"Nothing keeps the pattern {statement.text_of(start, end)} within the collection.",
                "Begin it with a node that has {collection: $collection}, or with one from an earlier pattern.",
            )
    for index in range(len(statement.tokens)):
        if statement.at(index) == "(" and called(statement, index).startswith("db.index."):
            name = items(statement, index + 1)[:1]
            if not name or all(statement.kind(i) == "string" for i in range(*name[0])):
                raise RefusedError(
                    "An index by its name may be that of another collection.", "Use $entity_name or $passage_text."
                )


def _patterns(statement: Statement) -> list[tuple[int, int]]:
    """Return the patterns that may begin anywhere: those of MATCH, of subqueries without it, and of comprehensions."""
    patterns = []
    for index in range(len(statement.tokens)):
        if statement.begins_clause(index, _MATCH) or (is_query(statement, index) and statement.at(index + 1) == "("):
            patterns += items(statement, index + 1)
        elif statement.at(index) == "[" and statement.partner[index] > index and makes_list(statement, index):
            bar = next(i for i in statement.top(index + 1, statement.partner[index]) if statement.at(i) == "|")
            patterns.append((index + 1, bar))
    return patterns


def _is_within(statement: Statement, start: int, end: int, collection: str) -> bool:
    nodes = {
        statement.name(i + 1)
        for i in range(start, end)
        if statement.at(i) == "(" and statement.is_name(i + 1) and not called(statement, i)
    }
    for index in range(len(statement.tokens)):
        if start <= index < end:
            key = statement.name(index) == "COLLECTION" or (
                statement.name(index) == "NAME"
                and statement.name(index - 2) == "COLLECTION"  # (:Collection {name: ...})
            )
            if key and statement.at(index + 1) == ":" and _is_collection(statement, index + 2, collection):
                return True
        elif statement.name(index) in nodes and not statement.names_something(index):
            if index < start:
                return True  # it comes from what was found within the collection
            named = statement.at(index + 1) == "." and statement.name(index + 2) == "COLLECTION"
            if named and statement.at(index + 3) == "=" and _is_collection(statement, index + 4, collection):
                return True
    return False


def _is_collection(statement: Statement, index: int, collection: str) -> bool:
    kind = statement.kind(index)
    if kind == "parameter":
        return statement.tokens[index].name == "collection"
    return kind == "string" and statement.tokens[index].name == collection


Range = tuple[int, int]
_NUMBERS = ("LIMIT", "SKIP")


def computed_results(statement: Statement, parameters: Mapping[str, Any], most: int) -> list[Range]:
    """Return the tokens of each number of results that is known only at run time; the others are at most `most`.

    Raises RefusedError for one that is larger, or that cannot be seen.
    """
    return [
        (start, end)
        for (start, end), least in _numbers(statement, parameters, most)
        if not _is_known(statement, start, end, parameters, least, most)
    ]


def _numbers(statement: Statement, parameters: Mapping[str, Any], most: int) -> Iterator[tuple[Range, int]]:
    """Yield the tokens of each number of results, and its least value: the nearest vectors are one or more."""
    for index in range(len(statement.tokens)):
        if statement.at(index) != "CALL" or not statement.is_name(index + 1) or statement.names_something(index):
            continue
        name, last = path(statement, index + 1)
        if not name.startswith("db.index."):
            continue
        if statement.at(last + 1) != "(":
            raise RefusedError("A search of an index needs its arguments in brackets.", f"Write {name}(...).")
        arguments = items(statement, last + 2)
        if name.startswith("db.index.vector."):
            yield from ((argument, 1) for argument in arguments[1:2])
        else:
            for argument in arguments[2:3]:
                yield from ((number, 0) for number in _options(statement, *argument, parameters, most))


def _options(statement: Statement, start: int, end: int, parameters: Mapping[str, Any], most: int) -> Iterator[Range]:
    """Yield the numbers in the options of a full-text search: a map, or a parameter."""
    if statement.at(start) == "{" and statement.partner[start] == end - 1:
        for begin, stop in items(statement, start + 1):
            if statement.name(begin) in _NUMBERS:
                yield begin + 2, stop
    elif statement.kind(start) == "parameter" and end == start + 1:
        options = parameters.get(statement.tokens[start].name)
        for name, value in options.items() if isinstance(options, Mapping) else ():
            if str(name).upper() in _NUMBERS:
                _check(value, 0, most)
    else:
        raise RefusedError(
            "The options of a full-text search are a map or a parameter.", "Write them out, such as {limit: 10}."
        )


def _is_known(statement: Statement, start: int, end: int, parameters: Mapping[str, Any], least: int, most: int) -> bool:
    """Return whether the number can be read here; one that is too small or too large is refused."""
    if end != start + 1 or statement.kind(start) not in ("number", "parameter"):
        return False
    token = statement.tokens[start]
    if token.kind == "parameter":
        _check(parameters.get(token.name), least, most)
        return True
    if not token.name.isdecimal():
        return False
    _check(int(token.name), least, most)
    return True


def _check(value: Any, least: int, most: int) -> None:
    if isinstance(value, int | float) and value < least:
        raise RefusedError(f"A search asks for {value:,} results.", f"Ask for {least} or more.")
    if isinstance(value, int | float) and not value <= most:
        raise RefusedError(f"A search asks for {value:,} results; at most {most:,} are given.", "Ask for fewer.")
