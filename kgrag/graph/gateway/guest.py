"""The grammar of guests: Cypher that only reads, without expressions that Neo4j cannot interrupt.

Neo4j looks at the clock between rows and while it reads the graph, but neither inside an expression nor while it plans
a statement. Loops over lists inside an expression, values that double, regular expressions, and statements that take
long to plan are therefore refused by name, each with another way to write it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kgrag.graph.gateway.allowed import FUNCTIONS, PROCEDURES
from kgrag.graph.gateway.lexer import CLAUSES, KEYWORDS, SEPARATE, Statement
from kgrag.values.errors import RefusedError

_SCALARS = frozenset(
    """
    abs avg ceil char_length character_length count degrees exists floor id elementid isempty isnan length log log10
    percentilecont percentiledisc pi point.distance radians rand round sign size sqrt stdev stdevp timestamp toboolean
    tofloat tointeger type valuetype vector.similarity.cosine vector.similarity.euclidean
    """.split()
)
"""Functions whose value is small, however large what they are given."""

_BEFORE_BRACKET = frozenset(
    """
    ALL AND ANY ASC ASCENDING BOTH BY CALL CASE CONTAINS DESC DESCENDING DIFFERENT DISTINCT ELEMENT ELEMENTS ELSE
    EXISTS FROM GROUP GROUPS IN JOIN LEADING LIMIT MATCH NOT OFFSET ON OR PATH PATHS RELATIONSHIP RELATIONSHIPS
    REPEATABLE RETURN SCAN SHORTEST SKIP THEN TRAILING UNWIND WALK WHEN WHERE WITH XOR
    """.split()
)
"""Words that a bracket may follow without being called."""

_FIRST = frozenset("CALL MATCH OPTIONAL RETURN UNWIND WITH".split())
"""Words that a statement may begin with."""

_FORBIDDEN = frozenset(
    """
    CREATE CYPHER DELETE DETACH DROP EXPLAIN FOREACH INSERT LOAD MERGE NODETACH PROFILE REMOVE SET SHOW TERMINATE
    TRANSACTION TRANSACTIONS USE
    """.split()
)
"""Words of statements that write, or that read something else than the graph."""

_SIGNS = frozenset(
    "+ - * / % ^ = <> < > <= >= =~ || . : | & ! AND OR XOR NOT IN IS CONTAINS STARTS ENDS CASE WHEN ( [ {".split()
)
_BEFORE_MAP = frozenset("CASE NOT DISTINCT".split())
_AFTER_NAME = frozenset(") ] : { * = IN , WHERE IS".split())
_PROCEDURES = frozenset(name.lower() for name in PROCEDURES)
_MOST_SIGNS = 100  # in one expression and those around it: the server's planner hangs where there are hundreds
_MOST_XOR = 8
_MOST_CLAUSES = 120
_MOST_CHOICES = 12
_LONGEST = 10_000  # characters of a statement
_MOST_VALUES, _MOST_CHARACTERS = 20_000, 200_000  # of all parameters together
_MOST_RESULTS = 10_000  # of a search of an index
_FEW = 100  # values of a range() that counts as short
_LONGEST_SEARCH, _MOST_WILD = 2000, 20  # characters and wildcards of a full-text query: the index ignores the clock
_MOST_PARTS = 24  # relationships and separate nodes that are matched together
_DEEPEST_QUERY = 6


_HEADS = frozenset("WITH RETURN UNWIND".split())
_NUMBERS = ("LIMIT", "SKIP")
_ENDS = frozenset("WITH RETURN UNWIND MATCH OPTIONAL CALL WHERE ORDER SKIP LIMIT OFFSET UNION YIELD USING".split())
_BEFORE_LIST = frozenset(
    "RETURN WITH DISTINCT UNWIND IN AND OR XOR NOT WHERE CASE WHEN THEN ELSE BY CONTAINS LIMIT SKIP ALL ANY".split()
)
_CLAUSES = SEPARATE | {"MATCH", "WHERE"}


def check_guest(text: str, parameters: Mapping[str, Any], hops: int) -> None:
    """Check a statement of a guest, with paths of at most `hops` relationships. Raises RefusedError."""
    if len(text) > _LONGEST:
        raise RefusedError(
            f"The statement has {len(text):,} characters; at most {_LONGEST:,} are taken.",
            "Give long lists and texts as parameters.",
        )
    _check_parameters(parameters)
    statement = Statement(text)
    check_words(statement)
    check_calls(statement)
    check_size(statement)
    check_cases(statement)
    check_labels(statement)
    check_paths(statement, hops)
    _check_loops(statement)
    _check_growth(statement)
    _check_searches(statement, parameters)


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    """Check that the parameters are not too many. Raises RefusedError."""
    values = list(_values_in(dict(parameters)))
    characters = sum(len(value) for value in values if isinstance(value, str | bytes))
    if len(values) > _MOST_VALUES or characters > _MOST_CHARACTERS:
        raise RefusedError(
            f"The parameters hold {len(values):,} values and {characters:,} characters.",
            f"At most {_MOST_VALUES:,} and {_MOST_CHARACTERS:,} are taken.",
        )


def check_values(parameters: Mapping[str, Any]) -> None:
    """Check that the driver can send the parameters. Raises RefusedError."""
    for value in _values_in(dict(parameters)):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise RefusedError(f"{value:,} is beyond the whole numbers of Neo4j (64 bits).", "Give it as text.")
        if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
            raise RefusedError("A parameter has half a character (a lone surrogate).", "Write whole characters.")


def _values_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        for item in value:
            yield from _values_in(item)
    else:
        yield value


def _check_loops(statement: Statement) -> None:
    """Check that no expression walks over a list, and none matches a regular expression. Raises RefusedError."""
    for index in range(len(statement.tokens)):
        close = statement.partner.get(index, -1)
        function = called(statement, index)
        loops = statement.is_name(index + 1) and statement.at(index + 2) == "IN"
        if statement.at(index) == "=~":
            raise RefusedError("=~ is refused.", "Use CONTAINS, STARTS WITH or ENDS WITH.")
        if function in ("all", "any", "none", "single") and loops:
            raise RefusedError(
                f"{function}() over a list is refused.", "UNWIND the list, and filter its rows by WHERE."
            )
        if function == "reduce":
            raise RefusedError("reduce() is refused.", "UNWIND the list, and use sum(), count() or collect().")
        if function == "range" and close > index and not _is_short_range(statement, index):
            raise RefusedError("range() is refused outside UNWIND.", "Write UNWIND range(...) AS x.")
        if statement.at(index) == "[" and close > index and not is_index(statement, index):
            if loops:
                raise RefusedError("A list comprehension is refused.", "UNWIND the list, then filter and collect().")
            if any(statement.at(i) == "|" for i in statement.top(index + 1, close)):
                raise RefusedError("A pattern comprehension is refused.", "Write COLLECT { MATCH ... RETURN ... }.")


def _is_short_range(statement: Statement, opened: int) -> bool:
    """Return whether a range() gives rows, which can be interrupted, or is of a few plain numbers."""
    close = statement.partner[opened]
    if statement.at(opened - 2) == "UNWIND" and statement.at(close + 1) == "AS":
        return True
    numbers = [statement.at(i) for i in range(opened + 1, close)]
    plain = len(numbers) >= 3 and all(map(str.isdecimal, numbers[::2])) and set(numbers[1::2]) == {","}
    return plain and abs(int(numbers[2]) - int(numbers[0])) < _FEW


def _check_growth(statement: Statement) -> None:
    """Check that no value is put together from itself several times, clause after clause. Raises RefusedError.

    Text, lists and maps may be added to; what was added to may go once into the next value.
    """
    grown: set[str] = set()
    for index in range(len(statement.tokens)):
        if not statement.begins_clause(index, _HEADS):
            continue
        for start, end in items(statement, index + 1):
            parts = [
                i
                for i in range(start, end)
                if statement.name(i) in grown and statement.at(i - 1) != "." and not _is_counted(statement, i, start)
            ]
            grows = any(_grows(statement, i) for i in range(start, end))
            if grows and len(parts) > 1:
                raise RefusedError(
                    f"{statement.text_of(start, end)} puts a value together from itself: it could double at each step.",
                    "Build texts and lists from properties, or collect() rows.",
                )
            named = statement.name(end - 1) if statement.at(end - 2) == "AS" else ""
            number = called(statement, start + 1) in _SCALARS and statement.partner[start + 1] >= end - 3
            grown.discard(named)
            if named and (parts or grows) and not number:
                grown.add(named)


def _is_counted(statement: Statement, index: int, start: int) -> bool:
    """Return whether a name stands in the brackets of a function that gives a number."""
    opened = statement.parent[index]
    while opened >= start:
        if called(statement, opened) in _SCALARS:
            return True
        opened = statement.parent[opened]
    return False


def _grows(statement: Statement, index: int) -> bool:
    """Return whether a sign or function at a token makes values longer."""
    sign = statement.at(index)
    if sign in ("+", "||") or called(statement, index) == "replace":
        return True
    opens = statement.partner.get(index, -1) > index
    return opens and (
        (sign == "[" and not is_index(statement, index)) or (sign == "{" and not is_query(statement, index))
    )


def _check_searches(statement: Statement, parameters: Mapping[str, Any]) -> None:
    """Check that searches of an index are short, and ask for few results. Raises RefusedError."""
    for index in range(len(statement.tokens)):
        if statement.at(index) != "CALL" or not statement.is_name(index + 1) or statement.names_something(index):
            continue
        name, last = path(statement, index + 1)
        if not name.startswith("db.index."):
            continue
        arguments = items(statement, last + 2) if statement.at(last + 1) == "(" else []
        if len(arguments) < 2:
            raise RefusedError("A search of an index needs its arguments in brackets.", f"Write {name}(...).")
        if name.startswith("db.index.vector."):
            _check_number(_value(statement, arguments[1], parameters), 1)
            continue
        query = _value(statement, arguments[1], parameters)
        if not isinstance(query, str) or len(query) > _LONGEST_SEARCH or _wild(query) > _MOST_WILD:
            raise RefusedError(
                f"A full-text query is a text or parameter of at most {_LONGEST_SEARCH:,} characters and {_MOST_WILD} "
                "wildcards.",
                "Shorten it.",
            )
        for start, end in arguments[2:3]:
            options = _value(statement, (start, end), parameters)
            if isinstance(options, Mapping):
                numbers = [value for name, value in options.items() if str(name).upper() in _NUMBERS]
            elif statement.at(start) == "{":
                pairs = items(statement, start + 1)
                numbers = [_value(statement, (i + 2, j), parameters) for i, j in pairs if statement.name(i) in _NUMBERS]
            else:
                raise RefusedError("The options of a full-text search are a map or a parameter.", "Write {limit: 10}.")
            for number in numbers:
                _check_number(number, 0)


def _wild(query: str) -> int:
    return sum(query.count(sign) for sign in "*?~/")


def _value(statement: Statement, place: tuple[int, int], parameters: Mapping[str, Any]) -> Any:
    """Return the value of a literal or parameter; None for anything that is computed."""
    start, end = place
    token = statement.tokens[start]
    if end != start + 1:
        return None
    if token.kind == "parameter":
        return parameters.get(token.name)
    if token.kind == "number" and token.name.isdecimal():
        return int(token.name)
    return token.name if token.kind == "string" else None


def _check_number(number: Any, least: int) -> None:
    if not isinstance(number, int | float) or not least <= number <= _MOST_RESULTS:
        raise RefusedError(
            f"A search of an index asks for a number from {least} to {_MOST_RESULTS:,}.",
            "Write the number, or give it as a parameter.",
        )


def check_words(statement: Statement) -> None:
    """Check that the text is one statement that only reads. Raises RefusedError."""
    if not statement.tokens:
        raise RefusedError("The statement is empty.", "Write one that begins with MATCH, for example.")
    first = statement.at(0)
    if first not in _FIRST:
        raise RefusedError(
            f"A statement may not begin with {first}.",
            f"Begin with one of {', '.join(sorted(_FIRST))}: it may only read.",
        )
    last = len(statement.tokens) - 1
    for index, token in enumerate(statement.tokens):
        if token.kind == "symbol" and token.name == ";" and index != last:
            raise RefusedError("There is more than one statement.", "Send them one by one.")
        if token.kind == "word" and token.name in _FORBIDDEN and not statement.names_something(index):
            raise RefusedError(
                f"{token.name} is refused: statements may only read this graph.",
                f"Leave it out, or write `{token.name.lower()}` in backticks if it is a name of yours.",
            )
        if token.kind == "word" and token.name in KEYWORDS and _names_a_variable(statement, index):
            raise RefusedError(
                f"{token.name} is a word of Cypher, and the name of a variable here.",
                f"Write `{token.name.lower()}` in backticks, or take another name.",
            )


def _names_a_variable(statement: Statement, index: int) -> bool:
    """Return whether the word is a new name of a value, a node or a path.

    The rules take it for a keyword.
    """
    before, after = statement.at(index - 1), statement.at(index + 1)
    if statement.names_something(index):
        return False
    if before == "AS" or after == "=":
        return True
    if after == "{" and statement.at(index) in _BEFORE_MAP:
        return False
    return before in ("(", "[", ",") and after in _AFTER_NAME


def check_calls(statement: Statement) -> None:
    """Check that all procedures and functions are on the lists. Raises RefusedError."""
    for index in range(len(statement.tokens)):
        if statement.at(index) == "CALL" and statement.is_name(index + 1) and not statement.names_something(index):
            name, last = path(statement, index + 1)
            if name not in _PROCEDURES:
                raise RefusedError(
                    f"The procedure {statement.text_of(index + 1, last + 1)} is not on the list.",
                    f"There are: {', '.join(sorted(PROCEDURES))}.",
                )
        if statement.at(index) != "(" or not statement.is_name(index - 1):
            continue
        name = called(statement, index)
        if name and name not in FUNCTIONS and not _is_procedure(statement, index):
            raise RefusedError(
                f"The function {name} is not on the list.", "Use Cypher's own functions of text, numbers, lists, time."
            )


def called(statement: Statement, bracket: int) -> str:
    """Return the name of the function that a round bracket calls, in small letters; empty if it calls none."""
    if statement.at(bracket) != "(" or not statement.is_name(bracket - 1):
        return ""
    begin = _begin(statement, bracket)
    plain = begin == bracket - 1 and statement.kind(begin) == "word"
    word = statement.at(begin)
    if plain and word in _BEFORE_BRACKET and word.lower() not in FUNCTIONS:
        return ""
    if statement.at(begin - 1) == ":" and statement.at(begin - 3) in ("INDEX", "SCAN", "SEEK"):
        return ""  # USING INDEX n:Label(property)
    return path(statement, begin)[0]


@dataclass(slots=True)
class _Level:
    """The state within an open bracket: signs of its expression, parts to match, and whether MATCH came last."""

    signs: int = 0
    parts: int = 0
    matching: bool = False


def check_size(statement: Statement) -> None:
    """Check that the server's planner, which nothing interrupts, is quick. Raises RefusedError."""
    levels = [_Level()]
    exclusive = clauses = queries = 0
    for index in range(len(statement.tokens)):
        name, level = statement.at(index), levels[-1]
        opens = statement.partner.get(index, -1) > index
        if index in statement.partner and not opens:
            queries -= is_query(statement, statement.partner[index])
            levels.pop()
        elif name == ",":
            level.signs = 0
            level.parts += level.matching
        elif statement.begins_clause(index, CLAUSES):
            clauses += 1
            level.signs = 0
            level.parts *= name not in SEPARATE
            level.matching = name == "MATCH"
        elif name in _SIGNS and not statement.names_something(index):
            level.signs += 1
            level.parts += name == "-" and statement.at(index + 1) in ("-", "[")
            exclusive += name == "XOR"
        if opens:
            queries += is_query(statement, index)
            levels.append(_Level())
        if sum(level.signs for level in levels) > _MOST_SIGNS or exclusive > _MOST_XOR:
            raise RefusedError(
                f"An expression has more than {_MOST_SIGNS} operators and other signs, or {_MOST_XOR} XOR.",
                "Give a list as a parameter and use IN, or take it apart with WITH.",
            )
        if level.parts > _MOST_PARTS:
            raise RefusedError(
                f"More than {_MOST_PARTS} relationships and nodes are matched at once.", "Take them apart with WITH."
            )
        if queries > _DEEPEST_QUERY:
            raise RefusedError(f"Subqueries lie more than {_DEEPEST_QUERY} deep.", "Take the statement apart.")
    if clauses > _MOST_CLAUSES:
        raise RefusedError(f"The statement has more than {_MOST_CLAUSES} clauses.", "Take it apart.")


def check_cases(statement: Statement) -> None:
    """Check that no CASE compares another CASE: the planner repeats that at every WHEN. Raises RefusedError."""
    comparing = False
    for index in range(len(statement.tokens)):
        if statement.at(index) not in ("CASE", "WHEN") or statement.names_something(index):
            continue
        if statement.at(index) == "CASE" and comparing:
            raise RefusedError("A CASE stands in what another CASE compares.", "Name its value by WITH first.")
        comparing = statement.at(index) == "CASE" and statement.at(index + 1) != "WHEN"


def is_query(statement: Statement, bracket: int) -> bool:
    """Return whether the curly bracket there holds a subquery."""
    if statement.at(bracket) != "{" or bracket == 0:
        return False
    return statement.at(bracket - 1) in ("EXISTS", "COUNT", "COLLECT", "CALL", ")")


def _is_procedure(statement: Statement, bracket: int) -> bool:
    return statement.at(_begin(statement, bracket) - 1) == "CALL"


def _begin(statement: Statement, bracket: int) -> int:
    index = bracket - 1
    while statement.at(index - 1) == "." and statement.is_name(index - 2):
        index -= 2
    return index


def path(statement: Statement, index: int) -> tuple[str, int]:
    """Return the dotted name at a token, in small letters, and its end."""
    parts = [statement.tokens[index].name]
    while statement.at(index + 1) == "." and statement.is_name(index + 2):
        index += 2
        parts.append(statement.tokens[index].name)
    return ".".join(parts).lower(), index


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


def check_paths(statement: Statement, hops: int) -> None:
    """Check that paths of variable length have an upper bound of at most `hops`, shortest ones apart.

    Raises RefusedError.
    """
    for index in range(len(statement.tokens)):
        most: float | None = None
        opened = statement.partner.get(index, -1)
        if statement.at(index) == "[" and statement.at(index - 1) == "-" and statement.at(opened + 1) == "-":
            most = _star(statement, index + 1, opened)
        elif statement.at(index) in ("+", "*") and _repeats(statement, index - 1):
            most = float("inf")
        elif statement.at(index) == "{" and _repeats(statement, index - 1):
            most = _bound([statement.at(i) for i in range(index + 1, opened)], ",")
        if most is not None and most > hops and not _is_shortest(statement, index):
            raise RefusedError(
                f"A path of variable length may have at most {hops} relationships.",
                f"Give it an upper bound, such as *1..{min(hops, 3)} or {{1,{min(hops, 3)}}}, or use shortestPath().",
            )


def check_labels(statement: Statement) -> None:
    """Check that labels and conditions, whose combinations the planner writes out, are few. Raises RefusedError."""
    choices = 0
    for index in range(len(statement.tokens)):
        sign, group = statement.at(index), statement.parent[index]
        opened = statement.at(group) if group >= 0 else ""
        labels = (
            sign in ("&", "!") or (sign == ":" and statement.at(index - 2) == ":") or (sign == "|" and opened != "[")
        )
        condition = sign == "OR" and any(statement.at(i) == ":" for i in range(group, statement.partner.get(group, 0)))
        choices = 0 if statement.begins_clause(index, SEPARATE) else choices + (labels or condition)
        if choices > _MOST_CHOICES:
            raise RefusedError(
                f"There are more than {_MOST_CHOICES} of & ! | and OR between labels: the planner writes out all "
                "combinations.",
                "Use fewer, IN with a list, labels(n), or take them apart with WITH.",
            )


def _star(statement: Statement, start: int, end: int) -> float | None:
    for index in statement.top(start, end):
        if statement.at(index) == "*":
            parts = []
            while statement.at(index + 1) == ".." or statement.kind(index + 1) == "number":
                index += 1
                parts.append(statement.at(index))
            return _bound(parts, "..")
    return None


def _bound(parts: list[str], sign: str) -> float | None:
    """Return the upper bound of n, n..m or ..m; infinity if the range has no end."""
    if any(not p.isdecimal() and p != sign for p in parts):
        return None  # no quantifier: a map
    if not parts or parts[-1] == sign:
        return float("inf")
    return float(parts[-1])


def _repeats(statement: Statement, index: int) -> bool:
    """Return whether the token ends a relationship or a path pattern in brackets, so that a quantifier may follow."""
    token = statement.at(index)
    if token == ">":
        return statement.at(index - 1) == "-"
    if token == "-":
        return statement.at(index - 1) in ("-", "]") and (
            statement.at(index - 1) == "-" or statement.at(statement.partner[index - 1] - 1) == "-"
        )
    if token != ")":
        return False
    top = statement.top(statement.partner[index] + 1, index)
    pairs = {(statement.at(a), statement.at(b)) for a, b in pairwise(top) if b == a + 1}
    return bool(pairs & {("-", "-"), ("-", ">"), ("<", "-"), ("-", "[")})


def _is_shortest(statement: Statement, index: int) -> bool:
    """Return whether the path is a shortest path."""
    index -= 1
    while index >= 0:
        if statement.partner.get(index, index) < index:
            index = statement.partner[index]
        elif statement.at(index) in ("SHORTESTPATH", "ALLSHORTESTPATHS", "SHORTEST"):
            return not statement.names_something(index)
        elif statement.at(index) in _CLAUSES or statement.at(index) in (",", "{"):
            return False
        index -= 1
    return False
