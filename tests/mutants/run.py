"""Planted faults: each of `mutants.toml` is put into a copy of the product, where a test must fail.

    .venv/bin/python tests/mutants/run.py [NAME or AREA ...] [--list] [--json]

The tests run one mutant at a time and share one Neo4j, which the first test that needs it starts. Exits with 1 if an
unmarked mutant survives, a marked one is killed, or the table does not fit the product.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("mutants.toml")
PAPERS = frozenset({"equations", "training", "reproduction"})
"""Areas of faults in numbers and formulas of papers."""
AREAS = PAPERS | set(
    "access agents chunking citations dates exchange extraction filters fusion gateway identity ledger loaders "
    "measures models ranking wire".split()
)
_COPIED = ("kgrag", "loaders", "cypher", "tests", "pyproject.toml")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_SECONDS = 300  # for one mutant


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `old`, which occurs once in `file`, becomes `new`; one of `tests` must fail then.

    `survives`: why no test fails yet.
    """

    name: str
    area: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    def wrong(self, root: Path = ROOT) -> str:
        """Return the fault of the entry itself; empty if it has none."""
        found = (root / self.file).read_text(encoding="utf-8").count(self.old)
        return "" if found == 1 else f"`old` occurs {found} times in {self.file}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a mutant; `by`: the test that failed, `problem`: the fault of the entry."""

    name: str
    area: str
    by: str
    problem: str
    seconds: float
    survives: str

    @property
    def good(self) -> bool:
        """Whether the result agrees with the table."""
        return not self.problem and bool(self.by) != bool(self.survives)

    def __str__(self) -> str:
        said = self.problem or (f"killed by {self.by}" if self.by else f"known survivor: {self.survives}")
        if not self.problem and not self.good:
            said = f"{said}: take its mark away" if self.by else "SURVIVED"
        return f"{'  ' if self.good else '! '}{self.area}: {self.name}: {said} ({self.seconds:.0f} s)"


def mutants() -> list[Mutant]:
    """Return the mutants of the table."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows]


class Bench:
    """A copy of the product with its tests, and the home of a Neo4j."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "copy"
        self.folder.mkdir()
        for name in _COPIED:
            source, target = ROOT / name, self.folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, target)
        for name in ("loaders", "cypher"):  # like an installation
            (self.folder / "kgrag" / name).symlink_to(self.folder / name)
        self.settings = Settings(_env_file=None, home=folder / "home")  # type: ignore[call-arg]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KGRAG_")}
        cache = {name: os.environ[name] for name in ("KGRAG_CACHE",) if name in os.environ}
        own = {"PYTHONPATH": str(self.folder), "KGRAG_TEST_HOME": str(self.settings.home), "JDK_JAVA_OPTIONS": _JAVA}
        self.env = {**kept, **cache, **own}
        says = (
            "import kgrag, kgrag.loaders, kgrag.cypher as c; print(kgrag.__file__, kgrag.loaders.__file__, c.__file__)"
        )
        run = subprocess.run(
            [sys.executable, "-c", says], cwd=self.folder, env=self.env, capture_output=True, text=True, check=True
        )
        if any(not place.startswith(str(self.folder)) for place in run.stdout.split()):
            raise SystemExit(f"The copy is not what is imported: {run.stdout}")

    def test(self, tests: Sequence[str], *, seconds: float | None = _SECONDS, **env: str) -> tuple[int, str]:
        """Return the exit status of pytest, and its output."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=short", f"--basetemp={self.folder.parent / 'temp'}"]
        command = [sys.executable, "-m", "pytest", *options, *tests]
        try:
            run = subprocess.run(
                command, cwd=self.folder, env=self.env | env, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return 1, f"FAILED {tests[0]} - takes for ever"
        return run.returncode, run.stdout + run.stderr

    def try_out(self, mutant: Mutant) -> Outcome:
        """Return whether the tests of a mutant detect it."""
        started = time.monotonic()
        by, problem = "", mutant.wrong(self.folder)
        if not problem:
            with self.planted(mutant):
                code, said = self.test(mutant.tests, PYTHONDONTWRITEBYTECODE="1")
            failed = _FAILED.search(said)
            if code == 1 and failed:
                by = failed[1]
            elif code != 0:
                problem = f"pytest ends with {code}: {said.strip().splitlines()[-1]}"
            if code != 0:
                self.clear()
        return Outcome(mutant.name, mutant.area, by, problem, time.monotonic() - started, mutant.survives)

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """Put the fault into the copy during the block; restore the file with its time, which bytecode records."""
        path = self.folder / mutant.file
        text, stat = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def clear(self) -> None:
        """Remove the collections left by a failed test."""
        if not LocalServer(self.settings).status().running:
            return
        with KnowledgeGraph.connect(settings=self.settings) as kg:
            for info in kg.collections():
                kg[info.name].delete()

    def close(self) -> None:
        """Stop the Neo4j."""
        if self.settings.home.exists():
            LocalServer(self.settings).stop()


def main() -> int:
    """Run the named mutants."""
    parser = argparse.ArgumentParser(description="Plant faults; tests must see them.")
    parser.add_argument("wanted", nargs="*", metavar="NAME or AREA", help="none: all")
    parser.add_argument("--list", action="store_true", help="list them")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    given = parser.parse_args()
    chosen = [m for m in mutants() if not given.wanted or m.name in given.wanted or m.area in given.wanted]
    if not chosen:
        parser.error("there is none of that name or area")
    if given.list:
        for m in chosen:
            print(f"{m.area}: {m.name}" + (f" (known survivor: {m.survives})" if m.survives else ""))
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores Ctrl-C for background processes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="kgrag-mutants-") as folder:
        bench = Bench(Path(folder))
        try:
            code, said = bench.test(sorted({test for m in chosen for test in m.tests}), seconds=None)
            if code != 0:
                print(said, "The tests fail without any fault.", sep="\n", file=sys.stderr)
                return 1
            for mutant in chosen:
                outcomes.append(bench.try_out(mutant))
                print(outcomes[-1], file=sys.stderr if given.json else sys.stdout, flush=True)
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            return 130
        finally:
            bench.close()
    if given.json:
        print(json.dumps([{**asdict(outcome), "good": outcome.good} for outcome in outcomes], indent=1))
    else:
        print(f"{sum(bool(outcome.by) for outcome in outcomes)} of {len(outcomes)} killed")
    return int(not all(outcome.good for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
