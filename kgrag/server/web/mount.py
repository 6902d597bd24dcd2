"""The pages as a part of the server's application."""

import logging
from asyncio import get_running_loop
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from nicegui import app as pages
from nicegui import ui
from starlette.routing import Match, Mount
from starlette.types import Scope

from kgrag.server.entrance import DOORS
from kgrag.server.route_context import Serving
from kgrag.server.web import (
    ask,
    collections,
    compare,
    evaluations,
    explore,
    graph,
    login,
    passage,
    queries,
    runs,
    upload,
)
from kgrag.server.web import duplicate_names as names

_THREADS = 64  # that wait for the database or a model: a question holds one while it is answered


def mount(app: FastAPI, serving: Serving) -> None:
    """Serve the pages from `app`, at every address that it does not serve itself; nothing may be added after them.

    One process serves them once: NiceGUI keeps its routes for itself.
    """
    for page in (collections, ask, upload, explore, graph, passage, queries, compare, runs, evaluations, names):
        page.add(serving)
    app.include_router(login.router(serving.keys, secure=serving.options.secure_cookie))
    pages.on_startup(_take_threads)
    logging.getLogger("nicegui").setLevel(logging.ERROR)  # its warnings hold addresses, with what was asked
    ui.run_with(app, title="kgrag", dark=None, language="en-US", show_welcome_message=False)
    pages.add_exception_handler(404, _missing)
    app.router.routes[-1] = _Pages("/", pages)
    app.state.serving = replace(serving, pages=True)


class _Pages(Mount):
    """Every address but those of programs, which are told in JSON what is not there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.NONE, {}) if scope["path"].startswith(DOORS) else super().matches(scope)


async def _missing(request: Request, error: Exception) -> Response:
    """NiceGUI makes a page, with a client that is held for a while, of each address that is not there."""
    return HTMLResponse("<!doctype html><title>kgrag</title><p>There is no such page. <a href='/'>kgrag</a></p>", 404)


def _take_threads() -> None:
    get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "kgrag-pages"))
