"""Sizes of collections, and how near the database and its server are to their limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgrag.graph import collections, schema
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.values.errors import DatabaseError, DeadlineError
from kgrag.values.results import CollectionInfo

LIVE = 0.85
"""If garbage collection leaves more than this share of the heap live, too little is free for queries."""

COUNTED = ("Passage", "Triple", "Entity")


@dataclass(frozen=True, slots=True)
class Heap:
    """The heap of the server in bytes. `live` is its size after the last collection of garbage."""

    used: int
    live: int
    most: int

    @property
    def share(self) -> float:
        """The live share of the heap, from 0 to 1."""
        return self.live / self.most


@dataclass(frozen=True, slots=True)
class Machine:
    """The server's machine: bytes of memory, and the open files and connections of the server process."""

    memory: int
    files: int
    most_files: int


def counts(graph: Graph) -> dict[str, dict[str, int]]:
    """Return the passages, triples and entities of each collection.

    The result is collection -> label -> number. No node is read.
    """
    numbers = {row["label"]: row["number"] for row in graph.run("inspect/label_counts")}
    return {
        one.name: {label: numbers.get(schema.label_of(label, one.number), 0) for label in COUNTED}
        for one in collections.list_collections(graph)
    }


def jobs(graph: Graph) -> dict[str, tuple[int, float]]:
    """Return state -> number of jobs, and the age of the oldest in seconds."""
    return {row["state"]: (row["number"], row["seconds"]) for row in graph.run("jobs/counts")}


def heap(graph: Graph) -> Heap | None:
    """Return the heap of the server (in a cluster, of the leader); None if it is hidden, as in Aura."""
    row = _counts(graph, "inspect/heap")
    return None if row is None else Heap(**row)


def machine(graph: Graph) -> Machine | None:
    """Return the machine of the server, or None if it is hidden."""
    row = _counts(graph, "inspect/machine")
    return None if row is None else Machine(**row)


def _counts(graph: Graph, query: str) -> Mapping[str, Any] | None:
    try:
        rows = graph.run(query)
    except DeadlineError:
        raise
    except DatabaseError:  # the procedure is missing or forbidden to this user
        return None
    return dict(rows[0]) if rows and None not in rows[0].values() else None


READ = 100_000
"""Nodes of a label up to which edges are counted by reading. For more, the counts of the store are used, by a
statement that the server must plan for each collection."""


def count_nodes(graph: Graph, name: str) -> dict[str, int]:
    """Return label -> nodes of the collection of that name, without empty labels."""
    return {row["label"]: row["number"] for row in graph.run("inspect/count_nodes", collection=name)}


def count_edges(graph: Graph, collection: Collection, nodes: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return (label, relationship type) -> edges of the type that leave a collection's nodes of the label.

    `nodes`: the result of `count_nodes`.
    """
    many = [label for label in describe().labels("indexed") if nodes.get(label, 0) > READ]
    rows = graph.run("inspect/count_edges", collection=collection.name, but=many)
    numbers = {(row["source"], row["type"]): row["number"] for row in rows}
    for label in many:
        rows = graph.run("inspect/count_own_edges", label=collection.label(label))
        numbers |= {(label, row["type"]): row["number"] for row in rows}
    return numbers


def collection_info(graph: Graph, collection: Collection) -> CollectionInfo:
    """Return a collection's counts by label and relationship type, and whether its corpus-wide stages are complete."""
    nodes = count_nodes(graph, collection.name)
    counts = dict(nodes)
    for (source, type), number in count_edges(graph, collection, nodes).items():
        if source != "Collection":
            counts[type] = counts.get(type, 0) + number
    left = graph.run("stages/unfinished", collection=collection.name)[0]["number"]
    return CollectionInfo(
        name=collection.name,
        embedder=collection.embedder,
        dimension=collection.dimension,
        schema_version=collection.schema_version,
        counts=counts,
        finished=left == 0,
        kind=collection.kind,
    )
