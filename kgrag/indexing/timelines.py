"""When facts hold: what the passages that state a predicate of one subject make of its objects, in the order of time.

It follows from the facts alone, in whatever order they came. Only a predicate that has one object at a time lets one
fact end another, and only where their order is certain: dates compare as far as both are precise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Period:
    """A time in which a subject has an object.

    `valid_from`, `valid_to`: ISO dates of any precision, empty where unknown; `stated_at`: the dates of the documents
    that state it; `ended_by`: the name of the object whose beginning is its end, where no text says one; `follows`: of
    that whose end is its beginning.
    """

    object: str
    name: str
    valid_from: str = ""
    valid_to: str = ""
    ended_by: str = ""
    follows: str = ""
    stated_at: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    passages: set[str] = field(default_factory=set)

    @property
    def begins(self) -> str:
        """The first date at which it is known to hold; empty: none is known."""
        before = [date for date in self.stated_at if not self.valid_to or _earlier(date, self.valid_to)]
        return self.valid_from or min(before, default="")

    def absorb(self, other: "Period") -> None:
        """Take in what states the same of the same time."""
        self.facts += other.facts
        self.passages |= other.passages
        self.stated_at += [date for date in other.stated_at if date not in self.stated_at]

    def properties(self) -> dict[str, Any]:
        """Return the known properties of its relationship."""
        properties = {
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "ended_by": self.ended_by,
            "follows": self.follows,
            "stated_at": min(self.stated_at, default=""),
        }
        properties = {key: value for key, value in properties.items() if value}
        return {"facts": sorted(self.facts), "passages": sorted(self.passages), **properties}


def timeline(facts: Iterable[Mapping[str, Any]], *, one: bool) -> list[Period]:
    """Return the periods of the facts of a subject and a predicate; `one`: there is one object at a time.

    `facts`: {id, object, name, valid_from, valid_to, stated_at, passages}, dates None where unknown.
    """
    periods: dict[tuple[str, ...], Period] = {}
    for fact in sorted(facts, key=lambda fact: str(fact["id"])):
        dates = (fact["valid_from"] or "", fact["valid_to"] or "")
        stated = fact["stated_at"] or ""
        apart = stated if one and not any(dates) else ""  # it may be true again after another one was
        period = periods.setdefault((fact["object"], *dates, apart), Period(fact["object"], fact["name"], *dates))
        period.facts.append(fact["id"])
        period.passages.update(fact["passages"])
        if stated and stated not in period.stated_at:
            period.stated_at.append(stated)
    ordered = sorted(periods.values(), key=lambda period: (period.begins, period.valid_to, period.object))
    if not one:
        return ordered
    merged: list[Period] = []
    for period in ordered:
        home = _home(period, merged)
        if home is None:
            merged.append(period)
        else:
            home.absorb(period)
    for period in merged:
        _bound(period, [other for other in merged if other.object != period.object])
    return merged


def _home(period: Period, earlier: Sequence[Period]) -> Period | None:
    """Return the period of the same object within which an undated statement lies, None if it is of another time."""
    if period.valid_from or period.valid_to or not period.begins:
        return None
    for other in reversed(earlier):
        lasting = other is earlier[-1] or other.valid_to  # what has no end lasts until the next begins
        if (
            other.object == period.object
            and other.begins
            and lasting
            and not _earlier(other.valid_to or "9", period.begins)
        ):
            return other
    return None


def _bound(period: Period, others: Sequence[Period]) -> None:
    """Give a period the end, or the beginning, that those of other objects certainly set it."""
    if period.begins and not period.valid_to:
        later = [other for other in others if other.begins and _earlier(period.begins, other.begins)]
        if later:
            first = min(later, key=lambda other: (other.begins, other.name))
            period.valid_to, period.ended_by = first.begins, first.name
    elif period.valid_to and not period.begins:
        over = [other for other in others if other.valid_to and _earlier(other.valid_to, period.valid_to)]
        if over:
            last = max(over, key=lambda other: (other.valid_to, other.name))
            period.valid_from, period.follows = last.valid_to, last.name


def _earlier(one: str, other: str) -> bool:
    """Return whether a date certainly lies before another."""
    shared = min(len(one), len(other))
    return one[:shared] < other[:shared]
