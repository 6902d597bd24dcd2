import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_retrieving import Fixed, no_progress, questions

from kgrag.lab.datasets import Question
from kgrag.lab.records import RecordFile
from kgrag.lab.retrieving import Record, retrieve_all
from kgrag.values.errors import InputError
from kgrag.values.results import Ranking

SUBJECT = {"corpus": "abc", "embedder": "wordllama", "depth": 15}


class Killed(Fixed):
    """A system whose run ends at one question."""

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        if query == "Question 3?" and len(self.asked) >= 8:
            raise KeyboardInterrupt
        return super().retrieve(query, k)


def test_a_run_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    asked = questions(5)
    with RecordFile(tmp_path / "runs", "bm25", SUBJECT) as log, pytest.raises(KeyboardInterrupt):
        retrieve_all({"bm25": Killed("a", "x", "c")}, asked, no_progress, logs={"bm25": log})
    again = Fixed("other")
    with RecordFile(tmp_path / "runs", "bm25", SUBJECT) as log:
        assert [log.find(q) is not None for q in asked] == [True, True, True, False, False]
        records = retrieve_all({"bm25": again}, asked, no_progress, logs={"bm25": log})
    assert {query for query, _ in again.asked} == {"Question 3?", "Question 4?"}
    assert [r.documents for r in records] == [("a", "x", "c")] * 3 + [("other",)] * 2
    assert records[0].ranks == (1, 3)
    with RecordFile(tmp_path / "runs", "bm25", SUBJECT) as log:
        assert retrieve_all({"bm25": Fixed()}, asked, no_progress, logs={"bm25": log}) == [
            replace(r, seconds=round(r.seconds, 6)) for r in records
        ]


def test_a_record_says_what_was_asked_and_found(tmp_path: Path) -> None:
    question = Question("q1", "Who?", ("a", "b"), type="bridge", steps=3)
    with RecordFile(tmp_path, "rrf(bm25, dense)", SUBJECT) as log:
        log.keep(Record("rrf(bm25, dense)", question, ("x", "b"), (None, 2), 0.25))
    head, row = map(json.loads, log.path.read_text().splitlines())
    assert head == {"system": "rrf(bm25, dense)", **SUBJECT}
    del row["identity"]
    assert row == {
        "question": "q1",
        "text": "Who?",
        "gold": ["a", "b"],
        "answers": [],
        "system": "rrf(bm25, dense)",
        "documents": ["x", "b"],
        "ranks": [None, 2],
        "seconds": 0.25,
        "type": "bridge",
        "hops": 3,
    }


@pytest.mark.parametrize("torn", [1, 10, 40])
def test_a_torn_last_line_is_dropped(tmp_path: Path, torn: int) -> None:
    first, second = questions(2)
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        log.keep(Record("bm25", first, ("a",), (1, None), 0.1))
        log.keep(Record("bm25", second, ("c",), (None, 1), 0.1))
    log.path.write_bytes(log.path.read_bytes()[:-torn])
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        assert log.find(first) is not None
        assert log.find(second) is None
        log.keep(Record("bm25", second, ("c",), (None, 1), 0.1))
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        assert log.find(second) is not None
    assert all(json.loads(line) for line in log.path.read_text().splitlines())


@pytest.mark.parametrize("size", [0, 1, 30])
def test_a_file_cut_in_its_first_line_begins_again(tmp_path: Path, size: int) -> None:
    (question,) = questions(1)
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        log.keep(Record("bm25", question, ("a",), (1, None), 0.1))
    log.path.write_bytes(log.path.read_bytes()[:size])
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        assert log.find(question) is None
    assert len(log.path.read_text().splitlines()) == 1


@pytest.mark.parametrize("change", [{"corpus": "abd"}, {"embedder": "minilm"}, {"depth": 20}, {"settings": 1}])
def test_what_was_measured_on_something_else_is_another_file(tmp_path: Path, change: dict[str, object]) -> None:
    (question,) = questions(1)
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        log.keep(Record("bm25", question, ("a",), (1, None), 0.1))
    with RecordFile(tmp_path, "bm25", {**SUBJECT, **change}) as other:
        assert other.find(question) is None
    with RecordFile(tmp_path, "rrf(bm25)", SUBJECT) as other:
        assert other.find(question) is None


def test_a_question_in_other_words_or_with_other_gold_is_another(tmp_path: Path) -> None:
    (question,) = questions(1)
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        log.keep(Record("bm25", question, ("a",), (1, None), 0.1))
        log.keep(Record("bm25", replace(question, text="question 0?"), ("b",), (None, None), 0.1))
        found = log.find(question)
        assert found is None  # records are read when the file is opened
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        found, changed = log.find(question), log.find(replace(question, text="question 0?"))
        assert found is not None
        assert changed is not None
        assert (found.documents, changed.documents) == (("a",), ("b",))
        assert log.find(replace(question, gold=("a",))) is None


def test_a_question_that_failed_is_asked_again(tmp_path: Path) -> None:
    (question,) = questions(1)
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        log.keep(Record("bm25", question, (), (None, None), 0.1, "ValueError: no"))
    assert "ValueError: no" in log.path.read_text()
    with RecordFile(tmp_path, "bm25", SUBJECT) as log:
        assert log.find(question) is None


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        RecordFile(tmp_path / "file" / "runs", "bm25", SUBJECT)
