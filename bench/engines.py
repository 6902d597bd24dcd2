"""Compare the engines of an ingest: in-process, processes, Ray with two nodes, and Ray with one of them killed.

    python bench/engines.py --passages 20000           in each engine; the graphs must be the same
    python bench/engines.py --passages 20000 --prepare the same without the database: the overhead of each engine
    python bench/engines.py --passages 4000 --extract  extraction with calls of 500 ms, 32 at once, against the ideal

Needs `make extra EXTRA=ray`. Server: KGRAG_NEO4J_*, else the local one.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from scripted import Scripted
from synthetic import documents

from kgrag import KnowledgeGraph
from kgrag.engines import open_engine
from kgrag.graph.contents import digest
from kgrag.indexing.documents import ExistingDocument
from kgrag.indexing.pipeline import PendingDocument, Preparing
from kgrag.models.embed import load_embedder
from kgrag.settings import EngineSettings, IndexingSettings, Settings
from kgrag.text.languages import ENGLISH

NAME = "bench engines"
KILLED = "ray, a node killed"
BRAIN = """
import json, re
FACT = re.compile(r"([A-Z][a-z]+ [A-Z][a-z]+) (built|founded|ruled|visited|designed|married|taught|described|"
                  r"discovered|succeeded) ([A-Z][a-z]+ [A-Z][a-z]+)[.]")

def reply(task, messages, request):
    triples = [list(found) for found in FACT.findall(messages[-1]["content"])]
    names = sorted({end for triple in triples for end in (triple[0], triple[2])})
    return json.dumps({"entities": [{"name": name, "aliases": []} for name in names], "triples": triples})
"""


class Stages:
    """Record when each stage begins; `kill` is called once a third of the documents is written."""

    def __init__(self, number: int, kill: Any = None) -> None:
        self.begun: dict[str, float] = {}
        self._third, self._kill = number // 3, kill

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        self.begun.setdefault(stage, time.monotonic())
        if self._kill is not None and done > self._third:
            kill, self._kill = self._kill, None
            kill()

    def seconds(self, ended: float) -> dict[str, float]:
        """Return the seconds of each stage."""
        bounds = [*self.begun.values(), ended]
        return {stage: round(bounds[i + 1] - bounds[i], 1) for i, stage in enumerate(self.begun)}


@contextmanager
def cluster() -> Iterator[Any]:
    """Start a Ray cluster of two nodes with one CPU each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.killed = made.add_node(num_cpus=1)
    try:
        yield made
    finally:
        made.shutdown()


def ingest(engine: str, passages: int) -> dict[str, str]:
    """Ingest synthetic passages with an engine, and print how long it took; return the digest."""
    if engine.startswith("ray"):
        with cluster() as made:
            kill = (lambda: made.remove_node(made.killed, allow_graceful=False)) if engine == KILLED else None
            return _ingest(engine, passages, {"name": "ray", "address": made.address}, kill)
    return _ingest(engine, passages, {"name": engine}, None)


def _ingest(engine: str, passages: int, chosen: dict[str, Any], kill: Any) -> dict[str, str]:
    settings = Settings()
    settings = settings.model_copy(update={"engine": settings.engine.model_copy(update=chosen)})
    with KnowledgeGraph.connect(settings=settings) as kg:
        stages, started = Stages(passages, kill), time.monotonic()
        report = kg[NAME].ingest(documents(passages, 0, passages * 3), progress=stages)
        ended = time.monotonic()
        assert report.added == report.passages == report.embedded == passages, report
        load = os.getloadavg()[0]
        print(f"{engine}: {ended - started:.1f} s, load {load:.1f}, {stages.seconds(ended)}", flush=True)
        found = digest(kg.graph, NAME)
        kg[NAME].delete()
    return found


def prepare(engine: str, passages: int) -> None:
    """Let an engine prepare synthetic passages without writing them, and print how long it took."""
    with ExitStack() as stack:
        chosen = EngineSettings(name="ray" if engine.startswith("ray") else engine)
        if chosen.name == "ray":
            chosen = chosen.model_copy(update={"address": stack.enter_context(cluster()).address})
        work = Preparing(NAME, IndexingSettings(), ENGLISH, load_embedder("wordllama"), 512)
        made = list(documents(passages, 0, passages * 3))
        groups = [
            [PendingDocument(d.key, d, ExistingDocument(), None) for d in made[i : i + 512]]
            for i in range(0, passages, 512)
        ]
        started, own = time.monotonic(), time.process_time()
        first, number = 0.0, 0
        with open_engine(chosen) as opened:
            for _, prepared in opened.each(work, groups, models=True):
                number += sum(part.embedded for part in prepared)
                first = first or time.monotonic() - started
        taken, own = time.monotonic() - started, time.process_time() - own
    assert number == passages
    print(f"{engine}: prepared in {taken:.1f} s, the first batch after {first:.1f} s; CPU of the driver: {own:.1f} s, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip


def extract(passages: int, seconds: float = 0.5, threads: int = 32) -> None:
    """Extract triples with slow calls, and print how close the time came to the ideal."""
    brain = Path(os.environ.get("TMPDIR", "/tmp")) / f"brain-{os.getpid()}.py"
    brain.write_text(BRAIN)
    try:
        with Scripted(brain) as model:
            settings = Settings()
            chat = model.settings(concurrency=threads, model="extract", models={})
            settings = settings.model_copy(update={"chat": chat})
            with KnowledgeGraph.connect(settings=settings) as kg:
                kg[NAME].ingest(documents(passages, 0, passages * 3))
                model.delay(seconds)
                stages, started = Stages(passages), time.monotonic()
                report = kg[NAME].extract(threads=threads, progress=stages)
                ended = time.monotonic()
                kg[NAME].delete()
    finally:
        brain.unlink()
    ideal = passages / threads * seconds
    taken = ended - started
    print(f"{report.passages} passages, {report.triples} triples: {taken:.1f} s, ideal {ideal:.1f} s: "
          f"{100 * ideal / taken:.0f} %, load {os.getloadavg()[0]:.1f}, {stages.seconds(ended)}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=20_000, metavar="N")
    parser.add_argument("--prepare", action="store_true", help="measure what comes before the writing alone")
    parser.add_argument("--extract", action="store_true", help="measure extraction instead")
    parser.add_argument("--engine", action="append", choices=["here", "processes", "ray", KILLED], help="repeatable")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, {psutil.virtual_memory().total >> 30} GiB, with the database on the same machine")
    if arguments.extract:
        extract(arguments.passages)
        return
    engines = arguments.engine or ["here", "processes", "ray", KILLED]
    if arguments.prepare:
        for engine in engines:
            prepare(engine, arguments.passages)
        return
    digests = {json.dumps(ingest(engine, arguments.passages)) for engine in engines}
    print("the graphs are the same" if len(digests) == 1 else "THE GRAPHS DIFFER")
    sys.exit(len(digests) > 1)


if __name__ == "__main__":
    main()
