"""Each framework, installed in a separate environment as its users do, gives kgrag's hits and answers."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.adapters

_NAME = "adapted ships"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_ANSWER = "He was born in Nordvika [1]."
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ships(fill: Callable[..., str]) -> str:
    texts = {
        "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
        "Ole Brandvik": "Ole Brandvik was born in Nordvika.",
        "Larvik": "Larvik lies on the coast.",
    }
    documents = [Document(t, (Section(text),), t, metadata={"country": "Norway"}) for t, text in texts.items()]
    return fill(_NAME, documents)


@pytest.mark.parametrize("framework", ["langchain", "llama-index", "haystack", "neo4j-graphrag"])
def test_a_framework_finds_and_answers_what_kgrag_does(
    kg: KnowledgeGraph, ships: str, neo4j_env: dict[str, str], scripted: Scripted, framework: str
) -> None:
    scripted.say("answer", _ANSWER, _ANSWER)
    program = Path(__file__).with_name(f"with_{framework.replace('-', '_')}.py")
    python = _ROOT / f".venv-{framework}" / "bin" / "python"
    run = subprocess.run(
        [python, program, ships, _QUESTION],
        env={**os.environ, **neo4j_env, **scripted.env()},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    ranking = kg[ships].search(_QUESTION, k=2)
    assert found["titles"] == [hit.passage.title for hit in ranking]
    assert found["filtered"] == 0
    assert set(found["titles"]) == {"Fjord Queen", "Ole Brandvik"}  # both steps, with one search
    assert found["texts"] == [hit.passage.text for hit in ranking]
    told = found["told"]
    assert told["passage"] == ranking[0].passage.id and told["country"] == "Norway" and told["trail"]
    assert told["score"] == pytest.approx(ranking[0].score)
    assert found.get("later", found["titles"]) == found["piped"] == found["titles"]
    assert found["answer"] == found.get("answer_later", _ANSWER) == _ANSWER
    assert found["cited"] == [ranking[0].passage.title]
