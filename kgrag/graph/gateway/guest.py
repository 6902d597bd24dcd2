"""The grammar of guests: Cypher that only reads, without expressions that Neo4j cannot interrupt.

Neo4j looks at the clock between rows and while it reads the graph, but neither inside an expression nor while it plans
a statement. Long loops inside an expression, values that double, regular expressions, and statements that take long to
plan are therefore refused by name, each with another way to write it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.graph.gateway.allowed import FUNCTIONS, PROCEDURES
from kgrag.graph.gateway.lexer import Statement
from kgrag.values.errors import RefusedError

_FIRST = "CALL|MATCH|OPTIONAL|RETURN|UNWIND|WITH"
_FORBIDDEN = (
    "CREATE|CYPHER|DELETE|DETACH|DROP|EXPLAIN|FOREACH|INSERT|LOAD|MERGE|NODETACH|PROFILE|REMOVE|SET|SHOW|TERMINATE|"
    "TRANSACTION|TRANSACTIONS|USE|USING"
)
_RESERVED = (
    "MATCH|WHERE|WITH|RETURN|UNWIND|CALL|UNION|YIELD|ORDER|SKIP|LIMIT|OFFSET|OPTIONAL|AND|OR|XOR|NOT|IN|IS|CONTAINS|CASE|"
    "WHEN|THEN|ELSE|AS|BY|STARTS|ENDS|SHORTEST|SHORTESTPATH|ALLSHORTESTPATHS"
)
_LONG_LIST = r"(?!(?:NODES|RELATIONSHIPS|LABELS|KEYS) \( \S+ \) (?:WHERE|\||\]|\)) )"
_REFUSED = tuple(
    (re.compile(pattern), problem, remedy)
    for pattern, problem, remedy in (
        (r"^ $", "The statement is empty.", "Write one that begins with MATCH, for example."),
        (rf"^ (?!(?:{_FIRST}) )(\S+)", "A statement may not begin with {}.", f"Begin with {_FIRST.replace('|', ', ')}."),
        (r" ; \S", "There is more than one statement.", "Send them one by one."),
        (
            rf" ({_FORBIDDEN}) ",
            "{} is refused: a statement may only read this graph.",
            "Leave it out, or put it in backticks if it is a name of yours.",
        ),
        (
            rf" (?:AS ({_RESERVED})|({_RESERVED}) =|[(\[,] ({_RESERVED}) (?:[)\]:*=,]|IN|IS|WHERE)) ",
            "{} is a word of Cypher, and the name of a variable here.",
            "Put it in backticks, or take another name.",
        ),
        (r" =~ ", "=~ is refused.", "Use CONTAINS, STARTS WITH or ENDS WITH."),
        (r" REDUCE \( ", "reduce() is refused.", "UNWIND the list, and use sum(), count() or collect()."),
        (r" REPLACE \( ", "replace() is refused.", "Return the text, and replace in your program."),
        (
            rf" (ALL|ANY|NONE|SINGLE) \( \S+ IN {_LONG_LIST}",
            "{}() over a list is refused, apart from nodes(p), relationships(p), labels(n) and keys(n).",
            "UNWIND the list, and filter its rows by WHERE.",
        ),
        (
            rf" \[ \S+ IN {_LONG_LIST}",
            "A list comprehension is refused, apart from nodes(p), relationships(p), labels(n) and keys(n).",
            "UNWIND the list, filter its rows by WHERE, and collect() them.",
        ),
        (r" CASE (?!WHEN )(?:(?!WHEN )\S+ )*CASE ", "A CASE compares another CASE.", "Name its value by WITH first."),
    )
)
"""Forms of codes that are refused, each with what is said; a group of the form is named."""

_NUMBERS = frozenset(
    """
    abs avg ceil char_length character_length count degrees exists floor id elementid isempty isnan length log log10
    percentilecont percentiledisc pi point.distance radians rand round sign size sqrt stdev stdevp timestamp toboolean
    tofloat tointeger type valuetype vector.similarity.cosine vector.similarity.euclidean all any none single
    """.split()
)
"""Functions whose value is small, however large their arguments are."""
_COSTS = dict.fromkeys("+ - * / % ^ = <> < > <= >= || . ( [ { AND OR NOT IN IS CONTAINS STARTS ENDS WHEN".split(), 2) | {
    "XOR": 40, "CASE": 6, "&": 30, "!": 30,
}  # fmt: skip
_CLAUSE, _RELATIONSHIP, _SUBQUERY, _LABEL = 4, 20, 40, 30
_MOST_COSTS = 500  # of a statement: the planner takes seconds for it, and its time doubles with a few more
_MANY = 30  # how often a value counts that a list repeats
_MOST_VALUES_OF_ONE = 900
_LONGEST = 10_000  # characters of a statement
_MOST_VALUES, _MOST_CHARACTERS = 20_000, 200_000  # of all parameters together
_MOST_RESULTS = 10_000  # of a search of vectors
_LONGEST_SEARCH, _MOST_WILD = 2000, 20  # characters and wildcards of a full-text query: the index ignores the clock


def check_guest(text: str, parameters: Mapping[str, Any], hops: int) -> None:
    """Check a statement of a guest, with paths of at most `hops` relationships. Raises RefusedError."""
    values = list(_values_in(dict(parameters)))
    characters = sum(len(value) for value in values if isinstance(value, str | bytes))
    if len(text) > _LONGEST:
        raise RefusedError(
            f"The statement has {len(text):,} characters; at most {_LONGEST:,} are taken.",
            "Give long lists and texts as parameters.",
        )
    if len(values) > _MOST_VALUES or characters > _MOST_CHARACTERS:
        raise RefusedError(
            f"The parameters hold {len(values):,} values and {characters:,} characters.",
            f"At most {_MOST_VALUES:,} and {_MOST_CHARACTERS:,} are taken.",
        )
    statement = Statement(text)
    codes = " ".join(["", *statement.codes, ""]) or " "
    for pattern, problem, remedy in _REFUSED:
        if match := pattern.search(codes):
            raise RefusedError(problem.format(match[match.lastindex or 0].strip()), remedy)
    _check_calls(statement, parameters)
    _check_paths(statement, hops)
    _check_costs(statement)
    _check_sizes(statement, parameters)


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


def _check_calls(statement: Statement, parameters: Mapping[str, Any]) -> None:
    """Check that all procedures and functions are on the lists. Raises RefusedError."""
    called = set()
    for index in range(len(statement.tokens)):
        if statement.at(index) == "CALL" and statement.at(index + 1) not in ("(", "{"):
            bracket = index + 2
            while statement.at(bracket - 1) and statement.at(bracket) == ".":
                bracket += 2
            name = statement.text_of(index + 1, min(bracket, len(statement.tokens)))
            known = next((known for known in PROCEDURES if known.lower() == name.lower()), "")
            if not known:
                raise RefusedError(
                    f"The procedure {name} is not on the list.", f"There are: {', '.join(sorted(PROCEDURES))}."
                )
            called.add(bracket)
            if known.startswith("db.index."):
                _check_search(statement, known, bracket, parameters)
        name = statement.function(index)
        if name and index not in called and name not in FUNCTIONS:
            raise RefusedError(
                f"The function {name} is not on the list.", "Use Cypher's own functions of text, numbers, lists, time."
            )
        if name == "range":
            unwound = statement.at(index - 2) == "UNWIND" and statement.at(statement.partner[index] + 1) == "AS"
            if not unwound:
                raise RefusedError("range() is refused outside UNWIND.", "Write UNWIND range(...) AS x.")


def _check_search(statement: Statement, name: str, bracket: int, parameters: Mapping[str, Any]) -> None:
    """Check that a search of an index is short, and asks for few results. Raises RefusedError."""
    arguments = statement.items(bracket + 1) if statement.at(bracket) == "(" else []
    value: Any = None
    if len(arguments) > 1 and arguments[1][1] - arguments[1][0] == 1:
        token = statement.tokens[arguments[1][0]]
        value = parameters.get(token.name) if token.kind == "parameter" else token.name
        value = int(value) if token.kind == "number" and token.name.isdecimal() else value
    if name.startswith("db.index.vector."):
        if len(arguments) != 3 or not isinstance(value, int | float) or not 1 <= value <= _MOST_RESULTS:
            raise RefusedError(
                f"A search of vectors asks for a number from 1 to {_MOST_RESULTS:,}.",
                f"Write {name}(index, 10, vector), or give the number as a parameter.",
            )
    elif (
        len(arguments) != 2
        or not isinstance(value, str)
        or len(value) > _LONGEST_SEARCH
        or sum(map(value.count, "*?~/")) > _MOST_WILD
    ):
        raise RefusedError(
            f"A full-text search takes a text of at most {_LONGEST_SEARCH:,} characters and {_MOST_WILD} wildcards.",
            f"Write {name}(index, 'words') YIELD node, score, and ORDER BY and LIMIT after it.",
        )


def _check_paths(statement: Statement, hops: int) -> None:
    """Check that paths of variable length have an upper bound, shortest ones apart. Raises RefusedError."""
    for index, code in enumerate(statement.codes):
        before, last = statement.at(index - 1), index
        if code == "*" and statement.at(statement.parent[index]) == "[":
            if statement.at(statement.parent[index] - 1) != "-":
                continue
            while statement.at(last + 1) == ".." or statement.at(last + 1).isdecimal():
                last += 1
        elif code == "{" and (statement.at(index + 1) == "," or statement.at(index + 1).isdecimal()):
            last = statement.partner[index] - 1
        elif code not in ("+", "*") or not (before in ("-", ">") or _ends_pattern(statement, index - 1)):
            continue
        bounded = statement.at(last).isdecimal() and int(statement.at(last)) <= hops
        if not bounded and not _is_shortest(statement, index):
            raise RefusedError(
                f"A path of variable length may have at most {hops} relationships.",
                f"Give it an upper bound, such as *1..{min(hops, 3)} or {{1,{min(hops, 3)}}}, or use shortestPath().",
            )


def _ends_pattern(statement: Statement, close: int) -> bool:
    """Return whether a bracket closes a pattern, which a quantifier may follow: ((a)--(b))."""
    if statement.at(close) != ")":
        return False
    after = statement.partner.get(statement.partner[close] + 1, -2) + 1
    return statement.at(after) in ("-", "<") and statement.at(after + 1) in ("-", "[", ">")


def _is_shortest(statement: Statement, index: int) -> bool:
    """Return whether the pattern around a token is one of shortest paths."""
    while index > 0:
        index = min(index - 1, statement.partner.get(index - 1, index))
        if statement.at(index) in ("SHORTEST", "SHORTESTPATH", "ALLSHORTESTPATHS"):
            return True
        if statement.at(index) == "," or statement.at(index) == "{" and index == statement.parent[index + 1]:
            return False
        if statement.begins_clause(index):
            return False
    return False


def _check_costs(statement: Statement) -> None:
    """Check that the server's planner, which nothing interrupts, is quick. Raises RefusedError."""
    costs = 0
    for index, code in enumerate(statement.codes):
        before, after, group = statement.at(index - 1), statement.at(index + 1), statement.parent[index]
        costs += _COSTS.get(code, 0) + _CLAUSE * statement.begins_clause(index)
        costs += _RELATIONSHIP * (code == "-" and after in ("-", "["))
        costs += _SUBQUERY * (code == "{" and before in ("CALL", "COLLECT", "COUNT", "EXISTS", ")"))
        costs += _LABEL * (code == "|" and statement.at(group) != "[")
        costs += _LABEL * (code == ":" and before[:1] == "." and statement.at(index - 2) == ":")
        if code == "OR" and group >= 0:
            costs += _LABEL * (":" in statement.codes[group : statement.partner[group]])
    if costs > _MOST_COSTS:
        raise RefusedError(
            "The statement takes too long to plan.",
            "Match fewer relationships, use IN with a list as a parameter for many conditions, or send it in parts.",
        )


def _check_sizes(statement: Statement, parameters: Mapping[str, Any]) -> None:
    """Check that no value is put together from very many others, clause after clause. Raises RefusedError."""
    sizes: dict[str, int] = {}
    for index in range(len(statement.tokens)):
        if statement.begins_clause(index):
            for start, end in statement.items(index + 1):
                size = _size(statement, start, end, sizes, parameters)
                if statement.at(end - 2) == "AS":
                    sizes[statement.name(end - 1)] = max(size, sizes.get(statement.name(end - 1), 1))


def _size(statement: Statement, start: int, end: int, sizes: dict[str, int], parameters: Mapping[str, Any]) -> int:
    """Return how many values an expression puts together, at most. Raises RefusedError if they are too many."""
    size, index = 0, start
    while index < end:
        close, token = statement.partner.get(index, -1), statement.tokens[index]
        if token.kind == "parameter":
            size += 1 + sum(1 for _ in _values_in(parameters.get(token.name))) // 100
        elif close > index:
            inner = _size(statement, index + 1, close, sizes, parameters)
            function = statement.function(index)
            if is_list(statement, index):
                inner *= _MANY
            elif function == "collect":
                inner = max(inner, _MANY)
            if inner > _MOST_VALUES_OF_ONE:
                break
            size += 1 if function in _NUMBERS else inner
            index = close
        elif statement.name(index) and not re.fullmatch(_RESERVED, statement.codes[index]) and statement.at(index + 1) != "(":
            size += sizes.get(statement.name(index), 1)
        index += 1
    if index < end or size > _MOST_VALUES_OF_ONE:
        raise RefusedError(
            f"{statement.text_of(start, end)} puts a value together from too many others.",
            "UNWIND lists into rows, and collect() what is left; use CALL (x) { ... } instead of COLLECT { ... }.",
        )
    return size


def is_list(statement: Statement, opened: int) -> bool:
    """Return whether a bracket makes a value for each element of a list, or each match of a pattern."""
    code, before, close = statement.at(opened), statement.at(opened - 1), statement.partner[opened]
    if code == "{":
        return before == "COLLECT"
    if statement.at(opened + 2) == "IN":
        return code == "[" or before in ("ALL", "ANY", "NONE", "SINGLE")
    relationship = before == "-" and statement.at(close + 1) == "-"
    return code == "[" and not relationship and "|" in statement.codes[opened:close]
