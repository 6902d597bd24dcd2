"""JSON forms of results: rankings, answers, events, rows, reports. `kgrag … --json` prints them.

A form is versioned: an object at the top has `version`, which changes when a key is removed or changes its meaning.
Keys may be added at any time, and a reader ignores unknown keys. Times are ISO 8601, durations are
seconds, and numbers that JSON lacks are the words NaN, Infinity and -Infinity (as in JSON of protocol buffers).
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from typing import Any, TypeVar, cast

from kgrag.retrieval.quoted_trail import Hop, told_trail
from kgrag.retrieval.trail import trail
from kgrag.values.errors import InputError
from kgrag.values.events import Answer, Answered, Event, Ranked, Retrieved
from kgrag.values.forms import plain, read
from kgrag.values.installing import update_hint
from kgrag.values.results import Hit, Passage, Ranking

VERSION = 1
_SECONDS = 4  # decimals
# characters that JSON leaves unescaped and terminals act on: DEL and C1, direction marks and overrides, line
# separators; and lone surrogates, which UTF-8 cannot encode
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RankedHit(Hit):
    """A hit with its rank, from 1, and its trail in one line."""

    rank: int = 0
    trail: str = ""


@dataclass(frozen=True, slots=True)
class RankingForm(Ranking):
    """A ranking; `hops` explains it in the words of its passages, and is empty if no trail does."""

    hits: tuple[RankedHit, ...] = ()
    hops: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerForm(Answer):
    """An answer; `passages` holds the passages of its trace that its ranking and citations lack."""

    ranking: RankingForm
    passages: tuple[Passage, ...] = ()


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON text, whatever it holds (see `plain`); control characters are escaped."""
    text = json.dumps(plain(form(value)), ensure_ascii=False, allow_nan=False, indent=indent)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def to_json(value: Any, **more: Any) -> Json:
    """Return the JSON form of a ranking, an answer, an event, rows, or any dataclass.

    `version` comes first and `more` keys last.
    """
    return {"version": VERSION, **plain(form(value)), **plain(more)}


def form(value: Any) -> Any:
    """Return the dataclass whose fields are the JSON form of a value; most values are returned unchanged."""
    if isinstance(value, Ranking):
        hits = tuple(_as(RankedHit, hit, rank=rank, trail=trail(hit)) for rank, hit in enumerate(value, 1))
        return _as(RankingForm, value, hits=hits, hops=tuple(told_trail(value.hits, value.query)))
    if isinstance(value, Answer):
        own = _own_passages(value)
        traced = (hit for event in value.trace if isinstance(event, Retrieved | Ranked) for hit in event.hits)
        only = {id: passage for id, passage in _passages(traced).items() if id not in own}
        seconds, ranking = round(value.seconds, _SECONDS), form(value.ranking)
        return _as(AnswerForm, value, seconds=seconds, ranking=ranking, passages=tuple(only.values()))
    return value


def written_since(event: Answered, before: str) -> Json:
    """Return the form of an unfinished answer for a reader who has `before`: `text` is the new part.

    It is inserted at offset `after` of the earlier text.
    """
    common = takewhile(lambda pair: pair[0] == pair[1], zip(before, event.text, strict=False))
    after = len(before) if event.text.startswith(before) else len(list(common))
    return to_json(replace(event, text=event.text[after:]), after=after)


def written_whole(form: Json, before: str) -> Json:
    """Return a form of `written_since` with the whole text; other forms are returned unchanged."""
    return {**form, "text": before[: form["after"]] + form["text"]} if "after" in form else form


def from_json(kind: type[T], form: Any) -> T:
    """Return the value of a type from a form of `to_json`; seconds of an answer to a tenth of a millisecond.

    Raises InputError if the form has another version, or does not fit.
    """
    if isinstance(form, Mapping) and form.get("version", VERSION) != VERSION:
        raise InputError(
            f"This JSON has version {form['version']!r}, and this kgrag reads version {VERSION}.",
            f"Update the older of the two: {update_hint()}",
        )
    value = read(kind, form)
    if isinstance(value, Answer):
        passages = _own_passages(value) | {p.id: p for p in read(tuple[Passage, ...], form.get("passages", ()))}
        return cast(T, replace(value, trace=tuple(_with(event, passages) for event in value.trace)))
    return value


def _as(kind: type[T], value: Any, **changes: Any) -> T:
    """Return the value as a subclass of its class."""
    return kind(**{field.name: getattr(value, field.name) for field in fields(value)} | changes)


def _passages(items: Iterable[Any]) -> dict[str, Passage]:
    return {item.passage.id: item.passage for item in items}


def _own_passages(answer: Answer) -> dict[str, Passage]:
    return _passages([*answer.ranking, *answer.citations])


def _with(event: Event, passages: Mapping[str, Passage]) -> Event:
    if not isinstance(event, Retrieved | Ranked):
        return event
    hits = (replace(hit, passage=passages.get(hit.passage.id, hit.passage)) for hit in event.hits)
    return replace(event, hits=tuple(hits))
