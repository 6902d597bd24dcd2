"""Connecting to Neo4j, and what a client holds while it is connected."""

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pydantic import SecretStr

from kgrag.graph import collections as registry
from kgrag.graph import reader
from kgrag.graph.connection import Graph
from kgrag.models.embed import Embedder, load_embedder
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.models.tasks import Tasks
from kgrag.retrieval.base import Index
from kgrag.settings import Settings
from kgrag.types import Progress

if TYPE_CHECKING:
    pass

DEFAULT_COLLECTION = "default"


def silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


class Connected:
    """A connection with the settings; embedders and the language model are loaded when they are first asked for."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph = graph
        self.settings = settings
        self._embedders: dict[str, Embedder] = {}
        self._chat: OpenAIChat | None = None
        self._tasks: Tasks | None = None
        self._lock = threading.Lock()

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        user: str | None = None,
        password: str | SecretStr | None = None,
        database: str | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Connect to a Neo4j by its address; what is left out comes from the settings (KGRAG_NEO4J_*).

        Without an address anywhere this is `local()`. Raises DatabaseError when the server does not answer.
        """
        settings = settings or Settings()
        uri = uri or settings.neo4j_uri
        if uri is None:
            return cls.local(settings)
        secret = SecretStr(password) if isinstance(password, str) else password or settings.neo4j_password
        return cls(Graph(uri, user or settings.neo4j_user, secret, database or settings.neo4j_database), settings)

    @classmethod
    def local(cls, settings: Settings | None = None, progress: Progress | None = None) -> Self:
        """Connect to this machine's own Neo4j, which is set up and started first if need be.

        Raises LocalServerError when that fails, with the remedy.
        """
        from kgrag.graph.local import LocalServer, bulk

        settings = settings or Settings()
        server = LocalServer(settings)
        endpoint = server.ensure_running(progress=progress)
        graph = Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database)
        try:
            bulk.complete(server.home, graph)
        except BaseException:
            graph.close()
            raise
        return cls(graph, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KnowledgeGraph({self.graph!r})"

    def close(self) -> None:
        """Close the connections; the server goes on."""
        self.graph.close()
        if self._chat is not None:
            self._chat.close()

    def tasks(self) -> Tasks | None:
        """The language model of the settings with its prompts; None when none is configured. Shared by all callers."""
        if self.settings.chat.model is None:
            return None
        with self._lock:
            if self._tasks is None:
                self._chat = load_chat(self.settings)
                self._tasks = Tasks(self._chat, self.settings.chat.prompts)
            return self._tasks

    def _index(self, collection: str) -> Index:
        """What retrievers work on. Raises NotFoundError, MismatchError."""
        found = registry.open_collection(self.graph, collection)
        model = self._embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        return Index(reader.Reader(self.graph, found), model, self.settings.retrieval, self.tasks())

    def _embedder(self, embedder: str | Embedder | None) -> Embedder:
        if embedder is not None and not isinstance(embedder, str):
            return embedder
        name = embedder or self.settings.embedder
        with self._lock:
            if name not in self._embedders:
                self._embedders[name] = load_embedder(name)
            return self._embedders[name]
