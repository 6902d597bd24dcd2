"""Clients for asyncio: each method runs in a thread, and is cancelled with its task.

They use the same driver, embedders and traversals. A cancelled task ends its call at the next query or model call.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

from pydantic import SecretStr

from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEPTH
from kgrag.client.collection import Collection
from kgrag.client.graph import KnowledgeGraph
from kgrag.client.searching import LocalSearching
from kgrag.client.verbs import operations
from kgrag.runtime import limits
from kgrag.settings import Settings
from kgrag.values.events import Answer, Event, Progress

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


async def in_thread(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `work` in a thread; if the task is cancelled, the work ends at its next query."""
    cancelled = threading.Event()

    def run() -> R:
        with limits.limited(cancelled=cancelled):
            return work(*args, **kwargs)

    try:
        return await asyncio.to_thread(run)
    finally:
        cancelled.set()


def _awaited(work: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return await in_thread(work, *args, **kwargs)

    return _named(run, work)


def _searching(
    method: Callable[Concatenate[LocalSearching, P], R],
) -> Callable[Concatenate["AsyncSearching", P], Coroutine[Any, Any, R]]:
    async def run(self: "AsyncSearching", /, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[P, R] = getattr(self.sync, method.__name__)  # sync is one collection or several
        return await in_thread(own, *args, **kwargs)

    return _named(run, method)


def _collection(
    method: Callable[Concatenate[Collection, P], R],
) -> Callable[Concatenate["AsyncCollection", P], Coroutine[Any, Any, R]]:
    async def run(self: "AsyncCollection", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await in_thread(method, self.sync, *args, **kwargs)

    return _named(run, method)


def _graph(
    method: Callable[Concatenate[KnowledgeGraph, P], R],
) -> Callable[Concatenate["AsyncKnowledgeGraph", P], Coroutine[Any, Any, R]]:
    async def run(self: "AsyncKnowledgeGraph", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await in_thread(method, self.sync, *args, **kwargs)

    return _named(run, method)


def _named(run: F, method: Callable[..., Any]) -> F:
    update_wrapper(run, method)  # copies the signature, too, for `help`
    return run


class AsyncSearching:
    """Several collections as one, with methods to await; `sync` is the Federation itself."""

    sync: LocalSearching

    def __init__(self, sync: LocalSearching) -> None:
        self.sync = sync
        self.name = sync.name

    retriever = _searching(LocalSearching.retriever)
    system = _searching(LocalSearching.system)
    search = _searching(LocalSearching.search)
    ask = _searching(LocalSearching.ask)
    look_up = _searching(LocalSearching.look_up)

    async def ask_stream(self, question: str, **options: Any) -> AsyncIterator[Event | Answer]:
        """Yield the events of a question as they happen, then its answer.

        Args:
            question: the question.
            options: the options of `Collection.ask_stream`.

        Yields:
            The events, and last the answer. Leaving the loop cancels the question.
        """
        stream = await in_thread(self.sync.ask_stream, question, **options)
        events = iter(stream)
        try:
            while (event := await asyncio.to_thread(next, events, None)) is not None:
                yield event
            yield stream.answer
        finally:
            stream.close()

    async def ask_many(
        self,
        questions: Iterable[str],
        *,
        system: str | Strategy | None = None,
        short: bool = False,
        k: int = DEPTH,
        threads: int = 8,
    ) -> AsyncIterator[tuple[str, Answer | Exception]]:
        """Answer many questions, several at a time; see `Collection.ask_many`.

        Yields:
            (question, answer or error), in the order in which they end. Leaving the loop cancels the rest.
        """
        cancelled = threading.Event()
        answers = await in_thread(self.sync.ask_many, questions, system=system, short=short, k=k, threads=threads)

        def following() -> tuple[str, Answer | Exception] | None:
            with limits.limited(cancelled=cancelled):
                return next(answers, None)

        try:
            while (answered := await asyncio.to_thread(following)) is not None:
                yield answered
        finally:
            cancelled.set()


class AsyncCollection(AsyncSearching):
    """A Collection whose methods are awaited.

    A cancelled task ends its call at the next query or call of a model.

    Args:
        sync: the Collection itself.

    Example:
        >>> several = AsyncCollection(collection)
        >>> ranking = asyncio.run(several.search("Who designed the Fram?", k=3))
        >>> len(ranking)
        3
    """

    sync: Collection

    ingest = _collection(Collection.ingest)
    attach = _collection(Collection.attach)
    extract = _collection(Collection.extract)
    estimate_extraction = _collection(Collection.estimate_extraction)
    fact_schema = _collection(Collection.fact_schema)
    set_fact_schema = _collection(Collection.set_fact_schema)
    propose_fact_schema = _collection(Collection.propose_fact_schema)
    history = _collection(Collection.history)
    tag = _collection(Collection.tag)
    untagged = _collection(Collection.untagged)
    resolve = _collection(Collection.resolve)
    estimate_resolution = _collection(Collection.estimate_resolution)
    build_tree = _collection(Collection.build_tree)
    estimate_tree = _collection(Collection.estimate_tree)
    remove_tree = _collection(Collection.remove_tree)
    build_communities = _collection(Collection.build_communities)
    estimate_communities = _collection(Collection.estimate_communities)
    remove_communities = _collection(Collection.remove_communities)
    name_contexts = _collection(Collection.name_contexts)
    decide = _collection(Collection.decide)
    unresolve = _collection(Collection.unresolve)
    delete = _collection(Collection.delete)
    reembed = _collection(Collection.reembed)
    relanguage = _collection(Collection.relanguage)
    repair = _collection(Collection.repair)
    passage = _collection(Collection.passage)
    save = _collection(Collection.save)
    runs = _collection(Collection.runs)
    info = _collection(Collection.info)
    documents = _collection(Collection.documents)
    names = _collection(Collection.names)
    document = _collection(Collection.document)
    rate = _collection(Collection.rate)
    example_questions = _collection(Collection.example_questions)
    inspect = _collection(Collection.inspect)
    cypher = _collection(Collection.cypher)
    saved_query = _collection(Collection.saved_query)
    question_parameters = _collection(Collection.question_parameters)
    ask_cypher = _collection(Collection.ask_cypher)
    export = _collection(Collection.export)


class AsyncKnowledgeGraph:
    """A KnowledgeGraph whose methods are awaited.

    A cancelled task ends its call at the next query or call of a model.

    Args:
        sync: the KnowledgeGraph itself.

    Example:
        >>> async def names() -> list[str]:
        ...     async with await AsyncKnowledgeGraph.connect() as graph:
        ...         return [name async for name in graph]
        >>> "demo" in asyncio.run(names())
        True
    """

    def __init__(self, sync: KnowledgeGraph) -> None:
        self.sync = sync

    @classmethod
    async def connect(
        cls,
        uri: str | None = None,
        user: str | None = None,
        password: str | SecretStr | None = None,
        database: str | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Connect to a Neo4j; see `KnowledgeGraph.connect`."""
        return cls(await in_thread(KnowledgeGraph.connect, uri, user, password, database, settings))

    @classmethod
    async def local(cls, settings: Settings | None = None, progress: Progress | None = None) -> Self:
        """Connect to this machine's own Neo4j; see `KnowledgeGraph.local`."""
        return cls(await in_thread(KnowledgeGraph.local, settings, progress))

    load_in_bulk = staticmethod(_awaited(KnowledgeGraph.load_in_bulk))
    write_bulk_files = staticmethod(_awaited(KnowledgeGraph.write_bulk_files))
    import_knowledge = staticmethod(_awaited(KnowledgeGraph.import_knowledge))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @overload
    def __getitem__(self, name: str) -> AsyncCollection: ...

    @overload
    def __getitem__(self, name: tuple[str, ...]) -> AsyncSearching: ...

    def __getitem__(self, name: str | tuple[str, ...]) -> AsyncCollection | AsyncSearching:
        """Return a collection, or several as one; see `KnowledgeGraph.__getitem__`."""
        return AsyncCollection(self.sync[name]) if isinstance(name, str) else AsyncSearching(self.sync[name])

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the names of the collections; see `KnowledgeGraph.__iter__`."""
        for record in await self.records():
            yield record.name

    __iter__ = None  # disables `in`, too: both would call __getitem__ with 0, 1, 2, ... and cannot be awaited

    async def select(self, names: str) -> AsyncCollection | AsyncSearching:
        """Return a collection, or several as one; see `KnowledgeGraph.select`."""
        selection = await in_thread(self.sync.select, names)
        return AsyncCollection(selection) if isinstance(selection, Collection) else AsyncSearching(selection)

    close = _graph(KnowledgeGraph.close)
    collections = _graph(KnowledgeGraph.collections)
    records = _graph(KnowledgeGraph.records)
    cypher = _graph(KnowledgeGraph.cypher)
    saved_query = _graph(KnowledgeGraph.saved_query)
    draw = _graph(KnowledgeGraph.draw)
    passage = _graph(KnowledgeGraph.passage)
    neighbourhood = _graph(KnowledgeGraph.neighbourhood)
    runs = _graph(KnowledgeGraph.runs)
    delete_runs = _graph(KnowledgeGraph.delete_runs)
    import_export = _graph(KnowledgeGraph.import_export)
    propose_attachment = _graph(KnowledgeGraph.propose_attachment)
    language_model = _graph(KnowledgeGraph.language_model)
    embedder = _graph(KnowledgeGraph.embedder)


for verb in operations().values():  # verbs that are not listed above
    if not hasattr(AsyncCollection, verb.method.__name__):
        setattr(AsyncCollection, verb.method.__name__, _collection(verb.method))

__all__ = ["AsyncCollection", "AsyncKnowledgeGraph"]
