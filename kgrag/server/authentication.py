"""Check the host name, the origin and the key of each request, once for all interfaces.

A page of another site must not use the access of its visitor's browser. The server answers only to its own host names,
which defeats DNS rebinding; without keys, which only loopback allows, to the names of loopback. With a cookie or
without keys it refuses requests from pages of another origin.
"""

import socket
from collections.abc import Iterable
from functools import cache
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kgrag.server.failures import error_for_caller, response
from kgrag.server.keys import LOCAL, Access, Keys
from kgrag.server.sessions import Sessions
from kgrag.values.errors import AccessError, KgragError

COOKIE = "kgrag_session"
"""The cookie of a login of the web application; its value is the id of a session."""
LOGIN = "/login"

ASSETS = "/assets"
"""Scripts and styles of the pages, which hold no data."""

_OPEN = ("/healthz", "/readyz", LOGIN)
DOORS = ("/api/", "/v1/", "/mcp", "/metrics", "/openapi.json")
"""Prefixes of the paths for programs, which are not redirected to a page."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_FOREIGN = ("cross-site", "same-site")


class Guard:
    """Passes a request on, with its Access in the state of the scope, or refuses it."""

    def __init__(self, app: ASGIApp, keys: Keys, hosts: Iterable[str] = (), *, unlocked: bool) -> None:
        """Make the guard; `unlocked`: the server has no keys and listens on loopback only, until a key is created."""
        self._app = app
        self._keys = keys
        self._sessions = Sessions(keys)
        self._hosts = tuple(host.lower() for host in hosts)
        self._unlocked = unlocked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            access = self._access(connection)
        except Exception as error:
            refused: Response = response(error_for_caller(error))
        else:
            if access is not None or is_open(scope["path"]):
                scope.setdefault("state", {})["access"] = access
                await self._app(scope, receive, send)
                return
            refused = _locked(connection)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refused(scope, receive, send)

    def _access(self, connection: HTTPConnection) -> Access | None:
        """Return the access of the caller, or None without a valid key. Raises AccessError for a foreign page."""
        headers = connection.headers
        unlocked = self._unlocked and not len(self._keys)
        if len(headers.getlist("host")) != 1 or not self._is_own(_host_name(headers["host"]), unlocked):
            raise AccessError(
                "This server does not answer to that name of a host.", "Use its own: KGRAG_SERVE__HOSTS adds names."
            )
        bearer = _bearer(headers)
        if bearer is not None and not unlocked:  # without keys, one is ignored: clients of OpenAI's API always send one
            return self._keys.resolve(bearer)
        if _is_foreign(connection):
            raise AccessError(
                "A page of another site may not use this server.", "Send a key: Authorization: Bearer KEY"
            )
        if unlocked:
            return LOCAL
        cookie = _cookie(headers)
        return None if cookie is None else self._sessions.resolve(cookie)

    def _is_own(self, name: str, unlocked: bool) -> bool:
        """Return whether a host name is one of this server. A literal address is safe: it cannot be rebound."""
        if self._hosts:
            return name in self._hosts
        return name in LOOPBACK or (not unlocked and (name in _names_of_this_machine() or _is_address(name)))


def access_of(connection: HTTPConnection) -> Access:
    """Return the access of the caller of a request. Raises AccessError on a public page without a key."""
    access = connection.scope.get("state", {}).get("access")
    if not isinstance(access, Access):
        raise AccessError("This takes a key.", "Send it: Authorization: Bearer KEY")
    return access


def is_open(path: str) -> bool:
    """Return whether the path is public."""
    return path in _OPEN or path.startswith(f"{ASSETS}/")


def _locked(connection: HTTPConnection) -> Response:
    path = connection.scope["path"]
    if "text/html" in connection.headers.get("accept", "") and not path.startswith(DOORS):
        target = f"{path}?{query}" if (query := connection.url.query) else path
        return RedirectResponse(f"{LOGIN}?next={quote(target)}", 303)
    missing: KgragError = AccessError(
        "This takes a key that is known here.", "Send it: Authorization: Bearer KEY. `kgrag keys add` makes one."
    )
    return response(missing, 401)


def _bearer(headers: Headers) -> str | None:
    """Return the token, "" if the header is invalid, or None without the header."""
    values = headers.getlist("authorization")
    if not values:
        return None
    kind, _, token = values[0].partition(" ")
    return token.strip() if kind.lower() == "bearer" and len(values) == 1 else ""


def _cookie(headers: Headers) -> str | None:
    try:
        morsel = SimpleCookie("; ".join(headers.getlist("cookie"))).get(COOKIE)
    except CookieError:
        return None
    return None if morsel is None else morsel.value


@cache
def _names_of_this_machine() -> tuple[str, ...]:
    return socket.gethostname().lower(), socket.getfqdn().lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_foreign(connection: HTTPConnection) -> bool:
    """Return whether a page of another origin made this request, except by a link that was followed."""
    headers = connection.headers
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != headers["host"].lower():
        return True
    navigates = headers.get("sec-fetch-mode") == "navigate" and connection.scope.get("method") in ("GET", "HEAD")
    return headers.get("sec-fetch-site") in _FOREIGN and not navigates


def _host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets; "" for an invalid one."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "" if parts.netloc == host and parts.username is None else ""
    except ValueError:
        return ""
