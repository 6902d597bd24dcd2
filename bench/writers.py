"""Measure the transactions that write documents with triples: in parallel, in conflict, and against LightRAG's.

    python bench/writers.py                            1, 2 and 4 parallel transactions, in turns
    python bench/writers.py --collide 1000             how many of 1,000 batches with the same names are retried
    python bench/writers.py --lightrag                 names and triples with and without vectors, against LightRAG

Everything is prepared before the clock starts, so only the product's own write of a batch is measured. Names follow a
power law, so that parallel transactions always share some. Server: KGRAG_NEO4J_*, else the local one.
"""

import argparse
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import peer
from ingest import resolved
from synthetic import HashingEmbedder, documents

from kgrag.graph.collections import Collection, create_collection, create_knowledge
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.counts import count_nodes
from kgrag.indexing.document_writer import Batch, remove_collection, write_batch
from kgrag.indexing.documents import ExistingDocument
from kgrag.indexing.pipeline import PendingDocument, Preparing, Writers
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.identity import document_id

T = TypeVar("T")
KNOWLEDGE = 5000  # names or facts of a transaction without vectors, as in an import of knowledge


class Counting(Graph):
    """A graph that counts the attempts of transactions."""

    def __init__(self, settings: Settings) -> None:
        assert settings.neo4j_uri is not None
        super().__init__(settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password, settings.neo4j_database)
        self.written = self.tried = 0
        self._lock = threading.Lock()

    def write(self, work: Callable[[Transaction], T]) -> T:
        def counted(tx: Transaction) -> T:
            with self._lock:
                self.tried += 1
            return work(tx)

        with self._lock:
            self.written += 1
        return super().write(counted)


class Bench:
    """Collections that are made, filled and removed."""

    def __init__(self, graph: Counting, dimension: int) -> None:
        self.graph = graph
        self.embedder = HashingEmbedder(dimension)
        self._made = 0

    def collection(self) -> Collection:
        self._made += 1
        name = f"writers {os.getpid()} {self._made}"
        return create_collection(
            self.graph, name, self.embedder.name, self.embedder.dimension, IndexingSettings(language="en"), 0.0
        )

    def remove(self, collection: Collection) -> None:
        remove_collection(self.graph, collection, sum(count_nodes(self.graph, collection.name).values()))

    def batches(self, collection: Collection, passages: int, triples: int, names: int, size: int) -> Iterator[Batch]:
        """Yield prepared batches of synthetic documents with one passage each, `size` to a batch."""
        prepare = Preparing(collection.name, collection.indexing, collection.language, self.embedder, size)
        made = [
            PendingDocument(document_id(collection.name, d.key), d, ExistingDocument(False), None)
            for d in documents(passages, triples, names)
        ]
        for start in range(0, passages, size):
            for prepared in prepare(made[start : start + size]):
                yield prepared.batch

    def seconds(self, collection: Collection, batches: Sequence[Batch], writers: int) -> float:
        """Return how long some writers take for the batches."""
        begun = time.perf_counter()
        with Writers(self.graph, collection, writers) as pool:
            for batch in batches:
                pool.submit(batch, alone=False)
        return time.perf_counter() - begun


def side_by_side(bench: Bench, passages: int, triples: int, size: int, rounds: int) -> dict[str, Any]:
    """Return seconds by number of parallel transactions, in turns; the first turn warms up."""
    taken: dict[int, list[float]] = {1: [], 2: [], 4: []}
    for turn in range(rounds + 1):
        for writers in taken:
            collection = bench.collection()
            batches = list(bench.batches(collection, passages, triples, passages * max(triples, 1), size))
            seconds = bench.seconds(collection, batches, writers)
            bench.remove(collection)
            if turn:
                taken[writers].append(seconds)
    medians = {writers: statistics.median(its) for writers, its in taken.items()}
    return {
        "passages": passages,
        "triples": passages * triples,
        "passages a batch": size,
        "seconds": medians,
        "times as fast as one": {writers: medians[1] / medians[writers] for writers in medians},
        "tried again": bench.graph.tried - bench.graph.written,
    }


def collide(bench: Bench, number: int, writers: int) -> dict[str, Any]:
    """Write batches of five documents, all with names out of the same two hundred; count the retries."""
    collection = bench.collection()
    batches = list(bench.batches(collection, number * 5, 3, 200, 5))
    before = bench.graph.tried - bench.graph.written
    seconds = bench.seconds(collection, batches, writers)
    bench.remove(collection)
    again = bench.graph.tried - bench.graph.written - before
    return {"batches": len(batches), "writers": writers, "seconds": seconds, "tried again": again}


def against_lightrag(bench: Bench, settings: Settings, passages: int, triples: int, rounds: int) -> dict[str, Any]:
    """Return the seconds to write the same names and triples with vectors, without vectors, and by LightRAG."""
    with_vectors, without, theirs = [], [], []
    for turn in range(rounds + 1):
        collection = bench.collection()
        batches = list(bench.batches(collection, passages, triples, passages * triples, settings.batch_passages))
        names = {row["id"]: row["normal"] for batch in batches for row in batch.entities.values()}
        facts = [row for batch in batches for row in batch.triples]
        for batch in batches:
            write_batch(bench.graph, collection, Batch(documents=batch.documents, passages=batch.passages))
        alone = [
            Batch(entities={id: b.entities[id] for row in b.triples for id in (row["subject"], row["object"])},
                  triples=b.triples)
            for b in batches
        ]  # fmt: skip
        seconds = bench.seconds(collection, alone, settings.writers)
        bench.remove(collection)
        bare = knowledge(bench.graph, batches)
        relations = [(names[r["subject"]], r["properties"]["predicate"], names[r["object"]]) for r in facts]
        taken = peer.measure(list(names.values()), relations, settings)
        if turn:
            with_vectors.append(seconds)
            without.append(bare)
            theirs.append(taken["seconds"])
    medians = [statistics.median(its) for its in (with_vectors, without, theirs)]
    return {
        "names": len(names),
        "triples": len(facts),
        "vectors": bench.embedder.dimension,
        "with vectors, s": medians[0],
        "without, s": medians[1],
        "LightRAG, s": medians[2],
        "times as long with": medians[0] / medians[2],
        "times as long without": medians[1] / medians[2],
    }


def knowledge(graph: Graph, batches: Sequence[Batch]) -> float:
    """Return the seconds to import the names and triples as knowledge, without passages and vectors."""
    name = f"writers {os.getpid()} knowledge"
    collection = create_knowledge(graph, name, "en", 0.0)
    entities = {row["id"]: row for batch in batches for row in batch.entities.values()}
    told = [
        {"id": row["id"], "key": row["normal"], **row, "aliases": None, "wikipedia": None} for row in entities.values()
    ]
    facts = [
        {"properties": row["properties"] | {"key": row["id"]}, "subject": row["subject"], "object": row["object"]}
        for batch in batches
        for row in batch.triples
    ]
    begun = time.perf_counter()
    for start in range(0, len(told), KNOWLEDGE):
        rows = sorted(told[start : start + KNOWLEDGE], key=lambda row: str(row["id"]))
        graph.run("write/knowledge_entities", rows=rows, collection=name, labels=[collection.label("Entity")])
    for start in range(0, len(facts), KNOWLEDGE):
        rows = facts[start : start + KNOWLEDGE]
        graph.run("write/knowledge_triples", rows=rows, collection=name, labels=[collection.label("Triple")])
    seconds = time.perf_counter() - begun
    remove_collection(graph, name, collection.number)
    return seconds


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=2000, metavar="N")
    parser.add_argument("--triples", type=int, default=9, metavar="K", help="of each passage")
    parser.add_argument("--size", type=int, default=200, metavar="N", help="passages of a transaction")
    parser.add_argument("--dimension", type=int, default=256, metavar="N", help="of vectors")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--collide", type=int, metavar="N", help="N batches with the same names, by four writers")
    parser.add_argument("--lightrag", action="store_true", help="names and triples, and LightRAG's of them")
    chosen = parser.parse_args()
    settings = resolved(Settings())
    with Counting(settings) as graph:
        bench = Bench(graph, chosen.dimension)
        if chosen.collide:
            figures = collide(bench, chosen.collide, 4)
        elif chosen.lightrag:
            figures = against_lightrag(bench, settings, chosen.passages, chosen.triples, chosen.rounds)
        else:
            figures = side_by_side(bench, chosen.passages, chosen.triples, chosen.size, chosen.rounds)
    figures["load"] = os.getloadavg()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
