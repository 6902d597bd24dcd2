"""Measure the cost of a search: latency, questions a second, round trips, and CPU time of the client and the server.

    python bench/serving.py QUERIES.jsonl -c 2wiki -r pathrank -r hybrid
    python bench/serving.py QUERIES.jsonl -c 2wiki -r pathrank --against OTHER/.venv/bin/python   paired, in turns

QUERIES: JSON lines with a "question". Both interpreters query the server of KGRAG_HOME, one question after the other;
which of them goes first alternates. "ratio" is the median over the questions of this one's time over the other's.
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

WARM_UP = 30  # questions


class Asker:
    """A client in a process of its own, with the version of kgrag that its interpreter has."""

    def __init__(self, python: str, collection: str) -> None:
        self.name = python
        command = [python, str(Path(__file__).resolve()), "--worker", collection]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, retriever: str, questions: list[str], threads: int = 1) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([retriever, questions, threads]) + "\n")
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} has ended.")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self.process.communicate(timeout=30)


class Sent(logging.Handler):
    """Counts the queries that the driver sends."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += "C: RUN" in record.getMessage()


def work(collection: str) -> None:
    """Answer requests of the parent process: [retriever, questions, threads] a line."""
    from kgrag import KnowledgeGraph

    with KnowledgeGraph.local() as kg:
        for line in sys.stdin:
            retriever, questions, threads = json.loads(line)

            def search(question: str, retriever: str = retriever) -> tuple[float, list[Any]]:
                start = time.perf_counter()
                if hasattr(kg, "__getitem__"):
                    ranking = kg[collection].search(question, retriever=retriever)
                else:
                    ranking = kg.search(question, collection, retriever=retriever)  # older versions
                return time.perf_counter() - start, [[hit.passage.id, hit.score] for hit in ranking.hits]

            sent, log = Sent(), logging.getLogger("neo4j.io")
            if threads == 0:  # counts round trips, which is slower
                log.addHandler(sent)
                log.setLevel(logging.DEBUG)
            before, start = cpu(psutil.Process()), time.perf_counter()
            if threads > 1:
                with ThreadPoolExecutor(threads) as pool:
                    found = list(pool.map(search, questions))
            else:
                found = [search(question) for question in questions]
            seconds = time.perf_counter() - start
            log.removeHandler(sent)
            log.setLevel(logging.NOTSET)
            times, hits = zip(*found, strict=True)
            row = {"seconds": seconds, "times": times, "hits": hits, "sent": sent.count}
            print(json.dumps(row | {"cpu": cpu(psutil.Process()) - before}), flush=True)


def cpu(process: psutil.Process) -> float:
    """Return the CPU seconds of a process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def server() -> psutil.Process:
    """Return the process of KGRAG_HOME's local server."""
    from kgrag.settings import Settings

    home = str(Settings().home)
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or ()
        if "--console-mode" in command and any(f"{home}{os.sep}" in part for part in command):
            return process
    raise SystemExit(f"No server of {home} is running. Start it: kgrag up")


def spread(times: list[float]) -> str:
    """Return the median and the slow end of times in milliseconds."""
    return f"p50 {statistics.median(times):.1f} ms  p95 {sorted(times)[int(0.95 * len(times))]:.1f} ms"


def measure(askers: list[Asker], retriever: str, questions: list[str], threads: int) -> None:
    """Print a line for each asker, and the paired ratio."""
    java = server()
    for asker in askers:
        asker.ask(retriever, questions[:WARM_UP])
    rows = [{"times": [], "client": 0.0, "server": 0.0, "hits": []} for _ in askers]
    for number, question in enumerate(questions):
        for i in range(len(askers)) if number % 2 else reversed(range(len(askers))):
            before = cpu(java)
            found = askers[i].ask(retriever, [question])
            rows[i]["server"] += cpu(java) - before
            rows[i]["client"] += found["cpu"]
            rows[i]["times"] += found["times"]
            rows[i]["hits"] += found["hits"]
    for asker, row in zip(askers, rows, strict=True):
        together = asker.ask(retriever, questions, threads)
        sent = asker.ask(retriever, questions[:20], 0)["sent"] / min(20, len(questions))
        times = [1000 * t for t in row["times"]]
        print(
            f"{retriever}  {spread(times)}  "
            f"CPU client {1000 * row['client'] / len(times):.1f} server {1000 * row['server'] / len(times):.1f} ms  "
            f"{threads} threads {len(questions) / together['seconds']:.1f}/s  {sent:.1f} round trips  {asker.name}"
        )
    if len(askers) == 2:
        own, other = rows
        ratio = statistics.median(a / b for a, b in zip(own["times"], other["times"], strict=True))
        medians = statistics.median(own["times"]) / statistics.median(other["times"])
        pairs = list(zip(own["hits"], other["hits"], strict=True))
        changed = sum([x for x, _ in a] != [x for x, _ in b] for a, b in pairs)
        most = max((abs(x - y) for a, b in pairs for (_, x), (_, y) in zip(a, b, strict=False)), default=0.0)
        print(
            f"{retriever}  paired over {len(pairs)} questions: ratio {ratio:.2f}, of the p50s {medians:.2f}; "
            f"{changed} rankings differ, scores by {most:.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path, nargs="?")
    parser.add_argument("-c", "--collection", default="default")
    parser.add_argument("-r", "--retriever", action="append")
    parser.add_argument("-n", "--questions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--against", metavar="PYTHON")
    parser.add_argument("--worker", metavar="COLLECTION", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    if options.queries is None:
        parser.error("name a file of questions")
    lines = options.queries.read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines][: options.questions]
    askers = [Asker(python, options.collection) for python in (sys.executable, options.against) if python]
    for retriever in options.retriever or ["pathrank"]:
        measure(askers, retriever, questions, options.threads)
    for asker in askers:
        asker.close()


if __name__ == "__main__":
    main()
