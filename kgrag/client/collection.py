"""A Collection: documents in, rankings and answers out, and what an analyst wants to know of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEFAULT_SYSTEM, check_options, make_system
from kgrag.client.arguments import check_part
from kgrag.client.building import Building
from kgrag.client.connection import Rankings
from kgrag.client.searching import Searching
from kgrag.graph import reader, runs, schema
from kgrag.graph.counts import collection_info
from kgrag.graph.reader import Reader
from kgrag.graph.runs import Run
from kgrag.indexing.index_sync import index_of
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Query, Retriever, check_defaults, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.values.events import Answer, Progress, no_progress
from kgrag.values.results import CollectionInfo, DocumentContents, DocumentInfo, Filter, Passage, Ranking

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.exchange.export import ExportReport
    from kgrag.graph.gateway import PlanKind
    from kgrag.inspection.result import Inspection
    from kgrag.values.rows import Rows


class Collection(Building, Searching):
    """A collection by its name: `kg["notes"]`. Safe to share between threads.

    Every method takes what it works on first, and options as keywords. What searches opens the collection once, and
    again by itself when it was made or embedded again. Methods raise NotFoundError when there is no such collection.
    """

    usual = DEFAULT_SYSTEM

    @property
    def context(self) -> SearchContext:
        """What retrievers work on."""
        with self._lock:
            if self._context is None:
                found, model = self._open()
                settings = self.kg.settings
                check_defaults(settings.retrieval)
                check_options(settings.agents)
                self._context = SearchContext(
                    Reader(self.kg.graph, found, lambda collection: index_of(collection, settings)),
                    model,
                    defaults=settings.retrieval,
                    agents=settings.agents,
                    tasks=self.kg.tasks(),
                    load=self.kg.embedder,
                    cache=settings.cache,
                    reranker=settings.reranker,
                )
            return self._context

    # ----- rankings and answers out

    @property
    def rankings(self) -> Rankings:
        """See Searching."""
        return self.kg.rankings

    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """See Searching."""
        check_part(retriever, Retriever, "retriever")
        return make_retriever(retriever, self.context) if isinstance(retriever, str) else retriever

    def system(self, system: str | Strategy | None = None) -> Strategy:
        """See Searching."""
        check_part(system or "", Strategy, "system")
        return system if isinstance(system, Strategy) else make_system(system or self.usual, self.context)

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """See Searching."""
        return look_up(self.context, Query(question, filter or Filter()))

    def passage(self, text: str) -> Passage:
        """A passage by (the beginning of) its id, or the first one of a document by key or title."""
        return self.kg.passage(text, collection=self.name)

    def document(self, key: str, *, limit: int = 1000) -> DocumentContents:
        """The passages and tables of a document by its key, at most `limit` of each. Raises NotFoundError."""
        return reader.document(self.kg.graph, self._record(), key, limit)

    def save(self, answer: Answer | Ranking) -> str:
        """Keep an answer, or a search, as a Run with its Steps, linked to what they found; returns the run's id."""
        return runs.save_run(self.kg.graph, self._record().name, answer)

    def rate(self, run: str, *, good: bool | None, remark: str = "") -> None:
        """Note on a kept answer whether it is good, None for no opinion, and why. Raises NotFoundError."""
        runs.rate_run(self.kg.graph, self.name, run, good, remark)

    def runs(self) -> list[Run]:
        """The answers that are kept, newest first."""
        schema.check_schema(self.kg.graph)
        return runs.list_runs(self.kg.graph, self.name)

    # ----- for analysts

    def info(self) -> CollectionInfo:
        """Its embedder and its counts."""
        return collection_info(self.kg.graph, self._record())

    def documents(self, *, after: str = "", limit: int = 100, search: str = "") -> list[DocumentInfo]:
        """At most `limit` documents in the order of their keys, those behind the key `after`.

        `search`: words, or parts of some, each of which stands in the key or the title.
        """
        return reader.documents(self.kg.graph, self._record().name, after, limit, search)

    def names(self, text: str, *, limit: int = 8) -> list[tuple[str, int]]:
        """(name, passages that mention it) of at most `limit` names with the words of a text, the last perhaps begun.

        Those with the very words come first, then those of most passages: "norw" gives Norway before Norwegian Sea.
        """
        return reader.names_like(self.kg.graph, self._record(), text, limit)

    def example_questions(self) -> list[str]:
        """At most three questions that its facts and names suggest, made without a language model; none if empty."""
        return reader.example_questions(self.kg.graph, self._record().name)

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
        """The query parameters of a question: its words, its embedding, the names of the collection's indexes.

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
        """Write all that it holds to a file (JSON Lines, GraphML) or "-", standard output.

        `format`: jsonl or graphml, by default as the name says. Without `embeddings` it cannot be imported.
        Raises InputError if the target cannot be written, MismatchError if the collection changes meanwhile.
        """
        from kgrag.exchange.export import export

        return export(
            self.kg.graph,
            self._record(),
            target,
            progress or no_progress,
            format=format,
            embeddings=embeddings,
            overwrite=overwrite,
        )
