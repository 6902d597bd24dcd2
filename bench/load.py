"""Load-test `kgrag serve`: many clients at once search, ask, upload, delete, cancel and leave in the middle.

    python bench/load.py bench/2wiki --clients 32 --minutes 10
    python bench/load.py bench/2wiki --clients 32 --minutes 10 --kill     kills the server and Neo4j on the way

The folder holds corpus.jsonl and queries.jsonl, the collection for searches and questions; writes go to the demo. The
server of KGRAG_HOME is used and its demo recreated. `kgrag serve` is a separate process, and so is the language model,
which takes 300 ms a call. Each client has a key and waits THINK seconds between requests, on average (exponential,
seeded). First one client searches alone. At the end it reports: answers by kind and status, search times alone and
under load, the memory of the server, and whether the graph holds exactly the remaining uploads, with the digest of the
same documents ingested without load.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import numpy as np
import psutil
from ingest import resolved
from serving import spread

from kgrag import KnowledgeGraph
from kgrag.demo import COLLECTION as WRITTEN
from kgrag.demo import corpus
from kgrag.demo import questions as demo_questions
from kgrag.graph.contents import digest
from kgrag.graph.local.server import LocalServer
from kgrag.server.keys import Keys
from kgrag.settings import Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from scripted import Scripted

READ = "searched"
THINK = 8.0  # seconds between two requests of a client, on average
ALONE = 0.2  # the same for the client that searches alone
QUESTIONS = 200  # asked by that client
MODEL = 0.3  # seconds that a call to the language model takes
PATIENCE = 600.0  # seconds within which everything must have ended
MIX = {
    "search": 60, "ask": 10, "leave an answer": 5, "documents": 5, "upload": 7, "delete": 3, "cancel": 4,
    "leave a job": 3, "collections": 3,
}  # fmt: skip
PEOPLE = ("Colin Archer", "Ada Larsen", "Otto Sverdrup", "Karl Weyprecht", "Nils Holm", "Inga Dahl", "Erik Raudi")
PLACES = ("Larvik", "Tromsø", "Bergen", "Karlskrona", "Bremerhaven", "Dundee", "Hobart", "Hammerfest", "Kiel")


class Served:
    """`kgrag serve` as a process of its own, whose memory is recorded."""

    def __init__(self, settings: Settings, model: dict[str, str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._env = os.environ | model | {"KGRAG_HOME": str(settings.home)}
        self._log = (settings.home / "load.log").open("a")
        self.begun = time.monotonic()
        self.memory: list[tuple[float, float]] = []
        """Seconds since the start, MB."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self._log.close()

    def start(self) -> None:
        """Start the server, and wait until it responds."""
        command = [sys.executable, "-m", "kgrag", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(command, env=self._env, stderr=self._log)
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/readyz").raise_for_status()
                return
            except httpx.HTTPError:
                time.sleep(0.2)

    def look(self) -> None:
        """Record the memory of the server."""
        used = psutil.Process(self.process.pid).memory_info().rss / 1e6
        self.memory.append((time.monotonic() - self.begun, used))


class Client:
    """A simulated user, with the uploads not yet deleted: name -> text."""

    def __init__(self, number: int, port: int, key: str, think: float, questions: dict[str, list[str]]) -> None:
        self.number = number
        self.think = think
        self.answers: Counter[tuple[str, str]] = Counter()
        self.searches: list[float] = []
        self.held: dict[str, str] = {}
        self._jobs: dict[str, dict[str, str | None]] = {}  # id of a job -> documents after it
        self._made = 0
        self._chance = random.Random(number)
        self._questions = questions
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=150)

    def run(self, until: float, mix: dict[str, int] = MIX) -> None:
        """Perform random actions with pauses until `until` (time.monotonic)."""
        while time.monotonic() < until:
            time.sleep(min(self._chance.expovariate(1 / self.think), max(0.0, until - time.monotonic())))
            self._do(self._chance.choices([*mix], [*mix.values()])[0])

    def search(self, collection: str | None = None) -> None:
        """Search, and record the seconds if there was an answer."""
        place = collection or self._chance.choice((READ, READ, WRITTEN))
        self._request("search", "POST", f"collections/{place}/search", json=self._question(place))

    def note(self, kind: str, outcome: str, seconds: float, error: dict[str, str] | None = None) -> None:
        """Record an answer or a failure, with the `error` and its `remedy` if the server gave them."""
        self.answers[kind, outcome] += 1
        if (kind, outcome) == ("search", "200"):
            self.searches.append(1000 * seconds)

    def settle(self, until: float) -> None:
        """Bring every job of this client to success; retry cancelled jobs and those whose server died."""
        while self._jobs:
            for id in list(self._jobs):
                job = self._request("settle", "GET", f"jobs/{id}")
                if job is None:
                    continue
                if job["state"] == "done":
                    self._ended(id)
                elif job["state"] == "failed" and "has no document" in job["error"]:
                    self._ended(id)  # the request was sent twice, and the first one has deleted the document
                elif job["state"] in ("failed", "cancelled"):
                    failed = {"error": job["error"], "remedy": job["remedy"]} if job["error"] else None
                    self.note("job", f"{job['state']}, retried", 0.0, failed)
                    self._request("settle", "POST", f"jobs/{id}/retry")
            if time.monotonic() > until:
                raise SystemExit(f"Jobs that do not end: {', '.join(self._jobs)}")
            time.sleep(1)

    def _do(self, kind: str) -> None:
        match kind:
            case "search":
                self.search()
            case "ask" | "leave an answer":
                place = self._chance.choice((READ, WRITTEN))
                asked = self._question(place) | {"system": self._chance.choice(("single+pathrank", "ircot+hybrid"))}
                self._stream(kind, "POST", f"collections/{place}/ask", json=asked)
            case "documents":
                self._request(kind, "GET", f"collections/{self._chance.choice((READ, WRITTEN))}/documents")
            case "collections":
                self._request(kind, "GET", "collections")
            case "upload":
                self._upload()
            case "delete" if self.held:
                name = self._chance.choice([*self.held])
                del self.held[name]
                self._ask_for(kind, {name: None}, "DELETE", f"collections/{WRITTEN}/documents", params={"key": name})
            case "cancel" if self._jobs:
                self._request(kind, "DELETE", f"jobs/{self._chance.choice([*self._jobs])}")
            case "leave a job" if self._jobs:
                self._stream(kind, "GET", f"jobs/{self._chance.choice([*self._jobs])}/events")
            case _:
                self.search()

    def _question(self, collection: str) -> dict[str, Any]:
        return {"question": self._chance.choice(self._questions[collection])}

    def _upload(self) -> None:
        """Upload up to three small files in one job."""
        texts: dict[str, str | None] = {}
        for _ in range(self._chance.randint(1, 3)):
            self._made += 1
            boat = f"Boat {self.number}-{self._made}"
            builder, place = self._chance.choice(PEOPLE), self._chance.choice(PLACES)
            texts[f"boats/{boat}.txt"] = f"{boat} was built by {builder} in {place}. She sailed to Franz Josef Land."
        files = [("files", (name, (text or "").encode())) for name, text in texts.items()]
        self._ask_for("upload", texts, "POST", f"collections/{WRITTEN}/documents", files=files)

    def _ask_for(self, kind: str, change: dict[str, str | None], method: str, path: str, **given: Any) -> None:
        """Request a job until the server accepts it."""
        while (job := self._request(kind, method, path, **given)) is None:
            time.sleep(1)
        self._jobs[job["id"]] = change

    def _ended(self, id: str) -> None:
        for name, text in self._jobs.pop(id).items():
            if text is not None:
                self.held[name] = text

    def _request(self, kind: str, method: str, path: str, **given: Any) -> Any:
        """Return the reply of the server; None for an error or no reply."""
        begun = time.perf_counter()
        try:
            reply = self._http.request(method, path, **given)
        except httpx.HTTPError as error:
            self.note(kind, type(error).__name__, time.perf_counter() - begun)
            return None
        taken, said = time.perf_counter() - begun, reply.json()
        self.note(kind, str(reply.status_code), taken, None if reply.is_success else said)
        return said if reply.is_success else None

    def _stream(self, kind: str, method: str, path: str, **given: Any) -> None:
        """Follow events to the end, or leave after the first one."""
        status, last, told = "", "", None
        begun = time.perf_counter()
        try:
            with self._http.stream(method, path, headers={"Accept": "text/event-stream"}, **given) as reply:
                status = str(reply.status_code)
                if not reply.is_success:
                    told = json.loads(reply.read())
                for line in reply.iter_lines():
                    if line.startswith("event: "):
                        last = line.removeprefix("event: ")
                        if kind.startswith("leave"):
                            break
                    elif last == "error" and line.startswith("data: "):
                        told = json.loads(line.removeprefix("data: "))
                        last = told["kind"]
        except httpx.HTTPError as error:
            last = type(error).__name__
        self.note(kind, f"{status} {last}".strip(), time.perf_counter() - begun, told)


@contextmanager
def looking(server: Served, seconds: float = 10) -> Iterator[None]:
    """Record the memory of the server every `seconds` while the block runs."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(seconds):
            try:
                server.look()
            except psutil.NoSuchProcess:
                continue  # it was killed

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield
    finally:
        over.set()
        looker.join()


def kill(server: Served, local: LocalServer, seconds: float) -> None:
    """Kill the server after a third of the time and Neo4j after two thirds; start both again."""
    time.sleep(seconds / 3)
    server.process.kill()
    server.process.wait()
    print("killed the server")
    server.start()
    time.sleep(seconds / 3)
    pid = local.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    print("killed Neo4j")
    begun = time.monotonic()
    local.ensure_running()
    print(f"Neo4j was back after {time.monotonic() - begun:.1f} s")


def prepare(kg: KnowledgeGraph, folder: Path) -> dict[str, list[str]]:
    """Create the searched collections; return the questions for each."""
    kg[READ].ingest(folder / "corpus.jsonl")
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {READ: [json.loads(line)["question"] for line in lines], WRITTEN: [q.question for q in demo_questions()]}


def fresh(kg: KnowledgeGraph, held: dict[str, str]) -> None:
    """Recreate the collection for writes: the demo plus these texts."""
    if any(info.name == WRITTEN for info in kg.collections()):
        kg[WRITTEN].delete()
    with tempfile.TemporaryDirectory() as home, corpus() as demo:
        paths = {Path(home) / str(number): name for number, name in enumerate(held)}
        for path, name in paths.items():
            path.write_text(held[name], encoding="utf-8")
        kg[WRITTEN].ingest(demo, root=demo)
        if paths:
            renamed = {path.rename(path.with_suffix(".txt")): name for path, name in paths.items()}
            kg[WRITTEN].ingest(list(renamed), root=home, names=renamed)


def report(server: Served, alone: Client, clients: list[Client]) -> None:
    """Print the clients' observations, and the memory of the server."""
    answers = sum((client.answers for client in clients), Counter())
    for (kind, status), number in sorted(answers.items()):
        print(f"  {number:6,} {kind}: {status}")
    print(f"search, one client    {spread(alone.searches)}")
    times = [seconds for client in clients for seconds in client.searches]
    print(f"search, {len(clients)} clients  {spread(times)}")
    print(f"p95 {np.quantile(times, 0.95) / np.quantile(alone.searches, 0.95):.2f} times that of one client")
    print("load of this machine over 1, 5 and 15 minutes:", *(f"{load:.1f}" for load in os.getloadavg()))
    minutes = {int(seconds // 60): used for seconds, used in reversed(server.memory)}
    print("MB by the minute:", *(f"{used:.0f}" for _, used in sorted(minutes.items())), f"{server.memory[-1][1]:.0f}")
    late = [(seconds, used) for seconds, used in server.memory if seconds > server.memory[-1][0] / 2]
    print(f"of the second half: {60 * np.polyfit(*zip(*late, strict=True), 1)[0]:+.2f} MB a minute")


def compare(kg: KnowledgeGraph, clients: list[Client], untouched: dict[str, str]) -> bool:
    """Return whether the graph holds the expected documents."""
    held = {name: text for client in clients for name, text in client.held.items()}
    found = {d.key for d in kg[WRITTEN].documents(limit=100_000) if d.key.startswith("boats/")}
    print(
        f"{len(held)} documents are to be there; {len(held.keys() - found)} miss, {len(found - held.keys())} too many"
    )
    loaded = digest(kg.graph, WRITTEN)
    fresh(kg, held)
    calm = digest(kg.graph, WRITTEN)
    other = [label for label, value in calm.items() if loaded[label] != value]
    print(f"digest against the same without load: {', '.join(other) + ' differ' if other else 'equal'}")
    same = digest(kg.graph, READ) == untouched
    print(f"digest of what was only read: {'equal' if same else 'CHANGED'}")
    return same and not other and held.keys() == found


def main() -> None:
    """Run the load test, and exit with 1 if anything is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--think", type=float, default=THINK, metavar="SECONDS")
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    settings = Settings()
    local = LocalServer(settings)
    with Scripted() as model, KnowledgeGraph.connect(settings=resolved(settings)) as kg:
        model.say("other", "The Fram was designed by Colin Archer [1]. So the answer is: Colin Archer.")
        model.delay(MODEL)
        questions = prepare(kg, options.folder)
        fresh(kg, {})
        untouched = digest(kg.graph, READ)
        keys = Keys.of(settings)
        tokens = {f"load-{number}": "" for number in range(options.clients + 1)}
        for key in keys.kept():
            if key.name in tokens:
                keys.remove(key.name)
        for name in tokens:
            tokens[name] = keys.add(name, "write")
        with Served(settings, model.env(models={})) as server:
            server.look()
            first, *others = tokens.values()
            alone = Client(0, server.port, first, ALONE, questions)
            for _ in range(QUESTIONS):
                alone.search()
                time.sleep(ALONE)
            clients = [Client(n, server.port, key, options.think, questions) for n, key in enumerate(others, 1)]
            until = time.monotonic() + 60 * options.minutes
            threads = [threading.Thread(target=client.run, args=(until,), daemon=True) for client in clients]
            with looking(server):
                for thread in threads:
                    thread.start()
                if options.kill:
                    kill(server, local, 60 * options.minutes)
                for thread in threads:
                    thread.join()
                for client in clients:
                    client.settle(until + PATIENCE)
            server.look()
            report(server, alone, clients)
        if not compare(kg, clients, untouched):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
