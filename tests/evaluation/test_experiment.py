import pytest

from kgrag.evaluation.datasets import Question
from kgrag.evaluation.experiment import Record, distinct_documents, run, table
from kgrag.types import Hit, Passage, Ranking


class Fixed:
    """A system that knows its ranking of documents; each entry is a passage."""

    def __init__(self, *documents: str) -> None:
        self.hits = tuple(Hit(Passage(f"p{i}", d, d, d), 1 / (i + 1)) for i, d in enumerate(documents))
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        self.asked.append((query, k))
        return Ranking(query, "fixed", self.hits[:k])


def silent(stage: str, done: int, total: int | None) -> None:
    pass


def questions(number: int) -> list[Question]:
    return [Question(f"q{i}", f"Question {i}?", ("a", "c")) for i in range(number)]


def test_a_document_counts_once_at_its_first_passage() -> None:
    ranking = Fixed("a", "b", "a", "c", "b").retrieve("?", 10)
    assert distinct_documents(ranking) == ("a", "b", "c")


def test_every_system_is_asked_every_question_warm_and_in_order() -> None:
    systems, asked = {"one": Fixed("a"), "two": Fixed("b")}, questions(12)
    records = run(systems, asked, silent)
    assert [(r.system, r.question.id) for r in records] == [(s, q.id) for s in systems for q in asked]
    assert [q for q, _ in systems["one"].asked] == [q.text for q in [*asked[:10], *asked]]
    assert all(r.seconds > 0 for r in records)


def test_it_looks_deeper_until_it_has_enough_documents() -> None:
    deep = Fixed(*["a"] * 40, *["b"] * 40, *(f"d{i}" for i in range(30)))
    record = run({"deep": deep}, questions(1), silent)[0]
    assert record.documents == ("a", "b", *(f"d{i}" for i in range(13)))
    assert [k for _, k in deep.asked] == [15, 15, 60, 240]


def test_it_stops_when_there_are_no_more_passages() -> None:
    short = Fixed("a", "a", "b")
    assert run({"short": short}, questions(1), silent)[0].documents == ("a", "b")
    assert {k for _, k in short.asked} == {15}


def test_the_table_is_a_view_of_the_records() -> None:
    one, two = questions(2)
    records = [
        Record("x", one, ("a", "b", "c"), 0.010),
        Record("x", two, ("b", "c", "d"), 0.030),
        Record("y", one, (), 0.001),
        Record("y", two, (*(f"d{i}" for i in range(7)), "a", "c"), 0.001),
    ]
    rows = table(records)
    assert list(rows) == ["x", "y"]
    assert rows["x"] == {
        "R@2": 50.0,
        "R@5": 75.0,
        "R@10": 75.0,
        "R@15": 75.0,
        "perfect@8": 0.5,
        "p50_ms": pytest.approx(20),
        "p95_ms": pytest.approx(29),
        "questions": 2,
    }
    assert rows["y"]["R@5"] == 0
    assert rows["y"]["R@10"] == 50
    assert rows["y"]["perfect@8"] == 0
    assert table([]) == {}
