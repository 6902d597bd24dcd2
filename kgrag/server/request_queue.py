"""Work of requests: so much at once, in threads, others in a queue; ended at a deadline and when the client leaves."""

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

_GRACE = 5.0  # seconds after the deadline in which a call that looks at it seldom may still end
_PATIENCE = 30.0  # seconds for which a request waits for a place


class Workers:
    """Threads for the calls of requests of one kind; close them, or use `with`. Of one event loop."""

    def __init__(self, most: int, deadline: float, budget: float | None = None, waiting: int = 0) -> None:
        """Set the limits; `most`: calls at once, `waiting`: further ones in the queue.

        `deadline`: seconds, `budget`: cost of language models, both of one call.
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
        """Run a call; `deadline`: a shorter one than that of all.

        It ends at its next query, or call of a model, when the client closes the connection. Raises what it raises,
        BusyError when too many wait or none is ready in time, DeadlineError, and CancelledError when the client left.
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
        """Yield the events of a call as they happen, and last its result; closing the generator ends it.

        The call has begun when this returns. Raises BusyError as `run` does; with `waiting` it waits as long as it
        takes, hears how many are before it, and its deadline begins when it does.
        """
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Any] = asyncio.Queue()
        running = await self._start(lambda: call(lambda item: _enqueue(loop, heard, item)), self._deadline, waiting)
        return _heard(running, heard)

    async def _start(
        self, call: Callable[[], T], seconds: float, waiting: Callable[[int], None] | None = None
    ) -> "_Running[T]":
        """Begin a call once there is a place, with its remaining seconds."""
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
        future.add_done_callback(lambda _: _in_loop(loop, self._leave))  # also of one that was cancelled before
        return _Running(asyncio.wrap_future(future), cancelled)

    async def _place(self, seconds: float | None, waiting: Callable[[int], None] | None) -> None:
        """Wait for a place, first come, first served. Raises BusyError."""
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
        """Give a place to who waits longest."""
        if self._waiting:
            self._waiting.popleft().free.set_result(None)
            self._tell()
        else:
            self._free += 1

    def _tell(self) -> None:
        """Tell those who wait where they stand now."""
        for number, place in enumerate(self._waiting, 1):
            place.tell(number)


@dataclass(eq=False, slots=True)
class _Place:
    """Somebody who waits: `free` is done when it is their turn, `heard` is called with their place in line, from 1."""

    free: "asyncio.Future[None]"
    heard: Callable[[int], None] | None

    def tell(self, number: int) -> None:
        if self.heard is not None:
            self.heard(number)


@dataclass(frozen=True, slots=True)
class _Running(Generic[T]):
    """A call at work."""

    result: "asyncio.Future[T]"
    cancelled: threading.Event

    def cancel(self) -> None:
        """End it at its next query, or before it begins."""
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
    """Return when the client has closed the connection; its body has to be read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
