"""The users of kgrag in soak.py, and the ledger of their observations."""

import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from load import MIX, READ, WRITTEN, Client, Served

from kgrag.cli import GROUPS

FILES = "files"
"""The collection that the operator keeps in step with a folder."""

_COPY = "copy"
_JOBS = {"extract": 3, "resolve": 2, "tree": 1, "communities": 1}
_FIRST = ("Ada", "Colin", "Erik", "Inga", "Karl", "Nils", "Otto", "Signe", "Tora", "Ulf")
_LAST = ("Archer", "Berg", "Dahl", "Falk", "Holm", "Larsen", "Raudi", "Sverdrup", "Vik", "Weyprecht")
_PLACES = ("Port Arvik", "Cape Dundee", "Lake Kiel", "New Bergen", "Saint Olav", "Upper Hobart", "West Larvik")
_CLOSE = 3.0  # seconds around the server's downtime in which a connection may fail


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a user, `at` seconds from the start, with the error and remedy that the user read."""

    at: float
    who: str
    kind: str
    outcome: str
    seconds: float
    error: str = ""
    remedy: str = ""

    @property
    def text(self) -> str:
        """The error without its variable parts: numbers and file names."""
        return re.sub(r"\b[0-9a-f]{32}\b|\d+(\.\d+)?|/\S+", "N", " ".join((self.error or self.outcome).split()))


class Ledger:
    """The operations, and the times when the server was down after a kill. Thread-safe."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.operations: list[Operation] = []
        self.kills: list[tuple[float, str, float]] = []
        """When, what, and after how many seconds it was back; 0 for a command, which does not come back by itself."""
        self._down: list[tuple[float, float]] = []

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begun

    def note(self, who: str, kind: str, outcome: str, seconds: float, error: str = "", remedy: str = "") -> None:
        """Record an operation that has just ended."""
        self.operations.append(Operation(self.now - seconds, who, kind, outcome, seconds, error, remedy))

    @contextmanager
    def down(self, part: str) -> Iterator[None]:
        """Record a part that is killed and restarted in this block; connections to it may break meanwhile."""
        begun = self.now
        yield
        self.kills.append((begun, part, self.now - begun))
        if part == "server":
            self._down.append((begun - _CLOSE, self.now + _CLOSE))

    def findings(self) -> list[str]:
        """Return the distinct errors without a remedy."""
        return list(dict.fromkeys(found for operation in self.operations if (found := self._finding(operation))))

    def _finding(self, operation: Operation) -> str:
        where = f"{operation.who}, {operation.kind}: {operation.text}"
        if "Traceback" in operation.error:
            return f"a traceback ({where})"
        if operation.outcome.startswith(("500", "unexpected")) or "Something went wrong" in operation.error:
            return f"an unexpected error ({where})"
        if operation.error and not operation.remedy:
            return f"an error without a remedy ({where})"
        if operation.outcome == "nothing found":
            return f"a search found nothing ({where})"
        end = operation.at + operation.seconds
        broken = not operation.error and operation.outcome.endswith("Error")
        if broken and not any(operation.at < until and since < end for since, until in self._down):
            return f"a connection that broke while the server was up ({where})"
        return ""


class RestUser(Client):
    """A user of REST who searches, asks, uploads, deletes and starts jobs."""

    def __init__(self, ledger: Ledger, *given: Any) -> None:
        super().__init__(*given)
        self._ledger = ledger

    def note(self, kind: str, outcome: str, seconds: float, error: Mapping[str, str] | None = None) -> None:
        """See load.Client."""
        said = error or {}
        self._ledger.note("REST", kind, outcome, seconds, said.get("error", ""), said.get("remedy", ""))

    def use(self, until: float) -> None:
        """Perform random actions with pauses until `until` (time.monotonic)."""
        self.run(until, MIX | _JOBS)

    def _do(self, kind: str) -> None:
        if kind in _JOBS:
            asked = {"kind": kind, "parameters": {}}
            self._ask_for(kind, {}, "POST", f"collections/{WRITTEN}/jobs", json=asked)
        else:
            super()._do(kind)


def use_mcp(
    ledger: Ledger, server: Served, key: str, questions: list[str], chance: random.Random, until: float
) -> None:
    """Search by the tool of /mcp, every four seconds on average, until `until` (time.monotonic)."""
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=150) as http:
        while time.monotonic() < until:
            time.sleep(min(chance.expovariate(1 / 4), max(0.0, until - time.monotonic())))
            given = {"name": "search", "arguments": {"question": chance.choice(questions), "collection": READ}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": given}
            begun = time.perf_counter()
            try:
                reply = http.post("/mcp", json=call)
            except httpx.HTTPError as error:
                ledger.note("MCP", "search", type(error).__name__, time.perf_counter() - begun)
                continue
            said, error, remedy = reply.json(), "", ""
            if not reply.is_success:
                error, remedy = said["error"], said["remedy"]
            elif said.get("error"):
                error = json.dumps(said["error"])
            elif said["result"].get("isError"):  # the error and its remedy
                error, _, remedy = said["result"]["content"][0]["text"].partition(". ")
            ledger.note("MCP", "search", str(reply.status_code), time.perf_counter() - begun, error, remedy)


class PythonUser:
    """soak_reader.py as a process, which may be killed."""

    def __init__(self, ledger: Ledger, arguments: list[str], questions: list[str], env: dict[str, str]) -> None:
        self._ledger, self._questions, self._env = ledger, questions, env
        self._command = [sys.executable, str(Path(__file__).with_name("soak_reader.py")), *arguments]
        self._follower = threading.Thread()
        self.start()

    def start(self) -> None:
        """Start the process."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self._command, env=self._env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        assert self.process.stdin is not None
        self.process.stdin.write("\n".join(self._questions) + "\n\n")
        self.process.stdin.flush()
        self._follower = threading.Thread(target=self._follow, args=(self.process,), daemon=True)
        self._follower.start()

    def kill(self) -> None:
        """Kill the process, and start it again."""
        with self._ledger.down("Python client"):
            self.process.kill()
            self._follower.join(30)
            self.start()

    def stop(self) -> None:
        """Close standard input, and wait until the process ends."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._follower.join(30)

    def _follow(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            self._ledger.note("Python", **json.loads(line))
        said = process.stderr.read()
        if process.wait() > 0:
            self._ledger.note("Python", "the process", f"unexpected end {process.returncode}", 0.0, said)


class Operator:
    """An operator who runs commands, one at a time, for a changing folder and the collection that mirrors it."""

    def __init__(self, ledger: Ledger, folder: Path, chance: random.Random, env: dict[str, str]) -> None:
        self._ledger, self._chance, self._env = ledger, chance, env
        self._folder, self._out = folder / "files", folder
        self._usual: dict[str, float] = {}  # seconds that a command took the last time
        self._made = 0
        self._folder.mkdir()
        for _ in range(40):
            self._write_file()

    def work(self, until: float, backups_until: float) -> None:
        """Run commands until `until` (time.monotonic), and backups, which stop Neo4j, until `backups_until`."""
        steps = {
            self._change: 30, self._extract: 20, self._resolve: 8, self._delete: 8, self._look: 12, self._export: 6,
            self._tree: 4, self._communities: 4, self._repair: 4, self._backup: 3,
        }  # fmt: skip
        self._ingest()
        while time.monotonic() < until:
            step = self._chance.choices([*steps], [*steps.values()])[0]
            if step == self._backup and time.monotonic() > backups_until:
                step = self._look
            step()
            time.sleep(self._chance.uniform(0, 2))

    def finish(self) -> None:
        """Finish all open work by the same commands; delete the collection `copy`."""
        self._always("ingest", str(self._folder), "--root", str(self._folder), "-c", FILES, "--prune", "--yes")
        for collection in (FILES, WRITTEN):
            for kind in ("tree", "communities"):  # their result depends on the order in which documents came
                self._always(kind, collection, "--remove")
            self._always("extract", "-c", collection)
            self._always("resolve", collection, "--apply")
        self._run("delete", "--collection", _COPY, "--yes")

    def again(self) -> None:
        """Delete the collection and ingest the folder once more."""
        self._always("delete", "--collection", FILES, "--yes")
        self._always("ingest", str(self._folder), "--root", str(self._folder), "-c", FILES)

    def _always(self, *arguments: str) -> None:
        for _ in range(5):
            if self._run(*arguments) == 0:
                return
        raise SystemExit(f"kgrag {' '.join(arguments)} does not end well:\n{self._ledger.operations[-1].error}")

    def _perhaps_killed(self, *arguments: str) -> None:
        """Run a command; kill one in four on its way, and rerun every other of these at once."""
        after = None
        if self._chance.random() < 0.25:
            after = self._chance.uniform(0.1, 1.0) * self._usual.get(_named(arguments), 5.0)
        if self._run(*arguments, kill_after=after) == -9 and self._chance.random() < 0.5:
            self._run(*arguments)

    def _run(self, *arguments: str, kill_after: float | None = None) -> int:
        """Run a command, and log its output; return its exit status, -9 if it was killed."""
        command = [sys.executable, "-m", "kgrag", *arguments]
        name = _named(arguments)
        begun = time.perf_counter()
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=self._env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as process:
            try:
                _, raw = process.communicate(timeout=kill_after)
            except subprocess.TimeoutExpired:
                process.kill()
                _, raw = process.communicate()
                self._ledger.kills.append((self._ledger.now, f"kgrag {name}", 0.0))
        seconds, said, ended = time.perf_counter() - begun, raw.decode(errors="replace"), process.returncode
        error, remedy = _told(said) if ended > 0 or "Traceback" in said else ("", "")
        if ended == 0:
            self._usual[name] = seconds
        outcome = "ok" if ended == 0 else "killed" if ended == -9 else f"exit {ended}"
        self._ledger.note("commands", name, outcome, seconds, error, remedy)
        return ended

    def _change(self) -> None:
        """Add, change and delete files; then bring the collection up to date."""
        for _ in range(self._chance.randint(1, 4)):
            self._write_file()
        for path in self._some(2):
            path.write_text(path.read_text(encoding="utf-8") + self._sentence(), encoding="utf-8")
        for path in self._some(2):
            path.unlink()
        self._ingest()

    def _ingest(self) -> None:
        self._perhaps_killed("ingest", str(self._folder), "--root", str(self._folder), "-c", FILES, "--prune", "--yes")

    def _delete(self) -> None:
        for path in self._some(1):
            path.unlink()
            self._perhaps_killed("delete", "--document", path.name, "-c", FILES, "--yes")

    def _extract(self) -> None:
        self._perhaps_killed("enrich", "extract", "-c", self._chance.choice((FILES, FILES, WRITTEN)))

    def _resolve(self) -> None:
        self._perhaps_killed("enrich", "resolve", FILES, "--apply")

    def _tree(self) -> None:
        self._perhaps_killed("enrich", "tree", FILES)

    def _communities(self) -> None:
        self._perhaps_killed("enrich", "communities", FILES)

    def _repair(self) -> None:
        self._perhaps_killed("db", "repair", FILES)

    def _backup(self) -> None:
        with self._ledger.down("Neo4j, by a backup"):
            self._run("db", "backup", str(self._out / "all.dump"), "--overwrite")

    def _export(self) -> None:
        """Export a collection, delete it and import it again."""
        file = str(self._out / "copy.jsonl.gz")
        self._perhaps_killed("ingest", str(self._folder), "--root", str(self._folder), "-c", _COPY)
        self._perhaps_killed("export", file, "-c", _COPY, "--overwrite")
        if Path(file).exists():
            self._perhaps_killed("delete", "--collection", _COPY, "--yes")
            self._perhaps_killed("import", file)
            self._perhaps_killed("delete", "--collection", _COPY, "--yes")

    def _look(self) -> None:
        looks = (
            ("search", self._sentence(), "-c", FILES), ("ask", self._sentence(), "-c", FILES), ("inspect", FILES),
            ("inspect", FILES, "--digest"), ("collections",), ("db", "status"), ("show", self._name(), "-c", FILES),
        )  # fmt: skip
        self._run(*self._chance.choice(looks))

    def _some(self, most: int) -> list[Path]:
        paths = sorted(self._folder.iterdir())
        return self._chance.sample(paths, min(self._chance.randint(0, most), len(paths)))

    def _write_file(self) -> None:
        self._made += 1
        text = "".join(self._sentence() for _ in range(self._chance.randint(3, 40)))
        (self._folder / f"voyage-{self._made}.md").write_text(f"# Voyage {self._made}\n\n{text}\n", encoding="utf-8")

    def _sentence(self) -> str:
        place = self._chance.choice(_PLACES)
        return f"{self._name()} sailed from {place} with {self._name()} in {self._chance.randint(1700, 1900)}. "

    def _name(self) -> str:
        return f"{self._chance.choice(_FIRST)} {self._chance.choice(_LAST)}"


def _named(arguments: tuple[str, ...]) -> str:
    """Return the name of a command, with its group."""
    return " ".join(arguments[: 2 if arguments[0] in GROUPS else 1])


def _told(said: str) -> tuple[str, str]:
    """Return the error that a command printed on standard error, and the remedy after it."""
    if "Traceback" in said:
        return said[said.index("Traceback") :], ""
    lines = [line for line in said.splitlines() if line.strip()]
    first = next((n for n, line in enumerate(lines) if line.startswith("Error:")), None)
    if first is not None:
        return lines[first], " ".join(lines[first + 1 :])
    for line in lines:
        if line.startswith(("There is no answer: ", "Problem: ")):  # a failed answer, in one line
            error, _, remedy = line.partition(". ")
            return error, remedy
    again = [line for line in lines if "run the same command again" in line]
    return "\n".join(lines), " ".join(again)
