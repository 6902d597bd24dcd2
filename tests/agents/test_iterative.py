"""ToG, GCoT, IRCoT, ITER-RETGEN, Self-Ask and BDTR on a scripted model: prompts, searches and evidence."""

from typing import Any

import pytest
from harbour import TEXTS
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.agents.pool import Pool
from kgrag.drawing import drawing
from kgrag.retrieval.base import Scored
from kgrag.values.events import Answer, Asked, Chained, Failed, Judged, Retrieved, SubAnswered, Thought, Verified
from kgrag.values.results import Filter

QUESTION = "What was caught where the captain of the Fjord Queen was young?"
_HOME = "Where did Ole Brandvik grow up?"
_RIVER = "At the mouth of which river lies Nordvika?"
_IN_NORDVIKA = "Ole Brandvik grew up in Nordvika."
_AT_THE_STILLA = "Nordvika lies at the mouth of the Stilla."


def _queries(answer: Answer) -> list[str]:
    return [event.query for event in answer.trace if isinstance(event, Retrieved)]


def _user(call: dict[str, Any]) -> str:
    return str(call["messages"][-1]["content"])


def test_a_pool_keeps_the_best_score_of_any_query() -> None:
    pool = Pool("cosine")
    pool.add([Scored("a", 0.9), Scored("b", 0.5)])
    pool.add([Scored("b", 0.7), Scored("c", 0.7), Scored("a", 0.1)])
    assert [(x.id, x.score) for x in pool.ranking()] == [("a", 0.9), ("b", 0.7), ("c", 0.7)]
    ranks = Pool("rank")
    ranks.add([Scored("a", 31.0), Scored("b", 30.0)])
    ranks.add([Scored("c", 2.0), Scored("b", 1.0)])  # a shorter query has lower scores, but not worse passages
    assert [(x.id, x.score) for x in ranks.ranking()] == [("a", 1 / 61), ("c", 1 / 61), ("b", 1 / 62)]


@pytest.mark.parametrize("name", ["ircot", "tog", "gcot"])
def test_what_the_model_writes_is_searched_for(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, name: str
) -> None:
    task = "think" if name == "ircot" else name
    scripted.say(task, f"Before the answer is clear:\n{_HOME}", _RIVER, "So the answer is: salmon")
    scripted.say("answer", "salmon")
    answer = talking[coast].ask(QUESTION, system=f"{name}(steps=4, passages=3)+bm25", short=True)
    assert (answer.text, answer.problem) == ("salmon", "")
    assert _queries(answer) == [QUESTION, f"Before the answer is clear: {_HOME}", _RIVER]  # only at the beginning
    assert scripted.tasks == [task, task, task, "answer"]
    first, second, third = map(_user, scripted.calls[:3])
    assert QUESTION in first and "(none)" in first and TEXTS["Brandvik family"] not in first
    assert _HOME in second and TEXTS["Brandvik family"] in second
    assert f"{_HOME} {_RIVER}" in third and TEXTS["Nordvika"] in third
    titles = [hit.passage.title for hit in answer.ranking]
    assert {"Fjord Queen", "Brandvik family", "Nordvika"} <= set(titles) and len(titles) == len(set(titles))


@pytest.mark.parametrize("system", ["ircot(steps=3, passages=4)", "iter-retgen(passages=4, read=20)"])
def test_what_was_shown_begins_the_next_prompt(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, system: str
) -> None:
    """A server caches the beginning of a prompt, so later results come after earlier ones."""
    task = "think" if system.startswith("ircot") else "retgen"
    scripted.say(task, _HOME, _RIVER, "So the answer is: salmon")
    talking[coast].ask(QUESTION, system=f"{system}+bm25", short=True)
    first, second, *_ = (_user(c).rpartition("</passage>")[0] for c in scripted.calls if c["task"] == task)
    assert second.startswith(first)
    assert len(second) > len(first)
    assert len({call["messages"][0]["content"] for call in scripted.calls}) == 1


def test_ircot_goes_on_until_what_is_read_is_full(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("think", "More is needed on wool.", "So the answer is: wool")
    scripted.say("answer", "salmon")
    fill = "ircot(fill=true, passages=5, steps=20, read=30"
    answer = talking[coast].ask(QUESTION, system=f"{fill}, evidence=30)+dense", k=30)
    assert _queries(answer) == [QUESTION, "More is needed on wool.", *["So the answer is: wool"] * 4]  # 6 x 5
    assert [_user(call).count("Title: ") for call in scripted.calls] == [5, 10, 15, 20, 25, 30]
    read = _user(scripted.calls[-1])
    tokens = sum(len(f"{hit.passage.title}{hit.passage.text}") for hit in answer.ranking.hits[:12]) / 4
    assert scripted.calls[-1]["task"] == "answer" and read.count("Title: ") == 30
    held = talking[coast].ask(QUESTION, system=f"{fill}, evidence=30, tokens={tokens:.0f})+dense", k=30)
    assert len(_queries(held)) == 3 and 10 < _user(scripted.calls[-1]).count("Title: ") < 15
    few = talking[coast].ask(QUESTION, system=f"{fill}, evidence=90)+dense", k=60)
    assert (len(few.ranking), len(_queries(few))) == (35, 8)  # all there are, and one search without new passages


def test_tog_and_gcot_take_two_rounds(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("tog", "More is needed on the captain.")
    scripted.say("answer", "Not in the evidence.")
    answer = talking[coast].ask(QUESTION, system="tog+bm25", short=True)
    assert not answer.found and scripted.tasks == ["tog", "tog", "answer"]
    assert [event.text for event in answer.trace if isinstance(event, Thought)] == [
        "More is needed on the captain."
    ] * 2


def test_iter_retgen_searches_for_its_replies(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    replies = [
        "Ole Brandvik grew up in Nordvika.\nSo the answer is: cod.",
        "Nordvika lies at the Stilla. The answer is salmon.",
    ]
    scripted.say("retgen", *replies)
    scripted.say("answer", "salmon")
    answer = talking[coast].ask(QUESTION, system="iter-retgen+bm25", short=True)
    assert _queries(answer) == [QUESTION, *(" ".join(reply.split()) for reply in replies)]
    assert (answer.text, scripted.tasks) == ("salmon", ["retgen", "retgen", "answer"])
    assert TEXTS["Nordvika"] in _user(scripted.calls[1]) and TEXTS["Nordvika"] not in _user(scripted.calls[0])
    scripted.say("retgen", *replies, "Known for salmon. So the answer is: Salmon!")
    own = talking[coast].ask(QUESTION, system="iter-retgen(answer=own, query=joined)+bm25", short=True)
    assert (own.text, own.found) == ("Salmon!", True)
    assert _queries(own)[1].startswith(f"{QUESTION} Ole Brandvik")
    assert scripted.tasks[3:] == ["retgen"] * 3


def test_iter_retgen_stops_when_its_answer_repeats(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("retgen", "The answer is: eel", "By the sea. So the answer is: cod", "So the answer is: **Cod**.")
    answer = talking[coast].ask(QUESTION, system="iter-retgen(rounds=5, stop=true, answer=own)+bm25", short=True)
    assert (answer.text, scripted.tasks, len(_queries(answer))) == ("Cod", ["retgen"] * 3, 3)


def test_self_ask_answers_follow_ups(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say(
        "self-ask", f"Follow up: {_HOME}\n(more)", f"Follow-up question: {_RIVER}", "So the final answer is: salmon."
    )
    scripted.say("sub-answer", _IN_NORDVIKA, _AT_THE_STILLA)
    answer = talking[coast].ask(QUESTION, system="self-ask+bm25", short=True)
    assert (answer.text, answer.found, answer.citations) == ("salmon", True, ())
    assert _queries(answer) == [_HOME, _RIVER]
    assert scripted.tasks == ["self-ask", "sub-answer", "self-ask", "sub-answer", "self-ask"]
    both = "\n".join(
        f"Follow up: {q}\nIntermediate answer: {a}" for q, a in ((_HOME, _IN_NORDVIKA), (_RIVER, _AT_THE_STILLA))
    )
    assert both in _user(scripted.calls[4])
    assert TEXTS["Brandvik family"] in _user(scripted.calls[1]) and QUESTION not in _user(scripted.calls[1])
    told = [(event.step, event.question, event.answer) for event in answer.trace if isinstance(event, SubAnswered)]
    assert told == [(1, _HOME, _IN_NORDVIKA), (2, _RIVER, _AT_THE_STILLA)]
    assert {"Brandvik family", "Nordvika"} <= {hit.passage.title for hit in answer.ranking}


def test_self_ask_reads_within_its_tokens_and_repeats(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("self-ask", _HOME, "So the final answer is: salmon")
    scripted.say("sub-answer", "Nordvika")
    scripted.say("answer", "trout")
    answer = talking[coast].ask(QUESTION, system="self-ask(tokens=5, repeat=true, answer=reader)+bm25", short=True)
    assert answer.text == "trout"
    shown = _user(scripted.calls[1])
    assert shown.startswith(f"Question: {_HOME}\n\n[1]") and shown.count("Title: ") == 1


def test_self_ask_that_never_ends_is_answered_by_the_reader(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("self-ask", _HOME)
    scripted.say("sub-answer", "unknown")
    scripted.say("answer", "salmon")
    answer = talking[coast].ask(QUESTION, system="self-ask(steps=2)+bm25", short=True)
    assert answer.text == "salmon" and scripted.tasks.count("self-ask") == 2
    scripted.say("self-ask", "So the final answer is: cod")
    known = talking[coast].ask(QUESTION, system="self-ask+bm25", short=True)
    assert known.text == "cod" and len(known.ranking) > 0  # the ranking has unread hits, too


def test_rgnn_asks_until_the_answers_are_enough(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("sub-question", f"Question: {_HOME}", f"{_RIVER}\n(the last one)")
    scripted.say("sub-answer", _IN_NORDVIKA, _AT_THE_STILLA)
    scripted.say("critique", {"analysis": "no river", "enough": False}, {"enough": True})
    scripted.say("final-answer", "salmon")
    answer = talking[coast].ask(QUESTION, system="rgnn", short=True)
    assert (answer.text, answer.system, answer.problem) == ("salmon", "rgnn+gnn-ret(beta=0.9)", "")
    assert _queries(answer) == [_HOME, _RIVER]
    step = ["sub-question", "sub-answer", "critique"]
    assert scripted.tasks == [*step, *step, "final-answer"]
    assert _user(scripted.calls[5]).startswith(f"Answers:\n{_IN_NORDVIKA}\n{_AT_THE_STILLA}\n\nQuestion: {QUESTION}")
    assert "one whole sentence" in _user(scripted.calls[1])  # the sentence repeats the sub-question
    for call in (scripted.calls[3], scripted.calls[6]):
        assert f"Single question: {_HOME}\nIts answer: {_IN_NORDVIKA}" in _user(call) and QUESTION in _user(call)
    assert [event.why for event in answer.trace if isinstance(event, Judged)] == ["no river", ""]
    scripted.say("critique", {"enough": False})
    scripted.say("answer", "trout")
    reader = talking[coast].ask(QUESTION, system="rgnn(steps=2, answer=reader)+bm25", short=True)
    assert reader.text == "trout" and scripted.tasks[7:].count("critique") == 1  # the last is not judged


def _thoughts(scripted: Scripted) -> None:
    scripted.say("dual-thought", {"fast": _HOME, "slow": "Nordvika, a port"}, {"fast": _RIVER, "slow": "Stilla salmon"})
    scripted.say("chain", "Fjord Queen -> Ole Brandvik ->\nNordvika -> Stilla -> salmon")
    scripted.say("answer", "salmon [1]")


def test_bdtr_widens_the_pool_and_reads_what_supports_the_chain(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    _thoughts(scripted)
    scripted.say("verify", {"covered_doc_indices": []})
    plain = talking[coast].ask(QUESTION, system="bdtr+dense", k=40)
    titles = [hit.passage.title for hit in plain.ranking]
    numbers = [1 + titles.index(title) for title in ("Stilla", "Captains")]
    scripted.say("dual-thought", {"fast": _HOME, "slow": "Nordvika, a port"}, {"fast": _RIVER, "slow": "Stilla salmon"})
    scripted.say("verify", {"covered_doc_indices": [numbers[1], 999, numbers[1], 0, numbers[0]]})
    answer = talking[coast].ask(QUESTION, system="bdtr+dense", k=40)
    calls = scripted.calls[len(scripted.calls) // 2 :]
    assert [call["task"] for call in calls] == ["dual-thought", "dual-thought", "chain", "verify", "answer"]
    asked = [(event.step, event.role, event.query) for event in answer.trace if isinstance(event, Asked)]
    assert asked == [
        (1, "question", QUESTION), (2, "fast", _HOME), (2, "slow", "Nordvika, a port"), (3, "fast", _RIVER),
        (3, "slow", "Stilla salmon"),
    ]  # fmt: skip
    found = [event for event in answer.trace if isinstance(event, Retrieved)]
    best: dict[str, float] = {}
    for hit in (hit for event in found for hit in event.hits):
        best[hit.passage.title] = max(best.get(hit.passage.title, 0.0), hit.score)
    assert {hit.passage.title: hit.score for hit in answer.ranking} == best
    assert [hit.passage.title for hit in answer.ranking][:2] == ["Captains", "Stilla"]  # the verifier decides the order
    assert "Needed" not in _user(calls[1]) and f"{_HOME}\nNordvika, a port" in _user(calls[1])
    assert "Chain: Fjord Queen -> Ole Brandvik" in _user(calls[3]) and _user(calls[3]).count("Title: ") == 30
    (chained,) = (event for event in answer.trace if isinstance(event, Chained))
    assert (chained.step, chained.text) == (3, "Fjord Queen -> Ole Brandvik -> Nordvika -> Stilla -> salmon")
    (verified,) = (event for event in answer.trace if isinstance(event, Verified))
    assert list(verified.ids) == [hit.passage.id for hit in answer.ranking.hits[:2]]
    shown = _user(calls[-1])
    assert shown.startswith(f"[1]\n<passage>\nTitle: Captains\n{TEXTS['Captains']}") and shown.count("Title: ") >= 5
    assert answer.citations[0].passage.title == "Captains"
    id = talking[coast].save(answer)
    drawn = drawing(answer)
    captions = {edge.caption for edge in drawn.edges.values()}
    assert {"RETRIEVED fast", "RETRIEVED slow", "RETRIEVED question"} <= captions
    (last,) = talking.graph.run("look_up/runs", collection=coast)
    assert last["steps"] == 3
    talking.delete_runs([id])


def test_how_many_passages_bdtr_reads_is_told_by_their_scores(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    _thoughts(scripted)
    last = {"covered_doc_indices": [30]}  # its own score would not be read
    scripted.say("verify", last)
    kept = talking[coast].ask(QUESTION, system="bdtr(rounds=0, least=1)+dense", k=40)
    assert _user(scripted.calls[-1]).count("Title: ") > 1
    scores = [hit.score for hit in kept.ranking]
    mean = sum(scores) / len(scores)
    bar = mean + (sum((x - mean) ** 2 for x in scores) / len(scores)) ** 0.5
    good = sum(score >= bar for score in scores)
    assert _user(scripted.calls[-1]).count("Title: ") == 1 + good
    talking[coast].ask(QUESTION, system="bdtr(rounds=0, least=1, promoted=scored)+dense", k=40)
    assert _user(scripted.calls[-1]).count("Title: ") == good
    talking[coast].ask(QUESTION, system="bdtr(rounds=0, least=20)+dense", k=40)
    assert _user(scripted.calls[-1]).count("Title: ") == 20


def test_parts_of_bdtr_can_be_left_out(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    _thoughts(scripted)
    answer = talking[coast].ask(QUESTION, system="bdtr(dual=false, calibrate=false)+bm25", short=True)
    assert scripted.tasks == ["dual-thought", "dual-thought", "answer"]
    assert _queries(answer) == [QUESTION, _HOME, _RIVER]
    _thoughts(scripted)
    scripted.say(
        "dual-thought", {"fast": _HOME, "slow": ""}, {"fast": _RIVER, "slow": "Stilla", "chain": "A -> B -> C -> D"}
    )
    scripted.say("verify", {"covered_doc_indices": [1]})
    answer = talking[coast].ask(QUESTION, system="bdtr(chain=thoughts)+bm25", short=True)
    assert scripted.tasks[3:] == ["dual-thought", "dual-thought", "verify", "answer"]
    assert "Chain: A -> B -> C -> D" in _user(scripted.calls[-2]) and _queries(answer) == [
        QUESTION,
        _HOME,
        _RIVER,
        "Stilla",
    ]


@pytest.mark.parametrize(
    ("system", "task"),
    [
        ("ircot+bm25", "think"), ("tog+bm25", "tog"), ("gcot+bm25", "gcot"), ("iter-retgen+bm25", "retgen"),
        ("iter-retgen(answer=own, rounds=0)+bm25", "retgen"), ("self-ask+bm25", "self-ask"),
        ("self-ask+bm25", "sub-answer"), ("rgnn+bm25", "sub-question"), ("rgnn+bm25", "critique"),
        ("rgnn+bm25", "final-answer"), ("bdtr+bm25", "dual-thought"), ("bdtr+bm25", "chain"),
        ("bdtr+bm25", "verify"),
    ],
)  # fmt: skip
def test_a_model_that_fails_costs_the_rest_of_the_search_not_the_answer(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, system: str, task: str
) -> None:
    _thoughts(scripted)
    scripted.say("self-ask", _HOME)
    scripted.say("critique", {"enough": True})
    scripted.fail("400", task=task)
    answer = talking[coast].ask(QUESTION, system=system, short=True)
    assert answer.text.startswith("salmon")
    assert [attempt["task"] for attempt in scripted.attempts if attempt["fault"]] == [task]
    assert answer.problem == next(event.problem for event in answer.trace if isinstance(event, Failed))
    assert "Fjord Queen" in [hit.passage.title for hit in answer.ranking]


@pytest.mark.parametrize(
    "system",
    ["bdtr", "gcot", "gear", "gears(graph_from=9)", "ircot", "iter-retgen", "rgnn", "self-ask", "tog", "single"],
)
def test_all_prompts_say_the_date_that_a_question_is_about(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, system: str
) -> None:
    for task in ("think", "tog", "gcot", "retgen", "self-ask", "sub-question", "rewrite"):
        scripted.say(task, _HOME, "So the answer is: salmon")
    scripted.say("sub-answer", _IN_NORDVIKA)
    scripted.say("read", {"triples": [["Ole Brandvik", "grew up in", "Nordvika"]]})
    scripted.say("reason", {"answerable": False, "why": "no river"}, {"answerable": True, "answer": "salmon"})
    scripted.say("rewrite-or-stop", "{No} {" + _HOME + "}", "{Yes}")
    scripted.say("filter", "[1]")
    scripted.say("critique", {"analysis": "no river", "enough": False}, {"enough": True})
    scripted.say("final-answer", "salmon")
    scripted.say("dual-thought", {"fast": _HOME, "slow": "Nordvika, a port"})
    scripted.say("chain", "Nordvika -> salmon")
    scripted.say("verify", {"covered_doc_indices": [1]})
    scripted.say("answer", "salmon")
    answer = talking[coast].ask(QUESTION, system=f"{system}+bm25", filter=Filter(as_of="1912-3"))
    assert (answer.problem, answer.question) == ("", QUESTION)
    assert scripted.calls
    assert [call["task"] for call in scripted.calls if "(as of 1912-03)" not in _user(call)] == []
    assert not any("as of" in query for query in _queries(answer))
