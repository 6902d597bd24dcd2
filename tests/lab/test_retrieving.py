import pytest

from kgrag.lab.datasets import Question
from kgrag.lab.measures import distinct_documents, ranks_of
from kgrag.lab.retrieving import Record, retrieve_all
from kgrag.lab.summary import Rows, differences, errors, measures, table, tables_by
from kgrag.values.errors import DatabaseError
from kgrag.values.events import no_progress
from kgrag.values.results import Hit, Passage, Ranking


class Fixed:
    """A system with a given ranking of documents; each entry is a passage."""

    def __init__(self, *documents: str) -> None:
        self.hits = tuple(Hit(Passage(f"p{i}", d, d, d), 1 / (i + 1)) for i, d in enumerate(documents))
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        self.asked.append((query, k))
        return Ranking(query, "fixed", self.hits[:k])


def questions(number: int) -> list[Question]:
    return [Question(f"q{i}", f"Question {i}?", ("a", "c")) for i in range(number)]


def test_a_document_counts_once_at_its_first_passage() -> None:
    ranking = Fixed("a", "b", "a", "c", "b").retrieve("?", 10)
    assert distinct_documents(ranking) == ("a", "b", "c")


def test_every_system_is_asked_every_question_warm_and_in_order() -> None:
    systems, asked = {"one": Fixed("a"), "two": Fixed("b")}, questions(12)
    records = retrieve_all(systems, asked, no_progress)
    assert [(r.system, r.question.id) for r in records] == [(s, q.id) for s in systems for q in asked]
    assert [q for q, _ in systems["one"].asked] == [q.text for q in [*asked[:10], *asked]]
    assert all(r.seconds > 0 for r in records)


def test_it_looks_deeper_until_it_has_enough_documents() -> None:
    deep = Fixed(*["a"] * 40, *["b"] * 40, *(f"d{i}" for i in range(30)))
    record = retrieve_all({"deep": deep}, questions(1), no_progress)[0]
    assert record.documents == ("a", "b", *(f"d{i}" for i in range(13)))
    assert [k for _, k in deep.asked] == [15, 15, 60, 240]


def test_it_stops_when_there_are_no_more_passages() -> None:
    short = Fixed("a", "a", "b")
    assert retrieve_all({"short": short}, questions(1), no_progress)[0].documents == ("a", "b")
    assert {k for _, k in short.asked} == {15}


def record(system: str, question: Question, documents: tuple[str, ...], seconds: float, error: str = "") -> Record:
    return Record(system, question, documents, ranks_of(documents, question.gold), seconds, error)


def test_the_table_is_a_view_of_the_records() -> None:
    one, two = questions(2)
    records = [
        record("x", one, ("a", "b", "c"), 0.010),
        record("x", two, ("b", "c", "d"), 0.030),
        record("y", one, (), 0.001),
        record("y", two, (*(f"d{i}" for i in range(7)), "a", "c"), 0.001),
    ]
    rows = table(records)
    assert list(rows) == ["x", "y"]
    assert rows["x"] == {
        "R@2": 50.0, "R@5": 75.0, "R@10": 75.0, "R@15": 75.0, "perfect@8": 0.5, "MRR": 0.75,
        "nDCG@10": pytest.approx((1.5 / 1.631 + 0.631 / 1.631) / 2, abs=0.001), "p50_ms": pytest.approx(20),
        "p95_ms": pytest.approx(29), "questions": 2,
    }  # fmt: skip
    assert rows["y"]["R@5"] == 0
    assert rows["y"]["R@10"] == 50
    assert rows["y"]["perfect@8"] == 0
    assert table([]) == {}


def test_measures_follow_the_depth() -> None:
    assert list(measures(15)) == ["R@2", "R@5", "R@10", "R@15", "perfect@8", "MRR", "nDCG@10"]
    assert list(measures(50)) == ["R@2", "R@5", "R@10", "R@15", "R@50", "perfect@8", "MRR", "nDCG@10"]
    assert list(measures(6)) == ["R@2", "R@5", "MRR"]
    system = Fixed(*(f"d{i}" for i in range(99)))
    assert len(retrieve_all({"deep": system}, questions(1), no_progress, depth=40)[0].documents) == 40
    assert {k for _, k in system.asked} == {40}


def test_without_gold_the_answer_is_looked_for() -> None:
    asked = [Question("q1", "?", (), ("b",)), Question("q2", "?", (), ("nowhere",))]
    records = retrieve_all({"x": Fixed("a", "b", "c")}, asked, no_progress, depth=5)
    assert [r.ranks for r in records] == [(2,), (None,)]
    row = table(records, 5)["x"]
    assert {name: row[name] for name in ("answer@2", "answer@5", "MRR")} == {
        "answer@2": 50,
        "answer@5": 50,
        "MRR": 0.25,
    }
    assert not any(name.startswith(("R@", "perfect")) for name in row)
    other = retrieve_all({"y": Fixed("c")}, asked, no_progress, depth=5)
    assert differences([*other, *records], "y", 5)["x"]["answer@5"].value == 50


def test_by_type_and_by_hops() -> None:
    asked = [
        Question("q1", "?", ("a",), type="bridge"),
        Question("q2", "?", ("a", "b"), type="comparison"),
        Question("q3", "?", ("a",), type="bridge", steps=10),
        Question("q4", "?", ("a",)),
    ]
    records = [record("x", q, ("a",), 0.01) for q in asked]
    by_type = tables_by(records, {q.id: (0, q.type or "(none)") for q in asked})
    assert {group: rows["x"]["questions"] for group, rows in by_type.items()} == {
        "(none)": 1,
        "bridge": 2,
        "comparison": 1,
    }
    assert by_type["comparison"]["x"]["R@5"] == 50
    assert list(tables_by(records, {q.id: (q.hops, str(q.hops)) for q in asked})) == ["1", "2", "10"]


def test_a_failed_question_counts_as_nothing_found_and_is_told() -> None:
    class Moody(Fixed):
        def retrieve(self, query: str, k: int = 8) -> Ranking:
            if "1" in query:
                raise ValueError("no words\nat all")
            return super().retrieve(query, k)

    records = retrieve_all({"moody": Moody("a", "c")}, questions(3), no_progress)
    assert errors(records) == {"moody": {"q1": "ValueError: no words"}}
    row: Rows = table(records)
    assert row["moody"]["R@5"] == pytest.approx(66.7)
    assert (row["moody"]["questions"], row["moody"]["errors"]) == (3, 1)
    assert "errors" not in table(retrieve_all({"fine": Fixed("a")}, questions(1), no_progress))["fine"]


def test_a_lost_database_ends_the_run_instead_of_failing_every_question() -> None:
    class Down:
        calls = 0

        def retrieve(self, query: str, k: int = 8) -> Ranking:
            self.calls += 1
            raise DatabaseError("gone")

    down = Down()
    with pytest.raises(DatabaseError):
        retrieve_all({"down": down}, questions(50), no_progress)
    assert down.calls < 6


def test_differences_are_paired_and_in_the_units_of_the_table() -> None:
    asked = questions(40)
    records = [record("base", q, ("x",), 0.01) for q in asked]
    records += [record("better", q, ("a", "c"), 0.01) for q in asked]
    records += [record("same", q, ("x",), 0.01) for q in asked]
    records += [record("mixed", q, ("a",) if i % 20 == 0 else ("x",), 0.01) for i, q in enumerate(asked)]
    found = differences(records, "base")
    assert list(found) == ["better", "same", "mixed"]
    assert list(found["better"]) == ["R@5", "R@10", "R@15", "perfect@8", "MRR", "nDCG@10"]
    assert (found["better"]["R@5"].value, found["better"]["R@5"].verdict) == (100, "better")
    assert (found["better"]["perfect@8"].value, found["better"]["MRR"].value) == (1, 1)
    assert found["same"]["R@5"].noise
    assert found["mixed"]["R@5"].noise
    assert found["mixed"]["R@5"].value == 2.5
    assert differences(records, "better")["base"]["MRR"].verdict == "worse"
