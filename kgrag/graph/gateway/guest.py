"""The grammar of guests: Cypher that only reads, without expressions that Neo4j cannot interrupt.

Neo4j looks at the clock between rows and while it reads the graph, but neither inside an expression nor while it plans
a statement, and it does not count the memory of COLLECT { } and of pattern comprehensions. These, long loops inside an
expression, values that double, regular expressions, and statements that take long to plan are refused by name, each
with another way to write it.
"""

import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.graph.gateway.allowed import FUNCTIONS, PROCEDURES
from kgrag.graph.gateway.lexer import CLAUSES, Statement
from kgrag.values.errors import RefusedError

_FIRST = "CALL|MATCH|OPTIONAL|RETURN|UNWIND|WITH"
_FORBIDDEN = (
    "CREATE|CYPHER|DELETE|DETACH|DROP|EXPLAIN|FOREACH|INSERT|LOAD|MERGE|NODETACH|PROFILE|REMOVE|SET|SHOW|TERMINATE|"
    "TRANSACTION|TRANSACTIONS|USE|USING"
)
_RESERVED = "|".join(CLAUSES) + (
    "|AND|OR|XOR|NOT|IN|IS|CONTAINS|CASE|WHEN|THEN|ELSE|AS|BY|STARTS|ENDS|SHORTEST|SHORTESTPATH|ALLSHORTESTPATHS"
)
_NO_NAMES = frozenset(_RESERVED.split("|"))
_SHORT_LIST = r"(?:(?:NODES|RELATIONSHIPS|LABELS|KEYS) \( \S+ \)|\[ (?:(?:''|[0-9]+) ,? ?){1,20}\]) (?:WHERE|\||\]|\)) "
_SHORT_LISTS = "nodes(p), relationships(p), labels(n), keys(n) and lists of a few values are short."
_UNCOUNTED = "is refused: Neo4j does not limit its memory."
_COLLECTED = "Write CALL (x) { MATCH ... RETURN collect(...) AS found }."
_REFUSED = (
    (r"^ $", "The statement is empty.", "Write one that begins with MATCH, for example."),
    (rf"^ (?!(?:{_FIRST}) )(\S+)", "A statement may not begin with {}.", f"Begin with {_FIRST.replace('|', ', ')}."),
    (r" ; \S", "There is more than one statement.", "Send them one by one."),
    (rf" ({_FORBIDDEN}) ", "{} is refused: a statement may only read this graph.",
     "Leave it out, or put it in backticks if it is a name of yours."),
    (rf" (?:AS ({_RESERVED})|({_RESERVED}) =|[(\[,] ({_RESERVED}) (?:[)\]:*=,{{]|IN|IS|WHERE)) ",
     "{} is a word of Cypher, and the name of a variable here.", "Put it in backticks, or take another name."),
    (r" =~ ", "=~ is refused.", "Use CONTAINS, STARTS WITH or ENDS WITH."),
    (r" REDUCE \( ", "reduce() is refused.", "UNWIND the list, and use sum(), count() or collect()."),
    (r" REPLACE \( ", "replace() is refused.", "Return the text, and replace in your program."),
    (rf" (ALL|ANY|NONE|SINGLE) \( \S+ IN (?!{_SHORT_LIST})", "{}() over a long list is refused.",
     f"UNWIND the list, and filter its rows by WHERE; {_SHORT_LISTS}"),
    (rf" \[ \S+ IN (?!{_SHORT_LIST})", "A list comprehension over a long list is refused.",
     f"UNWIND the list, filter its rows by WHERE, and collect() them; {_SHORT_LISTS}"),
    (r" COLLECT \{ ", f"COLLECT {{ }} {_UNCOUNTED}", _COLLECTED),
    (r" CALL (?!\(|\{|\S+ (?:\. \S+ )*\( )", "A procedure needs brackets.", "Write CALL db.labels(), for example."),
    (r" CASE (?!WHEN )(?:(?!WHEN )\S+ )*CASE ", "A CASE compares another CASE.", "Name its value by WITH first."),
)  # fmt: skip
"""Forms of codes that are refused, each with the problem and the way round; {} is the form's group."""
_PROCEDURES = frozenset(f"call {name.lower()}" for name in PROCEDURES)
_OPTIONS = re.compile(r"\{(?: \.(?:LIMIT|SKIP) : [0-9]{1,4} ?,?)+ \}")
_OPERATORS = "+ - * / % ^ = <> < > <= >= || : ( [ { AND OR NOT IN IS CONTAINS STARTS ENDS CASE WHEN"
_COSTS = dict.fromkeys(_OPERATORS.split(), 2) | {",": 1, "XOR": 40, "&": 30, "!": 30}
_CLAUSE, _RELATIONSHIP, _SUBQUERY, _LABEL = 4, 20, 40, 30
_MOST_COSTS = 500  # cost limit of a statement: the planner needs seconds, and a few more points double that
_LOOP, _MOST_PARTS = 10, 200  # how often a value counts in a loop over a short list; parts of a value
_LONGEST, _MOST_VALUES, _MOST_CHARACTERS = 10_000, 20_000, 200_000  # limits of a statement, and of its parameters
_MOST_RESULTS = 10_000  # results of a vector search
_LONGEST_SEARCH, _MOST_WILD = 2000, 20  # characters and wildcards of a full-text query: the index ignores the clock


def check_guest(text: str, parameters: Mapping[str, Any], hops: int) -> None:
    """Check a statement of a guest, with paths of at most `hops` relationships. Raises RefusedError."""
    values = list(_values_in(dict(parameters)))
    characters = sum(len(value) for value in values if isinstance(value, str | bytes))
    if len(text) > _LONGEST or len(values) > _MOST_VALUES or characters > _MOST_CHARACTERS:
        raise RefusedError(
            f"Too long: {len(text):,} characters, and parameters of {len(values):,} values, {characters:,} characters.",
            f"At most {_LONGEST:,} characters, {_MOST_VALUES:,} values and {_MOST_CHARACTERS:,} characters are taken.",
        )
    statement = Statement(text)
    codes = " ".join(["", *statement.codes, ""]) or " "
    for pattern, problem, remedy in _REFUSED:
        if match := re.search(pattern, codes):
            raise RefusedError(problem.replace("{}", match[match.lastindex or 0]), remedy)
    _check_calls(statement, parameters)
    _check_paths(statement, hops)
    _check_costs(statement)
    _check_sizes(statement)


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
    for index in range(len(statement.tokens)):
        name = statement.function(index)
        if name.startswith("call ") and name not in _PROCEDURES:
            raise RefusedError(
                f"The procedure {name[5:].replace('`', '')} is not on the list.",
                f"There are: {', '.join(sorted(PROCEDURES))}.",
            )
        if name.startswith("call db.index."):
            _check_search(statement, name, index, parameters)
        elif name and name not in FUNCTIONS and name not in _PROCEDURES:
            raise RefusedError(
                f"The function {name} is not on the list.", "Use Cypher's own functions of text, numbers, lists, time."
            )
        after = statement.at(statement.partner.get(index, 0) + 1)
        if name == "range" and (statement.at(index - 2) != "UNWIND" or after != "AS"):
            raise RefusedError("range() is refused outside UNWIND.", "Write UNWIND range(...) AS x.")
        if bar_of(statement, index):
            raise RefusedError(f"A pattern comprehension {_UNCOUNTED}", _COLLECTED)


def _check_search(statement: Statement, name: str, bracket: int, parameters: Mapping[str, Any]) -> None:
    """Check that a search of an index is short, and asks for few results. Raises RefusedError."""
    arguments = statement.items(bracket + 1)
    _, (start, end), *options = [*arguments, (0, 0), (0, 0)][: max(2, len(arguments))]
    token = statement.tokens[start]
    value: Any = parameters.get(token.name) if token.kind == "parameter" else token.name
    if end - start != 1 or token.kind not in ("number", "string", "parameter"):
        value = None
    if "vector" in name:
        value = int(value) if token.kind == "number" and str(value).isdecimal() else value
        if not isinstance(value, int | float) or not 1 <= value <= _MOST_RESULTS:
            raise RefusedError(
                f"A search of vectors asks for a number from 1 to {_MOST_RESULTS:,}.",
                "Write the number, or give it as a parameter.",
            )
        return
    short = isinstance(value, str) and len(value) <= _LONGEST_SEARCH and sum(map(value.count, "*?~/")) <= _MOST_WILD
    if not short or not all(_OPTIONS.fullmatch(" ".join(statement.codes[i:j])) for i, j in options):
        raise RefusedError(
            f"A full-text search takes a text of at most {_LONGEST_SEARCH:,} characters and {_MOST_WILD} wildcards.",
            "Shorten it, or give it as a parameter; options are numbers, such as {limit: 10}.",
        )


def bar_of(statement: Statement, opened: int) -> int:
    """Return the bar of the pattern comprehension that a square bracket opens, [(a)--(b) | ...]; 0 if it opens none."""
    close = statement.partner.get(opened, -1)
    relationship = statement.at(opened - 1) == "-" and statement.at(close + 1) == "-"
    if statement.at(opened) != "[" or relationship or statement.at(opened + 2) == "IN":
        return 0
    return next((i for i in range(opened, close) if statement.at(i) == "|" and statement.parent[i] == opened), 0)


def _check_paths(statement: Statement, hops: int) -> None:
    """Check that paths of variable length have an upper bound, shortest ones apart. Raises RefusedError."""
    for index, code in enumerate(statement.codes):
        before, last = statement.at(index - 1), index
        if code == "*" and statement.at(statement.parent[index]) == "[":
            if statement.at(statement.parent[index] - 1) != "-":
                continue
            while statement.at(last + 1) == ".." or statement.at(last + 1).isdecimal():
                last += 1
        elif code == "{" and statement.at(index + 1)[:1] in (",", *string.digits):
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
    opened = statement.partner.get(close, close)
    return any(
        statement.at(i) == "-"
        and statement.at(i + 1) in ("-", "[", ">")
        and not statement.function(statement.parent[i])
        for i in range(opened, close)
        if statement.at(opened) == statement.at(statement.parent[i]) == "(" and not statement.function(opened)
    )


def _is_shortest(statement: Statement, index: int) -> bool:
    """Return whether the pattern around a token is one of shortest paths."""
    while index > 0:
        index = min(index - 1, statement.partner.get(index - 1, index))
        if statement.at(index) in ("SHORTEST", "SHORTESTPATH", "ALLSHORTESTPATHS"):
            return True
        if statement.at(index) in (",", "{") or statement.begins_clause(index):
            return False
    return False


def _check_costs(statement: Statement) -> None:
    """Check that the server's planner, which nothing interrupts, is quick. Raises RefusedError."""
    costs = 0
    for index, code in enumerate(statement.codes):
        before, after, group = statement.at(index - 1), statement.at(index + 1), statement.parent[index]
        costs += _COSTS.get(code, 0) + _CLAUSE * statement.begins_clause(index)
        costs += _RELATIONSHIP * (code == "-" and after in ("-", "["))
        costs += _SUBQUERY * (code == "{" and before in ("CALL", "COUNT", "EXISTS", ")"))
        costs += _LABEL * (code == "|" and statement.at(group) != "[")
        costs += _LABEL * (code == ":" and before[:1] == "." and statement.at(index - 2) == ":")
        if code == "OR" and group >= 0:
            costs += _LABEL * (":" in statement.codes[group : statement.partner[group]])
    if costs > _MOST_COSTS:
        raise RefusedError(
            "The statement takes too long to plan.",
            "Match fewer relationships, use IN with a list as a parameter for many conditions, or send it in parts.",
        )


def _check_sizes(statement: Statement) -> None:
    """Check that no value is put together from very many others, clause after clause. Raises RefusedError."""
    sizes: dict[str, int] = {}
    for index in range(len(statement.tokens)):
        for start, end in statement.items(index + 1) if statement.begins_clause(index) else ():
            named = statement.at(end - 2) == "AS"
            size = _size(statement, start, end - 2 if named else end, sizes)
            if size > _MOST_PARTS:
                raise RefusedError(
                    f"A value has too many parts, or a loop is in a loop: {statement.text_of(start, end)}.",
                    "UNWIND lists into rows, filter, and collect() again.",
                )
            if named:
                sizes[statement.name(end - 1)] = max(size, sizes.get(statement.name(end - 1), 1))


def _size(statement: Statement, start: int, end: int, sizes: Mapping[str, int]) -> int:
    """Return how many values an expression puts together, at most."""
    size, index = 0, start
    while index < end:
        close = statement.partner.get(index, -1)
        if close > index:
            subquery = statement.at(index) == "{" and statement.at(index - 1) in ("CALL", ")")
            times = 0 if subquery else _LOOP if statement.at(index + 2) == "IN" else 1
            size += times * _size(statement, index + 1, close, sizes)
            index = close
        elif statement.at(index) == "$" or (statement.name(index) and statement.at(index) not in _NO_NAMES):
            size += sizes.get(statement.name(index), 1)
        index += 1
    return size
