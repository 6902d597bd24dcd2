"""What a Cypher statement gives back: rows of plain values, with nodes, edges and paths of the graph among them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


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
    text. `cut` says why rows are missing, None if none are. `seconds`: how long it took, as the caller saw it.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    cut: str | None = None
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row as a map from column to value."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)
