"""Ranks that are kept, the cutoffs that are asked for, samples, and what two systems get right."""

import gzip
import json
from pathlib import Path

import pytest

from kgrag.lab.datasets import Corpus, Dataset, Question
from kgrag.lab.records import changes, changes_sheet, read_ranks, write_ranks
from kgrag.lab.report import Result, matrix_sheet
from kgrag.lab.retrieving import AnswerRecord, Grade, Record
from kgrag.lab.summary import overlaps, table
from kgrag.values.errors import InputError


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
    said = {"one": {"a": "x", "b": "y", "c": "x"}, "two": {"a": "x", "b": "x", "c": "y"}}
    records = [
        Record(name, _question(id, answers=("x",)), (), (1, 2), 0.1, "", AnswerRecord(text))
        for name, its in said.items()
        for id, text in its.items()
    ]
    row = overlaps(records, "two")["one"]
    assert (row["by"], row["both"], row["it alone"], row["baseline alone"], row["neither"]) == (
        "EM",
        33.3,
        33.3,
        33.3,
        0.0,
    )
    marked = [
        Record(r.system, r.question, (), r.ranks, 0.1, "", AnswerRecord("y", grade=Grade(True, "a model")))
        for r in records
    ]
    assert overlaps(marked, "two")["one"]["both"] == 100.0
    sheet = Result.of("set", records, 15, {}, "two").sheets()[-1]
    assert sheet.rows == (("one", "EM", "3", "33.3", "33.3", "33.3", "0.0"),)


def test_strategies_by_retrievers() -> None:
    rows = {f"{s}+{r}": {"R@5": n} for n, (s, r) in enumerate([("gear", "ppr"), ("gear", "bm25"), ("ircot", "ppr")])}
    assert matrix_sheet(rows) is None
    rows["ircot+bm25"] = {"R@5": 7.0}
    sheet = matrix_sheet(rows)
    assert sheet is not None
    assert sheet.head == ("strategy", "ppr", "bm25")
    assert sheet.rows == (("gear", "0.0", "1.0"), ("ircot", "2.0", "7.0"))


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
    rows = changes_sheet(read_ranks(path, baseline="base"), 5).rows
    assert [row[1:] for row in rows] == [("a", "2hop", "1 9", "3 2", "+50"), ("b", "2hop", "2 -", "- 7", "-50")]
    with pytest.raises(InputError, match="against a baseline"):
        changes(read_ranks(path), 5)
