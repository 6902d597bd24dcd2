"""Work in processes of this machine."""

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Generic, TypeVar

from kgrag.engines import ALONE, TRIES, Engine, Parcel, whole
from kgrag.runtime.child import end_with_parent
from kgrag.values.errors import EngineError

T = TypeVar("T")
R = TypeVar("R")
_MOST = 8  # processes, where none are named: what is left to this one would not keep more of them at work
_WORK: Callable[[Any], Any] | None = None


@dataclass(slots=True)
class _Task(Generic[T]):
    item: T
    future: "Future[Any] | None" = None
    tries: int = 0


class Processes(Engine):
    """As many processes as there are cores, or as are named, for each kind of work new ones.

    Results come in the order of their items. `forked`: processes hold what this one holds without copying it, and the
    work need not be pickled. That is for work without models, whose libraries do not stand it; where a process cannot
    be forked without risk (macOS, Windows), it is done here.
    """

    def __init__(self, number: int = 0, *, forked: bool = False) -> None:
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        self._number = number or min(_MOST, cores)
        self._forked = forked
        self._here = forked and (sys.platform != "linux" or self._number == 1)

    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """See Engine."""
        stream = iter(items)
        for item in stream if self._here else islice(stream, ALONE):
            yield item, work(item)
        for first in islice(stream, 1):
            yield from self._spread(work if self._forked else Parcel(work), chain([first], stream))

    def _spread(self, work: Callable[[Any], Any], items: Iterator[T]) -> Iterator[tuple[T, Any]]:
        pool = self._start(work)
        running: deque[_Task[T]] = deque()
        try:
            while True:
                ahead = 2 * self._number - len(running)
                running.extend(map(_Task, islice(items, ahead)))
                if not running:
                    return
                try:
                    for task in running:
                        if task.future is None:
                            task.future = pool.submit(_call, task.item)
                    future = running[0].future
                    assert future is not None
                    result = future.result()
                except BrokenProcessPool:
                    _take_back(running)
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self._start(work)
                    continue
                yield running.popleft().item, result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, work: Callable[[Any], Any]) -> ProcessPoolExecutor:
        kind = "fork" if self._forked else "spawn" if sys.platform == "win32" else "forkserver"
        context = multiprocessing.get_context(kind)
        # the server of forks imports once what each process would import again for each kind of work
        context.set_forkserver_preload(sorted(name for name in sys.modules if name.startswith("kgrag.")))
        return ProcessPoolExecutor(self._number, context, initializer=_begin, initargs=(work,))


def _take_back(running: "deque[_Task[Any]]") -> None:
    """Take back what was under way as a process was lost, to be done again. Raises EngineError after some times."""
    for task in running:
        if task.future is None or not task.future.done() or isinstance(task.future.exception(), BrokenProcessPool):
            task.future = None
            task.tries += 1
    if running[0].tries == TRIES:
        raise EngineError.lost(TRIES)


def _begin(work: Callable[[Any], Any]) -> None:
    global _WORK
    _WORK = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever made us says when to stop
    end_with_parent()


def _call(item: Any) -> Any:
    assert _WORK is not None
    return whole(_WORK(item))
