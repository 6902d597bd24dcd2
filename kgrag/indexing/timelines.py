"""When facts hold: what the passages that state a predicate of one subject make of its objects, in the order of time.

It follows from the facts alone, in whatever order they came. A fact begins where a text says since when. It ends where
a text says until when, or where a later beginning of a predicate is stated that has one object at a time. The date of a
document tells when a fact was stated, no more: it begins and ends nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.text.dates import may_precede


@dataclass(slots=True)
class Period:
    """A time in which a subject has an object.

    `valid_from`, `valid_to`: ISO dates of any precision, empty where unknown; `stated_at`: the dates of the documents
    that state it; `ended_by`: the name of the object whose beginning is its end, where no text says one.
    """

    object: str
    name: str
    valid_from: str = ""
    valid_to: str = ""
    ended_by: str = ""
    stated_at: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    passages: set[str] = field(default_factory=set)

    def absorb(self, other: "Period") -> None:
        """Take in what states the same of the same time."""
        self.facts += other.facts
        self.passages |= other.passages
        self.stated_at += [date for date in other.stated_at if date not in self.stated_at]

    def may_hold(self, date: str) -> bool:
        """Return whether it may hold at a date, as far as the dates are precise; it may where the date is unknown."""
        return not (date and (_earlier(date, self.valid_from) or (self.valid_to and _earlier(self.valid_to, date))))

    def properties(self) -> dict[str, Any]:
        """Return the known properties of its relationship."""
        times = {name: getattr(self, name) for name in ("valid_from", "valid_to", "ended_by") if getattr(self, name)}
        stated = {"stated_at": min(self.stated_at)} if self.stated_at else {}
        return {"facts": sorted(self.facts), "passages": sorted(self.passages), **times, **stated}


def timeline(facts: Iterable[Mapping[str, Any]], *, one: bool) -> list[Period]:
    """Return the periods of the facts of a subject and a predicate; `one`: there is one object at a time.

    `facts`: {id, object, name, valid_from, valid_to, stated_at, passages}, dates None where unknown.
    """
    dated: dict[tuple[str, str, str], Period] = {}
    statements: list[Period] = []
    for fact in sorted(facts, key=lambda fact: str(fact["id"])):
        since, until, stated = (fact[key] or "" for key in ("valid_from", "valid_to", "stated_at"))
        period = Period(fact["object"], fact["name"], since, until, "", [stated] if stated else [])
        period.facts, period.passages = [fact["id"]], set(fact["passages"])
        if not since and not until:
            statements.append(period)
        elif (same := dated.setdefault((period.object, since, until), period)) is not period:
            same.absorb(period)
    periods = _joined([dated[key] for key in sorted(dated)], one=one)
    if one:
        beginnings = [period for period in periods if period.valid_from and not period.valid_to]
        ends = [_end(period, beginnings) for period in beginnings]
        for period, end in zip(beginnings, ends, strict=True):
            if end is not None:
                period.valid_to, period.ended_by = end.valid_from, end.name
    undated: dict[str, Period] = {}
    for period in statements:
        homes = [home for home in periods if home.object == period.object and home.may_hold("".join(period.stated_at))]
        if len(homes) == 1:
            homes[0].absorb(period)
        elif (same := undated.setdefault(period.object, period)) is not period:
            same.absorb(period)
    periods += undated.values()
    return sorted(periods, key=lambda each: (each.valid_from or min(each.stated_at, default=""), each.object))


def _joined(periods: Sequence[Period], *, one: bool) -> list[Period]:
    """Join "since 1999" with "until 2003" of one object, if nothing is known to begin between them, and with both.

    `periods`: by object, beginning and end, each once.
    """
    left: list[Period] = []
    for last in sorted(periods, key=lambda period: not period.valid_from):
        before = [
            first
            for first in left
            if (first.valid_from <= last.valid_from or not last.valid_from)
            and not _earlier(last.valid_to or "9", first.valid_from)
            and (one or first.object == last.object)
        ]
        first = max(before, key=lambda each: (each.valid_from, each.object == last.object), default=None)
        same = first is not None and first.object == last.object and last.valid_from in ("", first.valid_from)
        if first is not None and same and first.valid_to in ("", last.valid_to):
            first.valid_to = last.valid_to
            first.absorb(last)
        else:
            left.append(last)
    return left


def _end(period: Period, beginnings: Sequence[Period]) -> Period | None:
    """Return the first later beginning of another object, unless a newer text says that this one still holds then.

    Only what has no end of its own ends another one: who stands in for three years takes no office over.
    """
    newest = max(period.stated_at, default="")
    later = [
        other
        for other in beginnings
        if other.object != period.object
        and _earlier(period.valid_from, other.valid_from)
        and not (_earlier(max(other.stated_at, default=newest), newest) and _earlier(other.valid_from, newest))
    ]
    return min(later, key=lambda other: (other.valid_from, other.name), default=None)


def _earlier(one: str, other: str) -> bool:
    """Return whether a date certainly lies before another; no date does."""
    return not may_precede(other, one)
