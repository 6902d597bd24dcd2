"""Whether a statement stays within one collection, as far as its text shows.

Each pattern needs a node of the collection, or a node from an earlier pattern: relationships never leave a collection.
"""

from kgrag.graph.gateway.guest import bar_of
from kgrag.graph.gateway.lexer import Statement
from kgrag.values.errors import RefusedError


def check_collection(text: str, collection: str) -> None:
    """Check that every pattern and every index search is restricted to that collection, or to $collection.

    Raises RefusedError.

    This makes a model follow its instructions, but is no protection: a condition such as `... OR true` passes.
    """
    statement = Statement(text)
    for index, code in enumerate(statement.codes):
        if bar := bar_of(statement, index):
            patterns = [(index + 1, bar)]
        elif (code == "MATCH" and statement.begins_clause(index)) or (
            code == "{" and statement.at(index - 1) in ("EXISTS", "COUNT") and statement.at(index + 1) == "("
        ):
            patterns = statement.items(index + 1)
        else:
            patterns = []
        for start, end in patterns:
            if not _is_within(statement, start, end, collection):
                raise RefusedError(
                    f"Nothing keeps the pattern {statement.text_of(start, end)} within the collection.",
                    "Begin it with a node that has {collection: $collection}, or with one from an earlier pattern.",
                )
        if "db.index." in statement.function(index):
            name = statement.items(index + 1)[:1]
            if not name or all(statement.at(i) == "''" for i in range(*name[0])):
                raise RefusedError(
                    "An index by its name may be that of another collection.", "Use $entity_name or $passage_text."
                )


def _is_within(statement: Statement, start: int, end: int, collection: str) -> bool:
    codes = statement.codes
    nodes = {
        statement.name(i + 1)
        for i in range(start, end)
        if codes[i] == "(" and not statement.function(i) and statement.name(i + 1)
    }
    for index in range(len(codes) - 2):
        token = statement.tokens[index + 2]
        own = token.kind in ("parameter", "string") and token.name == {"string": collection}.get(
            token.kind, "collection"
        )
        key = codes[index] == ".COLLECTION" or (codes[index] in (".NAME", ".ID") and codes[index - 2] == ".COLLECTION")
        if start <= index < end and key and codes[index + 1] == ":" and own:
            return True
        if index < start and statement.name(index) in nodes:
            return True  # it comes from nodes of the collection
        condition = codes[index : index + 2] == [".COLLECTION", "="] and statement.name(index - 2) in nodes
        if index >= end and condition and own:
            return True
    return False
