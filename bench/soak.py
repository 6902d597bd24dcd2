"""Soak-test a week's work in an hour, with failing models, backups and kills; then repeat the same work undisturbed.

    python bench/soak.py --hours 1 --seed 1 --out build/soak           (make soak HOURS=1 SEED=1)
    python bench/soak.py --hours 0.1                                    a try-out

Neo4j, `kgrag serve`, a Python program and a language model run as separate processes in a temporary folder. REST and
/mcp users act as in load.py. The Python program searches directly and through the server. An operator runs commands on
a changing folder; one command in four is killed. The model fails in bursts. In the first 45 % of the time the server,
Neo4j and the Python program are killed and backups are made; later memory belongs to one process. When the time is up,
the same commands finish all open work. Then the collections are made again from the same documents without disturbance,
and their digests compared. The run ends with 1 if it finds a traceback, a 500 or another error without a remedy, memory
that rises in the second half of an hour, or a digest that differs.
"""

import argparse
import itertools
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from load import READ, WRITTEN, Served, fresh, prepare
from scripted import Scripted
from soak_report import Sample, by_part, report, slope
from soak_users import FILES, Ledger, Operator, PythonUser, RestUser, use_mcp
from synthetic import documents, questions

from kgrag import KnowledgeGraph
from kgrag.graph import counts
from kgrag.graph.connection import Graph
from kgrag.graph.contents import digest
from kgrag.graph.local.server import LocalServer
from kgrag.runtime.limits import limited
from kgrag.server.keys import Keys
from kgrag.settings import Settings
from kgrag.values.errors import KgragError
from kgrag.wire import dumps

PEOPLE = 6
THINK = 4.0  # seconds between two requests of a user, on average
SEARCHED = 500  # passages of the read-only collection
KILLED = 0.45  # the share of the time in which long-lived processes are killed
ROUNDS = {"server": 2, "Neo4j": 2, "Python client": 1}  # processes killed, and how often within the hour
FAULTS = ("500", "503", "429:1", "quota", "timeout", "cut", "cut-error", "malformed", "html", "empty", "bad-json")
"""Not "truncated": kgrag uses the complete part of a truncated reply, so the graph would have fewer facts."""
CALM = 20.0  # seconds between two bursts of faults, on average
PATIENCE = 900.0  # seconds within which jobs must have ended
JUDGED = 0.5  # hours from which on memory is judged; shorter runs are still warming up
LOOK = 5.0  # seconds between two memory samples
COLLECT = 12  # full collections of Neo4j's heap every so many samples, since small ones leave much garbage
KEPT = 100  # rankings that the server caches; with the usual 1,000, the cache would still grow after an hour
NEO4J = "Neo4j"


def make_corpus(folder: Path) -> None:
    """Write the folder that load.prepare reads."""
    folder.mkdir()
    made = documents(SEARCHED, triples=3, names=SEARCHED)
    rows = ({"id": d.key, "title": d.title, "text": d.text} for d in made)
    (folder / "corpus.jsonl").write_text("".join(dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = ({"question": question} for question in questions(200, SEARCHED))
    (folder / "queries.jsonl").write_text("".join(dumps(row) + "\n" for row in asked), encoding="utf-8")


class Heap:
    """The used heap of Neo4j after a full garbage collection, which the JDK's jcmd requests.

    Without jcmd it is the heap after the last, mostly small, collections; `part` says which of the two it is.
    """

    def __init__(self, local: LocalServer) -> None:
        there = local.ensure_running()
        self._graph = Graph(there.uri, there.user, there.password, there.database)
        self._jcmd = shutil.which("jcmd")
        self.part = f"Neo4j: heap after {'full' if self._jcmd else 'any'} collection"

    def close(self) -> None:
        """Close the connection."""
        self._graph.close()

    def live(self, pid: int) -> float | None:
        """Return the live heap in MB; None while Neo4j, the process with this id, does not respond."""
        try:
            if self._jcmd is not None:
                subprocess.run([self._jcmd, str(pid), "GC.run"], capture_output=True, check=True, timeout=60)
            with limited(LOOK):
                found = counts.heap(self._graph)
        except (KgragError, subprocess.SubprocessError):
            return None
        return found and found.live / 1e6


@contextmanager
def looking(
    parts: dict[str, Callable[[], int | None]], heap: Heap, ledger: Ledger, samples: list[Sample]
) -> Iterator[None]:
    """Record the memory of the parts, by their process ids, and the heap while the block runs."""
    over = threading.Event()

    def look() -> None:
        for number in itertools.count(1):
            if over.wait(LOOK):
                return
            for part, pid_of in parts.items():
                try:
                    if (pid := pid_of()) is not None:
                        used = psutil.Process(pid).memory_info().rss / 1e6
                        samples.append(Sample(ledger.now, part, pid, used))
                        if part == NEO4J and not number % COLLECT and (live := heap.live(pid)) is not None:
                            samples.append(Sample(ledger.now, heap.part, pid, live))
                except psutil.NoSuchProcess:
                    continue  # the process was killed

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield
    finally:
        over.set()
        looker.join(60)


def break_model(model: Scripted, chance: random.Random, until: float) -> None:
    """Let the model fail, in bursts of one kind, until `until` (time.monotonic)."""
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(chance.expovariate(1 / CALM), left))
        task = chance.choice(("extract", "extract", None))
        model.fail(*[chance.choice(FAULTS)] * chance.choice((1, 1, 2, 5, 20)), task=task)


def kill_parts(
    ledger: Ledger, server: Served, local: LocalServer, python: PythonUser, chance: random.Random, seconds: float
) -> None:
    """Kill and restart the long-lived processes, at random times in the first part of `seconds`."""
    begun = time.monotonic()
    victims = [part for part, times in ROUNDS.items() for _ in range(times)]
    chance.shuffle(victims)
    for at, victim in zip(sorted(chance.uniform(0.03, KILLED) * seconds for _ in victims), victims, strict=True):
        time.sleep(max(0.0, begun + at - time.monotonic()))
        print(f"{ledger.now / 60:5.1f} min: killing {victim}", flush=True)
        match victim:
            case "server":
                with ledger.down("server"):
                    server.process.kill()
                    server.process.wait()
                    server.start()
            case "Neo4j":
                if (pid := local.status().pid) is not None:  # None while a backup has stopped it
                    with ledger.down("Neo4j"):
                        os.kill(pid, signal.SIGKILL)
                        local.ensure_running()
            case _:
                python.kill()


def digests(settings: Settings) -> dict[str, dict[str, str]]:
    """Return the digests of each collection."""
    with KnowledgeGraph.local(settings) as kg:
        return {name: digest(kg.graph, name) for name in (READ, WRITTEN, FILES)}


def compare(
    settings: Settings, operator: Operator, people: list[RestUser], untouched: dict[str, str]
) -> tuple[dict[str, bool], list[str]]:
    """Return whether each collection equals an undisturbed one, and the differences."""
    held = {name: text for person in people for name, text in person.held.items()}
    with KnowledgeGraph.local(settings) as kg:
        there = {d.key for d in kg[WRITTEN].documents(limit=100_000) if d.key.startswith("boats/")}
    loaded = digests(settings)
    with KnowledgeGraph.local(settings) as kg:
        fresh(kg, held)
    operator.again()
    operator.finish()
    calm = digests(settings) | {READ: untouched}
    findings = [
        f"the digest of {name!r} differs in {label}"
        for name, found in loaded.items()
        for label, value in found.items()
        if calm[name][label] != value
    ]
    findings += [f"{len(held.keys() - there)} uploads are missing"] if held.keys() - there else []
    findings += [f"{len(there - held.keys())} deleted uploads are there"] if there - held.keys() else []
    return {name: loaded[name] == calm[name] for name in loaded}, findings


def run(hours: float, seed: int, out: Path, home: Path) -> list[str]:
    """Run the soak test; return the findings."""
    seconds = 3600 * hours
    settings = Settings(_env_file=None, home=home / "kgrag")  # type: ignore[call-arg]
    local = LocalServer(settings)
    samples: list[Sample] = []
    make_corpus(home / "corpus")
    with ExitStack() as stack:
        model = stack.enter_context(Scripted(Path(__file__).with_name("soak_brain.py")))
        model.delay(0.1)
        stack.callback(local.stop)
        with KnowledgeGraph.local(settings) as kg:
            asked = prepare(kg, home / "corpus")
            fresh(kg, {})
            untouched = digest(kg.graph, READ)
        keys = Keys.of(settings)
        tokens = [keys.add(f"soak-{number}", "write") for number in range(PEOPLE + 1)]
        named = model.env(timeout=5.0, cache=False)
        env = os.environ | named | {"KGRAG_HOME": str(settings.home)}
        server = stack.enter_context(Served(settings, named | {"KGRAG_RANKINGS": str(KEPT)}))
        ledger = Ledger()
        url = f"http://127.0.0.1:{server.port}"
        python = PythonUser(ledger, [url, tokens[-1], str(seed)], asked[READ], env)
        stack.callback(python.stop)
        operator = Operator(ledger, home, random.Random(f"{seed} operator"), env)
        until = time.monotonic() + seconds
        users = [RestUser(ledger, seed * 100 + n, server.port, key, THINK, asked) for n, key in enumerate(tokens[:-1])]
        drawn = [random.Random(f"{seed} {n}") for n in range(3)]
        pids = {
            "kgrag serve": lambda: server.process.pid,
            NEO4J: lambda: local.status().pid,
            "Python client": lambda: python.process.pid,
        }
        work: list[Callable[[], object]] = [
            *((lambda user=user: user.use(until)) for user in users),
            lambda: use_mcp(ledger, server, tokens[-1], asked[READ], drawn[0], until),
            lambda: operator.work(until, time.monotonic() + KILLED * seconds),
            lambda: break_model(model, drawn[1], until),
            lambda: kill_parts(ledger, server, local, python, drawn[2], seconds),
        ]
        failures: list[str] = []
        threads = [threading.Thread(target=guarded, args=(one, failures), daemon=True) for one in work]
        heap = Heap(local)
        stack.callback(heap.close)
        with looking(pids, heap, ledger, samples):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        print(f"{ledger.now / 60:5.1f} min: finishing", flush=True)
        model.reset()
        local.ensure_running()
        for user in users:
            user.settle(time.monotonic() + PATIENCE)
        python.stop()
        operator.finish()
        log = (settings.home / "load.log").read_text(encoding="utf-8", errors="replace")
        print(f"{ledger.now / 60:5.1f} min: the same quietly", flush=True)
        equal, differences = compare(settings, operator, users, untouched)
    findings = [*failures, *ledger.findings(), *differences]
    if "Traceback" in log:
        findings.append(f"a traceback in the log of the server: {log[log.index('Traceback') :][:2000]}")
    seen = by_part(samples)
    # Neo4j's memory grows to its configured limit whatever its content; the heap shows the content.
    for part in (*(part for part in pids if part != NEO4J), heap.part) if hours >= JUDGED else ():
        grown = slope(seen[part], seconds) if part in seen else None
        if grown is None:
            findings.append(f"the memory of {part} was not looked at often enough")
        elif not grown.flat:
            findings.append(f"the memory of {part} rises by {grown.slope:.3f} ± {grown.error:.3f} MB a minute")
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    report(out, ledger, samples, seconds, {"hours": hours, "seed": seed, "load": load}, equal, findings)
    return findings


def guarded(work: Callable[[], object], failures: list[str]) -> None:
    """Do some work in a thread; a failure is a finding."""
    try:
        work()
    except Exception as error:
        failures.append(f"the soak itself failed: {type(error).__name__}: {error}")
        raise


def main() -> None:
    """Parse the command line and run the soak test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="folder of the report")
    parser.add_argument("--keep", action="store_true", help="leave the folder of the database and the logs")
    options = parser.parse_args()
    for ended in (signal.SIGINT, signal.SIGTERM):  # a shell starts its background processes with Ctrl-C ignored
        signal.signal(ended, signal.default_int_handler)
    options.out.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="kgrag-soak-"))
    try:
        findings = run(options.hours, options.seed, options.out, home)
    finally:
        if options.keep:
            print(f"The database and the logs are in {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)
    print(f"{options.out / 'report.md'}: {len(findings) or 'no'} findings", *findings, sep="\n  ")
    raise SystemExit(1 if findings else 0)


if __name__ == "__main__":
    main()
