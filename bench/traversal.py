"""Measure retrieval on synthetic graphs of many sizes, each loaded in bulk into its own local server.

    python bench/traversal.py --size 17k --size 100k --retriever pathrank --retriever bm25
    python bench/traversal.py --size 1m --json          1,000,000 triples, on 111,000 passages
    python bench/traversal.py --passages 1m             1,000,000 passages without triples, for pathrank
    python bench/traversal.py --size 17k --compare      loads the same graph in transactions, too, and compares rates
    python bench/traversal.py --size 1m --home DIR      keeps the server's folder; a later run skips the load
    python bench/traversal.py --passages 100k --steps 5 --retriever gnn-ret --retriever 'gnn-ret(beta=0.9)'

Names, and so degrees and mentions, follow a power law. Each graph has an initially empty server of its own. Memory is
the peak resident set of this process, of the import tool and of the server. A retriever is an expression as in `kgrag
search --retriever`; each question goes to all of them in turn, and "over" is the median of the differences to the first
one. --steps N treats N consecutive questions as the sub-questions of one question, and the retrievers keep their caches
between them. KGRAG_LOCAL__HEAP and the like apply.
"""

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import psutil
from synthetic import HashingEmbedder, documents, questions

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer
from kgrag.indexing.bulk import BulkReport
from kgrag.retrieval.base import Query
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document

RETRIEVERS = ("bm25", "hybrid", "pathrank")
COLLECTION = "bench"
FACTS = 9  # triples of a passage
WARM_UP = 10  # questions
PORTS = {"bolt_port": 17687, "http_port": 17474}
Row = dict[str, Any]


@dataclass(frozen=True)
class Graph:
    """The synthetic corpus: `facts` triples a passage, or sentences with two names if it is 0."""

    passages: int
    triples: bool

    @property
    def names(self) -> int:
        return max(self.passages * FACTS if self.triples else self.passages, 1)

    def documents(self) -> Iterator[Document]:
        return documents(self.passages, FACTS if self.triples else 0, self.names)

    def __str__(self) -> str:
        return f"{self.passages * FACTS:,} triples" if self.triples else f"{self.passages:,} passages"


class Memory:
    """The peak resident set, in MB, of this process and of the Java processes of a home, while it is watched."""

    def __init__(self, home: Path) -> None:
        self.peaks = {"client": 0.0, "import": 0.0, "server": 0.0}
        self._mark = str(home)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._stop.wait(0.5):
            self._note("client", own.memory_info().rss)
            for process in psutil.process_iter(["cmdline", "memory_info"]):
                command = process.info["cmdline"] or ()
                if process.info["memory_info"] and any(self._mark in part for part in command):
                    if "org.neo4j.cli.AdminTool" in command:
                        self._note("import", process.info["memory_info"].rss)
                    elif "--console-mode" in command:
                        self._note("server", process.info["memory_info"].rss)

    def _note(self, what: str, rss: int) -> None:
        self.peaks[what] = max(self.peaks[what], rss / 1e6)


def measure(
    graph: Graph,
    retrievers: list[str],
    number: int,
    steps: int,
    compare: bool,
    indexing: IndexingSettings,
    home: Path | None,
) -> Row:
    """Load a graph, unless `home` holds it, ask questions, and return the cost of both."""
    row: Row = {"graph": str(graph)}
    with own_home(indexing, home) as settings, Memory(settings.home) as memory:
        if not LocalServer(settings).home.has_data():
            report = KnowledgeGraph.load_in_bulk(
                graph.documents(), COLLECTION, embedder=HashingEmbedder(), settings=settings, progress=told
            )
            row["load"] = load_figures(graph, report) | {"peak_mb": dict(memory.peaks)}
        with KnowledgeGraph.local(settings) as kg:
            kg.embedder(HashingEmbedder())
            row["counts"] = kg.collections()[0].counts
            if row["counts"]["Passage"] != graph.passages:
                raise SystemExit(f"{settings.home} holds another graph, of {row['counts']['Passage']:,} passages")
            if number:
                row["latency"] = latency({kg: questions(number + WARM_UP, graph.names)}, retrievers, steps)[0]
        row["peak_mb"] = dict(memory.peaks)
    if compare and "load" in row:
        with own_home(indexing) as settings, Memory(settings.home) as memory, KnowledgeGraph.local(settings) as kg:
            ingested = kg[COLLECTION].ingest(graph.documents(), embedder=HashingEmbedder(), progress=told)
            row["transactions"] = rates(graph, ingested.seconds) | {"peak_mb": dict(memory.peaks)}
            bulk = row["load"]["without_vector_indexes"]["seconds"]
            row["transactions"]["times_as_long"] = ingested.seconds / bulk
    return row


def load_figures(graph: Graph, report: BulkReport) -> Row:
    """Return seconds and rates of a load, without the build of the vector indexes."""
    vectors = report.stages["vector indexes"]
    return {
        "seconds": report.seconds,
        "stages": report.stages,
        "vector_indexes": vectors,
        "without_vector_indexes": rates(graph, report.seconds - vectors),
    }


def rates(graph: Graph, seconds: float) -> Row:
    return {
        "seconds": seconds,
        "passages_per_second": graph.passages / seconds,
        "triples_per_second": graph.passages * FACTS / seconds if graph.triples else 0,
    }


def latency(asked: dict[KnowledgeGraph, list[str]], retrievers: list[str], steps: int = 1) -> list[dict[str, Row]]:
    """Return the milliseconds of a search, by graph and retriever; the graphs take turns with their own questions.

    Each question goes to every retriever; the first few questions do not count. `steps`: questions whose searches share
    the retriever's caches.
    """
    lanes = [{name: kg[COLLECTION].retriever(name) for name in retrievers} for kg in asked]
    taken: list[dict[str, list[float]]] = [{name: [] for name in retrievers} for _ in asked]
    hits = [dict.fromkeys(retrievers, 0) for _ in asked]
    memories: list[dict[Any, Any]] = [{} for _ in asked]
    for i, turn in enumerate(zip(*asked.values(), strict=True)):
        if i % steps == 0:
            memories = [{} for _ in asked]
        for lane, question in enumerate(turn):
            for name, retriever in lanes[lane].items():
                begun = time.perf_counter()
                ranking = retriever.retrieve(Query(question, memory=memories[lane]), 8)
                if i >= WARM_UP:
                    taken[lane][name].append((time.perf_counter() - begun) * 1e3)
                    hits[lane][name] += len(ranking) > 0
    return [
        {name: figures(its, its_all[retrievers[0]]) | {"answered": hit[name]} for name, its in its_all.items()}
        for its_all, hit in zip(taken, hits, strict=True)
    ]


def figures(taken: list[float], first: list[float]) -> Row:
    """Return percentiles of milliseconds, and the difference to those of the first retriever."""
    p50, p95 = np.percentile(taken, [50, 95])
    over = np.median(np.subtract(taken, first))
    return {"p50_ms": float(p50), "p95_ms": float(p95), "over_ms": float(over), "questions": len(taken)}


@contextmanager
def own_home(indexing: IndexingSettings, kept: Path | None = None, **local: str) -> Iterator[Settings]:
    """Yield settings of a server in its own folder; stop it at the end, and remove the folder unless `kept`."""
    home = kept.resolve() if kept else Path(tempfile.mkdtemp(prefix="kgrag-bench-"))
    plain = Settings(neo4j_uri=None, home=home, indexing=indexing)
    settings = plain.model_copy(update={"local": plain.local.model_copy(update=PORTS | local)})
    try:
        yield settings
    finally:
        LocalServer(settings).stop()
        if not kept:
            shutil.rmtree(home, ignore_errors=True)


def told(stage: str, done: int, total: int | None) -> None:
    """Print to standard error when a stage begins."""
    if stage != told.__dict__.get("stage"):
        told.__dict__["stage"] = stage
        print(f"  {time.strftime('%H:%M:%S')} {stage} ...", file=sys.stderr)


def show(row: Row) -> None:
    """Print the figures of a graph."""
    held = ", ".join(f"{n:,} {kind}" for kind, n in sorted(row["counts"].items(), key=lambda item: -item[1])[:9])
    print(f"{row['graph']}: {held}")
    if "load" in row:
        load = row["load"]
        rest = load["without_vector_indexes"]
        print(f"  load          {load['seconds']:.0f} s, of which vector indexes {load['vector_indexes']:.0f} s")
        print("    stages      " + ", ".join(f"{stage} {took:.1f} s" for stage, took in load["stages"].items()))
        print(
            f"    the rest    {rest['triples_per_second']:,.0f} triples/s, "
            f"{rest['passages_per_second']:,.0f} passages/s"
        )
        print("    peak RSS    " + ", ".join(f"{what} {mb:,.0f} MB" for what, mb in load["peak_mb"].items()))
    for name, taken in row.get("latency", {}).items():
        print(
            f"  {name:13} p50 {taken['p50_ms']:.1f} ms, p95 {taken['p95_ms']:.1f} ms, over {taken['over_ms']:.1f} ms, "
            f"{taken['answered']} of {taken['questions']} questions with results"
        )
    print("  peak RSS      " + ", ".join(f"{what} {mb:,.0f} MB" for what, mb in row["peak_mb"].items()))
    if "transactions" in row:
        other = row["transactions"]
        print(
            f"  transactions  {other['seconds']:.0f} s, {other['triples_per_second']:,.0f} triples/s, "
            f"{other['passages_per_second']:,.0f} passages/s: "
            f"{other['times_as_long']:.1f} times as long as the load without its vector indexes"
        )


def number_of(text: str) -> int:
    """Convert "17k" to 17,000 and "1m" to 1,000,000."""
    unit = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", action="append", default=[], type=number_of, metavar="N", help="triples: 17k, 1m")
    parser.add_argument("--passages", action="append", default=[], type=number_of, metavar="N", help="without triples")
    parser.add_argument("--retriever", action="append", metavar="NAME", help=f"default: {', '.join(RETRIEVERS)}")
    parser.add_argument("--questions", type=int, default=100, metavar="N", help="default: 100")
    parser.add_argument("--steps", type=int, default=1, metavar="N", help="questions that make one; default: 1")
    parser.add_argument("--similar", type=int, default=0, metavar="K", help="nearest neighbours a passage; default: 0")
    parser.add_argument("--synonyms", type=int, default=0, metavar="K", help="similar names a name; default: 0")
    parser.add_argument("--compare", action="store_true", help="also ingest in transactions")
    parser.add_argument("--home", type=Path, metavar="DIR", help="folder of the server: loaded if empty, and kept")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    indexing = IndexingSettings(similar=chosen.similar, synonyms=chosen.synonyms)
    graphs = [Graph(max(1, n // FACTS), True) for n in chosen.size] + [Graph(n, False) for n in chosen.passages]
    graphs = graphs or [Graph(17_000 // FACTS, True), Graph(100_000 // FACTS, True)]
    if chosen.home and len(graphs) > 1:
        parser.error("--home holds one graph")
    retrievers, rows = chosen.retriever or list(RETRIEVERS), []
    for graph in graphs:
        print(f"{graph} ...", file=sys.stderr)
        rows.append(measure(graph, retrievers, chosen.questions, chosen.steps, chosen.compare, indexing, chosen.home))
        if not chosen.json:
            show(rows[-1])
    if chosen.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
