"""The guard around what makes a list: an expression that fails at run time where the list is too long."""

import re

from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parts import literal_range, makes_list

MARK = "longer than the gateway allows:"
_ITEM = "`kgrag list`"
_BEFORE = f"head([{_ITEM} IN ["
_AFTER = f"] | CASE WHEN size({_ITEM}) > {{0}} THEN [date('{MARK} {{0}} not ' + size({_ITEM}))] ELSE {_ITEM} END])"


def guarded(statement: Statement, length: int) -> str:
    """The text with a guard around whatever makes a list: it fails where the list is longer than `length`."""
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
        after[close] = after.get(close, "") + _AFTER.format(length)
    parts, position = [], 0
    for index, token in enumerate(statement.tokens):
        parts += [statement.text[position : token.start], before.get(index, "")]
        parts += [statement.text[token.start : token.end], after.get(index, "")]
        position = token.end
    return "".join(parts).rstrip().removesuffix(";")


def unguarded(text: str) -> str:
    """The text (of a column's name, of an error) without the guards in it."""
    return re.sub(re.escape(_AFTER).replace(r"\{0\}", r"\d+"), "", text.replace(_BEFORE, ""))
