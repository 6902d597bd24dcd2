"""JSON forms of what leaves the process: rankings, answers, events, rows, reports. `kgrag … --json` prints them.

A form is versioned: an object at the top has `version`, which changes when a key is removed or changes its meaning.
Keys may be added at any time, and a reader passes over those that it does not know. Times are ISO 8601, durations are
seconds, and numbers that JSON lacks are the words NaN, Infinity and -Infinity (as in JSON of protocol buffers).
"""

import base64
import dataclasses
import json
import re
from collections.abc import Hashable, Iterable, Mapping
from datetime import date, datetime, time
from functools import cache, singledispatch
from itertools import takewhile
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from kgrag.retrieval.quoted_trail import told_trail
from kgrag.retrieval.trail import trail
from kgrag.values import events
from kgrag.values.errors import InputError, KgragError
from kgrag.values.events import Answer, Answered, Event, Ranked, Retrieved
from kgrag.values.installing import update_hint
from kgrag.values.results import Hit, Passage, Ranking
from kgrag.values.rows import Edge, Node, Rows
from kgrag.values.rows import Path as GraphPath

VERSION = 1
EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        events.Called, events.Asked, events.StructureLookup, events.Retrieved, events.Read, events.Linked,
        events.Remembered, events.Judged, events.Thought, events.Rewritten, events.Failed, events.Answered,
        events.Ranked, events.SubAnswered, events.HypotheticalPassage, events.Chained, events.Verified, events.Filtered,
        events.Recognised, events.Noted, events.AnswerSources,
    )
}  # fmt: skip
"""The events by what `type` says of them."""

_SECONDS = 4  # decimals
# what JSON lets stand as it is and a terminal obeys: DEL and C1, marks and overrides of direction, line separators;
# half a surrogate pair, which UTF-8 cannot hold
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

Json = dict[str, Any]
T = TypeVar("T")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON text, whatever it holds (see `plain`); control characters are escaped."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def to_json(value: Any, **more: Any) -> Json:
    """Return the JSON form of a ranking, an answer, an event, rows, or any dataclass.

    `version` comes first and `more` keys last.
    """
    return {"version": VERSION, **plain(value), **plain(more)}


def written_since(event: Answered, before: str) -> Json:
    """Return the form of an unfinished answer for a reader who has `before`: `text` is the new part.

    It stands `after` so many characters of what was there.
    """
    common = takewhile(lambda pair: pair[0] == pair[1], zip(before, event.text, strict=False))
    after = len(before) if event.text.startswith(before) else len(list(common))
    return to_json(dataclasses.replace(event, text=event.text[after:]), after=after)


def written_whole(form: Json, before: str) -> Json:
    """Return the form with all of the text, of one that `written_since` gave, or of any other event."""
    return {**form, "text": before[: form["after"]] + form["text"]} if "after" in form else form


@singledispatch
def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Dataclasses and models by their fields, numpy's numbers and arrays as Python's.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # of numpy, which is not imported for this
        return plain(value.tolist())
    return list(map(plain, value)) if isinstance(value, Iterable) else str(value)


@plain.register(str)
@plain.register(bool)
@plain.register(int)
@plain.register(type(None))
def _as_it_is(value: Any) -> Any:
    return value


@plain.register
def _number(value: float) -> float | str:
    if isfinite(value):
        return float(value)
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


@plain.register
def _map(value: Mapping) -> Json:  # type: ignore[type-arg]  # singledispatch takes plain classes
    return {key if isinstance(key, str) else str(plain(key)): plain(item) for key, item in value.items()}


@plain.register(set)
@plain.register(frozenset)
def _set(value: Iterable[Any]) -> list[Any]:
    return sorted(map(plain, value), key=str)


@plain.register(datetime)
@plain.register(date)
@plain.register(time)
def _time(value: date | time) -> str:
    return value.isoformat()


@plain.register
def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode()


@plain.register
def _path(value: Path) -> str:
    return str(value)


@plain.register
def _model(value: BaseModel) -> Any:
    return value.model_dump(mode="json")


@plain.register
def _error(value: KgragError) -> Json:
    return {"type": type(value).__name__, "message": value.message, "remedy": value.remedy}


@plain.register
def _ranking(value: Ranking) -> Json:
    hits = [
        {
            "rank": rank,
            "score": plain(hit.score),
            "passage": plain(hit.passage),
            "why": plain(hit.why),
            "trail": trail(hit),
            "copies": plain(hit.copies),
        }
        for rank, hit in enumerate(value, 1)
    ]
    return {
        "query": value.query,
        "retriever": value.retriever,
        "hits": hits,
        "notes": list(value.notes),
        "hops": plain(told_trail(value.hits, value.query)),
    }


@plain.register
def _event(value: Event) -> Json:
    """Return an event's fields and its type, passages by id and title: its answer has them whole."""
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Retrieved | Ranked):
        fields["hits"] = [
            {"rank": rank, "score": hit.score, "id": hit.passage.id, "title": hit.passage.title, "why": hit.why}
            for rank, hit in enumerate(value.hits, 1)
        ]
    return {"type": type(value).__name__, **plain(fields)}


@plain.register
def _answer(value: Answer) -> Json:
    """Return an answer's fields; `passages` are those that only the trace has."""
    ids = {passage.id for passage in _passages(value, trace=False)}
    only = {passage.id: passage for passage in _passages(value, trace=True) if passage.id not in ids}
    return {
        "question": value.question,
        "system": value.system,
        "text": value.text,
        "found": value.found,
        "citations": plain(value.citations),
        "ranking": plain(value.ranking),
        "trace": plain(value.trace),
        "passages": plain(list(only.values())),
        "usage": plain(value.usage),
        "by_task": plain(value.by_task),
        "seconds": round(value.seconds, _SECONDS),
        "problem": value.problem,
        "unsupported": list(value.unsupported),
        "cut": value.cut,
    }


@plain.register
def _rows(value: Rows) -> Json:
    return {
        "columns": list(value.columns),
        "rows": [plain(row) for row in value],
        "cut": value.cut,
        "seconds": round(value.seconds, _SECONDS),
        "notes": list(value.notes),
    }


def ranking_from_json(form: Mapping[str, Any]) -> Ranking:
    """Return the ranking of a form of `to_json`. Raises InputError for another version, or another form."""
    return _read(Ranking, _checked(form))


def event_from_json(form: Mapping[str, Any], passages: Mapping[str, Passage] | None = None) -> Event:
    """Return the event of a form of `to_json`.

    `passages`: id -> passage, in place of those that have only id and title.

    Raises InputError when it is of another version, or no such form.
    """
    fields = dict(_checked(form))
    kind = EVENTS.get(str(fields.pop("type", None)))
    if kind is None:
        raise _invalid("Event", "its type is not known")
    if kind in (Retrieved, Ranked):
        by_id = passages or {}
        hits = fields.get("hits", ())
        try:
            fields["hits"] = tuple(
                Hit(by_id.get(hit["id"]) or Passage(hit["id"], "", hit["title"], ""), float(hit["score"]), _why(hit))
                for hit in hits
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _invalid("Event", f"{type(error).__name__}: {error}") from error
    return _read(kind, fields)


def answer_from_json(form: Mapping[str, Any]) -> Answer:
    """Return the answer of a form of `to_json`; seconds to a tenth of a millisecond.

    Raises InputError when it is of another version, or no such form.
    """
    fields = {key: value for key, value in _checked(form).items() if key not in ("trace", "passages")}
    answer = _read(Answer, fields)
    passages = {passage.id: passage for passage in _passages(answer, trace=False)}
    passages |= {passage.id: passage for passage in _read(tuple[Passage, ...], form.get("passages", ()))}
    trace = form.get("trace", ())
    if not isinstance(trace, list | tuple):
        raise _invalid("Answer", "its trace is no list")
    return dataclasses.replace(answer, trace=tuple(event_from_json(event, passages) for event in trace))


def rows_from_json(form: Mapping[str, Any]) -> Rows:
    """Return the rows of a form of `to_json`. Raises InputError for another version, or another form."""
    checked = _checked(form)
    try:
        columns = tuple(checked["columns"])
        values = tuple(tuple(_value(row[column]) for column in columns) for row in checked["rows"])
    except (KeyError, TypeError) as error:
        raise _invalid("Rows", f"{type(error).__name__}: {error}") from error
    notes = tuple(map(str, checked.get("notes", ())))
    return Rows(columns, values, checked.get("cut"), float(checked.get("seconds", 0)), notes)


def _value(value: Any) -> Any:
    """Return a value of a row: nodes, edges and paths are recognised by their fields."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        for kind in (Node, Edge, GraphPath):
            if value.keys() == {field.name for field in dataclasses.fields(kind)}:
                return _read(kind, value)
        return {key: _value(item) for key, item in value.items()}
    return value


def from_json(kind: type[T], form: Any) -> T:
    """Return the value of a kind, a dataclass or a list of these, of a form of `plain`.

    Raises InputError for another form.
    """
    return _read(kind, _checked(form) if isinstance(form, Mapping) else form)


def _passages(answer: Answer, *, trace: bool) -> Iterable[Passage]:
    """Yield the passages of an answer's trace, or those of its ranking and citations."""
    if trace:
        for event in answer.trace:
            if isinstance(event, Retrieved | Ranked):
                yield from (hit.passage for hit in event.hits)
    else:
        yield from (hit.passage for hit in answer.ranking)
        yield from (citation.passage for citation in answer.citations)


def _why(hit: Mapping[str, Any]) -> Any:
    return _read(Hit.__annotations__["why"], hit.get("why", ()))


def _checked(form: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise _invalid("form of kgrag", "it is no object")
    if form.get("version", VERSION) != VERSION:
        raise InputError(
            f"This JSON has version {form['version']!r}, and this kgrag reads version {VERSION}.",
            f"Update the older of the two: {update_hint()}",
        )
    return form


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _read(kind: type[T], form: Any) -> T:
    try:
        read: T = _adapter(cast(Hashable, kind)).validate_python(form)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        args = get_args(kind)
        raise _invalid((args[0] if args else kind).__name__, f"{place}: {first['msg']}") from error
    return read


def _invalid(what: str, why: str) -> InputError:
    return InputError(f"This JSON is no {what}: {why}.", "Give what `kgrag … --json` printed, unchanged.")
