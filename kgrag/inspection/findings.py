"""What is wrong with a collection, or worth a look, each with what to do about it."""

import heapq
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgrag.graph.collections import KNOWLEDGE, Collection
from kgrag.graph.connection import Graph
from kgrag.graph.schema import collection_indexes
from kgrag.indexing.index_sync import Difference
from kgrag.inspection.result import Coverage, Finding, Level, Reading
from kgrag.text.languages import STEMMER

EXAMPLES = 5
"""How many examples a finding names."""

_MEMORY = 100_000_000
"""Bytes of texts that the server is asked to hold at once, a fifth of what the local one gives a statement."""

_REMOVE = "`kgrag show ID` names the document, `kgrag delete --document KEY` removes it."

_LOOSE: dict[str, tuple[Level, str, str]] = {
    "passages without a document": (
        "error",
        "{n} belong to no document, so nothing removes or renews them.",
        "kgrag does not leave such passages: somebody else wrote or deleted here. Delete them in Neo4j Browser.",
    ),
    "triples without a passage": (
        "error",
        "{n} lack the passage that states them, or their subject or object.",
        "kgrag does not leave such triples: somebody else wrote or deleted here. Delete them in Neo4j Browser.",
    ),
    "documents without passages": (
        "warning",
        "{n} hold no text.",
        "Look at the files: scanned pages have no text unless they went through text recognition.",
    ),
    "passages without links": (
        "warning",
        "{n} have no mention, keyword, triple or neighbour: only a search for their words or vector finds them.",
        "`kgrag show ID` shows one; texts of a word or two are not worth ingesting.",
    ),
    "entities without edges": (
        "note",
        "{n} are only parts of longer names that the texts have; no search follows them.",
        "Nothing is to be done.",
    ),
    "keywords without passages": (
        "warning",
        "{n} are no passage's keyword.",
        "Run `kgrag ingest` again: its last stage removes them.",
    ),
}
"""Kind of loose nodes -> how grave it is, what that means, and what to do; singular and plural read alike."""


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
        found = [*_indexes(collection, indexes), *_loose(graph, collection)]
    else:
        found = [*_indexes(collection, indexes), *_of_documents(graph, collection, near, coverage, readings, texts)]
        found += [*_apart(collection, apart), *_stems(collection)]
    order: tuple[Level, ...] = ("error", "warning", "note")
    yield from sorted(found, key=lambda finding: order.index(finding.level))


def _stems(collection: Collection) -> Iterator[Finding]:
    if collection.stemmer != STEMMER:
        message = f"Its words were stemmed by {collection.stemmer}; {STEMMER} would not find all of them."
        remedy = f"Stem them anew: kgrag db repair {shlex.quote(collection.name)}"
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
        *_vectors(collection, coverage),
        *_work(graph, collection),
        *_loose(graph, collection),
        *_read_in_part(collection, readings),
        *_stale(graph, collection),
        *_alike(graph, collection, near, texts),
    )


def _apart(collection: Collection, apart: Difference | None) -> Iterator[Finding]:
    """Check that the passage index outside the graph is in step."""
    number = len(apart.missing) + len(apart.stale) if apart else 0
    if apart and number:
        message = f"It lacks {len(apart.missing):,} passages and holds {len(apart.stale):,} that are gone."
        remedy = f"Bring it in step: kgrag db repair {shlex.quote(collection.name)}"
        yield _finding("passage index out of step", "error", number, message, remedy, apart.missing)


def _indexes(collection: Collection, indexes: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
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


def _vectors(collection: Collection, coverage: Sequence[Coverage]) -> Iterator[Finding]:
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


def _read_in_part(collection: Collection, readings: Sequence[Reading]) -> Iterator[Finding]:
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
    twins = _Largest()
    parts = 1 + texts // _MEMORY
    for part in range(parts):
        for row in graph.stream("inspect/twins", collection=collection.name, parts=parts, part=part):
            copies += row["copies"] - 1
            twins.add(row["copies"], (row["title"], row["id"]), f"{row['title']} {row['id']} ({row['copies']} times)")
    if copies:
        message = f"{copies:,} passages repeat the text of another."
        remedy = f"They take places in rankings. {_REMOVE}"
        yield _finding("same text", "note", copies, message, remedy, twins.examples())
    asked: dict[str, Any] = {"collection": collection.name, "near": near}
    pairs = _Largest()
    for row in graph.stream("inspect/near", **asked):
        one, other, score = row["one"], row["other"], row["score"]
        pairs.add(score, (one, other), f"{one} = {other} ({round(score, 3)})")
    if pairs.number:
        message = f"{pairs.number:,} pairs of passages nearly say the same (score from {near:g})."
        more = f"`kgrag cypher near_duplicates -c {shlex.quote(collection.name)}` lists more."
        remedy = f"Versions of one text? {more} {_REMOVE}"
        yield _finding("nearly the same text", "note", pairs.number, message, remedy, pairs.examples())
    names = _Largest()
    for row in graph.stream("inspect/names", **asked):
        names.add(row["df"] or 0, (row["one"], row["other"]), f"{row['one']} = {row['other']}")
    if names.number:
        message = f"{names.number:,} pairs of names may be one and the same entity."
        its = shlex.quote(collection.name)
        remedy = (
            f"`kgrag enrich resolve {its}` ties duplicate entities; "
            f"`kgrag cypher merge_candidates -c {its}` lists what is alike, with what speaks for each."
        )
        yield _finding("names to merge", "note", names.number, message, remedy, names.examples())


class _Largest:
    """Counts what it is given, and keeps the few with the largest weights; of equal ones those that come first."""

    def __init__(self) -> None:
        self.number = 0
        self._kept: list[tuple[float, tuple[str, str], str]] = []

    def add(self, weight: float, name: tuple[str, str], example: str) -> None:
        self.number += 1
        self._kept.append((-weight, name, example))
        if len(self._kept) >= 100 * EXAMPLES:
            self._kept = heapq.nsmallest(EXAMPLES, self._kept)

    def examples(self) -> list[str]:
        """Return the examples, the largest first."""
        return [example for _, _, example in heapq.nsmallest(EXAMPLES, self._kept)]


def _finding(name: str, level: Level, number: int, message: str, remedy: str, examples: Sequence[str]) -> Finding:
    return Finding(name, level, number, message, remedy[:1].upper() + remedy[1:], tuple(examples[:EXAMPLES]))
