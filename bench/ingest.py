"""Measure how fast kgrag ingests, against a lower bound on the same server in the same run.

    python bench/ingest.py DIR               a folder with corpus.jsonl and perhaps triples.jsonl
    python bench/ingest.py --synthetic N     N made-up passages, and then 10 more
    python bench/ingest.py --synthetic N --triples 9 --lightrag

The lower bound is the embedding of the same texts alone, plus plain UNWIND/MERGE writes of the rows that the ingest
left in the graph (every node with its properties and vector, every relationship), 2,000 rows a batch in one session,
into an equal collection with equal indexes in the same database. The ingest runs in a process of its own to measure its
peak memory. Server: KGRAG_NEO4J_*, else the local one.
"""

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

import neo4j
import numpy as np
import peer
from synthetic import documents, name, word

from kgrag import KnowledgeGraph
from kgrag.graph.collections import Collection, create_collection, open_collection
from kgrag.graph.local.server import LocalServer
from kgrag.loaders import load
from kgrag.models.embed import load_embedder
from kgrag.settings import Settings
from kgrag.text.tokens import embedding_text
from kgrag.values.documents import Document, Section
from kgrag.values.errors import NotFoundError

BATCH = 2000
FURTHER = 10
WARM_UP = 300  # synthetic passages ingested first, so that neither side meets a cold server
LABELS = ("Document", "Entity", "Word", "Keyword", "Passage", "Triple")
WITH_VECTORS = ("Passage", "Triple", "Entity")
WITH_INDEXES = ("Passage", "Triple", "Entity")
Row = dict[str, Any]

READ_NODES = "MATCH (n:{label} {{collection: $collection}}) RETURN properties(n) AS properties"
READ_EDGES = """
MATCH (a:{label} {{collection: $collection}})-[r]->(b)
RETURN coalesce(a.id, a.name) AS from, type(r) AS type, [l IN labels(b) WHERE l IN $labels][0] AS label, b.id AS to,
       properties(r) AS properties
"""
READ_FACTS = """
MATCH (t:Triple {collection: $collection})-[:SUBJECT]->(s), (t)-[:OBJECT]->(o)
RETURN s.id AS from, t.predicate AS text, o.id AS to
"""
WRITE_NODES = """
UNWIND $rows AS row
MERGE (n:{label} {{id: row.id}})
SET n = row.properties
SET n:$($labels)
"""
WRITE_VECTORS = "WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)"
WRITE_EDGES = """
UNWIND $rows AS row
MATCH (a:{start} {{{key}: row.from}})
MATCH (b:{end} {{id: row.to}})
MERGE (a)-[r:{type}]->(b)
SET r = row.properties
"""


# --- synthetic passages ---------------------------------------------------------------------------------------------

_VOCABULARY = 50_000
_BLOCK = 1000


def synthetic(start: int, stop: int, seed: int = 7) -> Iterator[Document]:
    """Yield passages `start` to `stop`, equal for equal numbers: a name as title, about 80 words by Zipf's law.

    Each text names itself and three others: low numbers more often, and some that come later.
    """
    shares = np.cumsum(1 / np.arange(2, _VOCABULARY + 2))
    shares /= shares[-1]
    for block in range(start // _BLOCK, (stop - 1) // _BLOCK + 1):
        chance = np.random.default_rng([seed, block])
        words = np.searchsorted(shares, chance.random((_BLOCK, 75))).tolist()
        others = (chance.random((_BLOCK, 3)) ** 2 * (block + 2) * _BLOCK).astype(int).tolist()
        for i in range(_BLOCK):
            number = block * _BLOCK + i
            if start <= number < stop:
                yield _document(number, [word(w) for w in words[i]], [name(o) for o in others[i]])


def _document(number: int, words: list[str], others: list[str]) -> Document:
    title = name(number)
    sentences = [f"{title} is a {' '.join(words[:12])}."]
    for j, other in enumerate(others):
        part = words[12 + 21 * j : 33 + 21 * j]
        sentences.append(f"{part[0].capitalize()} {' '.join(part[1:10])} {other} {' '.join(part[10:])}.")
    return Document(f"s{number}", (Section(" ".join(sentences)),), title, "synthetic")


# --- the ingest, in a process of its own ----------------------------------------------------------------------------


def run_ingest(folder: Path | None, number: int, facts: int, collection: str) -> None:
    """Ingest, and print the cost as JSON to standard output."""
    settings = Settings()
    embedder = load_embedder(settings.embedder)
    stages: dict[str, float] = {}

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage not in stages:
            print(f"  {stage} ...", file=sys.stderr)
        stages.setdefault(stage, time.monotonic())

    with KnowledgeGraph.connect(settings=settings) as kg:
        warm_up = f"{collection} warm-up"
        try:
            kg[warm_up].ingest(synthetic(0, WARM_UP, seed=1), embedder=embedder)
        finally:
            delete(kg, warm_up)
        started = time.monotonic()
        made = documents(number, facts, number * facts) if facts else synthetic(0, number)
        items = load(folder) if folder else made
        report = kg[collection].ingest(items, embedder=embedder, progress=progress)
        ended = time.monotonic()
        unit = 2**20 if sys.platform == "darwin" else 2**10
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        bounds = [*stages.values(), ended]
        result = {
            "seconds": ended - started,
            "passages": report.passages,
            "problems": [f"{p.place}: {p.message}" for p in report.problems],
            "peak_mb": peak_mb,
            "stages": {stage: bounds[i + 1] - bounds[i] for i, stage in enumerate(stages)},
        }
        if number and not facts:
            started = time.monotonic()
            added = kg[collection].ingest(synthetic(number, number + FURTHER), embedder=embedder)
            result |= {"further": added.added, "further_seconds": time.monotonic() - started}
    print(json.dumps(result))


# --- the lower bound ------------------------------------------------------------------------------------------------


class LowerBound:
    """The least cost of writing the contents of a collection, without reading them."""

    def __init__(self, session: Callable[[], neo4j.Session], source: Collection, target: Collection) -> None:
        self.session = session
        self.source = source
        self.target = target
        self.nodes = self.relationships = self.texts = 0
        self.facts = 0.0  # seconds for names and triples
        self.rows: tuple[list[str], list[tuple[str, str, str]]] = ([], [])  # the same, for LightRAG

    def embed(self, batch: int) -> float:
        """Return the seconds to embed every text that has a vector, `batch` at a time."""
        embedder = load_embedder(self.source.embedder)
        embedder.embed(["warm up"])
        seconds = 0.0
        for label in WITH_VECTORS:
            nodes = (record["properties"] for record in self._read(READ_NODES.format(label=label)))
            texts = (_text(node) for node in nodes if self.source.embedding in node)
            while some := list(islice(texts, batch)):
                started = time.monotonic()
                embedder.embed(some)
                seconds += time.monotonic() - started
                self.texts += len(some)
        return seconds

    def write(self) -> float:
        """Return the seconds to write a copy into the other collection: all nodes, then all relationships."""
        seconds = 0.0
        for label in LABELS:
            took, number = self._write(self._nodes(label), [self.target.label(label)] if label in WITH_INDEXES else [])
            seconds, self.nodes = seconds + took, self.nodes + number
            self.facts += took if label in ("Entity", "Triple") else 0
        for label in ("Collection", *LABELS):
            took, number = self._write(self._edges(label), [])
            seconds, self.relationships = seconds + took, self.relationships + number
            self.facts += took if label == "Triple" else 0
        return seconds

    def names_and_facts(self) -> tuple[list[str], list[tuple[str, str, str]]]:
        """Return the names of the collection, and its triples between them."""
        names = {
            r["properties"]["id"]: r["properties"]["normal"] for r in self._read(READ_NODES.format(label="Entity"))
        }
        facts = [(names[r["from"]], r["text"], names[r["to"]]) for r in self._read(READ_FACTS)]
        return list(names.values()), facts

    def _read(self, query: str) -> Iterator[neo4j.Record]:
        with self.session() as session:
            yield from session.run(query, collection=self.source.name, labels=LABELS)

    def _nodes(self, label: str) -> Iterator[tuple[str, Row]]:
        query = WRITE_NODES.format(label=label)
        for record in self._read(READ_NODES.format(label=label)):
            properties = record["properties"]
            vector = properties.pop(self.source.embedding, None)
            properties |= {"id": _twin(properties["id"]), "collection": self.target.name}
            row = {"id": properties["id"], "properties": properties, "vector": vector}
            yield query if vector is None else query + WRITE_VECTORS, row

    def _edges(self, label: str) -> Iterator[tuple[str, Row]]:
        of_collection = label == "Collection"
        for r in self._read(READ_EDGES.format(label=label)):
            key = "name" if of_collection else "id"
            query = WRITE_EDGES.format(start=label, key=key, type=r["type"], end=r["label"])
            start = self.target.name if of_collection else _twin(r["from"])
            yield query, {"from": start, "to": _twin(r["to"]), "properties": r["properties"]}

    def _write(self, rows: Iterable[tuple[str, Row]], labels: list[str]) -> tuple[float, int]:
        """Write rows; return the seconds and their number. They wait in a file, so that reading is not timed."""
        seconds, number = 0.0, 0
        with tempfile.TemporaryFile() as file, self.session() as session:
            for query, batch in _spill(rows, file):
                started = time.monotonic()
                session.execute_write(_run, query, batch, labels)
                seconds += time.monotonic() - started
                number += len(batch)
        return seconds, number


def _run(transaction: neo4j.ManagedTransaction, query: str, rows: list[Row], labels: list[str]) -> None:
    transaction.run(query, rows=rows, labels=labels).consume()


def _text(properties: Row) -> str:
    """Return the text that is embedded for a passage, an entity or a triple."""
    if "predicate" in properties:
        return str(properties["text"])
    if "normal" in properties:
        return str(properties["normal"])
    return embedding_text(properties["title"], properties["section"], properties["text"])


def _twin(id: str) -> str:
    """Return the id of a node's copy, as long as the original."""
    return "=" + id[1:]


def _spill(rows: Iterable[tuple[str, Row]], file: IO[bytes]) -> Iterator[tuple[str, list[Row]]]:
    """Yield batches of rows, each with its query; all of them are in the file before the first is yielded."""
    waiting: dict[str, list[Row]] = {}
    for query, row in rows:
        waiting.setdefault(query, []).append(row)
        if len(waiting[query]) == BATCH:
            pickle.dump((query, waiting.pop(query)), file)
    for left in waiting.items():
        pickle.dump(left, file)
    end = file.tell()
    file.seek(0)
    while file.tell() < end:
        yield pickle.load(file)


# --- both -----------------------------------------------------------------------------------------------------------


def measure(folder: Path | None, number: int, facts: int, keep: bool, compare: bool) -> None:
    """Run the ingest and the lower bound, and print the figures."""
    settings = resolved(Settings())
    into = f"bench {os.getpid()}"
    with KnowledgeGraph.connect(settings=settings) as kg:
        try:
            what = ["--synthetic", str(number), "--triples", str(facts)] if number else [str(folder)]
            command = [sys.executable, __file__, *what, "--into", into]
            child = subprocess.run(command, stdout=subprocess.PIPE)
            if child.returncode:
                raise SystemExit(child.returncode)
            taken = json.loads(child.stdout)
            print_ingest(taken)
            bound = lower_bound(kg, into, compare)
            if folder:  # the first ingest ran while the server's JIT compiler warmed up, the bound did not
                for collection in (f"{into} copy", into):
                    delete(kg, collection)
                child = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                taken = json.loads(child.stdout)
                print("again, on the warm server that the lower bound had:")
                print_ingest(taken)
            print_bound(taken["seconds"], *bound)
            if compare:
                print(peer.compare(*bound[0].rows, settings, bound[0].facts))
        finally:
            if not keep:
                for collection in (f"{into} copy", into):
                    delete(kg, collection)


def lower_bound(kg: KnowledgeGraph, into: str, compare: bool) -> tuple[LowerBound, float, float]:
    """Measure the lower bound of a collection: seconds to embed, seconds to write."""
    print("lower bound ...", file=sys.stderr)
    source = open_collection(kg.graph, into)
    target = create_collection(kg.graph, f"{into} copy", source.embedder, source.dimension, source.indexing, 0.0)
    settings = kg.settings
    assert settings.neo4j_uri is not None and settings.neo4j_password is not None
    auth = (settings.neo4j_user, settings.neo4j_password.get_secret_value())
    with neo4j.GraphDatabase.driver(settings.neo4j_uri, auth=auth, notifications_min_severity="OFF") as driver:
        bound = LowerBound(lambda: driver.session(database=settings.neo4j_database, fetch_size=BATCH), source, target)
        if compare:
            bound.rows = bound.names_and_facts()
        return bound, bound.embed(settings.batch_passages), bound.write()


def print_ingest(taken: dict[str, Any]) -> None:
    """Print the cost of the ingest."""
    seconds, passages = taken["seconds"], taken["passages"]
    print(f"ingest       {seconds:.1f} s, {passages:,} passages, {passages / seconds:,.0f} passages/s")
    print("  stages     " + ", ".join(f"{stage} {took:.1f} s" for stage, took in taken["stages"].items()))
    print(f"  peak RSS   {taken['peak_mb']:,.0f} MB")
    for problem in taken["problems"]:
        print(f"  problem    {problem}")
    if "further" in taken:
        print(f"{taken['further']} further   {taken['further_seconds']:.2f} s")


def print_bound(seconds: float, bound: LowerBound, embedding: float, writing: float) -> None:
    """Print the lower bound, and the ratio of the ingest to it."""
    print(f"lower bound  {embedding + writing:.1f} s")
    print(f"  embedding  {embedding:.1f} s, {bound.texts:,} texts")
    print(f"  writing    {writing:.1f} s, {bound.nodes:,} nodes, {bound.relationships:,} relationships")
    print(f"ratio        {seconds / (embedding + writing):.2f}")


def resolved(settings: Settings) -> Settings:
    """Return settings with the address and password of the local server, unless another one is configured."""
    if settings.neo4j_uri is not None:
        return settings
    server = LocalServer(settings).ensure_running()
    named = {"neo4j_uri": server.uri, "neo4j_user": server.user, "neo4j_password": server.password}
    return settings.model_copy(update=named)


def delete(kg: KnowledgeGraph, collection: str) -> None:
    """Delete a collection if it exists."""
    with suppress(NotFoundError):
        kg[collection].delete()


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="a benchmark folder")
    what.add_argument("--synthetic", type=int, default=0, metavar="N", help="make up N passages instead")
    parser.add_argument("--keep", action="store_true", help="leave both collections in the database")
    parser.add_argument("--triples", type=int, default=0, metavar="K", help="made-up passages state K triples each")
    parser.add_argument("--lightrag", action="store_true", help="also LightRAG's batch upserts of the same rows")
    parser.add_argument("--into", metavar="COLLECTION", help=argparse.SUPPRESS)  # only ingest, in a process of its own
    arguments = parser.parse_args()
    if arguments.folder and not arguments.folder.is_dir():
        parser.error(f"{arguments.folder} is not a folder")
    if arguments.into:
        run_ingest(arguments.folder, arguments.synthetic, arguments.triples, arguments.into)
    else:
        measure(arguments.folder, arguments.synthetic, arguments.triples, arguments.keep, arguments.lightrag)


if __name__ == "__main__":
    main()
