"""The context of a search: an open collection with its embedder and models."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

import platformdirs

from kgrag.graph.reader import Reader, Row
from kgrag.models.embed import CachedEmbedder, Embedder, load_embedder
from kgrag.models.prompted import PromptedModel
from kgrag.settings import RerankerSettings
from kgrag.values.errors import MismatchError
from kgrag.values.results import Filter

REFRESH_SECONDS = 5.0
"""Seconds after which an open collection is checked again, since it may have been re-embedded."""
PAUSES = (0.0, 0.05, 0.2, 0.5)
"""Seconds to wait before recomputing a result whose passages or vectors were removed meanwhile."""

_LISTED = 20  # metadata keys listed in a remark
_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")


class SearchContext:
    """The context of a search: an open collection, its embedder, an optional language model, and defaults.

    `defaults`: option -> value, for every retriever that has the option, and retriever -> {option: value}. `agents`:
    strategy -> {option: value}, and "answer" for all strategies. `load`: makes an embedder by its name. `cache`: a
    folder for files that can be recomputed. `reranker`: the reranking server, if any. Threads may share it.
    """

    def __init__(
        self,
        reader: Reader,
        embedder: Embedder,
        defaults: Mapping[str, Any] | None = None,
        agents: Mapping[str, Any] | None = None,
        llm: PromptedModel | None = None,
        load: Callable[[str], Embedder] | None = None,
        cache: Path | None = None,
        reranker: RerankerSettings | None = None,
    ) -> None:
        self.reader = reader
        self.embedder: Embedder = CachedEmbedder(embedder)
        self._opened = time.monotonic()
        self.defaults = defaults or {}
        self.agents = agents or {}
        self.llm = llm
        self.cache = cache or Path(platformdirs.user_cache_dir("kgrag", appauthor=False))
        self.reranker = reranker or RerankerSettings()
        self._load = load
        self._lock = threading.Lock()
        self._shared: WeakValueDictionary[object, Any] = WeakValueDictionary()
        self._cache: dict[object, Any] = {}

    @property
    def context(self) -> Self:
        """The context itself, so that retrievers take a context or anything that has one."""
        return self

    def rows(self, name: str, /, **parameters: Any) -> list[Row]:
        """Return the rows of a query of the catalogue."""
        return self.reader.rows(name, **parameters)

    def row(self, name: str, /, **parameters: Any) -> Row:
        """Return the row of a query that always returns one."""
        return self.reader.row(name, **parameters)

    def shared(self, key: object, make: Callable[[], _T]) -> _T:
        """Return a value that several retrievers share. The first one makes it, and it is held weakly."""
        with self._lock:
            value: _T | None = self._shared.get(key)
            if value is None:
                value = make()
                self._shared[key] = value
            return value

    def cached(self, key: object, make: Callable[[], _T]) -> _T:
        """Return a value that is cached until the collection is reopened."""
        with self._lock:
            if key not in self._cache:
                self._cache[key] = make()
            value: _T = self._cache[key]
            return value

    def other_embedder(self, name: str) -> Embedder:
        """Return another embedder than the collection's own. Raises NotFoundError, ConfigurationError."""
        if name == self.embedder.name:
            return self.embedder
        return load_embedder(name) if self._load is None else self._load(name)

    def current(self, read: Callable[[], _T]) -> _T:
        """Return the result of `read` on the current collection. All use of its vectors and indexes goes through here.

        `read` runs several queries without a common transaction. It is repeated if the collection was replaced or
        re-embedded meanwhile. It is also repeated, with growing pauses, if it fails on removed nodes, since a server
        takes a while to apply a removal.
        """
        self._keep_up()
        for pause in (*PAUSES, None):
            before = self.reader.collection
            try:
                result = read()
            except Exception as error:
                if isinstance(error, MismatchError):  # an index is gone, or has vectors of another length
                    self.refresh()
                removed = isinstance(error, LookupError | TypeError)  # nothing has its id, or its text is null
                if pause is None or not (removed or self.reader.collection != before):
                    raise
                _LOG.info("%s is read again after %r", before.name, error)
                time.sleep(pause)
            else:
                self._keep_up(now=result == [])  # its indexes may be empty because it was removed
                if pause is None or self.reader.collection == before:  # otherwise it may mix old and new vectors
                    break
        return result

    def _keep_up(self, *, now: bool = False) -> None:
        """Reopen the collection if it was opened too long ago, or `now`, since old vectors are discarded.

        A collection that is being removed or recreated keeps its opened state.
        """
        if now or time.monotonic() - self._opened > REFRESH_SECONDS:
            with suppress(MismatchError):
                self.refresh()

    def refresh(self) -> None:
        """Reopen the collection, which may have been recreated or re-embedded. Raises NotFoundError if it is gone."""
        self._opened = time.monotonic()
        before, now = self.reader.collection, self.reader.record()
        if now == before:
            return
        if now.embedder != before.embedder and self._load is not None:
            self.embedder = CachedEmbedder(self._load(now.embedder))
        self.reader.open(now)  # last, since concurrent rankings detect by it that they must be repeated
        with self._lock:
            self._shared.clear()
            self._cache.clear()


def unknown_keys(contexts: Sequence[SearchContext], only: Filter) -> tuple[str, ...]:
    """Return a sentence on each filter key that no document of the collections has, with the existing keys."""
    candidates = dict.fromkeys(key for key, _ in only.conditions)
    replies = [context.reader.metadata_keys(list(candidates)) for context in contexts] if candidates else []
    unknown = [key for key in candidates if all(key in missing for missing, _ in replies)]
    keys = ", ".join(sorted({key for _, some in replies for key in some})[:_LISTED]) or "none"
    return tuple(f"No document has metadata with the key {key!r}. There are: {keys}." for key in unknown)


class Searchable(Protocol):
    """A collection, a context, or another retriever."""

    @property
    def context(self) -> SearchContext:
        """The context of its searches."""
        ...
