"""Inspecting a collection: statements that count. Each reads every node of a kind once, and holds few of them."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from kgrag.graph.collections import KNOWLEDGE, Collection, needed_labels, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_edges, count_nodes
from kgrag.graph.description import describe
from kgrag.graph.schema import index_states
from kgrag.indexing.extraction import prompt_name
from kgrag.indexing.index_sync import Difference, difference, index_of
from kgrag.indexing.tagging import OF
from kgrag.indexing.tagging import version as tagging_version
from kgrag.inspection.findings import find
from kgrag.inspection.result import NEAR, Bin, Coverage, Distribution, Edges, Inspection, Reading
from kgrag.models.prompts import load_prompt
from kgrag.settings import Settings
from kgrag.values.errors import ConfigurationError

_TOP = 5  # names shown of those that have most
_HELD = 200  # bytes that the server takes for a text that it holds, besides its characters

Row = Mapping[str, Any]


def inspect(graph: Graph, name: str, settings: Settings, *, near: float = NEAR) -> Inspection:
    """Return a collection's counts, distributions, coverage and health; nothing is written.

    `near`: (1 + cosine) / 2 from which passages nearly say the same and names may be one. Raises NotFoundError,
    MismatchError for a database of another schema version, ConfigurationError for a score that is none.
    """
    if not 0 <= near <= 1:
        raise ConfigurationError(f"{near:g} is not a score.", "Give one from 0 to 1, such as 0.98.")
    started = time.perf_counter()
    collection = open_collection(graph, name)
    nodes = count_nodes(graph, name)
    passages = graph.run("inspect/passages", collection=name, embedding=collection.embedding)
    entities = graph.run("inspect/entities", collection=name)
    vectors = _vectors(graph, name, collection.embedding) if collection.embedding else []
    hubs = graph.run("inspect/hubs", collection=name, limit=_TOP)
    coverage = _coverage(passages, vectors) if collection.embedding else ()
    readings = _readings(passages, settings)
    texts = sum(row["characters"] + _HELD * row["number"] for row in passages)
    apart = _apart(graph, collection, settings)
    indexes = index_states(graph, collection.number, collection.embedding, needed_labels(collection, nodes))
    return Inspection(
        collection=name,
        embedder=collection.embedder,
        dimension=collection.dimension,
        schema_version=collection.schema_version,
        near=near,
        nodes=nodes,
        edges=tuple(_edges(count_edges(graph, collection, nodes))),
        quantization={name: row["quantization"] for name, row in indexes.items() if row.get("quantization")},
        coverage=coverage,
        distributions=_distributions(passages, entities, hubs),
        readings=readings,
        findings=tuple(find(graph, collection, near, indexes, coverage, readings, texts, apart)),
        seconds=time.perf_counter() - started,
    )


def _apart(graph: Graph, collection: Collection, settings: Settings) -> Difference | None:
    """Return the passages that the index outside the graph lacks; None where there is no such index."""
    index = index_of(collection, settings) if collection.kind != KNOWLEDGE else None
    return None if index is None else difference(graph, collection, index)


def _edges(found: dict[tuple[str, str], int]) -> Iterable[Edges]:
    """Yield the edges by kind, in the order of the description, unknown ones last."""
    for edge in describe().edges:
        for source in dict.fromkeys(start for start, _ in edge.between):
            number = found.pop((source, edge.type), 0)
            if number:
                targets = " | ".join(end for start, end in edge.between if start == source)
                yield Edges(source, edge.type, targets, number)
    for (source, type), number in sorted(found.items()):
        yield Edges(source, type, "?", number)


def _coverage(passages: Iterable[Row], vectors: Iterable[Row]) -> tuple[Coverage, ...]:
    """Return the passages with mentions, keywords, triples, neighbours and a vector; other nodes with vectors."""
    kinds = {"mentions": "mentions", "keywords": "keywords", "triples": "triples", "neighbours": "similar"}
    rows = list(passages)
    number = sum(row["number"] for row in rows)
    found = [
        Coverage(f"passages with {kind}", sum(row["number"] for row in rows if row[key]), number)
        for kind, key in {**kinds, "a vector": "vector"}.items()
    ]
    found += [Coverage(f"{r['kind']} with a vector", r["having"], r["number"]) for r in vectors if r["number"]]
    return tuple(found)


def _vectors(graph: Graph, name: str, slot: str) -> list[Row]:
    """Return how many nodes have a vector of how many, by kind; passages are counted elsewhere."""
    rows: list[Row] = []
    for label in describe().labels("embedded"):
        if label != "Passage":
            kind = "names" if label == "Entity" else describe().node(label).plural
            counted = graph.run("inspect/count_vectors", label=label, collection=name, embedding=slot)[0]
            rows.append({"kind": kind, **counted})
    return rows


def _distributions(passages: Iterable[Row], entities: Iterable[Row], hubs: Iterable[Row]) -> tuple[Distribution, ...]:
    rows, ends, top = list(passages), list(entities), list(hubs)
    found = [
        _distribution("mentions of an entity", ends, "mentions", top),
        _distribution("triples of an entity", ends, "triples", top),
        _distribution("entities of a passage", rows, "mentions"),
        _distribution("triples of a passage", rows, "triples"),
    ]
    return tuple(d for d in found if d is not None)


def _distribution(name: str, rows: Iterable[Row], key: str, hubs: Iterable[Row] = ()) -> Distribution | None:
    """Return how many nodes have how many edges, in bins that double; None where none has any."""
    counts: Counter[int] = Counter()
    for row in rows:
        counts[row[key]] += row["number"]
    total, most = sum(counts.values()), max(counts, default=0)
    if not most:
        return None
    seen, median = 0, 0
    for edges in sorted(counts):
        seen += counts[edges]
        if 2 * seen >= total:
            median = edges
            break
    bins, low, high = [], 0, 0
    while low <= most:
        bins.append(Bin(low, high, sum(n for edges, n in counts.items() if low <= edges <= high)))
        low, high = high + 1, max(1, 2 * high)
    bins = bins[next(place for place, b in enumerate(bins) if b.number) :]
    mean = sum(edges * n for edges, n in counts.items()) / total
    top = tuple((row["name"], row["number"]) for row in hubs if row["kind"] == key)
    return Distribution(name, total, mean, median, most, tuple(bins), top)


def _readings(passages: Iterable[Row], settings: Settings) -> tuple[Reading, ...]:
    """Return the ledgers of extraction and tagging, unless both are empty."""
    rows = list(passages)
    prompts = {load_prompt(prompt_name(linked), settings.chat.prompts).version for linked in (False, True)}
    current = {"extract": prompts, "tag": {tagging_version(settings.tagme)}}
    found: list[Reading] = []
    kinds: dict[Literal["extract", "tag"], str] = {"extract": "extracted", "tag": "tagged"}
    for kind, key in kinds.items():
        counts: Counter[str] = Counter()
        for row in rows:
            counts[row[key] or ""] += row["number"]
        if set(counts) - {""}:
            found += [
                Reading(kind, version, version.partition(OF)[0] in current[kind], number)
                for version, number in counts.most_common()
            ]
    return tuple(found)
