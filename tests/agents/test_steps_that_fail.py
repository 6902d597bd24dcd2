"""A failed step is reported with the answer; an unreachable model does not mean that the evidence is insufficient."""

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.agents.replies import NOT_FOUND
from kgrag.cli.evidence import print_answer
from kgrag.models.chat import Message
from kgrag.server.conversation import reply
from kgrag.settings import Settings
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Ranking

pytestmark = pytest.mark.long

_QUESTION = "Where was the captain of the Fjord Queen born?"
_SYSTEMS = ("ircot(steps=2)+bm25", "gear(steps=2)+bm25", "self-ask+bm25", "iter-retgen(rounds=2)+bm25", "single+bm25")


@pytest.fixture
def failing(graph_settings: Settings, scripted: Scripted) -> KnowledgeGraph:
    """A client with the scripted language model, without retries."""
    return KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": scripted.settings(retries=0)}))


@pytest.mark.parametrize("system", _SYSTEMS)
@pytest.mark.parametrize("source", ["", "nowhere"])
def test_a_dead_model_is_told(
    failing: KnowledgeGraph, scripted: Scripted, coast: str, system: str, source: str
) -> None:
    scripted.fail(*["500"] * 40)
    filter = Filter(source=source) if source else None
    with failing:
        found = failing[coast].ask(_QUESTION, system=system, filter=filter)
    if not (source and system.startswith("single")):  # it calls no model if nothing was found
        assert not found.text and "fails" in found.problem, found.text
    assert not found.found


def test_a_step_that_failed_is_told_with_the_answer(
    failing: KnowledgeGraph, scripted: Scripted, coast: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.say("answer", "In Nordvika [1].")
    scripted.fail(*["500"] * 9, task="reason")
    scripted.fail(*["500"] * 9, task="think")
    with failing:
        system = failing[coast].system("ircot(steps=2)+bm25")
        found = system.ask(_QUESTION)
        llm = failing.language_model()
        said = reply(failing[coast], system, llm, [Message("user", _QUESTION)])
    assert found.text.startswith("In Nordvika") and "fails" in found.problem
    print_answer(found)
    assert "A step failed, and this is made from what there was" in " ".join(capsys.readouterr().err.split())
    assert "(A step of the search failed" in said.text


def test_an_answer_without_a_failure_says_nothing_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(Answer(_QUESTION, NOT_FOUND, False, "single", Ranking(_QUESTION, "bm25", ())))
    assert "step" not in capsys.readouterr().err
