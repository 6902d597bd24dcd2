"""The cascade: one retrieval if it has the answer, another strategy if the reader says that it does not."""

import pytest
from scripted import Scripted

from kgrag import Auto, Bm25, Ircot, KnowledgeGraph
from kgrag.agents.replies import NOT_FOUND
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.events import Judged, Ranked

QUESTION = "Where did the captain of the Fjord Queen grow up?"


def test_what_one_retrieval_holds_takes_one_call(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Nordvika [2]")
    answer = talking[coast].ask(QUESTION, system="auto+bm25", short=True)
    assert (answer.text, answer.found, answer.problem, answer.system) == ("Nordvika [2]", True, "", "auto+bm25")
    assert scripted.tasks == ["answer"]
    assert answer.citations[0].passage.id == answer.ranking[1].passage.id
    assert [x.passage.id for x in talking[coast].search(QUESTION, retriever="bm25", k=15)] == [
        hit.passage.id for hit in answer.ranking
    ]
    assert [event.answerable for event in answer.trace if isinstance(event, Judged)] == [True]
    long = talking[coast].ask(QUESTION, system="auto+bm25")
    assert (long.text, len(scripted.calls)) == (answer.text, 2)


def test_where_it_does_not_the_other_strategy_goes_on(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", NOT_FOUND, "Nordvika")
    scripted.say("think", "The captain is Ole Brandvik.", "So the answer is: Nordvika.")
    answer = talking[coast].ask(QUESTION, system="auto(then='ircot(steps=3)')+bm25", short=True)
    assert (answer.text, answer.found) == ("Nordvika", True)
    assert scripted.tasks == ["answer", "think", "think", "answer"]
    assert [event.step for event in answer.trace if isinstance(event, Ranked)] == [1, 2, 3]
    scripted.say("think", "The captain is Ole Brandvik.", "So the answer is: Nordvika.")
    alone = talking[coast].ask(QUESTION, system=Ircot(Bm25(talking[coast]), steps=3), short=True)
    assert [hit.passage.id for hit in alone.ranking] == [hit.passage.id for hit in answer.ranking]
    assert len(scripted.calls) == 4 + 3


def test_a_reader_that_always_answers_is_asked_twice_only_in_the_end(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("answer", NOT_FOUND, "Bergen")
    scripted.say("think", "So the answer is: Nordvika.")
    answer = talking[coast].ask(QUESTION, system="auto(then=ircot, abstain=false)+bm25", short=True)
    assert answer.text == "Bergen"
    first, last = (c["messages"] for c in scripted.calls if c["task"] == "answer")
    assert first[0] != last[0]  # the first may abstain, the last must answer

    scripted.say("answer", "B")
    chosen = talking[coast].ask(QUESTION, system="auto(then=ircot)+bm25", choices=["Bergen", "Nordvika"])
    assert chosen.text == "Nordvika"
    assert scripted.tasks[3:] == ["think", "answer"]


def test_what_fails_keeps_what_was_found(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.fail("400", task="answer")
    answer = talking[coast].ask(QUESTION, system="auto(then=ircot)+bm25", short=True)
    assert answer.problem
    assert len(answer.ranking) > 2
    scripted.say("answer", NOT_FOUND)
    scripted.fail("400", task="think")
    answer = talking[coast].ask(QUESTION, system="auto(then=ircot)+bm25", short=True)
    assert answer.problem
    assert len(answer.ranking) > 2


@pytest.mark.parametrize("then", ["auto", "closed-book", "gear(bm25)"])
def test_it_cannot_go_on_with_everything(talking: KnowledgeGraph, coast: str, then: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot go on"):
        Auto(talking[coast], then=then)


def test_an_unknown_strategy_is_named(talking: KnowledgeGraph, coast: str) -> None:
    with pytest.raises(NotFoundError, match="geer"):
        talking[coast].ask(QUESTION, system="auto(then=geer)")
