"""Send events as server-sent events; closing the connection cancels their source."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kgrag import wire
from kgrag.server.failures import error_for_caller, form_of
from kgrag.server.request_queue import left

MEDIA_TYPE = "text/event-stream"
_QUIET = 15.0  # seconds after which a comment line keeps the connection open


Events = AsyncGenerator[tuple[str, Any]]


class EventStream(Response):
    """Sends (name, JSON form) pairs while the key of the caller is valid; an error is the last event, `error`."""

    media_type = MEDIA_TYPE

    def __init__(self, events: Events, write: Callable[[str, Any], str] | None = None) -> None:
        """Make the stream; `write`: formats an event, if not in the default form."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._write = write or _event

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        departure = asyncio.ensure_future(left(Request(scope, receive)))
        keys, access = scope["app"].state.serving.keys, scope["state"]["access"]
        try:
            async with aclosing(_lines(self._events, departure, self._write)) as lines:
                async for text in lines:
                    if not keys.holds(access):
                        break
                    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            departure.cancel()


async def _lines(
    events: Events, departure: "asyncio.Future[None]", write: Callable[[str, Any], str]
) -> AsyncGenerator[str]:
    """Yield the text of each event. Ends when the client disconnects, and closes the events."""
    following: asyncio.Future[tuple[str, Any]] | None = None
    try:
        while not departure.done():
            following = following or asyncio.ensure_future(anext(events))
            ends: set[asyncio.Future[Any]] = {following, departure}
            await asyncio.wait(ends, timeout=_QUIET, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                yield ": \n\n"
                continue
            name, form = following.result()
            following = None
            yield write(name, form)
    except StopAsyncIteration:
        pass
    except Exception as error:
        yield write("error", form_of(error_for_caller(error)))
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await following
        await events.aclose()


def _event(name: str, form: Any) -> str:
    return f"event: {name}\ndata: {wire.dumps(form)}\n\n"
