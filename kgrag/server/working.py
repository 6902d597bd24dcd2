"""Work of a request: in a thread, held to its deadline, and ended when the client leaves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from starlette.requests import Request

from kgrag import limits
from kgrag.client.aio import in_thread
from kgrag.errors import CancelledError

T = TypeVar("T")


async def work(request: Request, call: Callable[[], T], *, deadline: float, budget: float | None = None) -> T:
    """The result of a call. Raises what it raises, DeadlineError after `deadline` seconds, CancelledError when left.

    The call ends at its next query, or call of a model, when the client has closed the connection.
    """

    def limited() -> T:
        with limits.limited(deadline, budget):
            return call()

    task = asyncio.ensure_future(in_thread(limited))
    gone = asyncio.ensure_future(left(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise CancelledError("The client left.")
    finally:
        for one in (task, gone):
            one.cancel()
        with suppress(asyncio.CancelledError):
            await gone


async def left(request: Request) -> None:
    """Return when the client has closed the connection; its body has to be read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
