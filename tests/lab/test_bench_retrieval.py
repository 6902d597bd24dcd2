"""bench/retrieval.py on a small set, and its cross-validation on synthetic values."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kgrag import KnowledgeGraph
from kgrag.settings import Settings

_BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(_BENCH))
from retrieval import Values, crossed  # noqa: E402

_PASSAGES = {
    "fram": "The Fram was designed by Colin Archer.",
    "archer": "Colin Archer was born in Larvik.",
    "larvik": "Larvik lies by the sea.",
    "bread": "Rye is baked into loaves.",
}


@pytest.fixture
def small(tmp_path: Path, kg: KnowledgeGraph) -> Iterator[Path]:
    folder = tmp_path / "small-ships"
    folder.mkdir()
    corpus = [{"id": name, "title": name.title(), "text": text} for name, text in _PASSAGES.items()]
    questions = [
        {"id": "1", "question": "Where was the designer of the Fram born?", "gold": ["fram", "archer"], "type": "2hop"},
        {"id": "2", "question": "Where does Larvik lie?", "gold": ["larvik"], "type": "1hop"},
    ]
    for name, rows in (("corpus", corpus), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield folder
    for collection in kg.collections():
        if collection.name.startswith("eval-wordllama"):
            kg[collection.name].delete()


def _run(settings: Settings, *arguments: object) -> list[str]:
    password = settings.neo4j_password
    given = {"URI": settings.neo4j_uri, "USER": settings.neo4j_user}
    environment = {**os.environ, **{f"KGRAG_NEO4J_{name}": str(value) for name, value in given.items()}}
    if password is not None:
        environment["KGRAG_NEO4J_PASSWORD"] = password.get_secret_value()
    command = [sys.executable, str(_BENCH / "retrieval.py"), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_table_by_hops_and_a_sweep(graph_settings: Settings, small: Path, tmp_path: Path) -> None:
    bm25 = ("--retriever", "bm25", "--retriever", "dense")
    lines = _run(graph_settings, small, *bm25, "--hops", "--out", tmp_path / "runs")
    assert lines[2:5] == [
        "| small-ships | 2 | `wordllama` | `bm25` | 100.0 | 100.0 | 100.0 | 1.000 | 1.000 |",
        "| small-ships 2 | 1 | `wordllama` | `bm25` | 100.0 | 100.0 | 100.0 | 1.000 | 1.000 |",
        "| small-ships 1 | 1 | `wordllama` | `bm25` | 100.0 | 100.0 | 100.0 | 1.000 | 1.000 |",
    ]
    assert len(lines) == 8
    swept = _run(graph_settings, small, "--retriever", "top", "--vary", "k=1,100", "--out", tmp_path / "runs")
    assert [line.split(" | ")[0] for line in swept[2:]] == [
        "| k=1", "| k=100", "| k: chosen by the other sets",
    ]  # fmt: skip
    assert "-25.00" in swept[2] and "+0.00 (+0.00, +0.00)" in swept[3]


def test_a_value_is_chosen_by_the_other_sets() -> None:
    """x=1 is best on two of three sets; the first set is measured with the value that the others prefer."""

    def of(share: float) -> Values:
        return np.full((4, 5), share)

    scores = {
        "one": {"r": of(0.5), "r(x=1)": of(0.45)},
        "two": {"r": of(0.5), "r(x=1)": of(0.8)},
        "three": {"r": of(0.5), "r(x=1)": of(0.6)},
    }
    said = crossed(scores, ["r", "r(x=1)"])
    assert said == "+11.67 | one 1: -5.0; two 1: +30.0; three 1: +10.0"
    scores["three"]["r(x=1)"] = of(0.5)
    assert crossed(scores, ["r", "r(x=1)"]) == "-1.67 | one 1: -5.0; two default: +0.0; three 1: +0.0"
