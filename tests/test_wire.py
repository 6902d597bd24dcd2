"""Wire forms: what is read back is what was written, and nothing makes them fail."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isnan
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import SecretStr

from kgrag.values.documents import Problem, Triple
from kgrag.values.errors import InputError, ModelError
from kgrag.values.events import Answer, Answered, Citation, Event, Judged, Retrieved
from kgrag.values.forms import plain
from kgrag.values.results import Hit, IngestReport, Passage, Ranking, Step, Usage
from kgrag.values.rows import Edge, Node, Rows
from kgrag.values.rows import Path as GraphPath
from kgrag.wire import dumps, from_json, to_json, written_since, written_whole

_TEXT = some.text(max_size=12)
_NUMBER = some.floats(allow_nan=False) | some.sampled_from([1.5, -0.0, 1e-300])
_SCALAR = _TEXT | some.integers() | some.booleans() | some.none() | some.floats(allow_nan=False, allow_infinity=False)
_METADATA = some.dictionaries(_TEXT, _SCALAR | some.lists(_SCALAR, max_size=2), max_size=2)
_TRIPLE = some.builds(Triple, _TEXT, _TEXT, _TEXT)
_TRIPLES = some.lists(_TRIPLE, max_size=2).map(tuple)
_IDS = some.lists(_TEXT, max_size=3).map(tuple)
_USAGE = some.builds(Usage, *[some.integers(0)] * 4, some.none() | some.floats(0, 10))
_STEP = some.builds(Step, _TEXT, _TEXT, _TEXT, some.none() | _NUMBER, some.sampled_from(["", "MENTIONS"]))
_POOL = some.lists(
    some.builds(
        Passage, _TEXT, _TEXT, _TEXT, _TEXT, some.integers(0, 9), _TEXT, _TEXT, _METADATA,
        some.none() | some.integers(1, 9), some.none() | some.integers(1, 9),
    ),
    min_size=1, max_size=5, unique_by=lambda passage: passage.id,
)  # fmt: skip


def _hits(passages: list[Passage]) -> some.SearchStrategy[tuple[Hit, ...]]:
    hit = some.builds(Hit, some.sampled_from(passages), _NUMBER, some.lists(_STEP, max_size=2).map(tuple))
    return some.lists(hit, max_size=4).map(tuple)


def _ranking(passages: list[Passage]) -> some.SearchStrategy[Ranking]:
    return some.builds(Ranking, _TEXT, _TEXT, _hits(passages), some.lists(_TEXT, max_size=2).map(tuple))


def _citations(passages: list[Passage]) -> some.SearchStrategy[tuple[Citation, ...]]:
    citation = some.builds(Citation, some.integers(1, 9), some.sampled_from(passages))
    return some.lists(citation, max_size=3).map(tuple)


def _event(passages: list[Passage]) -> some.SearchStrategy[Event]:
    fields: dict[Any, Any] = {
        str: _TEXT, bool: some.booleans(), int: some.integers(0, 5), float: some.floats(0, 9), Usage: _USAGE,
        Triple: _TRIPLE, tuple[Triple, ...]: _TRIPLES, tuple[str, ...]: _IDS, tuple[Hit, ...]: _hits(passages),
        tuple[tuple[str, float], ...]: some.lists(some.tuples(_TEXT, some.floats(0, 100)), max_size=2).map(tuple),
        tuple[Citation, ...]: _citations(passages),
    }  # fmt: skip
    kinds = {kind.__name__: kind for kind in Event.__subclasses__()}.values()
    return some.one_of(
        some.builds(kind, **{name: fields[hint] for name, hint in get_type_hints(kind).items() if name[0] != "_"})
        for kind in kinds
    )


def _answer(passages: list[Passage]) -> some.SearchStrategy[Answer]:
    return some.builds(
        Answer, _TEXT, _TEXT, some.booleans(), _TEXT, _ranking(passages),
        _citations(passages),
        some.lists(_event(passages), max_size=5).map(tuple), _USAGE, some.dictionaries(_TEXT, _USAGE, max_size=2),
        some.floats(0, 999).map(lambda seconds: round(seconds, 4)), _TEXT,
    )  # fmt: skip


@given(_POOL.flatmap(_ranking))
def test_a_ranking_is_read_back(ranking: Ranking) -> None:
    form = json.loads(dumps(to_json(ranking, collection="notes", seconds=0.1)))
    assert (form["version"], form["collection"]) == (1, "notes")
    assert [hit["rank"] for hit in form["hits"]] == list(range(1, len(ranking) + 1))
    assert from_json(Ranking, form) == ranking


@given(_POOL.flatmap(_answer))
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
