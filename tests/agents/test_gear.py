"""GEAR against a scripted model: its calls, memory and rewritten queries, and the final ranking."""

import pytest
from harbour import FACTS, documents
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.agents.gear import balanced
from kgrag.retrieval.base import Scored
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.values.documents import Triple
from kgrag.values.events import Called, Failed, Judged, Linked, Read, Remembered, Retrieved, Rewritten
from kgrag.values.results import Step

QUESTION = "Which fish is the river known for at whose mouth the captain of the Fjord Queen grew up?"
_CAPTAIN = ["Ole Brandvik", "captain of", "Fjord Queen"]
_HOME = ["Ole Brandvik", "grew up in", "Nordvika"]
_RIVER = ["Nordvika", "lies at", "Stilla"]
_FISH = ["Stilla", "famous for", "salmon"]


def _two_steps(scripted: Scripted) -> None:
    scripted.say("read", {"triples": [_CAPTAIN]}, {"triples": [_RIVER]}, {"triples": [_HOME, _RIVER, _FISH, _CAPTAIN]})
    scripted.say(
        "reason", {"answerable": False, "why": "Where he grew up is missing."}, {"answerable": True, "answer": "salmon"}
    )
    scripted.say("rewrite", "\nWhere did Ole Brandvik grow up?\n(That is what is missing.)")
    scripted.say("answer", "salmon")


def test_two_steps(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    _two_steps(scripted)
    answer = talking[coast].ask(QUESTION, system="gear(passages=3)+bm25", short=True, k=8)
    assert (answer.text, answer.found, answer.problem, answer.system) == ("salmon", True, "", "gear(passages=3)+bm25")
    llm = scripted.tasks
    assert llm == "read reason rewrite read read reason answer".split()
    titles = [hit.passage.title for hit in answer.ranking]
    assert set(titles[:5]) >= {"Fjord Queen", "Brandvik family", "Nordvika", "Stilla"}
    assert len(titles) == len(set(titles)) == 5
    kinds = [(event.step, type(event).__name__) for event in answer.trace if not isinstance(event, Called | Linked)]
    assert kinds == [
        *((1, kind) for kind in "Asked Read Retrieved Remembered Judged Ranked".split()),
        *((2, kind) for kind in "Rewritten Asked Read Retrieved Remembered Remembered Judged Ranked".split()),
        (0, "Answered"),
    ]
    retrieved = [event for event in answer.trace if isinstance(event, Retrieved)]
    assert [event.query for event in retrieved] == [QUESTION, "Where did Ole Brandvik grow up?"]
    remembered = [event.triples for event in answer.trace if isinstance(event, Remembered)]
    assert remembered == [(Triple(*_CAPTAIN),), (Triple(*_RIVER),), (Triple(*_HOME), Triple(*_FISH))]
    rewritten = next(event for event in answer.trace if isinstance(event, Rewritten))
    assert rewritten.query == "Where did Ole Brandvik grow up?"


def test_the_facts_are_linked_to_the_graph(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("read", {"triples": [_CAPTAIN, ["Stilla", "famous for", "its salmon"]]})
    scripted.say("answer", "salmon")
    answer = talking[coast].ask(QUESTION, system="gear(steps=1)+bm25", short=True)
    linked = [event for event in answer.trace if isinstance(event, Linked)]
    assert [event.text for event in linked] == ["Ole Brandvik captain of Fjord Queen", "Stilla known for salmon"]
    assert 0.9 < linked[0].score <= 1.0 and linked[1].score < linked[0].score
    assert not [event for event in answer.trace if isinstance(event, Judged)]  # no verdict is needed
    why = {hit.passage.title: [step.name for step in hit.why] for hit in answer.ranking}
    assert "Ole Brandvik grew up in Nordvika" in why["Brandvik family"]


@pytest.mark.parametrize("task", ["read", "reason", "rewrite"])
def test_a_model_that_fails_costs_the_rest_of_the_search_not_the_answer(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, task: str
) -> None:
    _two_steps(scripted)
    scripted.say(task, "no JSON here" if task != "rewrite" else " ")
    answer = talking[coast].ask(QUESTION, system="gear+bm25", short=True)
    assert answer.text == "salmon"
    assert repr(task) in answer.problem
    assert [event.problem for event in answer.trace if isinstance(event, Failed)] == [answer.problem]
    assert "Fjord Queen" in [hit.passage.title for hit in answer.ranking]


def test_without_an_answer_there_is_a_reason(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("answer", "")
    answer = talking[coast].ask(QUESTION, system="single+bm25", short=True)
    assert (answer.text, answer.found) == ("", False)
    assert "nothing" in answer.problem
    assert len(answer.ranking) > 0


def test_without_triples(talking: KnowledgeGraph, scripted: Scripted, collection_name: str) -> None:
    talking[collection_name].ingest(documents({}))
    _two_steps(scripted)
    answer = talking[collection_name].ask(QUESTION, system="gear+bm25", short=True)
    assert answer.text == "salmon"
    assert any("no triples" in note for note in answer.ranking.notes)
    assert not [event for event in answer.trace if isinstance(event, Linked)]
    assert [event for event in answer.trace if isinstance(event, Read)]


def test_over_pathrank_and_within_some_documents(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    _two_steps(scripted)
    from kgrag.values.results import Filter

    answer = talking[coast].ask(QUESTION, system="gear+pathrank", short=True, filter=Filter(where={"n": len("Stilla")}))
    assert {hit.passage.title for hit in answer.ranking} == {"Stilla"}
    assert len(FACTS) == 4


def test_usage_is_counted_by_task_and_step(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    _two_steps(scripted)
    answer = talking[coast].ask(QUESTION, system="gear(passages=1)+bm25", short=True)
    called = [(event.step, event.task) for event in answer.trace if isinstance(event, Called)]
    assert called == [
        (1, "read"), (1, "reason"), (2, "rewrite"), (2, "read"), (2, "read"), (2, "reason"), (0, "answer"),
    ]  # fmt: skip
    assert {task: usage.calls for task, usage in answer.by_task.items()} == {
        "read": 3,
        "reason": 2,
        "rewrite": 1,
        "answer": 1,
    }
    assert answer.usage.calls == 7
    assert answer.usage.prompt_tokens > 100 and answer.usage.completion_tokens >= 7
    assert answer.usage.cost is None  # no price is set


def test_what_a_step_found_first_stays_among_the_best() -> None:
    links = [[Scored(x, 1.0) for x in (f"fact {n}", "middle", "often", "also")] for n in range(8)]
    steps = [[Scored(x, 1.0) for x in ("first", "often", "also")], [Scored(x, 1.0) for x in ("second", "middle")]]
    fused = [x.id for x in reciprocal_rank_fusion([*links, *steps], 60)]
    assert fused[:3] == ["middle", "often", "also"] and "first" not in fused[:6]  # equation 9
    found = balanced(links, steps, 60)
    assert {"middle", "first", "second"} <= {x.id for x in found[:6]}
    assert sorted(x.id for x in found) == sorted(fused) and len(found) == 13
    why = Step("bm25 rank 1", "Passage", "")
    (alone,) = balanced([[Scored("a", 1.0, (why,))]], [[Scored("a", 1.0)]], 60)
    assert alone.why == (why,)
