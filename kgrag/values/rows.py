"""What a Cypher statement gives back: rows of plain values, with nodes, edges and paths of the graph among them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgrag.values.html_table import html_table


@dataclass(frozen=True, slots=True)
class Node:
    """A node: `element` is the database's own id, good within one answer."""

    element: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Its labels but those of one collection, such as Passage_c7."""
        return tuple(label for label in self.labels if "_c" not in label)


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship between the nodes whose `element` are `start` and `end`."""

    element: str
    type: str
    start: str
    end: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes with the edges between them: one edge fewer than nodes, each in the direction that it is stored."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The answer to a statement.

    A value is None, bool, int, float, str, list, dict, Node, Edge or Path; dates, times, durations and points are
    text. `cut` says why rows are missing, None if none are. `seconds`: how long it took, as the caller saw it. `notes`:
    names of the statement that nothing in the database has.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    cut: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row as a map from column to value."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)

    def _repr_html_(self) -> str:
        return html_table(self.columns, (map(cell, row) for row in self.values), filter(None, (self.cut, *self.notes)))


def cell(value: Any) -> str:
    """A value as one text: nodes by their names, paths as Cypher would draw them, lists of texts with semicolons."""
    if value is None:
        return ""
    if isinstance(value, Node | Edge | Path):
        return _drawn(value)
    if isinstance(value, list | tuple):
        if all(isinstance(item, Node | Edge | Path) for item in value) and value:
            return ", ".join(map(_drawn, value))
        if all(isinstance(item, str) for item in value):
            return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=_drawn)
    return str(value)


def _drawn(value: Any) -> str:
    """A node, an edge or a path as Cypher would draw it: (Fram)<-[:MENTIONS]-(Tromsø)."""
    if isinstance(value, Node):
        return f"({value.properties.get('name') or ':'.join(value.labels)})"
    if isinstance(value, Edge):
        return f"-[:{value.type}]->"
    if not isinstance(value, Path):
        return str(value)
    text = _drawn(value.nodes[0])
    for before, edge, after in zip(value.nodes, value.edges, value.nodes[1:], strict=False):
        forward = edge.start == before.element
        text += f"-[:{edge.type}]->" if forward else f"<-[:{edge.type}]-"
        text += _drawn(after)
    return text
