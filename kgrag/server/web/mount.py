"""The web application: one page whose scripts use the REST API, served at every address of a page.

The scripts are plain ES modules, sent as they are written. The policy of the page lets nothing else run, and nothing be
fetched from elsewhere: docs/web.md says why.
"""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from kgrag.server.entrance import ASSETS, DOORS
from kgrag.server.route_context import Serving
from kgrag.server.web import login

PAGES = ("", "ask", "library", "document", "passage", "graph", "lab", "admin")
"""First parts of the addresses of pages."""
_FRESH = {"Cache-Control": "no-cache"}  # kept, and asked for again: a new release is there at once


def mount(app: FastAPI, serving: Serving) -> None:
    """Serve the pages from `app`, at every address that it does not serve itself; nothing may be added after them."""
    folder = Path(str(files("kgrag.server.web") / "static"))
    page = (folder / "index.html").read_bytes()
    app.include_router(login.router(serving.keys, secure=serving.options.secure_cookie))
    app.mount(ASSETS, _Assets(directory=folder))

    async def pages(request: Request) -> Response:
        known = request.path_params["path"].partition("/")[0] in PAGES
        return Response(page, 200 if known else 404, _FRESH, "text/html")

    app.router.routes.append(_Page("/{path:path}", pages))
    app.state.serving = replace(serving, pages=True)


class _Page(Route):
    """Every address but those of the API, whose errors are JSON."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.NONE, {}) if scope["path"].startswith(DOORS) else super().matches(scope)


class _Assets(StaticFiles):
    """Scripts and styles, which a browser asks for again each time, and mostly has."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        made = super().file_response(*given, **named)
        made.headers.update(_FRESH)
        return made
