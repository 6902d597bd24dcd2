"""Measure what grows with a collection: synthetic passages with vectors of 64 numbers, at sizes ten times apart.

    python bench/growth.py load 10k 100k 1m --keep DIR     load each in bulk into a server of its own, in DIR/SIZE
    python bench/growth.py ask 1m 5m --keep DIR            all servers up, their questions in turns
    python bench/growth.py change 1m --keep DIR            add, delete, inspect, repair, list, digest, and so on
    python bench/growth.py kill 1m --keep DIR              kill a process that adds documents; another resumes
    python bench/growth.py busy 1m --keep DIR              latency of searches while 10,000 documents are added
    python bench/growth.py draw --keep DIR --picture docs/images/growth.svg

Each step adds its figures to DIR/growth.json, with the current load average of the machine. An interrupted load starts
over. The servers have a heap and a page cache in proportion to their content.
"""

import argparse
import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from synthetic import HashingEmbedder, documents, questions
from traversal import COLLECTION, PORTS, WARM_UP, Graph, Memory, Row, latency, load_figures, number_of, own_home, told

from kgrag import KnowledgeGraph
from kgrag.graph.contents import fingerprint
from kgrag.graph.local.server import LocalServer
from kgrag.lab.report import drawing, save
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document

DIMENSION = 64
RETRIEVERS = ["bm25", "dense", "hybrid", "pathrank"]
ADDED = 1000  # documents
INDEXING = IndexingSettings(similar=0, synonyms=0)


class Book:
    """The figures of all sizes, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def rows(self) -> dict[str, dict[str, Row]]:
        """Return the rows by size and step, read afresh because another load may run at the same time."""
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def add(self, size: int, step: str, row: Row) -> None:
        """Save and show the figures of a step."""
        row = row | {"load_average": round(os.getloadavg()[0], 1)}
        rows = self.rows
        rows.setdefault(str(size), {})[step] = row
        self._path.write_text(json.dumps(rows, indent=1))
        print(json.dumps({f"{size:,}": {step: row}}, indent=1), flush=True)


class Stages:
    """A progress callback that counts seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "begin", time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now

    def end(self) -> dict[str, float]:
        """Return the seconds of all stages, rounded."""
        self(self._stage, 0, None)
        return {stage: round(took, 2) for stage, took in self.seconds.items()}


@contextmanager
def server(folder: Path, size: int, number: int = 0) -> Iterator[Settings]:
    """Yield the settings of a size's server in its folder; `number` tells apart several that run at once."""
    heap = "1g" if size <= 1_000_000 else "3g"
    cache = f"{max(512, size * 12 // 10_000)}m"
    ports = {kind: port + 10 * number for kind, port in PORTS.items()}
    with own_home(INDEXING, folder / str(size), heap=heap, page_cache=cache, **ports) as settings:
        yield settings


@contextmanager
def opened(settings: Settings) -> Iterator[KnowledgeGraph]:
    """Yield a client of a server, which is started; it knows the embedder."""
    with KnowledgeGraph.local(settings) as kg:
        kg.embedder(HashingEmbedder(DIMENSION))
        yield kg


def load(folder: Path, size: int, book: Book) -> None:
    """Load a size in bulk, unless it exists already."""
    graph = Graph(size, triples=False)
    with server(folder, size) as settings, Memory(settings.home) as memory:
        if LocalServer(settings).home.has_data() and holds(settings):
            return
        report = KnowledgeGraph.load_in_bulk(
            graph.documents(), COLLECTION, embedder=HashingEmbedder(DIMENSION), settings=settings, progress=told
        )
        row = load_figures(graph, report) | {"peak_mb": dict(memory.peaks)}
    book.add(size, "load", row | {"store": store(settings.home)})


def holds(settings: Settings) -> bool:
    """Return whether anything was loaded."""
    with opened(settings) as kg:
        return bool(kg.records())


def store(home: Path) -> dict[str, int]:
    """Return bytes on disk: of the graph, of its indexes by provider, of transaction logs."""
    sizes: dict[str, int] = {}
    for path in (home / "server" / "data").rglob("*"):
        if path.is_file():
            parts = path.relative_to(home).parts
            kind = "transactions" if "transactions" in parts else "graph"
            if "index" in parts:
                kind = parts[parts.index("index") + 1]
            sizes[kind] = sizes.get(kind, 0) + path.stat().st_blocks * 512
    return sizes | {"all": sum(sizes.values())}


def ask(folder: Path, sizes: list[int], book: Book, number: int) -> None:
    """Ask all sizes in turns."""
    with ExitStack() as stack:
        asked: dict[KnowledgeGraph, list[str]] = {}
        memories: list[Memory] = []
        for lane, size in enumerate(sizes):
            settings = stack.enter_context(server(folder, size, lane))
            memories.append(stack.enter_context(Memory(settings.home)))
            asked[stack.enter_context(opened(settings))] = questions(number + WARM_UP, size)
        latency(asked, RETRIEVERS)  # warms up pages, plans and compiled code
        found = latency(asked, RETRIEVERS)
        for size, row, memory in zip(sizes, found, memories, strict=True):
            book.add(size, "ask", {"latency": row, "peak_mb": memory.peaks, "beside": sizes})


def change(folder: Path, size: int, book: Book, whole: bool) -> None:
    """Measure every operation that changes a collection or reads it as a whole."""
    row: Row = {}

    def timed(what: str, work: Callable[[], Any]) -> None:
        told(what, 0, None)
        begun = time.monotonic()
        work()
        row[what] = round(time.monotonic() - begun, 2)

    with server(folder, size) as settings, Memory(settings.home) as memory, opened(settings) as kg:
        collection = kg[COLLECTION]
        timed("open", lambda: collection.search("Who?"))
        timed("collections", kg.collections)
        timed("collections again", kg.collections)
        timed("documents, a page", collection.documents)
        timed("documents, a page in the middle", lambda: collection.documents(after=f"s{size // 2}"))
        for turn in ("add", "add again"):
            stages = Stages()
            held = kg.collections()[0].counts["Document"]
            start = -(-held // ADDED) * ADDED  # a block of the synthetic documents
            new = documents(start + ADDED, 0, size, start=start)
            timed(turn, lambda new=new, stages=stages: collection.ingest(new, progress=stages))
            row[f"{turn}: stages"] = stages.end()
        timed("delete one", lambda: collection.delete([f"s{size + 1}"]))
        timed("delete 100", lambda: collection.delete([f"s{size + n}" for n in range(10, 110)]))
        timed("repair", lambda: collection.repair())
        timed("inspect", lambda: collection.inspect())
        if whole:
            timed("digest", lambda: fingerprint(kg.graph, COLLECTION))
            timed("export", lambda: collection.export(str(settings.home / "out.jsonl"), overwrite=True))
            row["export_mb"] = (settings.home / "out.jsonl").stat().st_size / 1e6
            (settings.home / "out.jsonl").unlink()
    book.add(size, "change", row | {"peak_mb": dict(memory.peaks)})


def add(settings: Settings, start: int, size: int) -> None:
    """Add a block of synthetic documents, beginning with number `start`."""
    with opened(settings) as kg:
        kg[COLLECTION].ingest(documents(start + ADDED, 0, size, start=start))


def kill(folder: Path, size: int, book: Book) -> None:
    """Kill a process that has added half of its documents, and let another add them."""
    with server(folder, size) as settings, opened(settings) as kg:
        collection = kg[COLLECTION]
        held = collection.info().counts["Document"]
        start = -(-held // ADDED) * ADDED
        begun = time.monotonic()
        adding = multiprocessing.get_context("spawn").Process(target=add, args=(settings, start, size))
        adding.start()
        half = f"s{start + ADDED // 2}"
        while adding.is_alive() and not any(d.key == half for d in collection.documents(after=half[:-1], limit=2)):
            time.sleep(0.2)
        adding.kill()
        adding.join()
        row: Row = {"killed after": round(time.monotonic() - begun, 2), "exit": adding.exitcode}
        row["documents then"] = collection.info().counts["Document"] - held
        begun = time.monotonic()
        add(settings, start, size)
        row["again"] = round(time.monotonic() - begun, 2)
        info = collection.info()
        row |= {"documents": info.counts["Document"] - held, "finished": info.finished}
    book.add(size, "kill", row)


def busy(folder: Path, size: int, book: Book, number: int) -> None:
    """Compare searches while documents are added with the same searches on an idle server."""
    with server(folder, size) as settings, opened(settings) as kg:
        asked = {kg: questions(number + WARM_UP, size)}
        latency(asked, RETRIEVERS)
        quiet = latency(asked, RETRIEVERS)[0]
        start = -(-kg.collections()[0].counts["Document"] // ADDED) * ADDED
        stages = Stages()

        def add() -> None:
            new: Iterator[Document] = documents(start + 10 * ADDED, 0, size, start=start)
            kg[COLLECTION].ingest(new, progress=stages)

        writer = threading.Thread(target=add)
        writer.start()
        rows = []
        while writer.is_alive():
            rows.append(latency(asked, RETRIEVERS)[0])
        writer.join()
    loud = {
        name: {part: sum(row[name][part] for row in rows) / len(rows) for part in ("p50_ms", "p95_ms")}
        for name in RETRIEVERS
    }
    book.add(size, "busy", {"quiet": quiet, "busy": loud, "rounds": len(rows), "stages": stages.end()})


def draw(book: Book, path: Path) -> None:
    """Draw latency and the seconds of additions against the number of passages, both logarithmic."""
    figure_class, _ = drawing()
    figure = figure_class(figsize=(9, 4), layout="constrained", dpi=150)
    lines: dict[str, dict[str, list[tuple[int, float]]]] = {"p50 of a search, ms": {}, "seconds": {}}
    for size, row in sorted((int(size), row) for size, row in book.rows.items()):
        for name, its in row.get("ask", {}).get("latency", {}).items():
            lines["p50 of a search, ms"].setdefault(name, []).append((size, its["p50_ms"]))
        for what in ("add again", "delete one", "collections", "repair", "inspect"):
            if what in row.get("change", {}):
                lines["seconds"].setdefault(what.replace("add again", "add 1,000"), []).append(
                    (size, row["change"][what])
                )
    drawn = {title: its for title, its in lines.items() if its}
    for place, (title, its) in enumerate(drawn.items(), start=1):
        axes = figure.add_subplot(1, len(drawn), place)
        axes.set(xscale="log", yscale="log", xlabel="passages", ylabel=title)
        axes.grid(True, alpha=0.3)
        for name, points in its.items():
            axes.plot(*zip(*points, strict=True), "o-", label=name)
        axes.legend()
    save(figure, path)


def main() -> None:
    """Parse the command line and run the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("load", "ask", "change", "kill", "busy", "draw"))
    parser.add_argument("size", nargs="*", type=number_of, help="passages: 10k, 1m")
    parser.add_argument("--keep", type=Path, required=True, metavar="DIR", help="where servers and figures are kept")
    parser.add_argument("--questions", type=int, default=100, metavar="N", help="default: 100")
    parser.add_argument("--picture", type=Path, default=Path("docs/images/growth.svg"), help="with draw: its file")
    parser.add_argument("--whole", action="store_true", help="with change: also digest and export")
    chosen = parser.parse_args()
    chosen.keep.mkdir(parents=True, exist_ok=True)
    book = Book(chosen.keep / "growth.json")
    if chosen.step == "ask":
        ask(chosen.keep, chosen.size, book, chosen.questions)
    if chosen.step == "draw":
        draw(book, chosen.picture)
    for size in chosen.size:
        print(f"{size:,} ...", file=sys.stderr)
        if chosen.step == "load":
            load(chosen.keep, size, book)
        elif chosen.step == "change":
            change(chosen.keep, size, book, chosen.whole)
        elif chosen.step == "kill":
            kill(chosen.keep, size, book)
        elif chosen.step == "busy":
            busy(chosen.keep, size, book, chosen.questions)


if __name__ == "__main__":
    main()
