"""A connection to a database, with the models and the cached rankings that its collections share."""

import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from cachetools import LRUCache

from kgrag.graph import collections as registry
from kgrag.graph import reader, runs
from kgrag.graph.collections import Collection as Record
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.graph.runs import Run
from kgrag.models.chat import no_model
from kgrag.models.embed import Embedder, load_embedder
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.models.prompted import PromptedModel
from kgrag.retrieval.base import Query, Retriever
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError
from kgrag.values.results import Hit, Passage, Ranking

if TYPE_CHECKING:
    from kgrag.graph.gateway import PlanKind, Trust
    from kgrag.values.rows import Rows

_WORDS = 12
"""Equal texts of this many words are duplicates whatever their heading; shorter ones only under the same heading."""
_DEEPEST = 1_000


def retrieve_folded(retriever: Retriever, query: Query, k: int) -> Ranking:
    """Return the best `k` passages with distinct texts; `copies` of a hit lists its duplicates at lower ranks.

    If duplicates leave fewer than `k` hits, the search is repeated four times as deep, to at most 1,000 passages.
    """
    depth = k
    while True:
        ranking = retriever.retrieve(query, depth)
        hits = fold(ranking)
        if len(hits) >= k or len(ranking) < depth or depth >= _DEEPEST:
            return replace(ranking, hits=hits[:k])
        depth = min(4 * depth, _DEEPEST)


def fold(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return the hits without duplicate texts; the first of equal texts lists the others in `copies`."""
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        text = _text(hit.passage)
        earlier = first.get(text)
        first[text] = replace(earlier, copies=(*earlier.copies, hit.passage)) if earlier else hit
    return tuple(first.values())


def _text(passage: Passage) -> tuple[str, str]:
    words = passage.text.split()
    return " ".join(words), "" if len(words) >= _WORDS else passage.heading


class Rankings:
    """A cache of the `most` recent rankings; 0 disables it. Safe to share between threads.

    Each request asks the databases of a ranking for their state, which costs a round trip. A ranking is computed again
    if any client has written to them since.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rankings: LRUCache[object, tuple[tuple[str, ...], Ranking]] = LRUCache(max(most, 1))
        self._lock = threading.Lock()

    def ranking(self, retriever: Retriever, query: Query, k: int) -> Ranking:
        """Return a retriever's ranking, from the cache or computed."""
        if not self._most:
            return retrieve_folded(retriever, query, k)
        readers = [context.reader for context in retriever.contexts]
        names = tuple(reader.collection.name for reader in readers)
        key = (names, retriever.name, query.text, repr(query.filter), query.knowledge, k)
        graphs = dict.fromkeys(reader.graph for reader in readers)
        state = tuple(graph.state() for graph in graphs)  # before the search: a write meanwhile makes it outdated
        with self._lock:
            entry = self._rankings.get(key)
        if entry is not None and entry[0] == state:
            return entry[1]
        ranking = retrieve_folded(retriever, query, k)
        with self._lock:
            self._rankings[key] = (state, ranking)
        return ranking


class Models:
    """Models of the settings, loaded when first asked for. Safe to share between threads; close it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[str, Embedder] = {}
        self._chat: OpenAIChat | None = None
        self._llm: PromptedModel | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the connections to the language model."""
        if self._chat is not None:
            self._chat.close()

    def llm(self) -> PromptedModel | None:
        """Return the language model with its prompts; None when none is configured."""
        if self._settings.chat.model is None:
            return None
        with self._lock:
            if self._llm is None:
                self._chat = load_chat(self._settings)
                self._llm = PromptedModel(self._chat, self._settings.chat.prompts)
            return self._llm

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of the embedders requested so far."""
        return tuple(self._embedders)

    def embedder(self, embedder: str | Embedder | None = None) -> Embedder:
        """Return an embedder by its name, by default the one of the settings. Each is loaded once."""
        with self._lock:
            if embedder is not None and not isinstance(embedder, str):
                self._embedders[embedder.name] = embedder
                return embedder
            name = embedder or self._settings.embedder
            if name not in self._embedders:
                self._embedders[name] = load_embedder(name, self._settings.embedding)
            return self._embedders[name]


class Connection:
    """A database, the settings, their models, and a cache of rankings. Safe to share between threads."""

    def __init__(self, graph: Graph, settings: Settings, models: Models | None = None) -> None:
        self.graph = graph
        self.settings = settings
        self.models = models or Models(settings)
        self.rankings = Rankings(settings.rankings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the server continues."""
        self.graph.close()
        self.models.close()

    def records(self) -> list[Record]:
        """Return the records of the collections, without counts.

        Returns:
            The records, by name.
        """
        return registry.list_collections(self.graph)

    def cypher(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        embeddings: bool = False,
        plan: "PlanKind | None" = None,
        trust: "Trust" = "owner",
    ) -> "Rows":
        """Run a read-only Cypher statement.

        Args:
            statement: the statement; with EXPLAIN or PROFILE before it, the rows are the server's plan.
            parameters: name -> value.
            embeddings: whether embeddings stay in the result.
            plan: "explain" gives the server's plan, a row for each operator; "profile" also runs the statement, and
                adds the work of each operator.
            trust: "guest" for a statement from a user of your server.

        Returns:
            The rows. A warning says so if limits cut them.

        Raises:
            RefusedError: the statement does not only read, or a guest may not ask it (see `kgrag.graph.gateway`).
            NotFoundError: the collection named in `parameters` does not exist.
            DatabaseError: the statement is wrong, or exceeds its time or memory.
        """
        from kgrag.graph.gateway import run_read

        if isinstance(name := (parameters or {}).get("collection"), str):
            registry.open_collection(self.graph, name)
        limits = self.settings.gateway
        rows = run_read(self.graph, statement, parameters, limits, trust, embeddings=embeddings, plan=plan)
        if rows.cut and trust == "owner":
            warnings.warn(rows.cut, stacklevel=2)
        return replace(rows, notes=(*rows.notes, *describe().reversed_arrows(statement)))

    def saved_query(
        self, name: str, /, *, embeddings: bool = False, plan: "PlanKind | None" = None, **arguments: Any
    ) -> "Rows":
        """Run a saved query; `kg["notes"].saved_query(...)` runs it on one collection.

        Args:
            name: one of `kgrag cypher --list`.
            embeddings: whether embeddings stay in the result.
            plan: as in `cypher`.
            arguments: the query's parameters; `collection` is by default the one called "default", or the only one.

        Returns:
            The rows. A warning says so if limits cut them.

        Raises:
            NotFoundError: there is no such query or collection.
            ConfigurationError: the query does not have such a parameter, or one is missing.
        """
        from kgrag.graph.saved import run_saved

        rows = run_saved(self.graph, name, arguments, self.settings.gateway, embeddings=embeddings, plan=plan)
        if rows.cut:
            warnings.warn(rows.cut, stacklevel=2)
        return rows

    def passage(self, text: str, collection: str | None = None) -> Passage:
        """Return a passage.

        Args:
            text: (the beginning of) its id; or the key, title or file name of a document, for its first passage.
            collection: the name of its collection; None: any.

        Returns:
            The passage.

        Raises:
            NotFoundError: no collection has it, or several do.
        """
        matches = reader.find_passages(self.graph, text, collection)
        if not matches:
            raise NotFoundError(f"No passage {text!r}.", "`kgrag search … --json` shows the ids of passages.")
        names = sorted({name for _, name in matches})
        if len(names) > 1:
            raise NotFoundError(
                f"{text!r} is found in several collections: {', '.join(names)}.", "Choose one with --collection."
            )
        id, name = matches[0]
        return reader.Reader(self.graph, registry.open_collection(self.graph, name)).passages([id])[id]

    def neighbourhood(self, passage_id: str, limit: int = 10) -> list[dict[str, Any]]:
        """Return the edges around a passage.

        Args:
            passage_id: the whole id.
            limit: the most edges of each kind.

        Returns:
            Maps with type, outgoing, label, name, id and more.
        """
        return reader.neighbourhood(self.graph, passage_id, limit)

    def runs(self) -> list[Run]:
        """Return the saved answers of all collections.

        Returns:
            The runs, newest first.
        """
        return runs.list_all(self.graph)

    def delete_runs(self, ids: Iterable[str]) -> list[Run]:
        """Delete saved answers.

        Args:
            ids: (the first 6 or more digits of) the runs' ids.

        Returns:
            The deleted runs.

        Raises:
            NotFoundError: a run does not exist; nothing is deleted then.
        """
        return runs.remove_runs(self.graph, ids)

    def language_model(self) -> PromptedModel:
        """Return the settings' language model with its prompts, shared by all callers.

        Returns:
            The model.

        Raises:
            ConfigurationError: none is configured.
        """
        if (llm := self.models.llm()) is None:
            raise no_model()
        return llm

    def embedder(self, embedder: str | Embedder | None = None) -> Embedder:
        """Return an embedder, loaded once for all callers.

        Args:
            embedder: its name, or an Embedder, which is returned as it is; None: the one of the settings.

        Returns:
            The embedder.

        Raises:
            NotFoundError: there is no such embedder.
            ConfigurationError: its package is not installed.
        """
        return self.models.embedder(embedder)
