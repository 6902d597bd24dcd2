"""Engines: where the work is done that follows from its item alone: here, in processes of this machine, or on Ray.

Whoever has work asks the graph what is due, gives an engine its items one after another, and writes what comes back:
the graph stays the only record of what is done. A worker that is lost costs what it was doing, which is done again.
"""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

from kgrag.settings import EngineSettings
from kgrag.values.errors import ConfigurationError

T = TypeVar("T")
R = TypeVar("R")

TRIES = 3
"""How many workers may be lost with the same item before the item is to blame."""
ALONE = 2
"""How many items are done here first, since other processes are not worth their start for a small load."""


class Engine(ABC):
    """Does work on items. A context manager; nothing is started before there is an item."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what it holds."""
        return  # most hold nothing

    @abstractmethod
    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """Each item with what `work` makes of it, in any order; items are taken a few ahead of what is yielded.

        `work` must be fit to be pickled, and depend on nothing but its item; where it gives an iterator, that is drawn
        by the worker. `models`: it computes with a model, which may need a GPU. Raises what `work` raises, EngineError
        when workers are lost again and again.
        """


class InProcess(Engine):
    """The caller's own thread."""

    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """See Engine; an iterator that `work` gives is drawn by the caller."""
        for item in items:
            yield item, work(item)


IN_PROCESS = InProcess()


def open_engine(settings: EngineSettings) -> Engine:
    """The engine that the settings name. Raises ConfigurationError when its package is not installed."""
    if settings.name == "ray":
        from kgrag.engines.on_ray import Ray

        return Ray(settings)
    if settings.name == "processes":
        from kgrag.engines.processes import Processes

        return Processes(settings.workers)
    return InProcess()


class Parcel:
    """Work as a worker is sent it; unpacked when it is first used, so that its errors are those of an item."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        """Raises ConfigurationError for work that cannot be pickled."""
        try:
            self._pickled = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"The work cannot be sent to other processes: {error}.",
                "Leave out --engine; or name an embedder instead of handing one over, or let it be pickled.",
            ) from error
        self._work: Callable[[Any], Any] | None = None

    def __call__(self, item: Any) -> Any:
        """What the work makes of an item, as a whole."""
        if self._work is None:
            self._work = pickle.loads(self._pickled)
        return whole(self._work(item))


def whole(result: Any) -> Any:
    """A result, drawn if it is an iterator."""
    return list(result) if isinstance(result, Iterator) else result
