"""How much a collection holds."""

from collections.abc import Mapping

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.values.results import CollectionInfo

READ = 100_000
"""Nodes of a label up to which their edges are read. For more, the store's own counts are asked for, by a statement
that the server has to plan for each collection."""


def count_nodes(graph: Graph, name: str) -> dict[str, int]:
    """Return label -> nodes of the collection of that name, without empty labels."""
    return {row["label"]: row["number"] for row in graph.run("inspect/count_nodes", collection=name)}


def count_edges(graph: Graph, collection: Collection, nodes: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return (label, relationship type) -> edges of the type that leave a collection's nodes of the label.

    `nodes`: as `count_nodes` gives them.
    """
    many = [label for label in describe().labels("indexed") if nodes.get(label, 0) > READ]
    rows = graph.run("inspect/count_edges", collection=collection.name, but=many)
    found = {(row["source"], row["type"]): row["number"] for row in rows}
    for label in many:
        rows = graph.run("inspect/count_own_edges", label=collection.label(label))
        found |= {(label, row["type"]): row["number"] for row in rows}
    return found


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
