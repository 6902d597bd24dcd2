"""A Collection: documents in, rankings and answers out, and what an analyst wants to know of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from kgrag import limits
from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEFAULT_SYSTEM, DEPTH, make_system
from kgrag.client.building import Building, silent
from kgrag.client.stream import Stream
from kgrag.errors import ConfigurationError
from kgrag.events import Answer
from kgrag.graph import collections as registry
from kgrag.graph import reader, runs, schema
from kgrag.graph.reader import Reader
from kgrag.graph.runs import Run
from kgrag.indexing.index_sync import index_of
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import Query, Retriever, SearchContext
from kgrag.retrieval.bridges import with_bridges
from kgrag.retrieval.registry import DEFAULT_RETRIEVER, check_defaults, make_retriever
from kgrag.types import CollectionInfo, DocumentInfo, Filter, Passage, Progress, Ranking

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.exchange.export import ExportReport
    from kgrag.graph.gateway import PlanKind
    from kgrag.inspection.result import Inspection
    from kgrag.rows import Rows


class Collection(Building):
    """A collection by its name: `kg["notes"]`. Safe to share between threads.

    Every method takes what it works on first, and options as keywords. What searches opens the collection once, and
    again by itself when it was made or embedded again. Methods raise NotFoundError when there is no such collection.
    """

    @property
    def context(self) -> SearchContext:
        """What retrievers work on."""
        with self._lock:
            if self._context is None:
                found, model = self._open()
                settings = self.kg.settings
                check_defaults(settings.retrieval)
                self._context = SearchContext(
                    Reader(self.kg.graph, found, lambda collection: index_of(collection, settings)),
                    model,
                    defaults=settings.retrieval,
                    agents=settings.agents,
                    tasks=self.kg.tasks(),
                    load=self.kg.embedder,
                    cache=settings.cache,
                )
            return self._context

    # ----- rankings and answers out

    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """A retriever by its name or expression, to be asked many questions."""
        return make_retriever(retriever, self.context) if isinstance(retriever, str) else retriever

    def system(self, system: str | Strategy = DEFAULT_SYSTEM) -> Strategy:
        """A system by its name, such as gear+pathrank, to be asked many questions."""
        return make_system(system, self.context) if isinstance(system, str) else system

    def search(
        self,
        query: str,
        *,
        k: int = 8,
        retriever: str | Retriever = DEFAULT_RETRIEVER,
        filter: Filter | None = None,
        knowledge: Sequence[str] = (),
        deadline: float | None = None,
    ) -> Ranking:
        """The `k` best passages for a question, each with the trail that led to it.

        `knowledge`: collections of facts that may lead from one passage to another. Raises DeadlineError when it takes
        longer than `deadline` seconds, ConfigurationError for a `k` below 1.
        """
        if k < 1:
            raise ConfigurationError(f"k is invalid: {k} passages.", "Ask for 1 or more.")
        with limits.limited(deadline):
            searcher = with_bridges(self.retriever(retriever), knowledge)
            return searcher.retrieve(Query(query, filter or Filter()), k)

    @overload
    def ask(
        self,
        question: str,
        *,
        system: str | Strategy = ...,
        short: bool = ...,
        k: int = ...,
        filter: Filter | None = ...,
        listener: Listener | None = ...,
        deadline: float | None = ...,
        budget: float | None = ...,
        stream: Literal[False] = False,
        choices: Sequence[str] = ...,
        knowledge: Sequence[str] = ...,
    ) -> Answer: ...

    @overload
    def ask(
        self,
        question: str,
        *,
        system: str | Strategy = ...,
        short: bool = ...,
        k: int = ...,
        filter: Filter | None = ...,
        listener: Listener | None = ...,
        deadline: float | None = ...,
        budget: float | None = ...,
        stream: Literal[True],
        choices: Sequence[str] = ...,
        knowledge: Sequence[str] = ...,
    ) -> Stream: ...

    def ask(
        self,
        question: str,
        *,
        system: str | Strategy = DEFAULT_SYSTEM,
        short: bool = False,
        k: int = DEPTH,
        filter: Filter | None = None,
        listener: Listener | None = None,
        deadline: float | None = None,
        budget: float | None = None,
        stream: bool = False,
        choices: Sequence[str] = (),
        knowledge: Sequence[str] = (),
    ) -> Answer | Stream:
        """The answer to a question with its citations, trace and usage, and the `k` best passages.

        `short`: a few words without citations; `choices`: the answer is one of these; `knowledge`: collections of
        facts that may lead from one passage to another. `listener` hears of each step as
        it happens; with `stream` the events are iterated over instead, and the stream's `answer` is there at the end. A
        page, table or section that the question names is looked up (see `look_up`). `budget`: cost of language models,
        after which none is asked. What a model fails to do is the answer's `problem`. Raises ConfigurationError when no
        language model is configured and one is needed, DeadlineError when it takes longer than `deadline` seconds.
        """
        query = Query(question, filter or Filter(), knowledge=tuple(knowledge))
        asked = self.system(system)
        if stream:
            answering = partial(asked.ask, query, short=short, depth=k, stream=True, choices=choices)
            return Stream(lambda heard: answering(listener=heard), deadline, budget, listener)
        with limits.limited(deadline, budget):
            return asked.ask(query, short=short, depth=k, listener=listener, choices=choices)

    def ask_many(
        self,
        questions: Iterable[str],
        *,
        system: str | Strategy = DEFAULT_SYSTEM,
        short: bool = False,
        k: int = DEPTH,
        threads: int = 8,
    ) -> Iterator[tuple[str, Answer | Exception]]:
        """The answers to many questions, several at a time, as they come: (question, answer, or what went wrong)."""
        asked = self.system(system)
        return in_parallel(lambda question: asked.ask(question, short=short, depth=k), questions, threads)

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """The page, table or section that a question names, by rules and without a model; None if it names none."""
        return look_up(self.context, Query(question, filter or Filter()))

    def passage(self, text: str) -> Passage:
        """A passage by (the beginning of) its id, or the first one of a document by key or title."""
        return self.kg.passage(text, collection=self.name)

    def save(self, answer: Answer | Ranking) -> str:
        """Keep an answer, or a search, as a Run with its Steps, linked to what they found; returns the run's id."""
        return runs.save_run(self.kg.graph, self._record().name, answer)

    def runs(self) -> list[Run]:
        """The answers that are kept, newest first."""
        schema.check_schema(self.kg.graph)
        return runs.list_runs(self.kg.graph, self.name)

    # ----- for analysts

    def info(self) -> CollectionInfo:
        """Its embedder and its counts."""
        return registry.describe(self.kg.graph, self._record())

    def documents(self, *, after: str = "", limit: int = 100) -> list[DocumentInfo]:
        """At most `limit` documents in the order of their keys, those behind the key `after`."""
        return reader.documents(self.kg.graph, self._record().name, after, limit)

    def inspect(self, *, near: float = 0.98) -> "Inspection":
        """What it looks like: counts, distributions, coverage, and findings with their remedies.

        `near`: (1 + cosine) / 2 from which texts and names nearly say the same.
        """
        from kgrag.inspection.inspect import inspect

        return inspect(self.kg.graph, self.name, self.kg.settings, near=near)

    def cypher(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        embeddings: bool = False,
        plan: "PlanKind | None" = None,
    ) -> "Rows":
        """The answer of a Cypher statement, which can only read; $collection is this one, unless it is given."""
        named = {"collection": self.name} if "$collection" in statement else {}
        return self.kg.cypher(statement, {**named, **(parameters or {})}, embeddings=embeddings, plan=plan)

    def saved_query(
        self, name: str, /, *, embeddings: bool = False, plan: "PlanKind | None" = None, **arguments: Any
    ) -> "Rows":
        """The answer of one of the saved queries on this collection, its other parameters as keyword arguments."""
        from kgrag.graph.saved import find_query

        if "collection" in {p.name for p in find_query(name).parameters}:
            arguments = {"collection": self.name, **arguments}
        return self.kg.saved_query(name, embeddings=embeddings, plan=plan, **arguments)

    def question_parameters(self, question: str) -> dict[str, Any]:
        """What Cypher wants to know of a question: its words, its embedding, the names of the collection's indexes.

        Those that saved queries take are `query` and `vector`.
        """
        from kgrag.graph.saved import question_parameters

        vector = Query(question).vector(self.context.embedder)
        return question_parameters(self.context.reader.collection, question, vector)

    def ask_cypher(self, question: str, *, run: bool = True, listener: Listener | None = None) -> "CypherAnswer":
        """The rows that answer a question, by a Cypher statement that a language model writes; it can only read.

        `run` False: the statement alone. Raises ConfigurationError when no language model is configured, ModelError
        when what it writes cannot be run, twice.
        """
        from kgrag.agents.text_to_cypher import ask_cypher

        found, tasks = self._record(), self.kg.language_model()
        return ask_cypher(self.kg.graph, found, question, tasks, self.kg.settings.gateway, run=run, listener=listener)

    def export(
        self,
        target: str,
        *,
        format: str | None = None,
        embeddings: bool = True,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> "ExportReport":
        """Write all that it holds to a file (JSON Lines, GraphML), a folder (CSV) or "-", standard output.

        `format`: jsonl, graphml or csv, by default as the name says. Without `embeddings` it cannot be imported.
        Raises InputError if the target cannot be written, MismatchError if the collection changes meanwhile.
        """
        from kgrag.exchange.export import export

        return export(
            self.kg.graph,
            self._record(),
            target,
            progress or silent,
            format=format,
            embeddings=embeddings,
            overwrite=overwrite,
        )
