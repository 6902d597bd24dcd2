"""Wire forms: every value survives a round trip, and no value makes them fail."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime
from math import isnan
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import SecretStr

from kgrag.values.documents import Problem
from kgrag.values.errors import InputError, ModelError
from kgrag.values.events import Answer, Answered, Event, Judged, Retrieved
from kgrag.values.forms import plain
from kgrag.values.results import Hit, IngestReport, Passage, Ranking, Step
from kgrag.values.rows import Edge, Node, Rows
from kgrag.values.rows import Path as GraphPath
from kgrag.wire import dumps, from_json, to_json, written_since, written_whole

_TEXT = some.text(max_size=12)
_SCALAR = _TEXT | some.integers() | some.booleans() | some.none() | some.floats(allow_nan=False, allow_infinity=False)
_VALUES: dict[Any, some.SearchStrategy[Any]] = {
    str: _TEXT, int: some.integers(0), bool: some.booleans(), NoneType: some.none(),
    float: some.floats(allow_nan=False) | some.sampled_from([1.5, -0.0, 1e-300]),
    Any: _SCALAR | some.lists(_SCALAR, max_size=2),
}  # fmt: skip


def _of(kind: Any) -> some.SearchStrategy[Any]:
    """Return a strategy for a type: the values above, or values built from them."""
    if kind in _VALUES:
        return _VALUES[kind]
    if kind is Event:
        return some.one_of(*map(_of, {its.__name__: its for its in Event.__subclasses__()}.values()))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return some.builds(kind, **{field.name: _of(hints[field.name]) for field in fields(kind)})
    inner = [_of(its) for its in get_args(kind) if its is not ...]
    if get_origin(kind) is UnionType:
        return some.one_of(*inner)
    if get_origin(kind) is Mapping:
        return some.dictionaries(*inner, max_size=2)
    return some.lists(*inner, max_size=2).map(tuple) if ... in get_args(kind) else some.tuples(*inner)


# The hits, citations and events of one answer share a few passages.
_POOL = some.shared(some.lists(_of(Passage), min_size=1, max_size=5, unique_by=lambda passage: passage.id), key="pool")
_VALUES[Passage] = _POOL.flatmap(some.sampled_from)
_VALUES[Hit] = some.builds(Hit, _of(Passage), _of(float), _of(tuple[Step, ...]))  # events do not keep copies


@given(_of(Ranking))
def test_a_ranking_is_read_back(ranking: Ranking) -> None:
    form = json.loads(dumps(to_json(ranking, collection="notes", seconds=0.1)))
    assert (form["version"], form["collection"]) == (1, "notes")
    assert [hit["rank"] for hit in form["hits"]] == list(range(1, len(ranking) + 1))
    assert from_json(Ranking, form) == ranking


@given(_of(Answer).map(lambda answer: replace(answer, seconds=round(answer.seconds, 4))))
def test_an_answer_is_read_back_with_every_passage_of_its_trace(answer: Answer) -> None:
    form = json.loads(dumps(to_json(answer, collection="notes", run=None)))
    assert from_json(Answer, form) == answer
    told = [*(hit["passage"] for hit in form["ranking"]["hits"]), *(c["passage"] for c in form["citations"])]
    assert not {passage["id"] for passage in told} & {passage["id"] for passage in form["passages"]}


def test_an_event_alone_names_its_passages() -> None:
    hit = Hit(Passage("p1", "fram", "Fram", "The Fram was a ship."), 0.5, (Step("names", "Entity", "Fram"),))
    form = to_json(Retrieved(step=2, query="Fram?", hits=(hit,)))
    assert form["hits"] == [{"rank": 1, "score": 0.5, "id": "p1", "title": "Fram", "why": [plain(hit.why[0])]}]
    read = from_json(Event, form)
    assert isinstance(read, Retrieved)
    assert read.hits[0].passage == Passage("p1", "", "Fram", "")


def test_rows_keep_nodes_edges_and_paths() -> None:
    fram, archer = Node("1", ("Entity",), {"name": "Fram", "built": 1892}), Node("2", ("Entity",), {})
    edge = Edge("9", "MENTIONS", "1", "2", {"weight": float("inf")})
    form = to_json(Rows(("n", "path"), ((fram, GraphPath((fram, archer), (edge,))),), "200 rows", 0.123456))
    assert form["columns"] == ["n", "path"]
    assert form["rows"][0]["n"] == {"element": "1", "labels": ["Entity"], "properties": {"name": "Fram", "built": 1892}}
    assert form["rows"][0]["path"]["edges"][0]["properties"] == {"weight": "Infinity"}
    assert (form["cut"], form["seconds"], form["version"]) == ("200 rows", 0.1235, 1)


def test_a_report_is_its_fields_and_more() -> None:
    form = to_json(IngestReport(added=2, problems=(Problem("a.pdf", "broken"),)), collection="notes")
    assert next(iter(form)) == "version"
    assert (form["added"], form["collection"]) == (2, "notes")
    assert form["problems"] == [{"place": "a.pdf", "message": "broken", "lasting": False}]


@dataclass(frozen=True)
class _Anything:
    value: Any


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (np.float32(0.5), 0.5), (np.float64("nan"), "NaN"), (np.int64(3), 3), (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (datetime(2024, 5, 31, 12, tzinfo=UTC), "2024-05-31T12:00:00Z"),
        (date(2024, 5, 31), "2024-05-31"), (Path("a/b"), "a/b"), ({"a"}, ["a"]),
        ({1: "a", None: "b", date(2024, 1, 1): "c"}, {"1": "a", "None": "b", "2024-01-01": "c"}),
        (b"\x00\xff", "AP8="), (SecretStr("hush"), "**********"),
        (ModelError("gone", "Start it."), {"type": "ModelError", "message": "gone", "remedy": "Start it."}),
        (object, str(object)), ((n for n in (1, -float("inf"))), [1, "-Infinity"]), (10**30, 10**30),
    ],
)  # fmt: skip
def test_any_value_has_a_form(value: object, form: object) -> None:
    assert json.loads(dumps(_Anything(value))) == {"value": form}


def test_nothing_steers_the_terminal_and_lone_surrogates_pass() -> None:
    text = "\x1b[31m\x00\x7f\x9b\u202ered\u2028\ud800 é 😀"
    written = dumps({text[:-7]: text})
    assert written.encode()  # no lone surrogate is left
    assert all(hidden not in written for hidden in "\x1b\x00\x7f\x9b\u202e\u2028")
    assert "é 😀" in written
    assert json.loads(written) == {text[:-7]: text}


@pytest.mark.parametrize(
    ("kind", "form", "words"),
    [
        (Ranking, {"version": 2, "query": "", "retriever": ""}, "reads version 1"),
        (Ranking, {"query": "?"}, "retriever: Field required"),
        (Ranking, {"query": "?", "retriever": "x", "hits": [{"score": "high"}]}, "hits.0"),
        (Ranking, [], "it: Input should be a dict"),
        (Answer, {"question": "?", "text": ""}, "not a valid Answer"),
        (Event, {"type": "Exploded"}, "'Exploded'"),
        (Event, {"type": "Retrieved", "query": "", "hits": [{"id": "p"}]}, "Field required"),
    ],
)
def test_invalid_forms_are_refused(kind: type, form: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_json(kind, form)


def test_keys_that_are_not_known_are_passed_over() -> None:
    form = {**to_json(Ranking("?", "bm25")), "colour": "blue"}
    assert from_json(Ranking, form) == Ranking("?", "bm25")
    assert isnan(from_json(Ranking, {**form, "hits": [
        {"score": "NaN", "passage": {"id": "p", "document": "d", "title": "", "text": "", "mood": 1}}
    ]}).hits[0].score)  # fmt: skip


def test_a_passage_that_the_trace_alone_has_is_read_back() -> None:
    shown, seen = (Hit(Passage(id, "fram", "Fram", f"Text of {id}.", source="a.txt"), 0.5) for id in ("p1", "p2"))
    ranking = Ranking("Fram?", "bm25", (shown,))
    answer = Answer(
        "Fram?", "A ship.", True, "single", ranking, trace=(Retrieved(step=1, query="?", hits=(shown, seen)),)
    )
    form = to_json(answer)
    assert [passage["id"] for passage in form["passages"]] == ["p2"]
    assert from_json(Answer, form) == answer


def test_a_text_that_is_written_is_sent_once() -> None:
    before, sent = "", []
    for text in ("In", "In Molde [1", "In Molde.", "In Molde. 🚢 So"):
        form = written_since(Answered(text=text, whole=False, step=2), before)
        assert from_json(Event, written_whole(form, before)) == Answered(text=text, whole=False, step=2)
        before = text
        sent.append((form["after"], form["text"]))
    assert sent == [(0, "In"), (2, " Molde [1"), (8, "."), (9, " 🚢 So")]
    judged = to_json(Judged(answerable=True))
    assert written_whole(judged, "In Molde") == judged
