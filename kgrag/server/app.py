"""The application that `kgrag serve` runs: all interfaces over one database."""

import gc
import os
import socket
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

import uvicorn
from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.routing import Route

from kgrag import __version__
from kgrag.client.graph import KnowledgeGraph
from kgrag.graph.local.checks import run_checks
from kgrag.server import openai, openai_forms
from kgrag.server.api import (
    ask,
    collections,
    conversations,
    cypher,
    documents,
    drawings,
    health,
    jobs,
    names,
    passages,
    runs,
    search,
    server_keys,
    start,
)
from kgrag.server.asking import Asking
from kgrag.server.authentication import LOOPBACK, Guard
from kgrag.server.conversations import Conversations
from kgrag.server.failures import ERRORS, Reply, add_handlers
from kgrag.server.jobs import Jobs
from kgrag.server.keys import Keys
from kgrag.server.pictures import Pictures
from kgrag.server.request_log import API, Metrics, Record
from kgrag.server.request_queue import Workers
from kgrag.server.route_context import Serving, check_given
from kgrag.server.throttle import Throttle
from kgrag.server.tracing import Tracing
from kgrag.server.watched import WatchedFolders
from kgrag.settings import ServeOptions, Settings
from kgrag.values.errors import ConfigurationError, KgragError
from kgrag.values.results import Check

_GRACE = 10  # seconds for running requests when the server stops
_KEEP_ALIVE = 75  # seconds; longer than clients and proxies keep a connection, or they may send into a closing one
_ROUTERS = (
    collections.router, documents.router, jobs.router, search.router, ask.router, passages.router, cypher.router,
    drawings.router, runs.router, names.router, conversations.router, start.router, server_keys.router,
)  # fmt: skip


def create_app(kg: KnowledgeGraph, keys: Keys, options: ServeOptions) -> FastAPI:
    """Create the application. Raises as `Tracing` does, and ConfigurationError without keys beyond loopback."""
    unlocked = check_locked(keys, options)
    workers, asks, statements = (
        Workers(most, options.deadline, options.budget, options.waiting)
        for most in (options.concurrency, options.concurrency, options.statements)
    )
    pictures = Pictures(kg.settings.loading, kg.settings.cache)
    metrics, tracing, work = Metrics(), Tracing(), Jobs(kg, options.job_workers)
    conversations = Conversations(keys.path.with_name("conversations.sqlite3"), options.answers)
    asking = Asking(conversations, asks, workers)
    folders = WatchedFolders(work, kg.settings.serve.watch)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with tracing, workers, asks, statements, pictures, work, folders:
            yield
            await asking.close()

    app = FastAPI(
        title="kgrag",
        version=__version__,
        docs_url=None,  # its pages would load scripts of another host
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,  # names the methods of generated clients
        default_response_class=Reply,
        lifespan=lifespan,
    )
    app.state.serving = Serving(
        kg, keys, options, workers, asks, statements, metrics, pictures, work, conversations, asking
    )
    bearer = Depends(HTTPBearer(auto_error=False, description="A key, if the server has keys"))  # Guard checks it
    checked = [bearer, Depends(check_given)]
    api = APIRouter(prefix=API, responses=ERRORS, dependencies=checked)
    for router in _ROUTERS:
        api.include_router(router)
    app.include_router(api)
    app.include_router(health.router, responses=ERRORS)
    app.include_router(openai.router, responses=openai_forms.ERRORS, dependencies=checked)
    if find_spec("mcp") is not None:
        from kgrag.server.mcp_http import McpDoor

        app.router.routes.append(Route("/mcp", McpDoor(kg, options), methods=["GET", "POST", "DELETE"]))
    add_handlers(app)
    app.add_middleware(Throttle, options=options)
    app.add_middleware(Guard, keys=keys, hosts=options.hosts, unlocked=unlocked)
    app.add_middleware(Record, metrics=metrics, tracing=tracing)
    app.add_middleware(openai.OpenAIErrors)  # the last one added is outermost
    return app


def config_of(app: FastAPI, options: ServeOptions) -> uvicorn.Config:
    """Return the configuration of the application's server.

    It uses kgrag's own request log, and no header reveals the server software.
    """
    return uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        access_log=False,  # it would log the query string
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=_KEEP_ALIVE,
        limit_concurrency=options.connections,
    )


def run_server(config: uvicorn.Config, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on a socket until a signal; `ready` is called as soon as the server answers."""

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            gc.collect()
            gc.freeze()  # existing objects stay alive, so the garbage collector may skip them
            if not self.should_exit:
                ready()

    Announced(config).run([listening])


def check_locked(keys: Keys, options: ServeOptions) -> bool:
    """Return whether the server has no keys. Raises ConfigurationError if it has none beyond loopback."""
    unlocked = not len(keys)
    if unlocked and options.host not in LOOPBACK:
        raise ConfigurationError(
            f"Without keys the server listens on this machine alone, not on {options.host}.",
            "Make a key first: kgrag keys add NAME --role admin",
        )
    return unlocked


def serving_checks(settings: Settings) -> Iterator[Check]:
    """Run the checks of `kgrag doctor`, then those of the server. Changes nothing."""
    yield from run_checks(settings)
    yield _keys(settings)
    yield _port(settings)
    yield _uploads(settings)
    yield from _watched(settings)
    yield _model(settings)


def _keys(settings: Settings) -> Check:
    keys = Keys.of(settings)
    try:
        unlocked = check_locked(keys, settings.serve)
    except KgragError as error:
        return Check("Keys", False, error.message, error.remedy)
    return Check("Keys", True, "none: this machine alone is served, without keys" if unlocked else f"{len(keys)}")


def _port(settings: Settings) -> Check:
    host, port = settings.serve.host, settings.serve.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            detail = f"{host}:{port} cannot be used ({error.strerror or error})"
            return Check("Port", False, detail, "Choose another: --port, --host, or stop what has it.")
    return Check("Port", True, f"{host}:{port} is free")


def _uploads(settings: Settings) -> Check:
    folder = next(path for path in (settings.home / "uploads", *(settings.home / "uploads").parents) if path.exists())
    ok = os.access(folder, os.W_OK | os.X_OK)
    return Check("Uploads", ok, f"in {settings.home / 'uploads'}", "" if ok else f"Make {folder} writable.")


def _watched(settings: Settings) -> Iterator[Check]:
    for collection, folder in settings.serve.watch.items():
        ok = folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
        yield Check(f"Watched for {collection}", ok, str(folder), "" if ok else f"Make {folder}, and let it be read.")


def _model(settings: Settings) -> Check:
    named = settings.chat.model
    return Check("Language model", True, named or "none: searches work, questions are not answered")
