"""Hold the lines of Neo4j side by side on this machine: starts, memory, an ingest, latencies and recall.

    python bench/versions.py bench/hotpotqa bench/2wiki       ingests the first, asks the second
    python bench/versions.py INGESTED ASKED --rounds 5 -r bm25 -r hybrid

The servers take turns in every round, and each figure is the median over the rounds (the ingest: of new collections).
"cpu" is the time of all threads of a server, which says more than wall time where others use the machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil

from kgrag.graph.local.lines import LINES, Line, locked_version
from kgrag.graph.local.server import LocalServer
from kgrag.settings import LocalSettings, Settings

RETRIEVERS = ("bm25", "hybrid", "pathrank")


class Bench:
    """A line's own server, and what was measured on it: name -> a value for each round."""

    def __init__(self, line: Line, home: Path) -> None:
        self.settings = Settings(_env_file=None, home=home, local=LocalSettings(version=line.name))  # type: ignore[arg-type, call-arg]
        self.server = LocalServer(self.settings)
        self.values: dict[str, list[float]] = defaultdict(list)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KGRAG_") or k == "KGRAG_CACHE"}
        self.env |= {"KGRAG_HOME": str(home), "KGRAG_LOCAL__VERSION": line.name}

    def start(self) -> None:
        """Stop the server, and start it again."""
        begun = time.monotonic()
        self.server.stop()
        if self.server.home.has_data():
            self.values["stop s"].append(time.monotonic() - begun)
        begun = time.monotonic()
        self.server.ensure_running()
        self.values["start s"].append(time.monotonic() - begun)
        self.values["start cpu s"].append(self.cpu())
        self.values["memory after start MB"].append(self.memory())

    def process(self) -> psutil.Process:
        return psutil.Process(self.server.status().pid)

    def cpu(self) -> float:
        times = self.process().cpu_times()
        return float(times.user + times.system)

    def memory(self) -> float:
        return float(self.process().memory_info().rss / 1e6)

    def ingest(self, corpus: Path, name: str) -> None:
        begun, cpu = time.monotonic(), self.cpu()
        self._kgrag("ingest", str(corpus), "-c", name, "--json")
        self.values["ingest s"].append(time.monotonic() - begun)
        self.values["ingest cpu s"].append(self.cpu() - cpu)

    def ask(self, dataset: Path, retrievers: tuple[str, ...], *, keep: bool) -> None:
        cpu = self.cpu()
        options = [option for name in retrievers for option in ("-r", name)]
        answer = self._kgrag("eval", str(dataset), *options, "--json")
        if not keep:  # the first one ingests
            return
        self.values["questions cpu s"].append(self.cpu() - cpu)
        for name, figures in answer["systems"].items():
            for column in ("R@5", "R@10", "p50_ms", "p95_ms"):
                self.values[f"{name} {column}"].append(figures[column])
        self.values["memory after questions MB"].append(self.memory())

    def _kgrag(self, *arguments: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "kgrag", *arguments]
        done = subprocess.run(command, env=self.env, check=True, capture_output=True)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ingested", type=Path)
    parser.add_argument("asked", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-r", "--retriever", action="append", help="may be given again")
    arguments = parser.parse_args()
    retrievers = tuple(arguments.retriever or RETRIEVERS)
    root = Path(tempfile.mkdtemp(prefix="kgrag-versions-"))
    benches = [Bench(line, root / line.name) for line in LINES]
    try:
        for round_ in range(arguments.rounds + 1):
            for bench in benches[:: 1 if round_ % 2 else -1]:
                bench.start()
                bench.ingest(arguments.ingested / "corpus.jsonl", f"ingested-{round_}")
                bench.ask(arguments.asked, retrievers, keep=round_ > 0)
    finally:
        for bench in benches:
            bench.server.stop()
        shutil.rmtree(root)
    names = [locked_version(line) for line in LINES]
    print(f"{'':<28}" + "".join(f"{name:>12}" for name in names))
    for key in benches[0].values:
        # The first round makes the data and warms the machine's caches.
        medians = [statistics.median(bench.values[key][-arguments.rounds :]) for bench in benches]
        print(f"{key:<28}" + "".join(f"{value:>12,.1f}" for value in medians))


if __name__ == "__main__":
    main()
