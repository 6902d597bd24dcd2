"""Work that other processes do: made by forking, so that they hold what this one holds without copying it."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_MOST = 8  # processes: what is left to this one would not keep more of them at work
_WORK: Callable[[Any], Any] | None = None


def spread(work: Callable[[T], R], items: Iterable[T], alone: int = 2) -> Iterator[R]:
    """`work` of each item, in order, in as many processes as there are cores; a few items ahead of what is taken.

    The first items, `alone` of them, are done here: a pool is not worth its start for a small load. Where a process
    cannot be forked without risk (macOS, Windows), all are.
    """
    stream = iter(items)
    yield from map(work, islice(stream, alone))
    processes = min(_MOST, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1
    first = list(islice(stream, 1))
    if processes == 1 or not first:
        yield from map(work, first)
        yield from map(work, stream)
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(work,)) as pool:
        running: deque[Future[R]] = deque()
        try:
            for items_ahead in (first, stream):
                for item in items_ahead:
                    running.append(pool.submit(_call, item))
                    if len(running) > 2 * processes:
                        yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(work: Callable[[Any], Any]) -> None:
    global _WORK
    _WORK = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked us says when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed says nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    assert _WORK is not None
    return _WORK(item)
