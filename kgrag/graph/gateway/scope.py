"""Whether a statement stays within one collection: each pattern holds a node of it, or goes on from one that does.

Relationships never leave a collection, so one node of each pattern is enough.
"""

from kgrag.graph.gateway.lexer import Statement
from kgrag.graph.gateway.parts import items, makes_list
from kgrag.graph.gateway.rules import called, is_query
from kgrag.values.errors import RefusedError

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
                f"Nothing keeps the pattern {statement.written(start, end)} within the collection.",
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
    found = []
    for index in range(len(statement.tokens)):
        if statement.begins_clause(index, _MATCH) or (is_query(statement, index) and statement.at(index + 1) == "("):
            found += items(statement, index + 1)
        elif statement.at(index) == "[" and statement.partner[index] > index and makes_list(statement, index):
            bar = next(i for i in statement.top(index + 1, statement.partner[index]) if statement.at(i) == "|")
            found.append((index + 1, bar))
    return found


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
