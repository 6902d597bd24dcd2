"""Log each request, count it in the metrics, and set the id and security headers of each reply.

The log has neither keys nor questions: query strings are omitted.
"""

import logging
import re
import secrets
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgrag.runtime.spans import Value
from kgrag.server.failures import error_for_caller, response
from kgrag.server.keys import Access
from kgrag.server.tracing import Tracing

access_log = logging.getLogger("kgrag.server.access")

API = "/api/v1"

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROGRAMS = ("/api/", "/v1/", "/mcp", "/metrics", "/healthz", "/readyz", "/openapi.json")
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
_OWN = (  # the policy of the pages: only this server's scripts run, and only its files are fetched
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without a referrer, our own forms would send the origin null
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Metrics:
    """The metrics of one application for Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "kgrag_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram("kgrag_request_seconds", "How long they took.", ("route",), registry=self.registry)
        self.under_way = Gauge("kgrag_requests_under_way", "Requests being answered.", registry=self.registry)

    def text(self) -> bytes:
        """Return the metrics in the format of Prometheus."""
        return generate_latest(self.registry)


class Record:
    """The outermost layer: logs a request, and replies if an inner layer fails."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracing: Tracing) -> None:
        self._app = app
        self._metrics = metrics
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        with self._tracing.request(headers) as span:
            await self._answer(scope, receive, send, headers.get("x-request-id", ""), span)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, header: str, span: dict[str, Value]) -> None:
        id = header if _ID.fullmatch(header) else secrets.token_hex(8)
        status = 0

        async def forward(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _complete(MutableHeaders(scope=message), scope["path"], id)
            await send(message)

        start = time.perf_counter()
        self._metrics.under_way.inc()
        try:
            await self._app(scope, receive, forward)
        except Exception as error:
            answer = response(error_for_caller(error))
            if status:
                raise  # close the connection, so that half an answer is not taken for an answer
            await answer(scope, receive, forward)
        finally:
            self._metrics.under_way.dec()
            self._note(scope, id, status, time.perf_counter() - start)
            span |= {"http.request.method": _method(scope), "http.route": _route(scope), "request": id}
            span["http.response.status_code"] = status

    def _note(self, scope: Scope, id: str, status: int, seconds: float) -> None:
        route = _route(scope)
        self._metrics.requests.labels(_method(scope), route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        access = scope.get("state", {}).get("access")
        name = access.name if isinstance(access, Access) else "-"
        path = scope.get("raw_path", b"").decode("ascii", "backslashreplace").partition("?")[0]
        access_log.info("%s %s %s %d %.0f ms key=%r", id, _method(scope), path[:500], status, seconds * 1000, name)


def _route(scope: Scope) -> str:
    """Return the path of a route with the names of its parameters; one label for all unknown paths."""
    route = getattr(scope.get("route"), "path", "") or "other"
    return f"{API}{route}" if scope["path"].startswith(API) and not route.startswith(API) else route


def _method(scope: Scope) -> str:
    """Return the method, a single label for unknown ones."""
    method = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


def _complete(headers: MutableHeaders, path: str, id: str) -> None:
    headers["X-Request-ID"] = id
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    program = path.startswith(_PROGRAMS)
    headers.setdefault("Content-Security-Policy", _NOTHING if program else _OWN)
    if program:
        headers.setdefault("Cache-Control", "no-store")
