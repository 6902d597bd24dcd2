"""A service is asked about passages, several at a time; what fails is listed, and what cannot be retried ends it."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.models.parallel import in_parallel
from kgrag.values.errors import BudgetError, ModelError, UnavailableError
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage

Result = TypeVar("Result")
Source = Mapping[str, Any]

_GROUP = 256  # passages read at once
_BATCH = 64  # replies written at once, or fewer
_WAIT = 5.0  # seconds after which they are
_IN_A_ROW = 32  # failures after which it is given up


@dataclass(frozen=True, slots=True)
class FailedPassage:
    """A passage without a reply that could be used; `document` is its document's key, `remedy` what to do about it."""

    document: str
    title: str
    reason: str
    remedy: str = ""


@dataclass(slots=True)
class AskingResult:
    """How many replies were written, what failed, and why it ended early, if it did."""

    written: int = 0
    failures: list[FailedPassage] = field(default_factory=list)
    stopped: ModelError | None = None


def unread(graph: Graph, collection: Collection, property: str, version: str) -> list[str]:
    """Return the passages that were not read with these settings yet: see `cypher/stages/unread.cypher`."""
    records = graph.stream("stages/unread", collection=collection.name, property=property, version=version)
    return [record["id"] for record in records]


def passage_sources(graph: Graph, ids: Sequence[str]) -> Iterator[Source]:
    """Yield the passages to read: rows of `cypher/stages/extraction_sources.cypher`, fetched in batches."""
    for start in range(0, len(ids), _GROUP):
        yield from graph.run("stages/extraction_sources", ids=list(ids[start : start + _GROUP]))


def ask_each(
    sources: Iterable[Source],
    total: int,
    ask: Callable[[Source], Result],
    write: Callable[[dict[str, Result]], None],
    report: Callable[[int, int], None],
    threads: int,
) -> AskingResult:
    """Ask about each of `total` sources (passages, with id, document and title), and write the replies.

    `write` is given replies by id, some at a time, in the caller's thread; `report` how many there are so far, and of
    how many. No further one is begun once the budget is used up, the server is out of reach, or
    many fail in a row. In any case the received replies are written. Re-raises errors other than ModelError.
    """
    outcome = AskingResult()
    waiting: dict[str, Result] = {}
    in_a_row, since = 0, time.monotonic()

    def going_on() -> Iterator[Source]:
        for source in sources:
            if outcome.stopped is not None:
                return
            yield source

    def flush() -> None:
        nonlocal waiting
        if waiting:
            replies, waiting = waiting, {}
            write(replies)

    try:
        report(0, total)
        for source, result in in_parallel(ask, going_on(), threads):
            if not isinstance(result, Exception):
                since = since if waiting else time.monotonic()
                waiting[source["id"]] = result
                outcome.written += 1
                in_a_row = 0
                if len(waiting) >= _BATCH or time.monotonic() - since > _WAIT:
                    flush()
            elif isinstance(result, BudgetError | UnavailableError):
                outcome.stopped = result
            elif isinstance(result, ModelError):
                outcome.failures.append(
                    FailedPassage(source["document"], source["title"], result.message, result.remedy)
                )
                in_a_row += 1
                if in_a_row == _IN_A_ROW:
                    outcome.stopped = result
            else:
                raise result
            report(outcome.written + len(outcome.failures), total)
    finally:
        flush()
    return outcome


class Meter:
    """A listener that adds up what calls took; several threads tell it."""

    def __init__(self) -> None:
        self.total = Usage()
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        if isinstance(event, Called):
            with self._lock:
                self.total += event.usage
