"""Kills at random moments of each path into the graph: a second run makes the same graph as one run.

KILLS=40 kills each path forty times; a kill takes about half a minute.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from neighbours import overlap, similar

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings
from kgrag.values.documents import Document

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
Make = Callable[..., list[Document]]
_COLLECTION = "killed"
_KILLS = int(os.environ.get("KILLS", "3"))
_INGEST = ["ingest", "corpus", "-c", _COLLECTION, "--json"]
_PATHS = {
    "first load": _INGEST, "incremental": _INGEST, "processes": [*_INGEST, "--engine", "processes", "--workers", "2"],
    "import": ["import", "killed.jsonl", "--json"],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, make_documents: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run commands in, with 1,500 documents and their triples in two parts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    documents = make_documents(0, 1500)
    for name, part in (("first", documents[:500]), ("second", documents[500:])):
        rows = [{"id": d.key, "title": d.title, "text": d.text} for d in part]
        triples = [
            {"passage": d.key, "subject": t.subject, "predicate": t.predicate, "object": t.object}
            for d in part
            for t in d.triples
        ]
        (tmp_path / f"corpus/{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / f"corpus/{name}.triples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in triples))
    return tmp_path


def _start(words: list[str], env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgrag", *words],
        env=os.environ | env | {"KGRAG_BATCH_PASSAGES": "128"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _done(words: list[str], env: dict[str, str]) -> float:
    """Run a command to its end, and return its seconds."""
    began, process = time.monotonic(), _start(words, env)
    _, error = process.communicate()
    # an import killed after its last row has nothing left to do
    assert process.returncode == 0 or (words[0] == "import" and "There is a collection" in error), error
    return time.monotonic() - began


def _prepare(kg: KnowledgeGraph, path: str, env: dict[str, str]) -> None:
    if _COLLECTION in kg:
        kg[_COLLECTION].delete()
    if path == "incremental":
        _done(["ingest", "corpus/first.jsonl", "corpus/first.triples.jsonl", *_INGEST[2:]], env)


@pytest.mark.parametrize("path", _PATHS)
def test_killed_path_ends_in_the_same_graph(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], folder: Path, path: str
) -> None:
    _prepare(kg, "first load", neo4j_env)
    _done(_INGEST, neo4j_env)
    wanted, near = digest(kg.graph, _COLLECTION), similar(kg.graph, _COLLECTION)
    kg[_COLLECTION].export("killed.jsonl")
    _prepare(kg, path, neo4j_env)
    taken = _done(_PATHS[path], neo4j_env)
    chance = random.Random(7)
    for _ in range(_KILLS):
        _prepare(kg, path, neo4j_env)
        process = _start(_PATHS[path], neo4j_env)
        time.sleep(chance.uniform(0.1, 1.0) * taken)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        _wait_for_transactions(kg)
        _done(_PATHS[path], neo4j_env)
        assert digest(kg.graph, _COLLECTION) == wanted
        assert overlap(similar(kg.graph, _COLLECTION), near) >= 0.99
    kg[_COLLECTION].delete()


def test_killed_servers(tmp_path: Path, folder: Path) -> None:
    settings = Settings(_env_file=None, home=tmp_path / "home")  # type: ignore[call-arg]
    server = LocalServer(settings)
    env = {"KGRAG_HOME": str(settings.home)}
    with KnowledgeGraph.local(settings) as kg:
        taken = _done(_INGEST, env)
        wanted = digest(kg.graph, _COLLECTION)
        kg[_COLLECTION].delete()
    chance = random.Random(11)
    try:
        for _ in range(_KILLS):
            process = _start(_INGEST, env)
            time.sleep(chance.uniform(0.3, 0.9) * taken)
            pid = server.status().pid
            assert pid is not None
            psutil.Process(pid).kill()
            _, error = process.communicate(timeout=120)
            assert process.returncode in (0, 3), error
            assert "Traceback" not in error
            with KnowledgeGraph.local(settings) as kg:
                _done(_INGEST, env)
                assert digest(kg.graph, _COLLECTION) == wanted
                kg[_COLLECTION].delete()
    finally:
        server.stop()


def _wait_for_transactions(kg: KnowledgeGraph, seconds: float = 30) -> None:
    """Wait until the server has ended the transactions of the killed client."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        before = kg.collections()
        time.sleep(1)
        if kg.collections() == before:
            return
