"""The five tasks of docs/coming-from.md: kgrag does them as the page says, and the page shows all measurements."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kgrag import KnowledgeGraph

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "bench" / "peers"


@pytest.fixture(scope="module")
def runner() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PEERS))
        yield importlib.import_module("five_tasks")
    for name in ("five_tasks", "tasks"):
        sys.modules.pop(name)


@pytest.mark.long
def test_kgrag_does_the_five_tasks(
    runner: ModuleType, kg: KnowledgeGraph, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    folder, store, asked = tmp_path / "articles", tmp_path / "store", tmp_path / "questions.json"
    store.mkdir()
    asked.write_text(json.dumps(runner.written(folder)), encoding="utf-8")
    assert len(list(folder.rglob("*.md"))) == 66
    login = {
        "NEO4J_URI": neo4j_env["KGRAG_NEO4J_URI"],
        "NEO4J_USERNAME": neo4j_env["KGRAG_NEO4J_USER"],
        "NEO4J_PASSWORD": neo4j_env["KGRAG_NEO4J_PASSWORD"],
    }
    env = {**neo4j_env, **login, "HOME": str(tmp_path)}
    command = [sys.executable, str(PEERS / "with_kgrag.py"), str(folder), str(store), str(asked)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    finally:
        kg["articles"].delete(missing_ok=True)
    assert done.returncode == 0, done.stderr
    told = {each["task"]: each["outcome"] for each in map(json.loads, done.stdout.splitlines())}
    assert told["ingest"] == "66 documents"
    assert told["ask"]["both"] is True and told["ask"]["whole"] >= 12 and told["ask"]["of"] == 20
    assert told["change"] == {"found": True, "left": 0}
    assert told["delete"] == {"left": 0}
    assert told["explain"] == "-names- Fram -title of- Fram (ship) -mentions- Colin Archer -title of- Colin Archer"
    assert told["only"] == {"found": 5, "of that kind": 5}


def test_lines_are_those_that_a_user_writes(runner: ModuleType) -> None:
    lines = runner.counted(PEERS / "with_kgrag.py")
    assert lines == {"ingest": 3, "ask": 1, "change": 1, "delete": 1, "explain": 2, "only": 1}
    assert runner.counted(PEERS / "with_lightrag_graph.py")["ingest"] == 25  # the other script starts it


def test_the_page_has_every_system_with_every_task(runner: ModuleType) -> None:
    page = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    measured = [(row[0].rpartition(" ")[0], row[1]) for row in rows if row[1:2] and row[1] in runner.TASKS.values()]
    whole = [system for name, system in runner.SYSTEMS.items() if name != "nano-graphrag"]
    wanted = [(system.title, task) for system in whole for task in runner.TASKS.values()]
    assert sorted(measured) == sorted([*wanted, ("nano-graphrag", runner.TASKS["ingest"])])
