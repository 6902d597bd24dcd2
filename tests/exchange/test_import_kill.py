"""Kills: an import that is killed ends after a rerun in the graph that was exported."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.contents import fingerprint
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.slow

_LAST = ("Nansen", "Archer", "Sverdrup", "Wisting", "Amundsen", "Johansen", "Peary")


def _documents(number: int) -> list[Document]:
    chance = random.Random(3)
    names = [f"{chr(65 + i % 26)}{'aeiou'[i % 5]}nor {_LAST[i % 7]} {i}" for i in range(number)]
    return [
        Document(f"d{i}", (Section(f"{name} sailed with {chance.choice(names)} and {chance.choice(names)}."),), name)
        for i, name in enumerate(names)
    ]


def _import(path: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgrag", "import", str(path), "--json"],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_imports(kg: KnowledgeGraph, neo4j_env: dict[str, str], tmp_path: Path) -> None:
    kg["killed"].ingest(_documents(2500))
    path = tmp_path / "killed.jsonl"
    kg["killed"].export(str(path))
    kg["killed"].delete()
    began = time.monotonic()
    whole = _import(path, neo4j_env)
    out, error = whole.communicate()
    assert whole.returncode == 0, error
    taken = time.monotonic() - began
    total = fingerprint(kg.graph, "killed").total()
    kg["killed"].delete()
    chance, broken_off = random.Random(5), 0
    for _ in range(6):
        process = _import(path, neo4j_env)
        time.sleep(chance.uniform(0.2, 1) * taken)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        time.sleep(2)  # until the server has ended what it was writing
        again = _import(path, neo4j_env)
        out, error = again.communicate()
        if "There is a collection" in error:  # the killed one had come to its end
            assert again.returncode != 0
        else:
            assert again.returncode == 0, error
            broken_off += json.loads(out)["resumed"] > 0
        assert fingerprint(kg.graph, "killed").total() == total
        assert kg["killed"].search("Who sailed with Nansen?", retriever="bm25").hits
        kg["killed"].delete()
    assert broken_off, "at least one was killed amid its work"
