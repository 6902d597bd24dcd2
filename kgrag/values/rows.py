"""What a Cypher statement gives back: rows of plain values, with nodes, edges and paths of the graph among them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgrag.values.html_table import html_table


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph in a result.

    Attributes:
        element: the database's id, valid within one result.
        labels: all labels.
        properties: name -> value.

    Example:
        >>> row = next(iter(collection.cypher("MATCH (d:Document {collection: $collection}) RETURN d LIMIT 1")))
        >>> row["d"].kinds
        ('Document',)
    """

    element: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The labels without those of one collection, such as Passage_c7."""
        return tuple(label for label in self.labels if "_c" not in label)


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship of the graph in a result.

    Attributes:
        element: the database's id, valid within one result.
        type: such as MENTIONS.
        start: the `element` of the node where it begins.
        end: the `element` of the node where it ends.
        properties: name -> value.

    Example:
        >>> row = next(iter(kg.cypher("MATCH (:Document)-[e:HAS_PASSAGE]->() RETURN e LIMIT 1")))
        >>> row["e"].type
        'HAS_PASSAGE'
    """

    element: str
    type: str
    start: str
    end: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """A path of the graph in a result.

    Attributes:
        nodes: in order.
        edges: those between them, one fewer than nodes, each in its stored direction.

    Example:
        >>> row = next(iter(kg.cypher("MATCH p = (:Document)-[:HAS_PASSAGE]->() RETURN p LIMIT 1")))
        >>> len(row["p"].nodes), len(row["p"].edges)
        (2, 1)
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a statement; iterates over its rows as maps.

    Attributes:
        columns: names.
        values: a tuple a row, of None, bool, int, float, str, list, dict, Node, Edge or Path; dates, times, durations
            and
            points are text.
        cut: why rows are missing, None if none are.
        seconds: duration, as the caller saw it.
        notes: names of the statement that do not occur in the database.

    Example:
        >>> rows = kg.cypher("UNWIND [1, 2] AS n RETURN n, n * n AS square")
        >>> list(rows)
        [{'n': 1, 'square': 1}, {'n': 2, 'square': 4}]
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    cut: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows.

        Returns:
            Each row as a map from column to value.
        """
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)

    def _repr_html_(self) -> str:
        return html_table(self.columns, (map(cell, row) for row in self.values), filter(None, (self.cut, *self.notes)))


def cell(value: Any) -> str:
    """Return a value as one text: nodes by their names, paths as Cypher draws them, lists of texts with semicolons."""
    if value is None:
        return ""
    if isinstance(value, Node | Edge | Path):
        return _as_pattern(value)
    if isinstance(value, list | tuple):
        if all(isinstance(item, Node | Edge | Path) for item in value) and value:
            return ", ".join(map(_as_pattern, value))
        if all(isinstance(item, str) for item in value):
            return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=_as_pattern)
    return str(value)


def _as_pattern(value: Any) -> str:
    """Return a node, an edge or a path as Cypher draws it: (Fram)<-[:MENTIONS]-(Tromsø)."""
    if isinstance(value, Node):
        return f"({value.properties.get('name') or ':'.join(value.labels)})"
    if isinstance(value, Edge):
        return f"-[:{value.type}]->"
    if not isinstance(value, Path):
        return str(value)
    text = _as_pattern(value.nodes[0])
    for before, edge, after in zip(value.nodes, value.edges, value.nodes[1:], strict=False):
        forward = edge.start == before.element
        text += f"-[:{edge.type}]->" if forward else f"<-[:{edge.type}]-"
        text += _as_pattern(after)
    return text
