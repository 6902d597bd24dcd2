"""What an evaluation keeps is read again: its measures, and two systems on the same questions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_retrieving import Fixed, no_progress, questions

from kgrag.evaluation import summary
from kgrag.evaluation.kept import differ, differences, kept, shared
from kgrag.evaluation.records import RecordFile
from kgrag.evaluation.retrieving import Record, retrieve_all

SUBJECT = {"dataset": "sea", "embedder": "wordllama", "depth": 15}


def _measure(folder: Path, name: str, system: Fixed, count: int = 3, **subject: object) -> list[Record]:
    with RecordFile(folder, name, {**SUBJECT, **subject}, "ships") as log:
        return retrieve_all({name: system}, questions(count), no_progress, logs={name: log})


def test_a_folder_tells_what_was_measured(tmp_path: Path) -> None:
    records = _measure(tmp_path / "runs", "bm25", Fixed("a", "x", "c"))
    (tmp_path / "corpus.jsonl").write_text('{"id": "1", "title": "Fram", "text": "A ship."}\nno JSON\n')
    (tmp_path / "empty.jsonl").write_text(json.dumps({"system": "dense", **SUBJECT}))
    (found,) = kept(tmp_path)
    assert (found.system, found.dataset, found.collection, found.depth) == ("bm25", "sea", "ships", 15)
    assert [(its.question.text, its.ranks) for its in found.records] == [(r.question.text, r.ranks) for r in records]
    whole = summary.table(records)["bm25"]
    assert found.measures == pytest.approx(whole, rel=0.01, abs=0.01)


def test_a_line_that_is_being_written_is_passed_over(tmp_path: Path) -> None:
    _measure(tmp_path, "bm25", Fixed("a"))
    (path,) = tmp_path.glob("*.jsonl")
    with path.open("a") as file:
        file.write('{"question": "q9", "iden')
    assert len(kept(tmp_path)[0].records) == 3


def test_two_are_held_against_each_other(tmp_path: Path) -> None:
    _measure(tmp_path, "bm25", Fixed("a", "b"), 4)
    _measure(tmp_path, "dense", Fixed("x", "y"), 3)
    by_name = {its.system: its for its in kept(tmp_path)}
    pairs = shared(by_name["bm25"], by_name["dense"])
    assert [one.question for one, _ in pairs] == [other.question for _, other in pairs]
    assert len(pairs) == 3
    assert all(differ(*pair) for pair in pairs)
    one, _ = pairs[0]
    assert not differ(one, one)
    assert not differ(one, replace(one, ranks=(5, None)))
    assert differ(one, replace(one, ranks=(6, None)))
    between = differences(pairs, 15)
    assert between["MRR"].value == 1
    assert between["MRR"].verdict == "better"


def test_one_system_under_two_conditions_is_compared(tmp_path: Path) -> None:
    _measure(tmp_path, "bm25", Fixed("a"))
    _measure(tmp_path, "bm25", Fixed("x"), embedder="minilm")
    one, other = sorted(kept(tmp_path), key=lambda its: its.embedder)
    assert differences(shared(one, other), 15)["MRR"].value == -1
