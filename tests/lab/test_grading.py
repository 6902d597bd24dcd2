"""Grading of answers: calls of the model, grades without it, and the records of a run."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_asking import ONE_STEP, SUBJECT, Scripted, answered, questions
from test_retrieving import no_progress

from kgrag.lab.ask_systems import ask_all
from kgrag.lab.grading import Grader
from kgrag.lab.records import RecordFile
from kgrag.lab.summary import differences, problems, table
from kgrag.models.chat import Message, Reply
from kgrag.models.prompted import PromptedModel
from kgrag.values.errors import BudgetError, ModelError
from kgrag.values.results import Usage


class Marker:
    """A model that grades answers with a given word as correct; it may fail first."""

    def __init__(self, word: str = "Larvik", *faults: Exception, called: str = "marker") -> None:
        self.word, self.faults, self.called = word, list(faults), called
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
        fresh: bool = False,
    ) -> Reply:
        assert task == "grade" and json is not None
        with self._lock:
            if self.faults:
                raise self.faults.pop(0)
            self.asked.append(messages[-1].content)
        said = messages[-1].content.rpartition("Said:")[2]
        return Reply(f'{{"correct": {str(self.word in said).lower()}}}', "m", Usage(1, 0, 100, 10, 0.1))

    def name(self, task: str) -> str:
        return self.called


REPLIES = {
    "1": answered("in the town of Larvik", "ac"),
    "2": answered("Larvik", "a"),
    "3": answered("Not in the evidence.", "a", found=False),
    "4": answered("Bergen", "a"),
}


def run(marker: Marker | None, asked: str = "1234", log: RecordFile | None = None, **changes: Any) -> list[Any]:
    system = Scripted({**REPLIES, **changes})
    grader = None if marker is None else Grader(PromptedModel(marker))
    records = ask_all({"s": system}, questions(asked), no_progress, logs={"s": log} if log else None, grader=grader)
    return [records, system.asked]


def test_the_model_is_asked_only_what_is_not_known_without_it() -> None:
    marker = Marker()
    records, _ = run(marker)
    assert [r.answer.grade.correct for r in records] == [True, True, False, False]
    assert sorted(marker.asked) == [
        "Question: 1\nRight: Larvik\nSaid: in the town of Larvik",
        "Question: 4\nRight: Larvik\nSaid: Bergen",
    ]
    row = table(records)["s"]
    assert (row["EM"], row["Acc"], row["calls"]) == (25, 50, 0)
    assert list(row).index("Acc") == list(row).index("F1") + 1


def test_what_marking_takes_is_counted_apart() -> None:
    grader = Grader(PromptedModel(Marker()))
    ask_all({"s": Scripted({**REPLIES})}, questions("1234"), no_progress, grader=grader)
    assert grader.meter.total == Usage(2, 0, 200, 20, 0.2)


def test_what_has_no_known_answer_is_not_marked_and_what_failed_is_wrong() -> None:
    marker = Marker()
    system = Scripted({"1": REPLIES["1"], "2": REPLIES["1"], "3": ValueError("broken")})
    asked = [*questions("1"), *questions("2", ()), *questions("3")]
    row = table(ask_all({"s": system}, asked, no_progress, grader=Grader(PromptedModel(marker))))["s"]
    assert (row["Acc"], row["errors"], len(marker.asked)) == (50, 1, 1)


def test_marks_are_kept_and_those_of_another_model_are_made_again(tmp_path: Path) -> None:
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        run(None, log=log)
    marker = Marker()
    for expected in (2, 2):  # the second time, everything is saved
        with RecordFile(tmp_path, "s", SUBJECT) as log:
            records, asked = run(marker, log=log)
        assert asked == []
        assert (len(marker.asked), table(records)["s"]["Acc"]) == (expected, 50)
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        assert table(run(None, log=log)[0])["s"]["Acc"] == 50
        other = Marker("Bergen", called="other")
        assert table(run(other, log=log)[0])["s"]["Acc"] == 50
    assert len(other.asked) == 2
    last = log.path.read_text().splitlines()[-1]
    assert '"Acc": ' in last
    assert '"by": "other, prompt ' in last


def test_a_model_that_fails_leaves_an_answer_unmarked_until_it_is_asked_again(tmp_path: Path) -> None:
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        records, _ = run(Marker("Larvik", ModelError("gone", "")), "1", log)
        assert records[0].answer.grade is None
        assert problems(records) == {"s": {"q1": "not marked: gone"}}
        assert "Acc" not in table(records)["s"]
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        records, asked = run(Marker(), "1", log)
    assert (asked, problems(records), table(records)["s"]["Acc"]) == ([], {}, 100)


def test_a_budget_that_is_spent_ends_the_run_but_not_the_answer(tmp_path: Path) -> None:
    with RecordFile(tmp_path, "s", SUBJECT) as log, pytest.raises(BudgetError):
        run(Marker("Larvik", BudgetError("spent", "")), "1", log)
    with RecordFile(tmp_path, "s", SUBJECT) as log:
        records, asked = run(Marker(), "1", log)
    assert (asked, table(records)["s"]["Acc"]) == ([], 100)


def test_marks_are_compared() -> None:
    marker = Marker()
    systems = {"a": Scripted({"1": ONE_STEP, "2": ONE_STEP}), "b": Scripted({"1": ONE_STEP, "2": REPLIES["4"]})}
    records = ask_all(systems, questions("12"), no_progress, grader=Grader(PromptedModel(marker)))
    assert differences(records, "b")["a"]["Acc"].value == 50
