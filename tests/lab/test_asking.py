"""Answering systems: the records of answers, and the measures of questions, iterations and failures."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_retrieving import no_progress

from kgrag.lab.ask_systems import ask_all
from kgrag.lab.datasets import GoldText, Question
from kgrag.lab.records import RecordFile
from kgrag.lab.report import Result
from kgrag.lab.retrieving import AnswerRecord, Iteration, Record
from kgrag.lab.summary import differences, errors, iterations, problems, table, tables_by
from kgrag.models.prompted import Listener
from kgrag.values.errors import BudgetError, ConfigurationError, DatabaseError, UnavailableError
from kgrag.values.events import Answer, Called, Event, Failed, Ranked, Retrieved
from kgrag.values.results import Hit, Passage, Ranking, Usage

SUBJECT = {"corpus": "abc", "depth": 15}


def hits(documents: str) -> tuple[Hit, ...]:
    return tuple(Hit(Passage(f"p{i}", d, d, d), 1 / (i + 1)) for i, d in enumerate(documents))


def called(step: int, prompt: int = 10, completion: int = 5) -> Called:
    return Called(step=step, task="t", model="m", usage=Usage(1, 0, prompt, completion, 0.5), seconds=0.1)


def answered(
    text: str, ranking: str, *events: Event, found: bool = True, problem: str = "", question: str = ""
) -> Answer:
    usage = sum((e.usage for e in events if isinstance(e, Called)), Usage())
    return Answer(question, text, found, "s", Ranking("", "s", hits(ranking)), (), events, usage, problem=problem)


class Scripted:
    """A system with a given answer for each question; an exception is raised."""

    def __init__(self, replies: dict[str, Answer | Exception], before: Callable[[str], None] | None = None) -> None:
        self.replies, self.before = replies, before
        self.asked: list[str] = []
        self.shorts: set[tuple[bool, int]] = set()

    def ask(
        self, question: str, /, *, short: bool = False, depth: int = 15, listener: Listener | None = None
    ) -> Answer:
        self.asked.append(question)
        self.shorts.add((short, depth))
        if self.before is not None:
            self.before(question)
        reply = self.replies[question]
        for event in reply.trace if isinstance(reply, Answer) else ():
            if listener is not None:
                listener(event)
        if isinstance(reply, Exception):
            raise reply
        return reply


def questions(texts: Iterable[str], answers: tuple[str, ...] = ("Larvik",)) -> list[Question]:
    return [Question(f"q{text}", text, ("a", "c"), answers) for text in texts]


TWO_STEPS = answered(
    "Larvik", "xac", Retrieved(step=1, query="1", hits=hits("xxab")), called(1), called(1),
    Retrieved(step=2, query="2", hits=hits("yc")), Retrieved(step=2, query="2b", hits=hits("a")),
    Ranked(step=2, hits=hits("xca")), called(2, 100, 20), Retrieved(step=0, query="after", hits=hits("c")),
    called(0, 7, 1),
)  # fmt: skip
ONE_STEP = answered("the town Larvik", "ac", Retrieved(step=1, query="1", hits=hits("c")), called(1), called(0))


def test_what_is_kept_of_an_answer_by_hand() -> None:
    (record,) = ask_all({"s": Scripted({"1": TWO_STEPS})}, questions("1"), no_progress)
    assert (record.documents, record.ranks) == (("x", "a", "c"), (2, 3))
    assert record.answer is not None
    assert record.answer.text == "Larvik"
    assert record.answer.iterations == (Iteration((2, None), 2, 30, (2, None)), Iteration((1, 2), 1, 120, (3, 2)))
    assert record.answer.usage == Usage(4, 0, 127, 31, 2.0)
    assert time.time() - 60 < record.answer.began <= time.time()


def test_measures_of_answers_and_iterations_by_hand() -> None:
    failed = answered("", "ac", Retrieved(step=1, query="1", hits=hits("ac")), called(1), problem="The model is gone.")
    missing = answered("Not in the evidence.", "a", Retrieved(step=1, query="1", hits=hits("a")), found=False)
    system = Scripted({"1": TWO_STEPS, "2": ONE_STEP, "3": missing, "4": failed})
    records = ask_all({"s": system}, questions("1234"), no_progress, depth=2)
    assert system.shorts == {(True, 2)}
    row = table(records, 2)["s"]
    assert row["R@2"] == 50  # one, two, one and none of two
    assert (row["EM"], row["F1"]) == (25, round(100 * (1 + 2 / 3) / 4, 1))
    assert (row["calls"], row["tokens"], row["cost"]) == (1.8, round((158 + 30 + 15) / 4), 3.5)
    assert (row["questions"], row["errors"]) == (4, 1)
    assert errors(records) == {"s": {"q4": "The model is gone."}}
    first, second, after = iterations(records, 2)["s"]
    # a question cut short keeps its results; a failed one found nothing; ranks beyond the depth do not count
    assert first == {"iteration": "1", "questions": 4, "R@2": 37.5, "found@2": 37.5, "calls": 1.0, "tokens": 15}
    # the ranking of the second step has one of two among its first two, although the step found both
    assert second == {"iteration": "2", "questions": 1, "R@2": 37.5, "found@2": 50.0, "calls": 1.0, "tokens": 120}
    assert after == {"iteration": "after", "questions": 4, "R@2": 50.0, "found@2": 50.0, "calls": 0.5, "tokens": 6}


def test_without_known_answers_there_is_neither_em_nor_f1() -> None:
    rows = table(ask_all({"s": Scripted({"1": ONE_STEP})}, questions("1", ()), no_progress))
    assert "EM" not in rows["s"]
    half = ask_all(
        {"s": Scripted({"1": TWO_STEPS, "2": ONE_STEP})}, [*questions("1"), *questions("2", ())], no_progress
    )
    assert table(half)["s"]["EM"] == 100


def test_an_unknown_price_is_an_unknown_cost() -> None:
    unknown = replace(ONE_STEP, usage=Usage(1, 0, 5, 5, None))
    row = table(ask_all({"s": Scripted({"1": ONE_STEP, "2": unknown})}, questions("12"), no_progress))["s"]
    assert row["cost"] is None
    assert row["calls"] == 1.5


def test_one_failing_question_does_not_lose_the_others() -> None:
    replies = {"1": ONE_STEP, "2": ValueError("broken\npieces"), "3": replace(ONE_STEP, problem="A step failed.")}
    records = ask_all({"s": Scripted(replies)}, questions("123"), no_progress, threads=2)
    assert [r.question.id for r in records] == ["q1", "q2", "q3"]
    assert [r.error for r in records] == ["", "ValueError: broken", ""]
    assert problems(records) == {"s": {"q3": "A step failed."}}
    told = Result.of("t", records, 15).values()
    assert (told["errors"], told["problems"]) == ({"s": {"q2": "ValueError: broken"}}, {"s": {"q3": "A step failed."}})


def test_threads_ask_at_once_and_wall_time_is_counted_once() -> None:
    barrier = threading.Barrier(4, timeout=20)

    def together(_: str) -> None:
        barrier.wait()
        time.sleep(0.2)  # much longer than the delays of a busy machine

    system = Scripted({str(n): ONE_STEP for n in range(8)}, together)
    started = time.perf_counter()
    records = ask_all({"s": system}, questions("01234567"), no_progress, threads=4)
    taken = time.perf_counter() - started
    assert sum(r.seconds for r in records) > 2 * taken
    row = table(records)["s"]
    assert row["wall_s"] is not None and row["q/s"] is not None
    assert 0.3 <= row["wall_s"] <= taken + 0.1
    assert "wall_s" not in tables_by(records, {r.question.id: (0, "all") for r in records})["all"]["s"]


def test_wall_time_leaves_out_the_pause_between_two_runs() -> None:
    spans = [(1000.0, 4.0), (1002.0, 1.0), (1003.0, 3.0), (9000.0, 2.0)]
    records = [
        Record("s", q, (), (None, None), seconds, "", AnswerRecord("", began=began))
        for q, (began, seconds) in zip(questions("1234"), spans, strict=True)
    ]
    row = table(records)["s"]
    assert (row["wall_s"], row["q/s"]) == (8.0, 0.5)


@pytest.mark.parametrize("in_trace", [True, False])
def test_a_spent_budget_ends_the_run_and_keeps_what_is_done(tmp_path: Path, in_trace: bool) -> None:
    problem = "The next call could cost 2."
    spent: Answer | Exception = BudgetError(problem, "Raise it.")
    if in_trace:
        spent = answered("", "a", Failed(step=2, problem=problem, error="BudgetError"), problem=problem)
    replies = {"1": ONE_STEP, "2": spent, **{str(n): ONE_STEP for n in range(3, 9)}}
    system, asked = Scripted(replies), questions("12345678")
    with RecordFile(tmp_path, "s", SUBJECT) as log, pytest.raises(BudgetError, match="could cost 2"):
        ask_all({"s": system}, asked, no_progress, logs={"s": log})
    assert system.asked == ["1", "2"]
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        assert [log.find(q) is not None for q in asked] == [True, *[False] * 7]


@pytest.mark.parametrize(
    ("error", "most"),
    [(DatabaseError("gone"), 3), (UnavailableError("used up"), 3), (ConfigurationError("no model"), 1)],
)
def test_what_fails_every_question_ends_the_run(error: Exception, most: int) -> None:
    system = Scripted({str(n): error for n in range(9)})
    with pytest.raises(type(error)):
        ask_all({"s": system}, questions("012345678"), no_progress)
    assert len(system.asked) == most


def test_a_model_that_refuses_for_good_ends_the_run_with_the_remedy() -> None:
    """The run ends even though each question has an answer that reports the refusal."""
    failed = Failed(problem="The quota is used up. Use another key.", error="UnavailableError")
    answer = replace(ONE_STEP, text="", trace=(failed,), problem=failed.problem)
    system = Scripted({str(n): answer for n in range(9)})
    with pytest.raises(UnavailableError, match="Use another key"):
        ask_all({"s": system}, questions("012345678"), no_progress)
    assert len(system.asked) == 3


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    replies: dict[str, Answer | Exception] = {"1": TWO_STEPS, "2": ONE_STEP, "3": ONE_STEP, "4": ValueError("no")}

    def interrupted(stage: str, done: int, total: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    asked = questions("1234")
    with RecordFile(tmp_path, "s", SUBJECT) as log, pytest.raises(KeyboardInterrupt):
        ask_all({"s": Scripted(replies)}, asked, interrupted, logs={"s": log})
    again = Scripted(replies)
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        records = ask_all({"s": again}, asked, no_progress, logs={"s": log})
    assert again.asked == ["3", "4"]
    last = Scripted(replies)
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        repeated = ask_all({"s": last}, asked, no_progress, logs={"s": log})
    assert last.asked == ["4"]  # failed questions are asked again
    assert [(r.documents, r.ranks) for r in repeated[:3]] == [(r.documents, r.ranks) for r in records[:3]]
    assert repeated[0].answer == records[0].answer
    assert iterations(records) == iterations(repeated)


def test_questions_under_way_end_when_the_run_is_interrupted() -> None:
    """The second question is being answered when the run is interrupted; it stops before the run ends."""
    begun, ended = threading.Event(), []

    def before(question: str) -> None:
        if question == "2":
            begun.set()
            time.sleep(0.3)

    class Noted(Scripted):
        def ask(self, question: str, /, **options: Any) -> Answer:
            try:
                return super().ask(question, **options)
            except BaseException as error:
                ended.append((question, type(error).__name__))
                raise

    def interrupted(stage: str, done: int, total: int | None) -> None:
        if done == 1 and begun.wait(20):
            raise KeyboardInterrupt

    system = Noted({str(n): ONE_STEP for n in range(1, 9)}, before)
    with pytest.raises(KeyboardInterrupt):
        ask_all({"s": system}, questions("12345678"), interrupted, threads=2)
    assert ("2", "_Abandoned") in ended


def test_records_of_answers_say_how_good_they_are(tmp_path: Path) -> None:
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        ask_all({"s": Scripted({"1": ONE_STEP})}, questions("1"), no_progress, logs={"s": log})
    row = json.loads(log.path.read_text().splitlines()[1])
    assert (row["answer"]["text"], row["answer"]["EM"], row["answer"]["F1"]) == ("the town Larvik", 0, 0.6667)
    assert row["answer"]["iterations"] == [{"ranks": [None, 1], "calls": 1, "tokens": 15, "ranked": [None, 1]}]
    assert row["answer"]["usage"]["prompt_tokens"] == 20


def test_gold_that_is_part_of_a_document_is_found_by_its_text() -> None:
    texts = {"a": GoldText("long", "the quick brown fox jumps"), "c": GoldText("long", "over the lazy old dog")}
    found = (Hit(Passage("p0", "long", "", "Over the lazy old dog."), 1.0),)
    answer = Answer(
        "", "Larvik", True, "s", Ranking("", "s", found), (), (Retrieved(step=1, query="", hits=found),), Usage()
    )
    (record,) = ask_all({"s": Scripted({"1": answer})}, questions("1"), no_progress, gold_texts=texts)
    assert (record.documents, record.ranks) == (("long",), (None, 1))
    assert record.answer is not None
    assert record.answer.iterations[0].ranks == (None, 1)


def test_answers_are_compared_where_both_systems_answer() -> None:
    asked = [*questions("1234"), *questions("5", ())]
    good = {str(n): TWO_STEPS for n in range(1, 6)}
    bad = {str(n): ONE_STEP for n in range(1, 6)}
    records = ask_all({"good": Scripted(dict(good)), "bad": Scripted(dict(bad))}, asked, no_progress)
    found = differences(records, "bad")["good"]
    assert found["EM"].value == 100
    assert found["F1"].value == pytest.approx(100 / 3)
    retriever = [Record("bm25", q, ("a",), (1, None), 0.1) for q in asked]
    assert "EM" not in differences([*records, *retriever], "bm25")["good"]
