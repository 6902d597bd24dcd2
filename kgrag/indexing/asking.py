"""A service is asked about passages, several at a time; what fails is listed, and what is in vain ends it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgrag.errors import BudgetError, ModelError, UnavailableError
from kgrag.graph.connection import Graph
from kgrag.models.parallel import in_parallel

Result = TypeVar("Result")
Source = Mapping[str, Any]

_GROUP = 256  # passages read at once
_IN_A_ROW = 32  # failures after which it is given up


@dataclass(frozen=True, slots=True)
class FailedPassage:
    """A passage without a reply that could be used; `document` is its document's key."""

    document: str
    title: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """What failed, and why it ended early, if it did."""

    failures: list[FailedPassage] = field(default_factory=list)
    stopped: ModelError | None = None


def passage_sources(graph: Graph, ids: Sequence[str]) -> Iterator[Source]:
    """What is asked about: rows of `cypher/search/extraction_sources.cypher`, some passages read at once."""
    for start in range(0, len(ids), _GROUP):
        yield from graph.run("search/extraction_sources", ids=list(ids[start : start + _GROUP]))


def ask_each(
    sources: Iterable[Source],
    ask: Callable[[Source], Result],
    take: Callable[[Source, Result], None],
    told: Callable[[int], None],
    threads: int,
) -> Outcome:
    """Ask about each passage (a map with document and title, too) and have its result taken, in the caller's thread.

    `told` hears how many failed so far, after each. No further passage is begun once the budget is used up, the server
    is out of reach, or many fail in a row. Raises what is no ModelError.
    """
    outcome = Outcome()
    in_a_row = 0

    def open_ones() -> Iterator[Source]:
        for source in sources:
            if outcome.stopped is not None:
                return
            yield source

    for source, result in in_parallel(ask, open_ones(), threads):
        if not isinstance(result, Exception):
            take(source, result)
            in_a_row = 0
        elif isinstance(result, BudgetError | UnavailableError):
            outcome.stopped = result
        elif isinstance(result, ModelError):
            outcome.failures.append(FailedPassage(source["document"], source["title"], result.message))
            in_a_row += 1
            if in_a_row == _IN_A_ROW:
                outcome.stopped = result
        else:
            raise result
        told(len(outcome.failures))
    return outcome
