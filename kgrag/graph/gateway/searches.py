"""Rules on searches of an index: how many results they are asked for, since the server makes room for all at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parts import items
from kgrag.graph.gateway.rules import path
from kgrag.values.errors import RefusedError

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
        given = parameters.get(statement.tokens[start].name)
        for name, value in given.items() if isinstance(given, Mapping) else ():
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
