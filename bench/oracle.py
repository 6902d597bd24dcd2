"""Measure strategies with a language model that reads perfectly: their upper bound, independent of a real model.

    python bench/oracle.py musique.jsonl --embedder minilm                 recall, answers; by iteration and hops
    python bench/oracle.py musique.jsonl --embedder minilm --throughput    then: 8 threads against 1, at 500 and 50 ms
    python bench/oracle.py musique.jsonl --embedder minilm --matrix --out runs/    strategies over three retrievers
    python bench/oracle.py 2wiki.json --matrix --strategy bdtr --over raptor      one row of it
    python bench/oracle.py musique.jsonl --retriever 'kgp(guide=chat)' --depth 30     the upper bound of KGP's walk

oracle_brain.py describes what the model knows of a set with and without steps. The measurement is `kgrag lab eval`
itself, against an OpenAI-compatible server in a process of its own. An interrupted run with --out resumes. The bound of
throughput is the limit of the CPU: cores / CPU seconds a question, of this process, the local Neo4j and the server
together. KGRAG_NEO4J_URI, KGRAG_HOME and the like apply.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer
from kgrag.lab.ask_systems import ask_all
from kgrag.lab.readers import read_dataset
from kgrag.lab.summary import table
from kgrag.settings import Settings
from kgrag.values.errors import KgragError

BRAIN = Path(__file__).parent / "oracle_brain.py"
SYSTEMS = (
    "single+rrf",
    "single+sync-ge(rrf)",
    "gear+rrf",
    "single+pathrank",
    "gear+pathrank",
    "ircot+rrf",
    "ircot+ppr",
)
STRATEGIES = ("single", "auto", "gear", "ircot", "gcot", "tog", "iter-retgen", "self-ask", "rgnn", "bdtr")
OVER = ("rrf", "ppr", "pathrank")
MEASURES = ("R@5", "R@10", "R@15", "perfect@8", "EM", "calls", "tokens", "p50_ms")
_DIGITS = {"perfect@8": 2, "tokens": 0, "p50_ms": 0}
LATENCIES = (0.5, 0.05)
Row = dict[str, float | None]


def measure(arguments: argparse.Namespace, environment: dict[str, str]) -> dict[str, Row]:
    """Print the tables of kgrag lab eval; return the systems' values, from the records of the same run."""
    command = [
        sys.executable,
        "-m",
        "kgrag",
        "lab",
        "eval",
        str(arguments.dataset),
        "--anyway",
        "--threads",
        str(arguments.threads),
    ]
    for name in arguments.systems:
        command += ["--system", name]
    for name in arguments.retrievers:
        command += ["--retriever", name]
    for option in ("embedder", "collection", "limit", "depth"):
        value = getattr(arguments, option)
        command += [f"--{option}", str(value)] if value is not None else []
    with tempfile.TemporaryDirectory() as records:
        out = Path(arguments.out or records)
        command += ["--out", str(out)]
        breakdowns = [word for what in ("hops", "density") for word in ("--by", what)]
        if arguments.matrix:
            breakdowns = []
        if code := subprocess.run([*command, *breakdowns], env=environment, check=False).returncode:
            sys.exit(code)  # kgrag has printed the reason
        told = subprocess.run([*command, "--json"], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Row] = json.loads(told.stdout)["systems"]
    return found


def matrix(rows: dict[str, Row]) -> None:
    """Print every strategy over every retriever, one line each, in Markdown."""
    print(f"| strategy | over | {' | '.join(MEASURES)} |\n|---|---|{'---:|' * len(MEASURES)}")
    for name, row in rows.items():
        strategy, _, retriever = name.partition("+")
        cells = ("-" if row.get(m) is None else f"{_of(row, m):.{_DIGITS.get(m, 1)}f}" for m in MEASURES)
        print(f"| {strategy} | {retriever} | {' | '.join(cells)} |")


def compare(rows: dict[str, Row]) -> None:
    """Print GEAR's gain over the other systems that were measured."""
    hybrid, sync, gear = (rows.get(name) for name in ("single+rrf", "single+sync-ge(rrf)", "gear+rrf"))
    for name, row, other in (("SyncGE over rrf", sync, hybrid), ("GEAR over SyncGE", gear, sync)):
        if row is not None and other is not None:
            gains = [f"{m} {_of(row, m) - _of(other, m):+.1f}" for m in ("R@5", "R@10", "R@15")]
            print(f"{name}: {', '.join(gains)}")


def _of(row: Row, measure: str) -> float:
    return row.get(measure) or 0.0


def throughput(arguments: argparse.Namespace, server: Scripted) -> None:
    """Print the wall time of one thread and of many on the same questions, without a cache, and the bound."""
    settings = Settings().model_copy(update={"chat": server.settings(concurrency=256)})
    dataset = read_dataset(arguments.dataset).first(arguments.limit)
    embedder = arguments.embedder or settings.embedder
    collection = arguments.collection or dataset.collection(embedder, indexing=settings.indexing)
    with KnowledgeGraph.connect(settings=settings) as kg:
        system = kg[collection].system(arguments.system)
        system.ask(dataset.questions[0].text, short=True)  # loads the embedder and warms the caches
        for latency in arguments.latencies:
            server.delay(latency)
            walls = {}
            for threads in (1, arguments.threads):
                before = _cpu_seconds(settings)
                records = ask_all(
                    {system.name: system}, dataset.questions, lambda stage, done, total: None, threads=threads
                )
                used = (_cpu_seconds(settings) - before) / len(records)
                row = table(records)[system.name]
                walls[threads] = _of(row, "wall_s")
                cores = len(os.sched_getaffinity(0))
                print(
                    f"{system.name}, {1000 * latency:.0f} ms a call, {threads} threads: {len(records)} questions in "
                    f"{walls[threads]:.1f} s, {_of(row, 'q/s'):.2f} a second; {_of(row, 'calls'):.1f} calls and "
                    f"{1000 * used:.0f} ms of CPU each: {cores} cores allow {cores / used:.2f} a second"
                )
            print(f"  {arguments.threads} threads over 1: {walls[1] / walls[arguments.threads]:.2f} times")


def _cpu_seconds(settings: Settings) -> float:
    """Return the CPU time so far of this process, its children, and the local Neo4j."""
    own = psutil.Process()
    processes = [own, *own.children(recursive=True)]
    pid = LocalServer(settings).status().pid
    if pid is not None:
        processes.append(psutil.Process(pid))
    return sum(t.user + t.system for t in (p.cpu_times() for p in {p.pid: p for p in processes}.values()))


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder with corpus.jsonl and queries.jsonl, whose steps are known")
    parser.add_argument("--embedder", metavar="NAME")
    parser.add_argument("--collection", metavar="NAME")
    parser.add_argument("--system", dest="systems", action="append", metavar="NAME", help="repeatable")
    parser.add_argument(
        "--retriever", dest="retrievers", action="append", default=[], metavar="EXPR", help="repeatable"
    )
    parser.add_argument("--depth", type=int, metavar="K")
    parser.add_argument("--threads", type=int, default=8, metavar="N")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--out", metavar="DIR", help="keep the records there")
    parser.add_argument("--matrix", action="store_true", help="strategies over rrf, ppr and pathrank, in Markdown")
    parser.add_argument(
        "--strategy", dest="strategies", action="append", metavar="NAME", help="of the matrix; repeatable"
    )
    parser.add_argument("--over", action="append", metavar="EXPR", help="of the matrix; repeatable")
    parser.add_argument("--throughput", action="store_true", help="the time of many threads against one")
    parser.add_argument("--latency", dest="latencies", type=float, action="append", metavar="SECONDS")
    arguments = parser.parse_args()
    arguments.system = (arguments.systems or ["gear+rrf"])[0]
    if arguments.matrix:
        rows = arguments.strategies or STRATEGIES
        arguments.systems = [f"{strategy}+{over}" for over in arguments.over or OVER for strategy in rows]
    arguments.systems = arguments.systems or ([] if arguments.retrievers else list(SYSTEMS))
    arguments.latencies = arguments.latencies or list(LATENCIES)
    os.environ["KGRAG_ORACLE"] = str(arguments.dataset.resolve())
    with Scripted(BRAIN) as server:
        if not arguments.throughput:
            (matrix if arguments.matrix else compare)(measure(arguments, {**os.environ, **server.env()}))
            return
        try:
            throughput(arguments, server)
        except KgragError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
