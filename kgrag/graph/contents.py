"""The contents of a collection, node by node and edge by edge, in a form independent of the database; and their hash.

Properties of the database are left out: the collection's number, labels such as Passage_c7, and the state of indexes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgrag.graph.connection import Graph
from kgrag.graph.description import NodeKind, describe
from kgrag.graph.property_values import VECTOR, kind, to_json
from kgrag.graph.schema import OURS, SLOTS

_QUERIES = {
    "Document": "digest/documents", "Page": "digest/pages", "Table": "digest/tables", "Figure": "digest/figures",
    "Passage": "digest/passages", "Triple": "digest/triples", "Entity": "digest/entities", "Keyword": "digest/keywords",
    "Word": "digest/words",
}  # fmt: skip
"""Label -> the query for the relevant properties of its nodes; for other labels, all properties except upkeep."""


def digest(graph: Graph, collection: str) -> dict[str, str]:
    """Return a hash of the nodes of each label, by its plural, with their texts and structural edges.

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


LABELS = ("Collection", *describe().labels("held"))
"""The labels of a collection's contents, Collection first."""

LOCAL = frozenset(("id", "number", "indexed", "importing", "imported", "batches"))
"""Properties of a Collection that are meaningful only in its own database."""

_SECOND = re.compile(r"[A-Z][A-Za-z]*_c\d+")
_BITS = 128


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node. The `id` of a Collection is its name; `labels` are the labels that users gave it besides `label`."""

    label: str
    id: str
    properties: Mapping[str, Any]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, label: str, properties: Mapping[str, Any], labels: Iterable[str] = ()) -> "NodeRecord":
        """Return the record of a node with these properties.

        Raises ValueError for a label that does not occur in collections, KeyError if the id is missing.
        """
        if label not in LABELS:
            raise ValueError(f"there is no label {label!r}")
        return cls(label, properties["name" if label == "Collection" else "id"], properties, tuple(sorted(labels)))


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """An edge between the nodes whose (label, id) are `start` and `end`."""

    type: str
    start: tuple[str, str]
    end: tuple[str, str]
    properties: Mapping[str, Any]


Item = NodeRecord | EdgeRecord


def contents(graph: Graph, collection: str, *, embeddings: bool = True) -> Iterator[Item | None]:
    """Yield every node of a collection, the Collection first, then every edge; None for an edge that leaves it."""
    for record in graph.stream("look_up/all_nodes", collection=collection):
        label, properties = record["label"], record["properties"]
        more = (name for name in record["labels"] if name not in (label, OURS) and not _SECOND.fullmatch(name))
        if label == "Collection":
            properties = {key: value for key, value in properties.items() if key not in LOCAL}
        if not embeddings:
            vectors = vectors_of(properties)
            properties = {key: value for key, value in properties.items() if key not in vectors}
        yield NodeRecord.of(label, properties, more)
    for record in graph.stream("look_up/all_edges", collection=collection, labels=list(LABELS)):
        if record["inside"]:
            start, end = (record["start_label"], record["start"]), (record["end_label"], record["end"])
            yield EdgeRecord(record["type"], start, end, record["properties"])
        else:
            yield None


def vectors_of(properties: Mapping[str, Any]) -> list[str]:
    """Return the properties with vectors: lists of floats under the names of vectors."""
    return [key for key in SLOTS if key in properties and kind(key, properties[key]) == VECTOR]


@dataclass(slots=True)
class Fingerprint:
    """Hashes of nodes by label and of edges by type, independent of their order.

    Each is the sum of the hashes of its records (a multiset hash by addition: Bellare and Micciancio, 1997).
    """

    counts: dict[str, int] = field(default_factory=dict)
    _sums: dict[str, int] = field(default_factory=dict)

    def add(self, item: Item) -> None:
        """Add a node or an edge, with all its properties and their types."""
        hashed = hashlib.blake2b(digest_size=_BITS // 8)
        properties = item.properties
        vectors = vectors_of(properties)
        if vectors:
            properties = {key: value for key, value in properties.items() if key not in vectors}
        if isinstance(item, NodeRecord):
            kind: str = item.label
            what: list[Any] = ["node", item.label, item.id, item.labels]
        else:
            kind = item.type
            what = ["edge", item.type, item.start, item.end]
        what.append({key: to_json(value) for key, value in properties.items()})
        hashed.update(json.dumps(what, sort_keys=True).encode())
        for key in vectors:
            hashed.update(key.encode() + np.asarray(item.properties[key], "<f4").tobytes())
        self._sums[kind] = (self._sums.get(kind, 0) + int.from_bytes(hashed.digest())) % (1 << _BITS)
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def hashes(self) -> dict[str, str]:
        """Return the hash of each label, in the order of the schema, then of each relationship type by name."""
        kinds = sorted(self._sums, key=lambda kind: (LABELS.index(kind) if kind in LABELS else len(LABELS), kind))
        return {kind: f"{self._sums[kind]:0{_BITS // 4}x}" for kind in kinds}

    def total(self) -> str:
        """Return one hash of everything."""
        all_of_it = json.dumps([self.hashes(), self.counts], sort_keys=True)
        return hashlib.blake2b(all_of_it.encode(), digest_size=_BITS // 8).hexdigest()


def fingerprint(graph: Graph, collection: str) -> Fingerprint:
    """Return a hash of a whole collection: nodes, edges, properties, vectors."""
    result = Fingerprint()
    for item in contents(graph, collection):
        if item is not None:
            result.add(item)
    return result
