"""Process items in parallel threads that mostly wait for a server."""

import contextvars
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[tuple[Item, Result | Exception]]:
    """Yield each item with its result, or with its exception, in the order of completion.

    Reads items in the caller's thread, at most two a thread ahead of the results. If the generator is closed, or the
    caller fails or is interrupted, no further item starts, and running ones are not awaited: the threads are daemons.
    """
    waiting: queue.SimpleQueue[tuple[Item] | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Item, Result | BaseException]] = queue.SimpleQueue()
    over = threading.Event()
    started = under_way = 0

    def work() -> None:
        while (box := waiting.get()) is not None and not over.is_set():
            (item,) = box
            try:
                done.put((item, function(item)))
            except BaseException as error:
                done.put((item, error))

    source = iter(items)
    more = True
    try:
        while True:
            while more and under_way < 2 * threads:
                try:
                    item = next(source)
                except StopIteration:
                    more = False
                    break
                waiting.put((item,))
                under_way += 1
                if started < threads:
                    context = contextvars.copy_context()  # apply the limits of the call here, too
                    threading.Thread(target=context.run, args=(work,), name=f"kgrag-{started}", daemon=True).start()
                    started += 1
            if not under_way:
                return
            item, result = done.get()
            under_way -= 1
            if isinstance(result, BaseException) and not isinstance(result, Exception):
                raise result
            yield item, result
    finally:
        over.set()
        for _ in range(started):
            waiting.put(None)
