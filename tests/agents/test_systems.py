"""Systems by name, IRCoT, the baselines, and answers with their citations."""

import pytest
from harbour import TEXTS
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.agents.replies import cited
from kgrag.agents.system import check_options, check_system, retriever_of
from kgrag.values.errors import ConfigurationError, KgragError, NotFoundError
from kgrag.values.events import Answer, Answered, Event, Failed, Retrieved, Thought
from kgrag.values.results import Passage

QUESTION = "Where did the captain of the Fjord Queen grow up?"


@pytest.mark.parametrize(
    ("name", "standard", "retriever"),
    [
        ("gear", "gear+hybrid", "hybrid"),
        ("gear + pathrank", "gear+pathrank", "pathrank"),
        ("pathrank(cap=20)", "single+pathrank(cap=20)", "pathrank(cap=20)"),
        ("ircot(steps=2, words=3)+rrf(bm25, ppr)", "ircot(steps=2, words=3)+rrf(bm25, ppr)", "rrf(bm25, ppr)"),
        ("gear+sync-ge(bm25)", "gear+sync-ge(bm25)", "sync-ge(bm25)"),
        ("closed-book", "closed-book", "bm25"),
    ],
)
def test_names(name: str, standard: str, retriever: str) -> None:
    assert check_system(name) == standard
    assert check_system(standard) == standard
    assert retriever_of(name) == retriever


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("geer", "Did you mean 'gear'"), ("gear+hybird", "Choose one of"),
        ("gear(cap=2)", "has no option 'cap'.*It has: steps"), ("gear(steps=0)", "steps=0 is invalid"),
        ("gear(hybrid)", r"gear\+hybrid"), ("", "does not say"), ("gear+pathrank)", "does not say"),
    ],
)  # fmt: skip
def test_names_that_are_none(name: str, complaint: str) -> None:
    with pytest.raises(KgragError, match=complaint.split(".*")[0]) as caught:
        check_system(name)
    assert isinstance(caught.value, NotFoundError | ConfigurationError)
    assert complaint.split(".*")[-1].replace("\\", "") in str(caught.value)


def test_ircot_asks_what_it_thinks(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("think", "Her captain was\nOle Brandvik.", "So the answer is: Nordvika.")
    scripted.say("answer", "Nordvika")
    answer = talking[coast].ask(QUESTION, system="ircot(passages=3)+bm25", short=True)
    queries = [event.query for event in answer.trace if isinstance(event, Retrieved)]
    assert queries == [QUESTION, "Her captain was Ole Brandvik."]
    assert [event.text for event in answer.trace if isinstance(event, Thought)][1] == "So the answer is: Nordvika."
    assert "Brandvik family" in [hit.passage.title for hit in answer.ranking]
    second = scripted.calls[1]["messages"][-1]["content"]
    assert "Reasoning so far: Her captain was Ole Brandvik." in second
    scores = [hit.score for hit in answer.ranking]
    assert scores == sorted(scores, reverse=True)


def test_ircot_never_ends_by_itself(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("think", "It must be known where the captain grew up.")
    scripted.say("answer", "Not in the evidence")
    answer = talking[coast].ask(QUESTION, system="ircot+ppr", short=True)
    assert not answer.found
    assert scripted.tasks == ["think", "think", "think", "answer"]


def test_an_explained_answer_cites_passages(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Nordvika. Ole Brandvik was her captain [1], and grew up there [2, 9].")
    heard: list[Event] = []
    answer = talking[coast].system("bm25").ask(QUESTION, stream=True, listener=heard.append)
    assert answer.text == "Nordvika. Ole Brandvik was her captain [1], and grew up there [2]."
    cited_ids = [citation.passage.id for citation in answer.citations]
    assert cited_ids == [hit.passage.id for hit in answer.ranking.hits[:2]]
    assert talking.passage(cited_ids[0], coast).text in TEXTS.values()
    pieces = [event for event in heard if isinstance(event, Answered) and not event.whole]
    assert len(pieces) > 1 and pieces[-1].text.startswith("Nordvika. Ole Brandvik was her captain")
    assert all(event.whole for event in answer.trace if isinstance(event, Answered))


def test_prose_that_cites_nothing_says_so(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "He grew up in Nordvika.")
    answer = talking[coast].ask(QUESTION, system="bm25")
    assert (answer.found, answer.citations) == (True, ())
    assert answer.text == "He grew up in Nordvika.\n\n(No passage is cited for this.)"
    scripted.say("answer", "Die Passagen enthalten dazu keine Angabe.")
    assert not talking[coast].ask(QUESTION, system="bm25").found


@pytest.mark.parametrize("system", ["bm25", "gear+bm25", "ircot+bm25"])
def test_what_failed_comes_with_its_remedy(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, system: str
) -> None:
    scripted.fail(*["402"] * 20)
    answer = talking[coast].ask(QUESTION, system=system)
    assert "is used up: The server had an error." in answer.problem
    assert answer.problem.endswith("Add to it, or use another key.")
    failed = [event.problem for event in answer.trace if isinstance(event, Failed)]
    assert failed and all(problem.endswith("use another key.") for problem in failed)


def test_a_short_answer_is_bare(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Answer: Nordvika\nBecause he grew up there.")
    answer = talking[coast].ask(QUESTION, system="bm25", short=True)
    assert answer.text == "Nordvika"
    assert "at most 6" in scripted.calls[0]["messages"][1]["content"]


def test_the_closed_book_sees_no_passage(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "In Oslo.")
    for short in (True, False):
        answer = talking[coast].ask(QUESTION, system="closed-book", short=short)
        assert (answer.text, answer.found, len(answer.ranking)) == ("In Oslo.", True, 0)
    assert not any("Title:" in str(call["messages"]) for call in scripted.calls)


def test_nothing_found_is_not_asked(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    answer = talking[coast].ask("zzz qqq", system="bm25")
    assert (answer.text, answer.found) == ("Not in the evidence.", False)
    assert scripted.calls == []


def test_many_questions_at_once(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Nordvika")
    scripted.fail("400", task="answer")
    scripted.delay(0.1)
    asked = [f"{QUESTION} ({i})" for i in range(12)]
    found = dict(talking[coast].ask_many(asked, system="bm25", short=True, threads=4))
    assert set(found) == set(asked)
    answers = [answer for answer in found.values() if isinstance(answer, Answer)]
    assert sorted(answer.text for answer in answers) == [""] + ["Nordvika"] * 11
    assert [bool(answer.problem) for answer in answers].count(True) == 1
    assert scripted.most_under_way > 1


def test_without_a_model(kg: KnowledgeGraph, coast: str) -> None:
    with pytest.raises(ConfigurationError, match="No language model is configured") as caught:
        kg[coast].ask(QUESTION)
    assert "KGRAG_CHAT__MODEL" in caught.value.remedy and "localhost:11434" in caught.value.remedy
    with pytest.raises(ConfigurationError, match="No language model"):
        kg[coast].search(QUESTION, retriever="sync-ge")


def test_numbers_that_cite_nothing_are_taken_out() -> None:
    passages = [Passage(str(n), "d", "t", "x") for n in range(3)]
    said = cited("In 1903 [3][7], they say [12], a[0] or [1999] fell [1; 3].", [[p] for p in passages])
    assert said.text == "In 1903 [3], they say, a[0] or [1999] fell [1][3]."
    assert [citation.number for citation in said.citations] == [1, 3]


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        ({"gaer": {"steps": 2}}, "no strategy 'gaer'"),
        ({"gear": {"step": 2}}, "no option 'step'"),
        ({"answer": {"word": 5}}, "no option 'word'"),
    ],
)
def test_options_of_strategies_that_do_not_exist(agents: dict[str, dict[str, object]], said: str) -> None:
    with pytest.raises((NotFoundError, ConfigurationError), match=said):
        check_options(agents)
    check_options({"gear": {"steps": 2}, "iter_retgen": {"rounds": 3}, "answer": {"words": 5}})
