"""Measure the first minutes of a server for two versions of kgrag in turns: start, first ingest, first searches.

    python bench/cold_start.py --base OTHER --rounds 5             this checkout against another, each with its .venv
    python bench/cold_start.py --env KGRAG_LOCAL__ARCHIVE=false    this checkout with a setting against itself without
    python bench/cold_start.py --throughput musique-gold --rounds 2 --windows 9

Each round begins on an empty home: `kgrag up`, two ingests of the demo corpus into different collections, and a search,
all from the shell, then `kgrag down`. Both sides share KGRAG_CACHE; an uncounted first round fills it and waits for its
background work. Each row is the median over the rounds: seconds on the clock, CPU seconds of the server with all its
threads, and of the client with its child processes. Work of the server after a command has returned counts with the
next one.

With --throughput the set is ingested once for each side. Each round is then a fresh start; it measures how many
`pathrank` questions a second four threads get answered, in windows of 20 s, and the server's CPU time a question.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Which king founded the birthplace of the captain of the Vega?"
WINDOW = 20.0  # seconds
THREADS = 4
SETTLED = 180.0  # seconds to wait for background work


class Side:
    """A checkout of kgrag with its own variables, and its measurements: name -> a row for each round."""

    def __init__(self, name: str, checkout: Path, variables: list[str], folder: Path) -> None:
        self.name = name
        self.home = folder / name
        self.checkout = checkout  # the working directory: Python looks there for kgrag first
        self.python = checkout / ".venv" / "bin" / "python"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("KGRAG_") or k == "KGRAG_CACHE"}
        self.env = kept | dict(variable.split("=", 1) for variable in variables)
        self.rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        self.windows: list[list[float]] = []  # questions a second
        self.used: list[list[float]] = []  # CPU milliseconds of the server for a question
        self.memory: list[float] = []

    def kgrag(self, phase: str, *arguments: str) -> None:
        """Run a command of kgrag and keep its cost."""
        server, client, begun = self.server_cpu(), _children_cpu(), time.monotonic()
        command = [self.python, "-m", "kgrag", *arguments]
        done = subprocess.run(command, env=self.env, cwd=self.checkout, capture_output=True, text=True)
        wall = time.monotonic() - begun
        if done.returncode:
            raise SystemExit(f"{self.name}: kgrag {' '.join(arguments)}: {done.stderr}")
        if phase:
            self.rows[phase].append((wall, max(0.0, self.server_cpu() - server), _children_cpu() - client))

    def server(self) -> psutil.Process | None:
        """Return the process of the server, None if it does not run."""
        try:
            return psutil.Process(json.loads((Path(self.env["KGRAG_HOME"]) / "server.pid").read_text())["pid"])
        except (OSError, psutil.NoSuchProcess):
            return None

    def server_cpu(self) -> float:
        """Return the CPU seconds of the server so far."""
        server = self.server()
        return _cpu(server) if server else 0.0

    def round(self, number: int | None) -> None:
        """Run a server from an empty home through every phase; without a number, keep no measurements."""
        self.env["KGRAG_HOME"] = f"{self.home}-{number}"
        corpus = str(ROOT / "kgrag" / "demo" / "corpus")
        self.kgrag("up", "up")
        self.kgrag("first ingest", "ingest", corpus, "-c", "one")
        self.kgrag("second ingest", "ingest", corpus, "-c", "two")
        self.kgrag("search", "search", QUESTION, "-c", "one")
        server = self.server()
        assert server is not None
        self.memory.append(server.memory_info().rss / 1e6)
        self.kgrag("down", "down")
        if number is None:
            self.rows.clear()
            self.memory.clear()

    def throughput(self, folder: Path, windows: int) -> None:
        """Measure questions a second in each window after a fresh start."""
        self.env["KGRAG_HOME"] = str(self.home)
        if not self.home.exists():
            self.ask(folder, 0)
        self.kgrag("", "down")
        self.kgrag("", "up")
        rates, used = self.ask(folder, windows).splitlines()
        self.windows.append([float(rate) for rate in rates.split()])
        self.used.append([float(milliseconds) for milliseconds in used.split()])
        self.kgrag("", "down")

    def ask(self, folder: Path, windows: int) -> str:
        """Have a client of this side ingest the set and ask its questions."""
        command = [self.python, __file__, "--client", str(folder), "--windows", str(windows)]
        return subprocess.run(command, env=self.env, stdout=subprocess.PIPE, text=True, check=True).stdout


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def settle() -> None:
    """Wait until no process creates a class archive."""
    deadline = time.monotonic() + SETTLED
    while time.monotonic() < deadline and any(
        "kgrag.graph.local.archive" in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ):
        time.sleep(0.5)


def client(folder: Path, windows: int) -> None:
    """Ingest a set, and print for each window questions a second and CPU milliseconds of the server a question."""
    from kgrag import KnowledgeGraph
    from kgrag.graph.local.server import LocalServer
    from kgrag.lab.readers import read_dataset
    from kgrag.settings import Settings

    data = read_dataset(folder)
    with KnowledgeGraph.connect() as kg:
        collection = data.ingest(kg).collection
        if not windows:
            return
        server = psutil.Process(LocalServer(Settings()).status().pid)
        questions, lock = cycle([question.text for question in data.questions]), threading.Lock()
        begun, counts, used = time.monotonic(), [0] * windows, [_cpu(server)]

        def ask(_: int) -> None:
            while True:
                with lock:
                    question = next(questions)
                collection.search(question, retriever="pathrank")
                with lock:
                    window = int((time.monotonic() - begun) / WINDOW)
                    while len(used) <= min(window, windows):
                        used.append(_cpu(server))
                    if window >= windows:
                        return
                    counts[window] += 1

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(ask, range(THREADS)))
    print(*(count / WINDOW for count in counts))
    print(*(1000 * (used[i + 1] - used[i]) / max(1, count) for i, count in enumerate(counts)))


def print_costs(sides: list[Side]) -> None:
    """Print a row for each phase."""
    print(f"| phase | {' | '.join(f'{side.name}: s | server CPU s | client CPU s' for side in sides)} |")
    print("|---" * (1 + 3 * len(sides)) + "|")
    for phase in sides[0].rows:
        cells = [f"{statistics.median(column):.1f}" for side in sides for column in zip(*side.rows[phase], strict=True)]
        print(f"| {phase} | {' | '.join(cells)} |")
    print(f"| memory MB | {' | | | '.join(f'{statistics.median(side.memory):.0f}' for side in sides)} | | |")


def print_windows(sides: list[Side]) -> None:
    """Print two rows for each side."""
    for side in sides:
        for what, rows, digits in (("questions/s", side.windows, 1), ("server CPU ms a question", side.used, 0)):
            medians = [statistics.median(column) for column in zip(*rows, strict=True)]
            print(f"| {side.name}, {what} | {' | '.join(f'{median:.{digits}f}' for median in medians)} |")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=ROOT, metavar="DIR")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for this checkout")
    parser.add_argument("--base-env", action="append", default=[], metavar="NAME=VALUE", help="for the other")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--throughput", type=Path, metavar="SET")
    parser.add_argument("--windows", type=int, default=9)
    parser.add_argument("--client", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        client(options.client, options.windows)
        return
    with tempfile.TemporaryDirectory() as folder:
        sides = [
            Side("this", ROOT, options.env, Path(folder)),
            Side("base", options.base.resolve(), options.base_env, Path(folder)),
        ]
        if options.throughput is None:
            for side in sides:
                side.round(None)
                settle()
        for number in range(options.rounds):
            for side in sides if number % 2 else reversed(sides):
                if options.throughput is None:
                    side.round(number)
                else:
                    side.throughput(options.throughput.resolve(), options.windows)
        if options.throughput is None:
            print_costs(sides)
        else:
            print_windows(sides)


if __name__ == "__main__":
    sys.exit(main())
