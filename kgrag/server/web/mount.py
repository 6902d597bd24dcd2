"""The web application: one page whose scripts use the REST API, served at every address of a page.

The scripts are plain ES modules, sent as they are written. The content security policy blocks other scripts, and files
from other servers: docs/web.md says why.
"""

from dataclasses import replace
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from kgrag.server.authentication import ASSETS, COOKIE, DOORS, LOGIN
from kgrag.server.keys import Keys
from kgrag.server.route_context import Serving
from kgrag.server.sessions import DAYS, Sessions
from kgrag.server.web.addresses import inside

_PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · kgrag</title>
<link rel="icon" href="/assets/logo.svg">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body class="login">
<main>
<form method="post" action="/login" class="panel">
<h1><img src="/assets/logo.svg" alt="" width="28" height="28"> kgrag</h1>
$problem
<label for="key">Your key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<input name="next" type="hidden" value="$next">
<button class="button main">Log in</button>
<p>The operator of this server creates keys with <code>kgrag keys add</code>.</p>
</form>
</main>
</body>
</html>
""")


def login_router(keys: Keys, *, secure: bool) -> APIRouter:
    """Return the routes to log in and out. `secure`: the cookie is sent over HTTPS only."""
    routes, sessions = APIRouter(include_in_schema=False), Sessions(keys)

    @routes.get(LOGIN)
    def form(next: str = "/") -> HTMLResponse:
        return _page(next)

    @routes.post(LOGIN)
    def enter(
        request: Request, key: Annotated[str, Form(max_length=200)], next: Annotated[str, Form(max_length=2000)] = "/"
    ) -> Response:
        session = sessions.open(key.strip())
        if session is None:
            return _page(next, "This key is not known here.", 401)
        response = RedirectResponse(inside(next), 303)
        response.set_cookie(
            COOKIE,
            session,
            max_age=DAYS * 86400,
            httponly=True,
            samesite="lax",  # links from other sites work; requests that change anything also check the origin
            secure=secure or _is_https(request),
            path="/",
        )
        return response

    @routes.post("/logout")
    def leave(request: Request) -> Response:
        sessions.close(request.cookies.get(COOKIE, ""))
        response = RedirectResponse(LOGIN, 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=secure or _is_https(request), path="/")
        return response

    return routes


def _is_https(request: Request) -> bool:
    """Return whether the browser uses HTTPS, to this server or to a proxy before it."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").lower())


def _page(next: str, problem: str = "", status: int = 200) -> HTMLResponse:
    message = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    return HTMLResponse(_PAGE.substitute(problem=message, next=escape(inside(next))), status)


PAGES = ("", "ask", "library", "document", "passage", "graph", "admin")
"""First parts of the addresses of pages."""
_FRESH = {"Cache-Control": "no-cache"}  # cached but revalidated, so that a new release appears at once


def mount(app: FastAPI, serving: Serving) -> None:
    """Serve the pages from `app` at every address without a route; add no route after this."""
    folder = Path(str(files("kgrag.server.web") / "static"))
    page = (folder / "index.html").read_bytes()
    app.include_router(login_router(serving.keys, secure=serving.options.secure_cookie))
    app.mount(ASSETS, _Assets(directory=folder))

    async def pages(request: Request) -> Response:
        is_page = request.path_params["path"].partition("/")[0] in PAGES
        return Response(page, 200 if is_page else 404, _FRESH, "text/html")

    app.router.routes.append(_Page("/{path:path}", pages))
    app.state.serving = replace(serving, pages=True)


class _Page(Route):
    """Matches every address except those of the API, whose errors are JSON."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.NONE, {}) if scope["path"].startswith(DOORS) else super().matches(scope)


class _Assets(StaticFiles):
    """Scripts and styles, which the browser caches and revalidates each time."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        response = super().file_response(*arguments, **named)
        response.headers.update(_FRESH)
        return response
