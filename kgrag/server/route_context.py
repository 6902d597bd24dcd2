"""The context of the routes of a server, and the check of the caller's rights."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Path, Request, params
from fastapi.dependencies.utils import get_flat_params

from kgrag.client.arguments import unknown_argument
from kgrag.client.collection import Collection
from kgrag.client.federation import Federation
from kgrag.client.graph import KnowledgeGraph
from kgrag.graph.collections import find_collection
from kgrag.server.asking import Asking
from kgrag.server.authentication import access_of
from kgrag.server.conversations import Conversations
from kgrag.server.jobs import Jobs
from kgrag.server.keys import Access, Keys, Role, hidden
from kgrag.server.pictures import Pictures
from kgrag.server.request_log import API, Metrics
from kgrag.server.request_queue import Workers
from kgrag.settings import ServeOptions
from kgrag.values.errors import InputError

T = TypeVar("T")


async def check_given(request: Request) -> None:
    """Refuse unknown parameters, and parameters and JSON keys that are given twice.

    Clients of OpenAI's API may send parameters that kgrag does not know.

    Raises:
        ConfigurationError: a parameter is unknown.
        InputError: a parameter or a key is given twice.
    """
    if request.query_params and request.url.path.startswith(API):
        route = request.scope["route"]
        fields = {
            f.alias: f.field_info for f in get_flat_params(route.dependant) if isinstance(f.field_info, params.Query)
        }
        if unknown := next((name for name in request.query_params if name not in fields), None):
            raise unknown_argument(f"{request.method} {route.path}", unknown, list(fields))
        pairs = request.query_params.multi_items()
        _check_once(key for key, _ in pairs if not str(fields[key].annotation).startswith("list"))
    if "json" in request.headers.get("content-type", ""):
        with suppress(ValueError):  # a route without JSON ignores the body
            json.loads(await request.body(), object_pairs_hook=lambda pairs: _check_once(key for key, _ in pairs))


def _check_once(keys: Iterable[str]) -> None:
    if twice := next((key for key, times in Counter(keys).items() if times > 1), None):
        raise InputError(f"{twice!r} is given twice.", "Give it once.")


@dataclass(frozen=True, slots=True)
class Serving:
    """The state of one application; `pages`: whether it serves the web application.

    `asks` answer questions, and `statements` run Cypher, in separate queues, so that searches and pages do not wait.
    `conversations` are stored, and `asking` answers their questions.
    """

    kg: KnowledgeGraph
    keys: Keys
    options: ServeOptions
    workers: Workers
    asks: Workers
    statements: Workers
    metrics: Metrics
    pictures: Pictures
    jobs: Jobs
    conversations: Conversations
    asking: Asking
    pages: bool = False


def serving_of(request: Request) -> Serving:
    """Return the Serving of a request's application."""
    return cast(Serving, request.app.state.serving)


class Caller:
    """A request with the rights of its key, the context of every route."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.access: Access = access_of(request)
        self.serving = serving_of(request)

    @property
    def kg(self) -> KnowledgeGraph:
        """The database."""
        return self.serving.kg

    async def work(self, call: Callable[[], T], *, deadline: float | None = None, workers: Workers | None = None) -> T:
        """Run a call in a thread, one of `workers` if given; see `Workers.run`."""
        return await (workers or self.serving.workers).run(self.request, call, deadline=deadline)

    def collection(self, name: str, role: Role = "read", *, new: bool = False) -> Collection:
        """Return a collection that the caller may use in this role; call it in a thread.

        `new`: it need not exist yet. Raises NotFoundError for a missing or hidden one, and names only visible ones.
        """
        self.access.check(role, name)
        if not new and self.access.collections and find_collection(self.kg.graph, name) is None:
            raise hidden(name, self.access.collections)
        return self.kg[name]

    def select(self, names: tuple[str, ...]) -> Federation:
        """Return several visible collections as one; call it in a thread."""
        return Federation([self.collection(name) for name in names])

    def seen(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of collections unchanged. Raises NotFoundError for a hidden one."""
        for name in names:
            self.access.check("read", name)
        return names


Called = Annotated[Caller, Depends(Caller)]
Named = Annotated[str, Path(description="name of the collection", min_length=1, max_length=200)]
