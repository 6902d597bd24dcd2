"""Work of requests: so much at once, in threads, held to a deadline, and ended when the client leaves."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from starlette.requests import Request

from kgrag import limits
from kgrag.errors import BusyError, CancelledError

T = TypeVar("T")

_GRACE = 5.0  # seconds after the deadline in which a call that looks at it seldom may still end


class Workers:
    """Threads for the calls of all requests; close them, or use `with`."""

    def __init__(self, most: int, deadline: float, budget: float | None = None) -> None:
        """`most`: calls at once; `deadline`: seconds, `budget`: cost of language models, both of one call."""
        self._threads = ThreadPoolExecutor(most, "kgrag-serve")
        self._free = most
        self._lock = threading.Lock()
        self._deadline = deadline
        self._budget = budget

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, request: Request, call: Callable[[], T], *, deadline: float | None = None) -> T:
        """The result of a call; `deadline`: a shorter one than that of all.

        It ends at its next query, or call of a model, when the client closes the connection. Raises what it raises,
        BusyError when too much is worked on, DeadlineError, and CancelledError when the client left.
        """
        seconds = self._deadline if deadline is None else min(deadline, self._deadline)
        running = self._start(call, seconds)
        gone = asyncio.ensure_future(left(request))
        try:
            ends: set[asyncio.Future[Any]] = {running.result, gone}
            await asyncio.wait(ends, timeout=seconds + _GRACE, return_when=asyncio.FIRST_COMPLETED)
            if running.result.done():
                return running.result.result()
            raise CancelledError("The client left.") if gone.done() else limits.passed()
        finally:
            running.cancel()
            gone.cancel()

    def stream(self, call: Callable[[Callable[[Any], None]], T]) -> AsyncGenerator[Any]:
        """What a call tells, as it tells it, and last its result; closing the generator ends it.

        The call begins at once. Raises BusyError when too much is worked on.
        """
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Any] = asyncio.Queue()
        running = self._start(lambda: call(lambda told: _put(loop, heard, told)), self._deadline)
        return _heard(running, heard)

    def _start(self, call: Callable[[], T], seconds: float) -> "_Running[T]":
        cancelled = threading.Event()

        def limited() -> T:
            with limits.limited(seconds, self._budget, cancelled):
                return call()

        with self._lock:
            if not self._free:
                raise BusyError("The server works on as much as it can.", "Try again in a moment.")
            self._free -= 1
        future = self._threads.submit(contextvars.copy_context().run, limited)
        future.add_done_callback(self._freed)  # also of one that was cancelled before it began
        return _Running(asyncio.wrap_future(future), cancelled)

    def _freed(self, _: "Future[Any]") -> None:
        with self._lock:
            self._free += 1


@dataclass(frozen=True, slots=True)
class _Running(Generic[T]):
    """A call at work."""

    result: "asyncio.Future[T]"
    cancelled: threading.Event

    def cancel(self) -> None:
        """End it at its next query, or before it begins."""
        self.cancelled.set()
        self.result.cancel()


def _put(loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[Any]", item: Any) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody listens
        loop.call_soon_threadsafe(queue.put_nowait, item)


async def _heard(running: "_Running[T]", heard: "asyncio.Queue[Any]") -> AsyncGenerator[Any]:
    running.result.add_done_callback(lambda _: heard.put_nowait(running))
    try:
        while (told := await heard.get()) is not running:
            yield told
        yield running.result.result()
    finally:
        running.cancel()


async def left(request: Request) -> None:
    """Return when the client has closed the connection; its body has to be read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
