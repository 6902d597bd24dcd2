"""A digest of a collection: equal graphs have equal digests, however they came about."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kgrag.graph.connection import Graph
from kgrag.graph.description import NodeKind, describe

_QUERIES = {
    "Document": "digest/documents",
    "Page": "digest/pages",
    "Table": "digest/tables",
    "Passage": "digest/passages",
    "Triple": "digest/triples",
    "Entity": "digest/entities",
    "Keyword": "digest/keywords",
    "Word": "digest/words",
}
"""Label -> the query that says what counts of its nodes; of others, every property that is not upkeep."""


def digest(graph: Graph, collection: str) -> dict[str, str]:
    """A hash of the nodes of each label, by its plural, with their texts and structural edges.

    Vectors, SIMILAR edges and runs stay out.
    """
    nodes = [node for node in describe().nodes if node.held and node.layer != "runs"]
    return {node.plural: _digest(_rows(graph, collection, node)) for node in nodes}


def _rows(graph: Graph, collection: str, node: NodeKind) -> Iterator[Mapping[str, Any]]:
    if node.label in _QUERIES:
        return graph.stream(_QUERIES[node.label], collection=collection)
    content = [p.name for p in node.properties if not p.upkeep]
    return graph.stream("digest/nodes", label=node.label, collection=collection, content=content)


def _digest(rows: Iterable[Mapping[str, Any]]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for record in rows:
        hashed.update(json.dumps([record["id"], record["content"], sorted(record["edges"])]).encode())
    return hashed.hexdigest()
