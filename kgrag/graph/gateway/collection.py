"""Whether a statement stays within one collection, as far as its text shows.

Each pattern needs a node of the collection, or a node from an earlier pattern: relationships never leave a collection.
"""

from kgrag.graph.gateway.guest import called, is_index, is_query, items
from kgrag.graph.gateway.lexer import Statement
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
        elif statement.at(index) == "[" and statement.partner[index] > index and _is_comprehension(statement, index):
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


def _is_comprehension(statement: Statement, opened: int) -> bool:
    """Return whether a square bracket opens a pattern comprehension."""
    if is_index(statement, opened):
        return False
    top = statement.top(opened + 1, statement.partner[opened])
    return any(statement.at(i) == "(" for i in top) and any(statement.at(i) == "|" for i in top)
