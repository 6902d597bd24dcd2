"""Inspect a collection: statements that count, and findings, each with its remedy."""

import heapq
import shlex
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

from kgrag.graph.collections import KNOWLEDGE, Collection, needed_labels, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_edges, count_nodes
from kgrag.graph.description import describe
from kgrag.graph.schema import collection_indexes, index_states
from kgrag.indexing.extraction import form_of, rules_version
from kgrag.indexing.index_sync import Difference, difference, index_of
from kgrag.indexing.tagging import OF
from kgrag.indexing.tagging import version as tagging_version
from kgrag.inspection.result import NEAR, Bin, Coverage, Distribution, Edges, Finding, Inspection, Level, Reading
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER
from kgrag.values.errors import ConfigurationError

EXAMPLES = 5
"""How many examples a finding names."""

MEMORY = 100_000_000
"""Bytes of texts that the server is asked to hold at once, a fifth of what the local one gives a statement."""

_REMOVE = "`kgrag show ID` names the document, `kgrag delete --document KEY` removes it."

_LOOSE: dict[str, tuple[Level, str, str]] = tomllib.loads(
    files("kgrag.inspection").joinpath("loose.toml").read_text(encoding="utf-8")
)


def find(
    graph: Graph,
    collection: Collection,
    near: float,
    indexes: Mapping[str, Mapping[str, Any]],
    coverage: Sequence[Coverage],
    readings: Sequence[Reading],
    texts: int,
    apart: Difference | None = None,
) -> Iterator[Finding]:
    """Yield the findings on a collection, errors first, then warnings, then notes.

    `indexes` as `index_states` gives them.

    `texts`: bytes that holding the texts of all its passages would take. `apart`: how its passage index outside the
    graph, if it has one, differs from the graph.
    """
    if collection.kind == KNOWLEDGE:
        findings = [*find_indexes(collection, indexes), *_loose(graph, collection)]
    else:
        findings = [
            *find_indexes(collection, indexes),
            *_of_documents(graph, collection, near, coverage, readings, texts),
        ]
        findings += [*find_apart(collection, apart), *_stems(collection)]
    order: tuple[Level, ...] = ("error", "warning", "note")
    yield from sorted(findings, key=lambda finding: order.index(finding.level))


def _stems(collection: Collection) -> Iterator[Finding]:
    if collection.stemmer != STEMMER:
        message = f"Its words were stemmed by {collection.stemmer}; {STEMMER} would not find all of them."
        remedy = f"Make the stems again: kgrag db repair {shlex.quote(collection.name)}"
        yield Finding("stems of another stemmer", "error", 1, message, remedy)


def _of_documents(
    graph: Graph,
    collection: Collection,
    near: float,
    coverage: Sequence[Coverage],
    readings: Sequence[Reading],
    texts: int,
) -> Iterator[Finding]:
    yield from (
        *find_vectors(collection, coverage),
        *_work(graph, collection),
        *_loose(graph, collection),
        *read_in_part(collection, readings),
        *_outside(graph, collection),
        *_stale(graph, collection),
        *_alike(graph, collection, near, texts),
    )


def find_apart(collection: Collection, apart: Difference | None) -> Iterator[Finding]:
    """Check that the passage index outside the graph is in step."""
    number = len(apart.missing) + len(apart.stale) if apart else 0
    if apart and number:
        message = f"It lacks {len(apart.missing):,} passages and holds {len(apart.stale):,} that are gone."
        remedy = f"Bring it in step: kgrag db repair {shlex.quote(collection.name)}"
        yield _finding("passage index out of step", "error", number, message, remedy, apart.missing)


def find_indexes(collection: Collection, indexes: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Report missing, offline, failed and incomplete indexes."""
    own = collection_indexes(collection.number, collection.embedding)
    missing = [name for name, row in indexes.items() if not row]
    there = {name: row for name, row in indexes.items() if row}
    failed = [name for name, row in there.items() if row["state"] == "FAILED"]
    filling = [f"{name} ({row['percent']:.0f} %)" for name, row in there.items() if row["state"] == "POPULATING"]
    binary = [name for name, row in there.items() if row["quantization"] == "BINARY"]
    again = f"Make them again: kgrag db repair {shlex.quote(collection.name)}"
    shared = [name for name in failed if name not in own]
    first = f"In Neo4j Browser, DROP INDEX {', '.join(shared)} (or the constraint of that name). " if shared else ""
    if missing:
        message = "Indexes are missing: searches that need them fail, or take long."
        yield _finding("indexes missing", "error", len(missing), message, again, missing)
    if failed:
        message = "Indexes have failed: searches that need them fail."
        yield _finding("indexes failed", "error", len(failed), message, first + again, failed)
    if filling:
        message = "Indexes are being filled: searches may miss passages."
        yield _finding("indexes filling", "warning", len(filling), message, "Wait a little.", filling)
    if binary:
        message = "Vector indexes keep one bit of each number (BINARY): searches by meaning miss near passages."
        yield _finding("binary indexes", "warning", len(binary), message, again, binary)


def find_vectors(collection: Collection, coverage: Sequence[Coverage]) -> Iterator[Finding]:
    """Report passages and triples without a vector; of the names only those of a title or a triple have one."""
    for covered in coverage:
        missing = covered.number - covered.having
        kind = covered.name.split()[0]
        if missing and covered.name.endswith("a vector") and kind != "names":
            message = f"{missing:,} {kind} have no vector of {collection.embedder}: no search by meaning finds them."
            remedy = f"Embed them: kgrag db repair {shlex.quote(collection.name)}"
            yield Finding(f"{kind} without a vector", "error", missing, message, remedy)


def _work(graph: Graph, collection: Collection) -> Iterator[Finding]:
    """Report the unfinished work of an ingest or a change of embedder."""
    waiting = graph.run("inspect/work", collection=collection.name)
    if waiting:
        stages = [f"{row['stage']}: {row['number']:,} {row['label']} nodes" for row in waiting]
        message = "Work is left: an ingest is running, or was interrupted, or a newer kgrag does more."
        remedy = f"Unless an ingest is running, finish it: kgrag db repair {shlex.quote(collection.name)}"
        yield _finding("unfinished", "warning", sum(row["number"] for row in waiting), message, remedy, stages)
    if collection.reembedding is not None:
        message = f"Vectors of {collection.reembedding} are being made, or this was interrupted."
        remedy = f"Finish it: kgrag db reembed {shlex.quote(collection.name)} --embedder {collection.reembedding}"
        yield Finding("embedding again", "warning", 1, message, remedy)
    if collection.discard is not None:
        message = "Old vectors are still there after a change of embedder."
        remedy = f"Remove them: kgrag db reembed {shlex.quote(collection.name)} --embedder {collection.embedder}"
        yield Finding("old vectors", "warning", 1, message, remedy)


def _loose(graph: Graph, collection: Collection) -> Iterator[Finding]:
    for row in graph.run(
        "inspect/loose", collection=collection.name, limit=EXAMPLES, stated=collection.kind != KNOWLEDGE
    ):
        level, message, remedy = _LOOSE[row["kind"]]
        text = message.format(n=f"{row['number']:,} {row['kind'].split()[0]}")
        yield _finding(row["kind"], level, row["number"], text, remedy, row["examples"])


def read_in_part(collection: Collection, readings: Sequence[Reading]) -> Iterator[Finding]:
    """Report passages that a language model or TAGME has not read, or read with other settings."""
    name = shlex.quote(collection.name)
    command = {"extract": f"kgrag enrich extract -c {name}", "tag": f"kgrag enrich tag -c {name}"}
    for reading in readings:
        if reading.current:
            continue
        what = "prompt" if reading.kind == "extract" else "settings"
        read = "extracted" if reading.kind == "extract" else "tagged"
        if reading.version:
            message = f"{reading.number:,} passages were {read} with another {what} ({reading.version})."
            kind, remedy = f"{read} otherwise", f"To have them read again: {command[reading.kind]}"
        else:
            message = f"{reading.number:,} passages are not {read} yet, others are."
            kind, remedy = f"not {read}", f"To go on: {command[reading.kind]}"
        yield Finding(kind, "note", reading.number, message, remedy)


def _outside(graph: Graph, collection: Collection) -> Iterator[Finding]:
    """Report what a language model read that the schema of facts does not hold."""
    rows = graph.run("inspect/outside", collection=collection.name, limit=EXAMPLES) if collection.fact_schema else []
    if rows:
        message = f"{rows[0]['total']:,} facts that a language model read are outside the schema, and were dropped."
        name = shlex.quote(collection.name)
        remedy = f"Add what you want of it: kgrag enrich schema -c {name} > schema.toml, edit, set it and extract."
        examples = [f"{row['fact']} {row['number']:,}" for row in rows]
        yield _finding("outside the schema", "note", rows[0]["total"], message, remedy, examples)


def _stale(graph: Graph, collection: Collection) -> Iterator[Finding]:
    """Report out-of-date texts of a model."""
    row = graph.run("inspect/stale", collection=collection.name, limit=EXAMPLES)[0]
    if row["number"]:
        message = f"{row['number']:,} reports on communities rest on something else than when a model wrote them."
        remedy = f"To have them written again: kgrag enrich communities {shlex.quote(collection.name)} --ask"
        yield _finding("reports out of date", "note", row["number"], message, remedy, row["examples"])


def _alike(graph: Graph, collection: Collection, near: float, texts: int) -> Iterator[Finding]:
    """Report passages of the same text, and names that may be one.

    The server's results are counted here as they arrive.
    """
    copies = 0
    twins = Largest()
    parts = 1 + texts // MEMORY
    for part in range(parts):
        for row in graph.stream("inspect/twins", collection=collection.name, parts=parts, part=part):
            copies += row["copies"] - 1
            twins.add(row["copies"], (row["title"], row["id"]), f"{row['title']} {row['id']} ({row['copies']} times)")
    if copies:
        message = f"{copies:,} passages repeat the text of another."
        remedy = f"They take places in rankings. {_REMOVE}"
        yield _finding("same text", "note", copies, message, remedy, twins.examples())
    parameters: dict[str, Any] = {"collection": collection.name, "near": near}
    pairs = Largest()
    for row in graph.stream("inspect/near", **parameters):
        one, other, score = row["one"], row["other"], row["score"]
        pairs.add(score, (one, other), f"{one} = {other} ({round(score, 3)})")
    if pairs.number:
        message = f"{pairs.number:,} pairs of passages nearly say the same (score from {near:g})."
        more = f"`kgrag cypher near_duplicates -c {shlex.quote(collection.name)}` lists more."
        remedy = f"Versions of one text? {more} {_REMOVE}"
        yield _finding("nearly the same text", "note", pairs.number, message, remedy, pairs.examples())
    names = Largest()
    for row in graph.stream("inspect/names", **parameters):
        names.add(row["df"] or 0, (row["one"], row["other"]), f"{row['one']} = {row['other']}")
    if names.number:
        message = f"{names.number:,} pairs of names may be one and the same entity."
        argument = shlex.quote(collection.name)
        remedy = (
            f"`kgrag enrich resolve {argument}` ties duplicate entities; "
            f"`kgrag cypher merge_candidates -c {argument}` lists similar names, with the evidence for each pair."
        )
        yield _finding("names to merge", "note", names.number, message, remedy, names.examples())


class Largest:
    """Counts items, and keeps the few of the largest weights; ties keep their order."""

    def __init__(self) -> None:
        self.number = 0
        self._largest: list[tuple[float, tuple[str, str], str]] = []

    def add(self, weight: float, name: tuple[str, str], example: str) -> None:
        """Take an example, if its weight is among the largest."""
        self.number += 1
        self._largest.append((-weight, name, example))
        if len(self._largest) >= 100 * EXAMPLES:
            self._largest = heapq.nsmallest(EXAMPLES, self._largest)

    def examples(self) -> list[str]:
        """Return the examples, the largest first."""
        return [example for _, _, example in heapq.nsmallest(EXAMPLES, self._largest)]


def _finding(name: str, level: Level, number: int, message: str, remedy: str, examples: Sequence[str]) -> Finding:
    return Finding(name, level, number, message, remedy[:1].upper() + remedy[1:], tuple(examples[:EXAMPLES]))


_TOP = 5  # names shown at the top of a distribution
_HELD = 200  # bytes of overhead of a text in the server's memory, besides its characters

Row = Mapping[str, Any]


def inspect(graph: Graph, name: str, settings: Settings, *, near: float = NEAR) -> Inspection:
    """Return a collection's counts, distributions, coverage and health; nothing is written.

    `near`: (1 + cosine) / 2 from which passages are near-duplicates and names may mean one entity. Raises
    NotFoundError, MismatchError for another schema version, ConfigurationError if `near` is not a score.
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
    readings = _readings(collection, passages, settings)
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


def _edges(numbers: dict[tuple[str, str], int]) -> Iterable[Edges]:
    """Yield the edges by kind, in the order of the description, unknown ones last."""
    for edge in describe().edges:
        for source in dict.fromkeys(start for start, _ in edge.between):
            number = numbers.pop((source, edge.type), 0)
            if number:
                targets = " | ".join(end for start, end in edge.between if start == source)
                yield Edges(source, edge.type, targets, number)
    for (source, type), number in sorted(numbers.items()):
        yield Edges(source, type, "?", number)


def _coverage(passages: Iterable[Row], vectors: Iterable[Row]) -> tuple[Coverage, ...]:
    """Return the passages with mentions, keywords, triples, neighbours and a vector; other nodes with vectors."""
    kinds = {"mentions": "mentions", "keywords": "keywords", "triples": "triples", "neighbours": "similar"}
    rows = list(passages)
    number = sum(row["number"] for row in rows)
    coverages = [
        Coverage(f"passages with {kind}", sum(row["number"] for row in rows if row[key]), number)
        for kind, key in {**kinds, "a vector": "vector"}.items()
    ]
    coverages += [Coverage(f"{r['kind']} with a vector", r["having"], r["number"]) for r in vectors if r["number"]]
    return tuple(coverages)


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
    distributions = [
        _distribution("mentions of an entity", ends, "mentions", top),
        _distribution("triples of an entity", ends, "triples", top),
        _distribution("entities of a passage", rows, "mentions"),
        _distribution("triples of a passage", rows, "triples"),
    ]
    return tuple(d for d in distributions if d is not None)


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


def _readings(collection: Collection, passages: Iterable[Row], settings: Settings) -> tuple[Reading, ...]:
    """Return the ledgers of extraction and tagging, unless both are empty."""
    rows = list(passages)
    forms = (False,) if collection.fact_schema else (False, True)
    prompts = {form_of(collection, settings.chat.prompts, linked).version for linked in forms}
    prompts.add(rules_version(collection))
    current = {"extract": prompts, "tag": {tagging_version(settings.tagme)}}
    readings: list[Reading] = []
    kinds: dict[Literal["extract", "tag"], str] = {"extract": "extracted", "tag": "tagged"}
    for kind, key in kinds.items():
        counts: Counter[str] = Counter()
        for row in rows:
            counts[row[key] or ""] += row["number"]
        if set(counts) - {""}:
            readings += [
                Reading(kind, version, version.partition(OF)[0] in current[kind], number)
                for version, number in counts.most_common()
            ]
    return tuple(readings)
