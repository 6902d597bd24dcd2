"""Rules on patterns: of the graph (how far paths may go) and of text (regular expressions that cannot run away)."""

import re
from collections.abc import Mapping
from itertools import pairwise
from math import prod
from typing import Any

from kgrag.graph.gateway.growth import Growth
from kgrag.graph.gateway.lexer import SEPARATE, Statement
from kgrag.graph.gateway.rules import called
from kgrag.values.errors import RefusedError

_MOST_REPEATS = 2
_LONGEST_PATTERN = 200
_LONGEST_TEXT = 1000
_MOST_WILD = 20
_BEFORE_OPERAND = frozenset("( [ { , : | = WHERE AND OR XOR NOT RETURN WITH WHEN THEN ELSE CASE DISTINCT BY".split())
_QUANTIFIER = re.compile(r"[*+?]|\{\d*,?\d*\}")
_ATOM = re.compile(
    r"\\[dDwWsSbB.\\()\[\]{}|*+?^$/\-'\"]|\[\^?\]?(?:[^\[\]\\&]|\\[dDwWsS.\\\]\[\-^$])*\]|[^\\\[\](){}*+?|]"
)
_CLAUSES = SEPARATE | {"MATCH", "WHERE"}
_MOST_COMBINATIONS = 2**12


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
    """Check that labels (or alternatives), which the planner multiplies out, have few combinations.

    Raises RefusedError.
    """
    combinations, alternatives = (
        1.0,
        dict[int, int](),
    )  # the latter of each label expression, and of each bracket with OR
    colon = -1
    for index in range(len(statement.tokens)):
        sign, group = statement.at(index), statement.parent[index]
        bracket = statement.at(group) if group >= 0 else ""
        if sign in ("&", "!") or (sign == ":" and statement.at(index - 2) == ":"):
            combinations *= 2
        if sign == ":":
            colon = index
        elif sign == "OR" and (group < 0 or _has_labels(statement, group)):
            alternatives[group] = alternatives.get(group, 1) + 1
        elif sign == "|" and bracket != "[" and called(statement, group) != "reduce":
            alternatives[colon] = alternatives.get(colon, 1) + 1
        elif statement.begins_clause(index, SEPARATE):
            combinations, alternatives = 1.0, {}
        if combinations * prod(alternatives.values()) > _MOST_COMBINATIONS:
            raise RefusedError(
                f"Labels with & ! | and conditions with OR make more than {_MOST_COMBINATIONS:,} combinations.",
                "Use fewer, IN with a list, labels(n), or take them apart with WITH.",
            )


def _has_labels(statement: Statement, opened: int) -> bool:
    return any(statement.at(index) == ":" for index in range(opened, statement.partner.get(opened, opened)))


def check_regular_expressions(growth: Growth, parameters: Mapping[str, Any]) -> None:
    """Check that patterns cannot run away, and that none is used while a list is walked over. Raises RefusedError."""
    statement = growth.statement
    for index in range(len(statement.tokens)):
        if statement.at(index) != "=~":
            continue
        for loop in growth.loops.values():
            if loop.test[0] <= index < max(loop.test[1], loop.result[1]):
                raise RefusedError("=~ is refused while a list is walked over.", "Use CONTAINS, or UNWIND the list.")
        if growth.is_made(*_operand(statement, index)) or growth.longest_text() > _LONGEST_TEXT:
            raise RefusedError(
                "=~ takes a property, or a text of at most 1,000 characters, on its left.", "Use CONTAINS instead."
            )
        ends = statement.at(index + 2)
        pattern: Any = None
        if ends not in ("+", "||", "[", "."):
            if statement.kind(index + 1) == "string":
                pattern = _unescaped(statement.tokens[index + 1].name)
            elif statement.kind(index + 1) == "parameter":
                pattern = parameters.get(statement.tokens[index + 1].name)
        if not isinstance(pattern, str):
            raise RefusedError("=~ takes a text in quotes or a parameter, nothing that is made.", "Write the pattern.")
        problem = unsafe(pattern)
        if problem:
            raise RefusedError(f"This regular expression could run away: {problem}.", "Use CONTAINS or STARTS WITH.")


def check_searches(growth: Growth) -> None:
    """Check that full-text queries are short with few wildcards: the index ignores the clock. Raises RefusedError."""
    if not any(token.name.upper() == "FULLTEXT" for token in growth.statement.tokens):
        return
    wild = sum(text.count(sign) for text in growth.texts() for sign in "*?~/")
    if growth.longest_text() > 2 * _LONGEST_TEXT or wild > _MOST_WILD:
        raise RefusedError(
            f"A full-text query has more than {2 * _LONGEST_TEXT:,} characters or {_MOST_WILD} wildcards.",
            "Shorten it.",
        )


def _operand(statement: Statement, index: int) -> tuple[int, int]:
    """Return the start of the operand to the left of a sign."""
    start = index
    while start > 0 and statement.at(start - 1) not in _BEFORE_OPERAND:
        start = statement.partner[start - 1] if statement.partner.get(start - 1, start) < start - 1 else start - 1
    return start, index


def unsafe(pattern: str) -> str:
    """Return why a (Java) regular expression could be slow on some text; the empty string if it cannot.

    At most two signs that repeat without a small bound, each after one character or class; no repeated groups, no
    references back, no looking around: so the work is at most the square of the text's length.
    """
    if len(pattern) > _LONGEST_PATTERN:
        return f"it is longer than {_LONGEST_PATTERN} characters"
    text = re.sub(r"^\(\?[ims]{1,3}\)", "", pattern)
    position, repeats, groups, depth = 0, 0, 0, 0
    after_atom = after_group = False
    while position < len(text):
        char = text[position]
        if match := _QUANTIFIER.match(text, position):
            if not (after_atom or after_group):
                return "a sign repeats nothing, or is repeated itself"
            numbers = [int(n) for n in re.findall(r"\d+", match[0])]
            if after_group and match[0] != "?":
                return "a group is repeated"
            if match[0] != "?" and (not numbers or match[0].endswith(",}") or max(numbers) > 20):
                repeats += 1
            position = match.end()
            after_atom = after_group = False
            if text[position : position + 1] in ("?", "+"):
                position += 1
        elif char == "(":
            opening = re.compile(r"\((\?:)?(?!\?)").match(text, position)
            if opening is None:
                return "it looks around, or changes its flags"
            depth, groups = depth + 1, groups + 1
            position, after_atom, after_group = opening.end(), False, False
        elif char == ")":
            depth -= 1
            position, after_atom, after_group = position + 1, False, True
        elif char == "|":
            position, after_atom, after_group = position + 1, False, False
        elif match := _ATOM.match(text, position):
            position, after_atom, after_group = match.end(), True, False
        else:
            return f"{text[position : position + 2]!r} is more than the gateway follows"
    if repeats > _MOST_REPEATS:
        return f"more than {_MOST_REPEATS} signs repeat without a small bound"
    if depth or groups > 10:
        return "its groups do not match, or are more than 10"
    return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), text, flags=re.DOTALL)


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
    """Return the upper bound of n, n..m, ..m and the like; infinite if there is none."""
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
