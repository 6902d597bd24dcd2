"""A connection to a database, the models of its settings, and the rankings that were made: what collections share."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cachetools import LRUCache

from kgrag.graph import collections as registry
from kgrag.graph import reader, runs
from kgrag.graph.collections import Collection as Record
from kgrag.graph.connection import Graph
from kgrag.graph.runs import Run
from kgrag.models.chat import no_model
from kgrag.models.embed import Embedder, load_embedder
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.models.tasks import Tasks
from kgrag.retrieval.base import Query, Retriever
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError
from kgrag.values.results import Hit, Passage, Ranking

if TYPE_CHECKING:
    from kgrag.graph.gateway import PlanKind
    from kgrag.values.rows import Rows

_WORDS = 12
"""A text of at least so many words is a copy under any heading; a shorter one says something else under another."""
_DEEPEST = 1_000


def retrieve_folded(retriever: Retriever, query: Query, k: int) -> Ranking:
    """The best `k` passages of different texts; each hit names the `copies` that were ranked below it.

    Where copies take places, the ranking is made again four times as deep, to a thousand passages at the most.
    """
    depth = k
    while True:
        ranking = retriever.retrieve(query, depth)
        hits = fold(ranking)
        if len(hits) >= k or len(ranking) < depth or depth >= _DEEPEST:
            return replace(ranking, hits=hits[:k])
        depth = min(4 * depth, _DEEPEST)


def fold(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits without those whose text an earlier one has, which names them."""
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        text = _text(hit.passage)
        known = first.get(text)
        first[text] = replace(known, copies=(*known.copies, hit.passage)) if known else hit
    return tuple(first.values())


def _text(passage: Passage) -> tuple[str, str]:
    words = passage.text.split()
    return " ".join(words), "" if len(words) >= _WORDS else passage.heading


class Rankings:
    """Keeps the `most` rankings that were asked for last; with 0 none. Safe to share between threads.

    Each database that a ranking comes from is asked what state it is in, which costs a round trip; any transaction that
    wrote to it since, whoever's, makes the ranking again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: LRUCache[object, tuple[tuple[str, ...], Ranking]] = LRUCache(max(most, 1))
        self._lock = threading.Lock()

    def ranking(self, retriever: Retriever, query: Query, k: int) -> Ranking:
        """The ranking of a retriever that is named alone, from the cache or computed."""
        if not self._most:
            return retrieve_folded(retriever, query, k)
        readers = [context.reader for context in retriever.contexts]
        names = tuple(reader.collection.name for reader in readers)
        key = (names, retriever.name, query.text, repr(query.filter), query.knowledge, k)
        graphs = dict.fromkeys(reader.graph for reader in readers)
        state = tuple(graph.state() for graph in graphs)  # before it is made: a write meanwhile counts as later
        with self._lock:
            found = self._kept.get(key)
        if found is not None and found[0] == state:
            return found[1]
        made = retrieve_folded(retriever, query, k)
        with self._lock:
            self._kept[key] = (state, made)
        return made


class Models:
    """Models of the settings, loaded when first asked for. Safe to share between threads; close it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[str, Embedder] = {}
        self._chat: OpenAIChat | None = None
        self._tasks: Tasks | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the connections to the language model."""
        if self._chat is not None:
            self._chat.close()

    def tasks(self) -> Tasks | None:
        """The language model with its prompts; None when none is configured."""
        if self._settings.chat.model is None:
            return None
        with self._lock:
            if self._tasks is None:
                self._chat = load_chat(self._settings)
                chat = self._settings.chat
                self._tasks = Tasks(self._chat, chat.prompts, max_facts=chat.max_facts)
            return self._tasks

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of the embedders that were asked for."""
        return tuple(self._embedders)

    def embedder(self, embedder: str | Embedder | None = None) -> Embedder:
        """An embedder by its name, by default that of the settings; loaded once, and one that is given is kept."""
        with self._lock:
            if embedder is not None and not isinstance(embedder, str):
                self._embedders[embedder.name] = embedder
                return embedder
            name = embedder or self._settings.embedder
            if name not in self._embedders:
                self._embedders[name] = load_embedder(name, self._settings.embedding)
            return self._embedders[name]


class Connection:
    """A database, the settings, their models, and the rankings that were asked for. Safe to share between threads."""

    def __init__(self, graph: Graph, settings: Settings, models: Models | None = None) -> None:
        self.graph = graph
        self.settings = settings
        self.models = models or Models(settings)
        self.rankings = Rankings(settings.rankings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the server goes on."""
        self.graph.close()
        self.models.close()

    def records(self) -> list[Record]:
        """The same as they are recorded, without counts."""
        return registry.list_collections(self.graph)

    def cypher(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        embeddings: bool = False,
        plan: "PlanKind | None" = None,
    ) -> "Rows":
        """The answer of a Cypher statement, which can only read (see `kgrag.graph.gateway`).

        `embeddings`: whether they stay in what is returned. `plan`: "explain" gives the server's plan instead,
        a row an operator; "profile" runs the statement and adds what each operator did. Raises RefusedError for
        a statement that is not let through, DatabaseError when it is wrong, or takes too long or too much
        memory.
        """
        from kgrag.graph.gateway import read_only

        return read_only(self.graph, statement, parameters, self.settings.gateway, embeddings=embeddings, plan=plan)

    def saved_query(
        self, name: str, /, *, embeddings: bool = False, plan: "PlanKind | None" = None, **arguments: Any
    ) -> "Rows":
        """The answer of one of the saved queries (`kgrag cypher --list`), its parameters as keyword arguments.

        Without a collection it is that called "default", or the only one; `kg["notes"].saved_query(...)` fills it in.
        Raises NotFoundError for a name that does not exist, ConfigurationError for an argument that the query does not
        take.
        """
        from kgrag.graph.saved import run_saved

        return run_saved(self.graph, name, arguments, self.settings.gateway, embeddings=embeddings, plan=plan)

    def passage(self, text: str, collection: str | None = None) -> Passage:
        """A passage by (the beginning of) its id, or the first one of a document by key or title.

        Raises NotFoundError if there is none, or if several collections have one.
        """
        found = reader.find_passages(self.graph, text, collection)
        if not found:
            raise NotFoundError(f"No passage {text!r}.", "`kgrag search … --json` shows the ids of passages.")
        names = sorted({name for _, name in found})
        if len(names) > 1:
            raise NotFoundError(
                f"{text!r} is found in several collections: {', '.join(names)}.", "Choose one with --collection."
            )
        id, name = found[0]
        return reader.Reader(self.graph, registry.open_collection(self.graph, name)).passages([id])[id]

    def neighbourhood(self, passage_id: str, limit: int = 10) -> list[dict[str, Any]]:
        """The edges around a passage, at most `limit` of each kind: maps with type, outgoing, label, name, id, ..."""
        return reader.neighbourhood(self.graph, passage_id, limit)

    def runs(self) -> list[Run]:
        """The answers that are kept, of all collections, newest first."""
        return runs.list_all(self.graph)

    def delete_runs(self, ids: Iterable[str]) -> list[Run]:
        """Delete kept answers, each named by (the first 6 or more digits of) its run's id; returns them.

        Raises NotFoundError for one that does not exist, before anything is deleted.
        """
        return runs.remove_runs(self.graph, ids)

    def tasks(self) -> Tasks | None:
        """The language model of the settings with its prompts; None when none is configured. Shared by all callers."""
        return self.models.tasks()

    def language_model(self) -> Tasks:
        """The same. Raises ConfigurationError when none is configured."""
        if (tasks := self.tasks()) is None:
            raise no_model()
        return tasks

    def embedder(self, embedder: str | Embedder | None = None) -> Embedder:
        """An embedder by its name, by default that of the settings; loaded once, and one that is given is kept."""
        return self.models.embedder(embedder)
