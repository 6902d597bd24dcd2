"""Stores that older versions made open, are migrated, and lose nothing: `make_store` has those versions make them."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from make_store import COLLECTIONS, CORPUS, GERMAN, ROOT, Kgrag, make_store, rankings, write_documents

from kgrag.graph import schema

pytestmark = pytest.mark.slow

COMMITS = ("681f1f6", "1be5608", "c282f36", "e3ab318")
"""0.1.0 as it was first tried, and the last of each schema version since."""

MADE = ROOT / "build" / "upgrades"
DEMO = ROOT / "kgrag" / "demo" / "corpus"
KGRAG = Path(sys.executable).with_name("kgrag")
_LEFT_BEHIND = {"demo": {"summaries", "communities"}}  # they are of what was there when they were made
_KILLED = (0.25, 0.45, 0.6, 0.75, 0.9)  # of the time that a migration takes


@dataclass(frozen=True)
class Anew:
    """What this version makes of the same documents, and how it ranks them."""

    digests: dict[str, dict[str, str]]
    rankings: dict[str, list[str]]


@pytest.fixture(scope="module")
def anew(tmp_path_factory: pytest.TempPathFactory) -> Anew:
    """That."""
    kgrag = Kgrag(KGRAG, tmp_path_factory.mktemp("anew"))
    try:
        _ingest(kgrag)
        kgrag("import", "--format", "triples", MADE / "facts.csv", "-c", "werften", "--language", "de")
        return Anew(_digests(kgrag), rankings(kgrag))
    finally:
        kgrag("down")


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[Any]:
    """`homes(NAME, STORE)`: kgrag over a copy of a store."""
    made: list[Kgrag] = []

    def copy(name: str, store: Path) -> Kgrag:
        shutil.copytree(store, tmp_path / name)
        made.append(Kgrag(KGRAG, tmp_path / name))
        return made[-1]

    yield copy
    for kgrag in made:
        kgrag("down")


def _ingest(kgrag: Kgrag) -> dict[str, dict[str, Any]]:
    return {
        "demo": kgrag.json("ingest", DEMO, "--root", DEMO, "-c", "demo"),
        "hafen": json.loads(kgrag("ingest", write_documents(MADE), "-c", "hafen", "--json", **GERMAN)),
        "probe": json.loads(kgrag("ingest", CORPUS, "-c", "probe", "--json", **GERMAN)),
    }


def _digests(kgrag: Kgrag) -> dict[str, dict[str, str]]:
    return {name: kgrag.json("inspect", name, "--digest") for name in COLLECTIONS}


def _whole(kgrag: Kgrag) -> dict[str, Any]:
    """Hashes of all there is, vectors and times included."""
    return {name: kgrag.json("inspect", name, "--digest", "--all") for name in COLLECTIONS}


def _content(kgrag: Kgrag, folder: Path) -> dict[str, list[str]]:
    """Every node and edge of each collection, but for when it was written."""
    found = {}
    for name in COLLECTIONS:
        kgrag("export", folder / "content.jsonl", "-c", name, "--overwrite")
        lines = (folder / "content.jsonl").read_text("utf-8").splitlines()[1:-1]
        found[name] = sorted(re.sub(r'"(updated|created)": \{[^}]*\}', "", line) for line in lines)
    return found


def _kill(kgrag: Kgrag, after: float) -> bool:
    """Begin a migration and kill it; whether it was at work still."""
    process = subprocess.Popen([*kgrag.command, "db", "migrate"], env=kgrag.environment, stdout=subprocess.DEVNULL)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("commit", COMMITS)
def test_a_store_of_an_older_version(commit: str, anew: Anew, homes: Any, tmp_path: Path) -> None:
    store = make_store(commit, MADE / commit)
    kgrag = homes("home", MADE / commit / "home")
    kgrag("up")
    wanted = f"schema version {store.schema}; this kgrag works with {schema.SCHEMA_VERSION}"
    for refused in (("search", "Fram", "-c", "demo"), ("ingest", CORPUS, "-c", "probe"), ("list", "runs"), ("doctor",)):
        done = kgrag.run(*refused)
        assert done.returncode, refused
        assert wanted in done.stdout + done.stderr, refused
        assert "kgrag db migrate" in done.stdout + done.stderr, refused

    began = time.monotonic()
    steps = kgrag.json("db", "migrate")["steps"]
    seconds = time.monotonic() - began
    assert len(steps) == schema.SCHEMA_VERSION - store.schema
    migrated = _digests(kgrag)
    differ = {
        (name, kind) for name in COLLECTIONS for kind, its in store.digests[name].items() if migrated[name][kind] != its
    }
    # stop words of German are others since 11: words, and what is counted from them, but nothing that was ingested
    words = {(name, kind) for name in ("hafen", "probe") for kind in ("words", "entities", "passages")}
    assert differ <= (words if store.schema < 11 else set())
    assert migrated["probe"] == anew.digests["probe"]
    assert sorted(run["id"] for run in kgrag.json("list", "runs")) == store.runs
    assert [key["name"] for key in kgrag.json("keys", "list")] == store.keys

    ranked = rankings(kgrag)
    same = sum(ranked[question] == store.rankings[question] for question in ranked)
    before, content = _whole(kgrag), _content(kgrag, tmp_path)
    assert kgrag.json("db", "migrate")["steps"] == []
    assert _whole(kgrag) == before, "a second migration writes nothing"
    kgrag("down")

    killed = homes("killed", MADE / commit / "home")
    killed("up")
    assert sum(_kill(killed, seconds * share) for share in _KILLED), "none was at work still"
    killed("db", "migrate")
    assert _content(killed, tmp_path) == content
    killed("down")

    kgrag("up")
    reports = _ingest(kgrag)
    written = {name: report["changed"] for name, report in reports.items()}
    assert not any(report["added"] for report in reports.values())
    assert written == ({"demo": 4, "hafen": 2, "probe": 0} if commit == "681f1f6" else dict.fromkeys(reports, 0))
    again = _digests(kgrag)
    for name in COLLECTIONS:
        kept = {kind: its for kind, its in again[name].items() if kind not in _LEFT_BEHIND.get(name, ())}
        assert kept == {kind: anew.digests[name][kind] for kind in kept}, name
    assert rankings(kgrag) == anew.rankings
    before = _whole(kgrag)
    _ingest(kgrag)
    assert _whole(kgrag) == before, "a second ingest writes nothing"
    print(  # make test-slow shows it with -rP
        f"| {commit} | {store.version} | {store.schema} | {seconds:.1f} | {sorted(differ) or 'equal'} | "
        f"{same} of {len(ranked)} | {written} |"
    )


def test_a_store_of_0_1_goes_to_the_newest_line_of_neo4j_and_then_to_this_version(homes: Any) -> None:
    store = make_store(COMMITS[0], MADE / COMMITS[0])
    kgrag = homes("home", MADE / COMMITS[0] / "home")
    kgrag("up", "--version", "2026")
    assert kgrag.json("db", "status")["line"] == "2026"
    kgrag("db", "migrate")
    digests = _digests(kgrag)
    assert [digests[name] for name in ("demo", "werften")] == [store.digests[name] for name in ("demo", "werften")]
    assert all(rankings(kgrag).values())
