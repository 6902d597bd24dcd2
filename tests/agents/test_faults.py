"""A model that fails in every way: each question ends, and no received reply is requested again."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.events import Answer

pytestmark = pytest.mark.long

_FAULTS = ("429", "429:1", "500", "503", "timeout", "cut", "malformed", "html", "empty", "truncated", "bad-json")


def _ask_all(settings: Settings, questions: list[str], coast: str) -> dict[str, Answer]:
    with KnowledgeGraph.connect(settings=settings) as client:
        found = dict(client[coast].ask_many(questions, system="gear(steps=3)+hybrid", short=True, threads=8))
    assert [error for error in found.values() if isinstance(error, Exception)] == []
    return {question: answer for question, answer in found.items() if isinstance(answer, Answer)}


def _received(scripted: Scripted) -> Counter[str]:
    """Count the requests with a usable reply."""
    usable = [call for call in scripted.calls if call.get("fault") not in ("empty", "truncated", "bad-json")]
    return Counter(json.dumps([call["task"], call["messages"]]) for call in usable)


def _run(scripted: Scripted, graph_settings: Settings, coast: str, cache: Path, questions: int, faults: int) -> None:
    scripted.say("read", {"triples": [["Ole Brandvik", "captain of", "Fjord Queen"]]})
    scripted.say("reason", {"answerable": False, "why": "Never enough."})  # a model that never says yes
    scripted.say("rewrite", "Where did Ole Brandvik grow up?")
    scripted.say("answer", "Nordvika")
    order = [_FAULTS[i % len(_FAULTS)] for i in range(faults)]
    random.Random(5).shuffle(order)
    scripted.fail(*order)
    chat = scripted.settings(cache=True, timeout=4.0, retries=2)  # longer than a busy machine stalls
    settings = graph_settings.model_copy(update={"chat": chat, "cache": cache})
    asked = [f"Where did the captain of the Fjord Queen grow up, letter {i}?" for i in range(questions)]
    answers = _ask_all(settings, asked, coast)
    assert set(answers) == set(asked)
    assert all(answer.text or answer.problem for answer in answers.values())
    assert all(len(answer.ranking) > 0 for answer in answers.values())
    assert len(scripted.attempts) > len(scripted.calls)
    first = _received(scripted)
    assert max(first.values()) == 1
    again = _ask_all(settings, asked, coast)
    assert all(answer.text and not answer.problem for answer in again.values())
    assert Counter(answer.text for answer in again.values()).most_common(1)[0][0] == "Nordvika"
    assert max(_received(scripted).values()) == 1
    assert all(again[question].usage.cached > 0 for question in asked if answers[question].usage.calls)


def test_a_dozen_faults(graph_settings: Settings, scripted: Scripted, coast: str, tmp_path: Path) -> None:
    _run(scripted, graph_settings, coast, tmp_path, questions=8, faults=12)


@pytest.mark.slow
def test_a_hundred_faults(graph_settings: Settings, scripted: Scripted, coast: str, tmp_path: Path) -> None:
    _run(scripted, graph_settings, coast, tmp_path, questions=40, faults=100)
