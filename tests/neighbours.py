"""The SIMILAR edges of a collection, for comparison."""

from kgrag.graph.connection import Graph
from kgrag.graph.contents import EdgeRecord, NodeRecord, contents


def similar(graph: Graph, collection: str, label: str = "Passage") -> dict[str, set[str]]:
    """Return the nearest neighbours of each node of a label, by id."""
    found: dict[str, set[str]] = {}
    for item in contents(graph, collection, embeddings=False):
        if isinstance(item, NodeRecord) and item.label == label:
            found[item.id] = set()
        elif isinstance(item, EdgeRecord) and item.type == "SIMILAR" and item.start[0] == label:
            found[item.start[1]].add(item.end[1])
    return found


def overlap(one: dict[str, set[str]], other: dict[str, set[str]]) -> float:
    """Return the share of common SIMILAR edges of two graphs: 2 |A & B| / (|A| + |B|), 1 if both have none."""
    total = sum(map(len, one.values())) + sum(map(len, other.values()))
    common = sum(len(neighbours & other.get(id, set())) for id, neighbours in one.items())
    return 2 * common / total if total else 1.0
