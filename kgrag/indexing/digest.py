"""A digest of a collection: equal graphs have equal digests, however they came about."""

import hashlib
import json

from kgrag.graph.connection import Graph

KINDS = ("documents", "pages", "tables", "passages", "triples", "entities", "keywords", "words")


def digest(graph: Graph, collection: str) -> dict[str, str]:
    """A hash of the nodes of each kind with their texts and structural edges; vectors and SIMILAR edges stay out."""
    return {kind: _digest(graph, collection, kind) for kind in KINDS}


def _digest(graph: Graph, collection: str, kind: str) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for record in graph.stream(f"search/digest_{kind}", collection=collection):
        hashed.update(json.dumps([record["id"], record["content"], sorted(record["edges"])]).encode())
    return hashed.hexdigest()


def similar_edges(graph: Graph, collection: str) -> dict[str, frozenset[str]]:
    """The nearest neighbours of each passage, by id."""
    records = graph.stream("search/similar_edges", collection=collection)
    return {r["passage"]: frozenset(r["neighbours"]) for r in records}


def similar_names(graph: Graph, collection: str) -> dict[str, frozenset[str]]:
    """The names nearest to each entity, by id; entities without any are left out."""
    records = graph.stream("search/similar_names", collection=collection)
    return {r["entity"]: frozenset(r["neighbours"]) for r in records}


def overlap(one: dict[str, frozenset[str]], other: dict[str, frozenset[str]]) -> float:
    """The share of SIMILAR edges that two graphs have in common: 2 |A & B| / (|A| + |B|), 1 if both have none."""
    total = sum(map(len, one.values())) + sum(map(len, other.values()))
    common = sum(len(neighbours & other.get(id, frozenset())) for id, neighbours in one.items())
    return 2 * common / total if total else 1.0
