"""The end of a strategy: its own evidence, paths, facts or answer; and failures at the end."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from harbour import TEXTS
from scripted import Scripted

from kgrag import GnnRet, KnowledgeGraph
from kgrag.agents.answering import AnswerOptions
from kgrag.agents.loop import run
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, StepQuery, Strategy
from kgrag.agents.trace import Trace
from kgrag.lab.papers import find_paper
from kgrag.retrieval.base import RETRIEVERS, Query, Retriever, Scored, make_retriever
from kgrag.values.documents import Triple
from kgrag.values.errors import ModelError
from kgrag.values.events import Asked, Chained, Failed, Ranked, Retrieved

QUESTION = "Where did the captain of the Fjord Queen grow up?"
HOME = Triple("Ole Brandvik", "grew up in", "Nordvika")


class _Pair(Episode):
    """An episode that searches for a family and a river in one step, and shows the reader both as a path."""

    pool = 30

    def __init__(self, inquiry: QuestionContext, settings: Any) -> None:
        super().__init__(inquiry, settings)
        self.found: list[Scored] = []
        self.threads: set[int] = set()
        self.together = threading.Barrier(2, timeout=10)

    def next_queries(self) -> Sequence[str | StepQuery]:
        return [StepQuery("Brandvik family Nordvika", "family"), StepQuery("Stilla salmon", "river")]

    def retrieve(self, query: Query) -> list[Scored]:
        self.together.wait()
        return super().retrieve(query)

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        self.found.append(found[0])

    def finalise(self) -> list[Scored]:
        return self.found

    def conclude(self) -> Outcome:
        self.emit(Chained(text="Brandvik -> Nordvika -> Stilla"))
        return Outcome(self.found, [[x.id for x in self.found], [self.found[0].id]], [HOME])


class Pair(Strategy):
    """A strategy that shows a path."""

    name = "pair"
    summary = "reads a path"
    options = AnswerOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        return _Pair(inquiry, self.settings)


class _Failing(_Pair):
    def conclude(self) -> Outcome:
        raise ModelError("The verifier is gone.", "Start it.")


class Failing(Pair):
    name = "failing"

    def begin(self, inquiry: QuestionContext) -> Episode:
        return _Failing(inquiry, self.settings)


class _Own(_Pair):
    def conclude(self) -> Outcome:
        return Outcome(self.found, text="Nordvika")


class Own(Pair):
    name = "own"

    def begin(self, inquiry: QuestionContext) -> Episode:
        return _Own(inquiry, self.settings)


def _over(kg: KnowledgeGraph, coast: str, kind: type[Strategy], **options: Any) -> Strategy:
    return kind(make_retriever("bm25", kg[coast].context), **options)


def test_a_path_is_one_item_and_facts_are_shown(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Nordvika [1], by the Stilla [2].")
    answer = _over(talking, coast, Pair).ask(QUESTION)
    shown = scripted.calls[-1]["messages"][-1]["content"]
    assert shown.startswith(
        'Known facts:\n["Ole Brandvik", "grew up in", "Nordvika"]\n\n[1]\n<passage>\nTitle: Brandvik family\n'
    )
    first, second = shown.rpartition("</passage>")[0].partition("[1]")[2].split("[2]")
    assert TEXTS["Stilla"] in first and TEXTS["Brandvik family"] in first
    assert TEXTS["Brandvik family"] in second and TEXTS["Stilla"] not in second
    cited = [(c.number, c.passage.title) for c in answer.citations]
    assert cited == [(1, "Brandvik family"), (1, "Stilla"), (2, "Brandvik family")]
    _over(talking, coast, Pair, facts=False).ask(QUESTION)
    assert "Known facts" not in scripted.calls[-1]["messages"][-1]["content"]


def test_queries_of_a_step_have_roles_and_are_searched_at_once(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("answer", "Nordvika")
    answer = _over(talking, coast, Pair).ask(QUESTION, depth=2)  # a barrier makes searches overlap
    assert [e.role for e in answer.trace if isinstance(e, Asked)] == ["family", "river"]
    retrieved = [e for e in answer.trace if isinstance(e, Retrieved)]
    assert [(e.role, len(e.hits)) for e in retrieved] == [("family", 3), ("river", 2)]  # as many as the reader is shown
    (ranked,) = (e for e in answer.trace if isinstance(e, Ranked))
    assert [hit.passage.title for hit in ranked.hits] == ["Brandvik family", "Stilla"]
    (chained,) = (e for e in answer.trace if isinstance(e, Chained))
    assert chained.step == 1  # so that it is saved with the step


def test_an_end_that_fails_costs_no_answer(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "Nordvika")
    answer = _over(talking, coast, Failing).ask(QUESTION, short=True)
    assert (answer.text, answer.problem) == ("Nordvika", "The verifier is gone. Start it.")
    assert [hit.passage.title for hit in answer.ranking] == ["Brandvik family", "Stilla"]
    assert [e.problem for e in answer.trace if isinstance(e, Failed)] == ["The verifier is gone. Start it."]


def test_an_answer_of_its_own_asks_no_reader(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    answer = _over(talking, coast, Own).ask(QUESTION)
    assert (answer.text, answer.found, len(answer.ranking)) == ("Nordvika", True, 2)
    assert scripted.calls == []


class _Remembering(Retriever):
    """A retriever that counts the queries of a question."""

    name = "remembering"
    summary = "counts the queries of a question"

    def rank(self, query: Query, n: int) -> list[Scored]:
        query.memory[self] = query.memory.get(self, 0) + 1
        return [Scored(x.id, float(query.memory[self])) for x in make_retriever("bm25", self.context).rank(query, 1)]


def test_a_retriever_remembers_within_a_question_only(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("think", "Ole Brandvik grew up somewhere.", "So the answer is: Nordvika.")
    scripted.say("answer", "Nordvika")
    from kgrag import Ircot

    system = Ircot(_Remembering(talking[coast]), steps=3)
    for _ in range(2):
        answer = system.ask(QUESTION, short=True)
        scores = [event.hits[0].score for event in answer.trace if isinstance(event, Retrieved)]
        assert scores == [1.0, 2.0]
        scripted.say("think", "Ole Brandvik grew up somewhere.", "So the answer is: Nordvika.")


class _Late(GnnRet):
    """GNN-Ret whose first query of a step takes longer than the second."""

    def rank(self, query: Query, n: int) -> list[Scored]:
        if query.text.startswith("Brandvik"):
            time.sleep(0.05)
        return super().rank(query, n)


class _Both(_Pair):
    """The same, without the barrier between parallel searches."""

    def retrieve(self, query: Query) -> list[Scored]:
        return self.inquiry.retriever.rank(query, 30)


def test_memory_of_queries_asked_at_once_is_that_of_their_order(talking: KnowledgeGraph, coast: str) -> None:
    context = talking[coast].context
    retriever = _Late(context, beta=0.9)
    one = Query("Brandvik family Nordvika")
    for query in (one, Query("Stilla salmon", memory=one.memory)):
        retriever.rank(query, 30)
    for _ in range(20):
        question = Query(QUESTION)
        run(_Both(QuestionContext(question, retriever, 8, lambda event: None), AnswerOptions()), Trace())
        assert question.memory[retriever].vector.tolist() == one.memory[retriever].vector.tolist()


def test_retrievers_that_remember_say_so(talking: KnowledgeGraph, coast: str) -> None:
    context = talking[coast].context
    names = [name for name in RETRIEVERS if name != "gfm" and make_retriever(name, context).is_stateful()]
    assert names == ["communities", "kgp", "mdr", "raptor"]
    assert not make_retriever("gnn-ret", context).is_stateful()
    assert make_retriever("top(rrf(bm25, gnn-ret(beta=0.9)), k=3)", context).is_stateful()


def test_every_retriever_says_what_its_scores_are(kg: KnowledgeGraph, coast: str) -> None:
    found = {name: kind.scale for name, kind in RETRIEVERS.items()}
    assert {name for name, scale in found.items() if scale == "cosine"} == {"dense", "tfidf", "gnn-ret", "raptor"}
    assert {name for name, scale in found.items() if scale == "share"} == {"ppr", "hipporag", "hipporag2"}
    assert {name for name, scale in found.items() if scale == "relevance"} == {"rerank"}
    assert set(found.values()) == {"cosine", "share", "relevance", "rank"}
    context = kg[coast].context
    assert make_retriever("top(dense, k=3)", context).scale == "cosine"
    assert make_retriever("top(bm25, k=3)", context).scale == "rank"


def _shown(scripted: Scripted) -> tuple[str, str]:
    system, user = scripted.calls[-1]["messages"]
    return system["content"], user["content"]


@pytest.mark.parametrize("short", [True, False])
def test_the_reader_may_abstain_or_always_answers(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, short: bool
) -> None:
    scripted.say("answer", "Nordvika")
    talking[coast].ask(QUESTION, system="single+bm25", short=short)
    assert "Not in the evidence" in str(_shown(scripted))
    talking[coast].ask(QUESTION, system="single(abstain=false)+bm25", short=short)
    assert "Not in the evidence" not in str(_shown(scripted))
    answer = talking[coast].ask("zzz qqq", system="single(abstain=false)+bm25", short=short)  # nothing is found
    assert answer.text == "Nordvika" and "Title:" not in str(_shown(scripted))


def test_a_worked_example_comes_first_where_it_is_wanted(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("answer", "Nordvika")
    answer = talking[coast].ask(QUESTION, system="single(abstain=false, example=true)+bm25", short=True)
    _, example, its, asked = scripted.calls[-1]["messages"]
    assert (answer.text, its["role"]) == ("Nordvika", "assistant")
    assert example["content"].count("Title: ") == 5 and its["content"] in example["content"]
    assert QUESTION in asked["content"] and QUESTION not in example["content"]
    for options in ("abstain=false", "example=true"):  # an abstaining answer has no example that never abstains
        talking[coast].ask(QUESTION, system=f"single({options})+bm25", short=True)
        assert len(scripted.calls[-1]["messages"]) == 2
    assert find_paper("gear").setting("agents.answer.example") is True


def test_question_words_language_and_tokens_of_the_reader(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("answer", "Nordvika")
    talking[coast].ask(QUESTION, system="single(repeat=true, words=0, language=Norwegian)+bm25", short=True)
    system, user = _shown(scripted)
    assert user.startswith(f"Question: {QUESTION}\n\n[1]") and user.count(QUESTION) == 2
    assert "at most" not in user and "in Norwegian" in user
    assert system.startswith("You answer a question")
    assert user.count("Title: ") == 3
    talking[coast].ask(QUESTION, system="single(tokens=30)+bm25", short=True)
    assert _shown(scripted)[1].count("Title: ") == 1
    talking[coast].ask(QUESTION, system="single(tokens=1)+bm25", short=True)
    assert _shown(scripted)[1].count("Title: ") == 1  # always at least one


def test_one_of_several_choices(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    choices = ("In Oslo", "In Nordvika", "At sea")
    for said, text, found in (
        ("B", "In Nordvika", True),
        ("(C) At sea", "At sea", True),
        ("He grew up in Nordvika.", "In Nordvika", True),
        ("D", "D", False),
        ("Answer: A", "In Oslo", True),
    ):
        scripted.say("answer", said)
        answer = talking[coast].ask(QUESTION, system="bm25", choices=choices)
        assert (answer.text, answer.found) == (text, found)
    assert "A. In Oslo\nB. In Nordvika\nC. At sea\n" in _shown(scripted)[1]
    scripted.say("answer", "B")
    assert talking[coast].ask(QUESTION, system="closed-book", choices=choices).text == "In Nordvika"
