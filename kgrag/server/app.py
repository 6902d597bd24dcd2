"""The application that `kgrag serve` runs: all doors over one database."""

from fastapi import APIRouter, FastAPI

from kgrag import __version__
from kgrag.client import KnowledgeGraph
from kgrag.errors import ConfigurationError
from kgrag.server.api import collections
from kgrag.server.failures import add_handlers
from kgrag.server.guard import Guard
from kgrag.server.keys import Keys
from kgrag.server.serving import Serving
from kgrag.settings import ServeOptions

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_ROUTERS = (collections.router,)


def create_app(kg: KnowledgeGraph, keys: Keys, options: ServeOptions) -> FastAPI:
    """The application, not yet running. Raises ConfigurationError without keys on another address than loopback."""
    unlocked = check_locked(keys, options)
    app = FastAPI(title="kgrag", version=__version__, docs_url=None, redoc_url=None)
    app.state.serving = Serving(kg, keys, options)
    api = APIRouter(prefix="/api/v1")
    for router in _ROUTERS:
        api.include_router(router)
    app.include_router(api)
    add_handlers(app)
    app.add_middleware(Guard, keys=keys, hosts=options.hosts, unlocked=unlocked)
    return app


def check_locked(keys: Keys, options: ServeOptions) -> bool:
    """Whether there are no keys, which loopback alone allows. Raises ConfigurationError elsewhere."""
    unlocked = not len(keys)
    if unlocked and options.host not in _LOOPBACK:
        raise ConfigurationError(
            f"Without keys the server listens on this machine alone, not on {options.host}.",
            "Make a key first: kgrag keys add NAME --role admin",
        )
    return unlocked
