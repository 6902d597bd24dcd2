"""Limit the requests a minute of each caller, and the size and the speed of a request."""

import asyncio
import re
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgrag.server.authentication import LOGIN, is_open
from kgrag.server.failures import response
from kgrag.server.keys import Access
from kgrag.settings import ServeOptions
from kgrag.values.errors import BusyError, InputError, KgragError, TooLargeError

_KB, _MB = 1024, 1024 * 1024
BODY_KB = 1024
"""Maximum size of a request without uploads."""
BODY_SECONDS = 20.0
"""Seconds within which each part of a request must arrive."""
_FORM = 4 * _KB
_UPLOADS = re.compile(r"/api/v1/collections/[^/]+/documents")
_BURST = 0.25  # share of the requests of a minute that may arrive at once
_LEAST = 20.0


class Throttle:
    """Refuses requests that are too frequent, too large or too slow, and passes the others on."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._rate = options.rate / 60
        self._most = max(_LEAST, options.rate * _BURST)
        self._small, self._large = BODY_KB * _KB, options.upload_mb * _MB
        self._seconds = BODY_SECONDS
        self._left: dict[str, tuple[float, float]] = {}  # key -> (requests left, at this time); there are few keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused, status = self._refused(scope)
        if refused is not None:
            await response(refused, status)(scope, receive, send)
            return
        limit = self._limit(scope)
        body = _Body(receive, limit, self._seconds, in_parts=limit == self._large)
        is_started = False

        async def forward(message: Message) -> None:
            nonlocal is_started
            if body.failed is None or is_started:
                is_started = True
                await send(message)

        try:
            await self._app(scope, body.receive, forward)
        except Exception:
            if body.failed is None or is_started:
                raise
        if body.failed is not None and not is_started:
            error, status = body.failed
            answer = response(error, status)
            answer.headers["Connection"] = "close"  # the rest of the body is not read
            await answer(scope, receive, send)

    def _refused(self, scope: Scope) -> tuple[KgragError | None, int | None]:
        access = scope.get("state", {}).get("access")
        counted = isinstance(access, Access) and not is_open(scope["path"])
        if counted and (seconds := self._wait(access.name)) > 0:
            return BusyError("This key asks too often.", "Ask less often, or set KGRAG_SERVE__RATE.", seconds), 429
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdecimal() and int(length) > self._limit(scope):
            return _too_large(self._limit(scope)), None
        return None, None

    def _wait(self, name: str) -> float:
        """Return the seconds until a key may send its next request; 0 counts the request as sent."""
        now = time.monotonic()
        left, then = self._left.get(name, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        self._left[name] = (left - 1 if left >= 1 else left, now)
        return 0.0 if left >= 1 else (1 - left) / self._rate

    def _limit(self, scope: Scope) -> int:
        """Return the maximum bytes of a request: many if its key may upload files, few at the login."""
        if scope["path"] == LOGIN:
            return _FORM
        access = scope.get("state", {}).get("access")
        uploads = scope.get("method") == "POST" and _UPLOADS.fullmatch(scope["path"])
        return self._large if uploads and isinstance(access, Access) and access.may("write") else self._small


class _Body:
    """The body of a request as it arrives; `failed` is its error."""

    def __init__(self, receive: Receive, limit: int, seconds: float, *, in_parts: bool) -> None:
        self._receive = receive
        self._in_parts = in_parts
        self._until = time.monotonic() + seconds
        self._limit = limit
        self._seconds = seconds
        self._size = 0
        self._whole = False
        self.failed: tuple[KgragError, int | None] | None = None

    async def receive(self) -> Message:
        """Return the next part. A part that is too large or too late ends the request like a disconnect."""
        if self._whole:
            return await self._receive()
        if self.failed is None:
            try:
                message = await asyncio.wait_for(self._receive(), self._left())
            except TimeoutError:
                self.failed = InputError("The request came too slowly.", "Send it again, faster or in parts."), 408
            else:
                self._size += len(message.get("body", b""))
                self._whole = message["type"] != "http.request" or not message.get("more_body", False)
                if self._size <= self._limit:
                    return message
                self.failed = _too_large(self._limit), None
        return {"type": "http.disconnect"}

    def _left(self) -> float:
        """Return the seconds for the next part: uploads have a limit for each part, other requests one in all."""
        return self._seconds if self._in_parts else max(0.0, self._until - time.monotonic())


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(
        f"The request is larger than {limit // _KB:,} KB.",
        "Send it in parts, or set KGRAG_SERVE__BODY_KB or KGRAG_SERVE__UPLOAD_MB.",
    )
