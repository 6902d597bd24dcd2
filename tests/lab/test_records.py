"""Files of records, from which runs resume, and files of ranks."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_retrieving import Fixed, no_progress, questions

from kgrag.lab.datasets import Corpus, Dataset, Question
from kgrag.lab.records import RecordFile, changes, read_ranks, write_ranks
from kgrag.lab.report import Result
from kgrag.lab.retrieving import AnswerRecord, Grade, Record, retrieve_all
from kgrag.lab.summary import overlaps, table
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
        "question": "q1", "text": "Who?", "gold": ["a", "b"], "answers": [], "system": "rrf(bm25, dense)",
        "documents": ["x", "b"], "ranks": [None, 2], "seconds": 0.25, "type": "bridge", "hops": 3,
    }  # fmt: skip


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


def _question(id: str, gold: int = 2, answers: tuple[str, ...] = ()) -> Question:
    return Question(id, f"What is {id}?", tuple(f"secret {n}" for n in range(gold)), answers, "2hop", 2)


_RANKS: dict[str, dict[str, tuple[int | None, ...]]] = {
    "one": {"a": (1, 2), "b": (1, 7), "c": (3, None), "d": (None, None)},
    "two": {"a": (2, 1), "b": (4, None), "c": (1, 8), "d": (None, 9)},
}


def _records() -> list[Record]:
    return [
        Record(name, _question(id), ("secret 0",), ranks, 0.0125, "it broke" if id == "d" and name == "one" else "")
        for name, its in _RANKS.items()
        for id, ranks in its.items()
    ]


def test_cutoffs() -> None:
    row = table(_records(), 15, (2, 5))["one"]
    assert list(row)[:6] == ["R@2", "R@5", "perfect@2", "perfect@5", "MRR", "nDCG@10"]
    assert (row["R@2"], row["R@5"], row["perfect@2"], row["perfect@5"]) == (37.5, 50.0, 0.25, 0.25)
    assert "perfect@20" not in table(_records(), 15, (20,))["one"]
    assert {"R@15", "perfect@8"} <= table(_records(), 15)["one"].keys()


def test_ranks_come_back_without_a_word_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl.gz"
    result = Result.of("set: 4 questions", _records(), 15, {}, "two", conditions={"depth": 15, "machine": "mine"})
    write_ranks(path, result, "kgrag lab eval set")
    first = path.read_bytes()
    write_ranks(path, result, "kgrag lab eval set")
    assert path.read_bytes() == first
    text = gzip.decompress(first).decode()
    assert "secret" not in text and "What is" not in text
    assert json.loads(text.splitlines()[1]) == {
        "id": "a", "hops": 2, "type": "2hop", "gold": 2, "ranks": {"one": [[1, 2], 12.5], "two": [[2, 1], 12.5]}
    }  # fmt: skip
    again = read_ranks(path, baseline="two")
    assert again.rows == result.rows
    assert again.differences == result.differences
    assert (again.title, again.notes) == ("set: 4 questions", ("kgrag lab eval set",))
    assert read_ranks(path, at=(5,)).rows["one"]["perfect@5"] == 0.25
    with pytest.raises(InputError, match="no ranks of 'three'"):
        read_ranks(path, baseline="three")


@pytest.mark.parametrize("content", [b"", b"no", gzip.compress(b"{}\n{}\n", mtime=0), gzip.compress(b"[1]\n", mtime=0)])
def test_what_is_no_file_of_ranks(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ranks.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no file of ranks"):
        read_ranks(path)


def test_answers_without_gold_keep_the_rank_of_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl.gz"
    records = [Record("one", _question(id, 0), (), (rank,), 0.01) for id, rank in (("a", 4), ("b", None))]
    write_ranks(path, Result.of("set", records, 15, conditions={"depth": 15}))
    row = read_ranks(path).rows["one"]
    assert (row["answer@5"], row["answer@2"]) == (50.0, 0.0)
    assert "R@5" not in row


def test_what_two_get_right() -> None:
    found = overlaps(_records(), "two")
    shares = {"both": 25.0, "it alone": 25.0, "baseline alone": 25.0, "neither": 25.0}
    assert found == {"one": {"by": "perfect@8", "questions": 4, **shares}}
    said = {"one": {"a": "x", "b": "y", "c": "x"}, "two": {"a": "x", "b": "y", "c": "y"}}
    records = [
        Record(name, _question(id, answers=("x",)), (), (1, 2), 0.1, "", AnswerRecord(text))
        for name, its in said.items()
        for id, text in its.items()
    ]
    row = overlaps(records, "two")["one"]
    assert (row["by"], row["both"], row["it alone"], row["baseline alone"], row["neither"]) == (
        "EM", 33.3, 33.3, 0.0, 33.3,
    )  # fmt: skip
    marked = [
        Record(r.system, r.question, (), r.ranks, 0.1, "", AnswerRecord("y", grade=Grade(True, "a model")))
        for r in records
    ]
    assert overlaps(marked, "two")["one"]["both"] == 100.0
    failed = [replace(r, error="x" if r.question.id == "a" else "") for r in marked]
    assert table(failed)["one"]["Acc"] == 66.7  # failed answers are wrong, whatever their grade
    page = AnswerRecord("", structure=("A page.",))
    looked_up = [
        replace(marked[0], question=replace(marked[0].question, structure=("**A page**",)), answer=page),
        *marked[1:3],
    ]
    assert table(looked_up)["one"]["Struct-EM"] == 100.0  # over the one question that names a page
    shown = Result.of("set", records, 15, {}, "two").frames()["% correct, compared with two"]
    assert shown.loc["one"].tolist() == ["EM", 3, 33.3, 33.3, 0.0, 33.3]


def test_strategies_by_retrievers() -> None:
    names, records = ("gear+ppr", "gear+bm25", "ircot+ppr", "ircot+bm25"), []
    for number, name in enumerate(names):
        records += [Record(name, _question(id, 1), (), (1 if int(id) < number else None,), 0.1) for id in "0123"]
    title = "R@5 by strategy and retriever"
    assert title not in Result.of("set", records[:12], 15).frames()  # one of the four is missing
    grid = Result.of("set", records, 15).frames()[title]
    assert grid.loc["gear"].to_dict() == {"ppr": 0, "bm25": 25} and grid.loc["ircot", "bm25"] == 75


def test_a_sample_depends_on_the_seed_and_the_ids_alone() -> None:
    questions = tuple(_question(f"q{n}") for n in range(50))
    data = Dataset(Path("set"), questions, frozenset(), Corpus(lambda _: iter(())))
    drawn = [q.id for q in data.sample(10, 1).questions]
    assert len(drawn) == 10 and drawn == sorted(drawn, key=lambda id: int(id[1:]))
    turned = data.with_questions(reversed(questions)).sample(10, 1)
    assert {q.id for q in turned.questions} == set(drawn)
    assert [q.id for q in data.sample(10, 2).questions] != drawn
    assert data.sample(None) is data.sample(50) is data


def test_what_changes_question_by_question(tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl.gz"
    ranks = {
        "base": {"a": (1, 9), "b": (2, None), "c": (1, 2)},
        "rerank(base)": {"a": (3, 2), "b": (None, 7), "c": (2, 1)},
    }
    records = [
        Record(system, _question(id, 2), (), its, 0.01) for system, all_ in ranks.items() for id, its in all_.items()
    ]
    write_ranks(path, Result.of("set", records, 15, conditions={"depth": 15}))
    found = changes(read_ranks(path, baseline="base"), 5)
    assert [tuple(change.values())[1:] for change in found] == [
        ("a", "2hop", (1, 9), (3, 2), 0.5),
        ("b", "2hop", (2, None), (None, 7), -0.5),
    ]
    with pytest.raises(InputError, match="against a baseline"):
        changes(read_ranks(path), 5)
