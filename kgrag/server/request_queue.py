"""Run the work of requests in a limited number of threads, with a queue, a deadline and cancellation."""

import asyncio
import contextvars
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from starlette.requests import Request

from kgrag.runtime import limits
from kgrag.values.errors import BusyError, CancelledError

T = TypeVar("T")

_GRACE = 5.0  # seconds after the deadline within which a call may still notice it and end
_PATIENCE = 30.0  # seconds that a request waits in the queue


class Workers:
    """Threads for the calls of one kind of request; close them, or use `with`. Belongs to one event loop."""

    def __init__(self, most: int, deadline: float, budget: float | None = None, waiting: int = 0) -> None:
        """Set the limits; `most`: calls at once, `waiting`: length of the queue.

        `deadline` in seconds and `budget` of language models limit one call.
        """
        self._threads = ThreadPoolExecutor(most, "kgrag-serve")
        self._free = most
        self._most_waiting = waiting
        self._waiting: deque[_Place] = deque()
        self._deadline = deadline
        self._budget = budget

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, request: Request, call: Callable[[], T], *, deadline: float | None = None) -> T:
        """Run a call; `deadline`: a shorter one than the default.

        The call ends at its next query or model call if the client disconnects. Raises errors of the call, BusyError if
        the queue is full or no thread becomes free in time, DeadlineError, and CancelledError if the client left.
        """
        seconds = self._deadline if deadline is None else min(deadline, self._deadline)
        until = time.monotonic() + seconds
        departure = asyncio.ensure_future(left(request))
        starting = asyncio.ensure_future(self._start(call, seconds))
        try:
            await asyncio.wait((starting, departure), return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                raise CancelledError("The client left.")
            running = await starting
            try:
                ends: set[asyncio.Future[Any]] = {running.result, departure}
                wait = until + _GRACE - time.monotonic()
                await asyncio.wait(ends, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                if running.result.done():
                    return running.result.result()
                raise CancelledError("The client left.") if departure.done() else limits.passed()
            finally:
                running.cancel()
        finally:
            departure.cancel()
            starting.cancel()

    async def stream(
        self, call: Callable[[Callable[[Any], None]], T], waiting: Callable[[int], None] | None = None
    ) -> AsyncGenerator[Any]:
        """Yield the events of a call as they happen, then its result; closing the generator cancels the call.

        The call has started when this returns. Raises BusyError as `run` does. With `waiting` it queues without a
        limit, receives its position, and its deadline starts with the call.
        """
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Any] = asyncio.Queue()
        running = await self._start(lambda: call(lambda item: _enqueue(loop, heard, item)), self._deadline, waiting)
        return _heard(running, heard)

    async def _start(
        self, call: Callable[[], T], seconds: float, waiting: Callable[[int], None] | None = None
    ) -> "_Running[T]":
        """Start a call when a thread is free, with its remaining seconds."""
        cancelled = threading.Event()
        until = time.monotonic() + seconds
        await self._place(None if waiting else min(seconds, _PATIENCE), waiting)
        if waiting:
            until = time.monotonic() + seconds

        def limited() -> T:
            with limits.limited(until - time.monotonic(), self._budget, cancelled):
                try:
                    return call()
                except (StopIteration, SystemExit) as error:  # a future cannot hold these: its request would hang
                    raise RuntimeError(f"a worker raised {type(error).__name__}") from error

        loop = asyncio.get_running_loop()
        future = self._threads.submit(contextvars.copy_context().run, limited)
        future.add_done_callback(lambda _: _in_loop(loop, self._leave))  # even if it was cancelled before
        return _Running(asyncio.wrap_future(future), cancelled)

    async def _place(self, seconds: float | None, waiting: Callable[[int], None] | None) -> None:
        """Wait for a free thread in order of arrival. Raises BusyError."""
        if self._free:
            self._free -= 1
            return
        if len(self._waiting) >= self._most_waiting:
            raise BusyError(
                f"The server works on as much as it can, and {len(self._waiting)} more wait.", "Try again in a moment."
            )
        place = _Place(asyncio.get_running_loop().create_future(), waiting)
        self._waiting.append(place)
        place.tell(len(self._waiting))
        try:
            await asyncio.wait((place.free,), timeout=seconds)
        except asyncio.CancelledError:  # the client left
            if place.free.done():
                self._leave()
            else:
                self._waiting.remove(place)
                self._tell()
            raise
        if not place.free.done():
            before = self._waiting.index(place)
            self._waiting.remove(place)
            self._tell()
            raise BusyError(
                f"No place came free in {seconds:.0f} s; {before} waited before this.", "Try again in a moment."
            )

    def _leave(self) -> None:
        """Give the free thread to the first waiter."""
        if self._waiting:
            self._waiting.popleft().free.set_result(None)
            self._tell()
        else:
            self._free += 1

    def _tell(self) -> None:
        """Send the waiters their new positions."""
        for number, place in enumerate(self._waiting, 1):
            place.tell(number)


@dataclass(eq=False, slots=True)
class _Place:
    """A waiter: `free` is done when it is its turn; `heard` is called with its position, from 1."""

    free: "asyncio.Future[None]"
    heard: Callable[[int], None] | None

    def tell(self, number: int) -> None:
        if self.heard is not None:
            self.heard(number)


@dataclass(frozen=True, slots=True)
class _Running(Generic[T]):
    """A running call."""

    result: "asyncio.Future[T]"
    cancelled: threading.Event

    def cancel(self) -> None:
        """Cancel the call at its next query, or before it starts."""
        self.cancelled.set()
        self.result.cancel()


def _enqueue(loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[Any]", item: Any) -> None:
    _in_loop(loop, lambda: queue.put_nowait(item))


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody listens
        loop.call_soon_threadsafe(call)


async def _heard(running: "_Running[T]", heard: "asyncio.Queue[Any]") -> AsyncGenerator[Any]:
    running.result.add_done_callback(lambda _: heard.put_nowait(running))
    try:
        while (item := await heard.get()) is not running:
            yield item
        yield running.result.result()
    finally:
        running.cancel()


async def left(request: Request) -> None:
    """Return when the client has disconnected; the body must have been read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
