"""Kills: an ingest that is killed, or whose Neo4j is, ends after a rerun in the graph that it would have made."""

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

pytestmark = pytest.mark.slow
Make = Callable[..., list[Document]]
_COLLECTION = "killed"


@pytest.fixture
def corpus(tmp_path: Path, make_documents: Make) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    documents = make_documents(0, 1500)
    rows = [{"id": d.key, "title": d.title, "text": d.text} for d in documents]
    triples = [
        {"passage": d.key, "subject": t.subject, "predicate": t.predicate, "object": t.object}
        for d in documents
        for t in d.triples
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (folder / "triples.jsonl").write_text("".join(json.dumps(t) + "\n" for t in triples))
    return folder


def _ingest(corpus: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgrag", "ingest", str(corpus), "--collection", _COLLECTION, "--json"],
        env=os.environ | env | {"KGRAG_BATCH_PASSAGES": "128"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _vectors(kg: KnowledgeGraph) -> int:
    counts = [c.counts for c in kg.collections() if c.name == _COLLECTION]
    return counts[0].get("Passage", 0) + counts[0].get("Triple", 0) if counts else 0


def _reference(corpus: Path, env: dict[str, str], kg: KnowledgeGraph) -> tuple[dict[str, str], object, int, float]:
    started = time.monotonic()
    process = _ingest(corpus, env)
    out, err = process.communicate()
    assert process.returncode == 0, err
    taken = time.monotonic() - started
    state, near = digest(kg.graph, _COLLECTION), similar(kg.graph, _COLLECTION)
    assert json.loads(out)["embedded"] == _vectors(kg)
    return state, near, _vectors(kg), taken


def _completes(
    kg: KnowledgeGraph, corpus: Path, env: dict[str, str], state: object, near: object, vectors: int
) -> None:
    """Ingest again, and check that only the missing vectors are computed and that the graph is the reference."""
    committed = _vectors(kg)
    again = _ingest(corpus, env)
    out, err = again.communicate()
    assert again.returncode == 0, err
    assert json.loads(out)["embedded"] == vectors - committed
    assert digest(kg.graph, _COLLECTION) == state
    assert overlap(similar(kg.graph, _COLLECTION), near) >= 0.99  # type: ignore[arg-type]


def test_killed_ingests(kg: KnowledgeGraph, neo4j_env: dict[str, str], corpus: Path) -> None:
    state, near, vectors, taken = _reference(corpus, neo4j_env, kg)
    chance = random.Random(7)
    for _ in range(10):
        kg[_COLLECTION].delete()
        process = _ingest(corpus, neo4j_env)
        time.sleep(chance.uniform(0.1, 1.0) * taken)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        _settle(kg)
        _completes(kg, corpus, neo4j_env, state, near, vectors)


def test_killed_servers(tmp_path: Path, corpus: Path) -> None:
    settings = Settings(_env_file=None, home=tmp_path / "home")  # type: ignore[call-arg]
    server = LocalServer(settings)
    env = {"KGRAG_HOME": str(settings.home)}
    with KnowledgeGraph.local(settings) as kg:
        state, near, vectors, taken = _reference(corpus, env, kg)
        kg[_COLLECTION].delete()
    chance = random.Random(11)
    try:
        for _ in range(3):
            process = _ingest(corpus, env)
            time.sleep(chance.uniform(0.3, 0.9) * taken)
            pid = server.status().pid
            assert pid is not None
            psutil.Process(pid).kill()
            _, err = process.communicate(timeout=120)
            assert process.returncode in (0, 3), err
            assert "Traceback" not in err
            with KnowledgeGraph.local(settings) as kg:
                _completes(kg, corpus, env, state, near, vectors)
                kg[_COLLECTION].delete()
    finally:
        server.stop()


def _settle(kg: KnowledgeGraph, seconds: float = 30) -> None:
    """Wait until the server has ended the transactions of the killed client."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        before = _vectors(kg)
        time.sleep(1)
        if _vectors(kg) == before:
            return
