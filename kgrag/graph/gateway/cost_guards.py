"""The guards: expressions around what makes a list, and around a number of results, that fail where it is too much."""

import re
from collections.abc import Iterable

from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parts import literal_range, makes_list

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
