"""Validation of the facts in a model's reply."""

from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.models.facts import Facts, key, read
from kgrag.models.prompts import load_prompt
from kgrag.values.documents import Triple
from kgrag.values.results import Passage

PASSAGES = [Passage("p", "d", "Fram", "Colin Archer built the Fram.")]


def tasks(*listed: Any) -> Any:
    reply = Facts.model_validate({"triples": list(listed)})
    return SimpleNamespace(structured=lambda *_, **__: reply, prompt=load_prompt)


def test_facts_that_are_known_or_say_nothing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Triple("Fram", "built by", "Colin Archer")
    listed = (
        ["Fram", "built by", "Colin Archer"], ["FRAM", "Built  by", "colin archer"],
        ["Fram", "built in", " Larvik\n"], ["", "built in", "Oslo"], ["Fram", "sank", " "], ["Fram", "", "ship"],
    )  # fmt: skip
    new = (Triple("Fram", "built in", "Larvik"), Triple("Fram", "", "ship"))
    assert read(tasks(*listed), "Who?", PASSAGES, [known]) == new
    assert read(tasks(*listed), "Who?", PASSAGES) == (Triple("FRAM", "Built by", "colin archer"), *new)
    monkeypatch.setattr("kgrag.models.facts.MOST_FACTS", 3)
    assert read(tasks(*listed), "Who?", PASSAGES, [known]) == new[:1]
    assert read(tasks(*listed), "Who?", []) == ()


def test_facts_are_told_apart_by_their_words() -> None:
    assert key(Triple("Fram", "IN", "Größe")) == key(Triple("FRAM", "in", "GRÖSSE"))
    assert key(Triple("a", "b", "c")) != key(Triple("c", "b", "a"))


def test_facts_of_the_prompts_example_are_left_out() -> None:
    listed = (["Halcyon", "built by", "Norfjord shipyard"], ["Fram", "built by", "Norfjord shipyard"])
    assert read(tasks(*listed), "Who?", PASSAGES) == ()
    passage = Passage("q", "d", "Halcyon", "The Norfjord shipyard built the Halcyon.")
    assert len(read(tasks(*listed[:1]), "Who?", [passage])) == 1
