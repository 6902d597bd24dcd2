"""What the driver gives, as the plain values of `kgrag.values.rows`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import neo4j.graph
import neo4j.spatial
import neo4j.time

from kgrag.values.rows import Edge, Node, Path

_EMBEDDING = re.compile(r"embedding\w*", re.IGNORECASE)
_LONG = 8


def plain(value: Any, embeddings: bool = False) -> Any:
    """Return a driver's value as one of Rows; without `embeddings`, vectors are removed from maps."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case neo4j.graph.Node():
            return Node(value.element_id, tuple(sorted(value.labels)), _properties(value.items(), embeddings))
        case neo4j.graph.Relationship():
            start, end = (node.element_id if node is not None else "" for node in value.nodes)
            return Edge(value.element_id, value.type, start, end, _properties(value.items(), embeddings))
        case neo4j.graph.Path():
            return Path(
                tuple(plain(node, embeddings) for node in value.nodes),
                tuple(plain(edge, embeddings) for edge in value.relationships),
            )
        case Mapping():
            return _properties(value.items(), embeddings)
        case neo4j.spatial.Point():  # a tuple, as is a duration
            return f"point({', '.join(map(str, value))})"
        case neo4j.time.Duration():
            return value.iso_format()
        case list() | tuple():
            return [plain(item, embeddings) for item in value]
        case bytes() | bytearray():
            return value.hex()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


def size_of(value: Any) -> int:
    """Return about how many bytes a plain value takes as text."""
    match value:
        case str():
            return len(value) + 2
        case None | bool() | int() | float():
            return 8
        case Node(_, labels, properties):
            return 40 + sum(map(len, labels)) + size_of(properties)
        case Edge(_, _, _, _, properties):
            return 80 + size_of(properties)
        case Path(nodes, edges):
            return sum(map(size_of, nodes)) + sum(map(size_of, edges))
        case Mapping():
            return sum(len(key) + 4 + size_of(item) for key, item in value.items())
    return 2 + sum(map(size_of, value))


def _properties(items: Iterable[tuple[str, Any]], embeddings: bool) -> dict[str, Any]:
    return {
        key: plain(value, embeddings)
        for key, value in items
        if embeddings or not (_EMBEDDING.fullmatch(key) and _is_vector(value))
    }


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= _LONG and all(isinstance(item, float) for item in value)
