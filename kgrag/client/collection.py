"""A Collection: ingest documents, get rankings and answers, and inspect its contents."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEFAULT_SYSTEM, check_options, make_system
from kgrag.client.arguments import check_part
from kgrag.client.building import Building
from kgrag.client.connection import Rankings
from kgrag.client.searching import LocalSearching
from kgrag.graph import questions, reader, runs, schema
from kgrag.graph.collections import no_documents
from kgrag.graph.counts import collection_info
from kgrag.graph.reader import Reader
from kgrag.graph.runs import Run
from kgrag.indexing.index_sync import index_of
from kgrag.models.prompted import Listener
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Query, Retriever, check_defaults, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.text.dates import checked_date
from kgrag.values.events import Answer, Progress, no_progress
from kgrag.values.results import CollectionInfo, DocumentContents, DocumentInfo, Filter, Passage, Ranking

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.exchange.export import ExportReport
    from kgrag.graph.gateway import PlanKind, Trust
    from kgrag.inspection.result import Inspection
    from kgrag.values.rows import Rows

FACTS = 10_000
"""The most facts of a history: more than the gateway returns, which reports when it cuts."""


class Collection(Building, LocalSearching):
    """A collection of documents, `kg["notes"]`; threads may share it.

    Every method takes its object first, and options as keywords. The first search opens the collection, and a search
    after it was replaced or re-embedded opens it again. Methods raise NotFoundError if there is no such collection.

    Args:
        kg: the client.
        name: the name of the collection, existing or not.

    Example:
        >>> notes = kg["notes"]
        >>> report = notes.ingest([Document("a", (Section("Colin Archer designed the Fram."),))])
        >>> for hit in notes.search("Who designed the Fram?"):
        ...     print(f"{hit.score:.2f}", hit.passage.title, hit.why)
    """

    usual = DEFAULT_SYSTEM

    @property
    def context(self) -> SearchContext:
        """The context of this collection's retrievers."""
        with self._lock:
            if self._context is None:
                record, model = self._open()
                if "Passage" not in record.indexed:
                    raise no_documents(self.name)
                settings = self.kg.settings
                check_defaults(settings.retrieval)
                check_options(settings.agents)
                self._context = SearchContext(
                    Reader(self.kg.graph, record, lambda collection: index_of(collection, settings)),
                    model,
                    defaults=settings.retrieval,
                    agents=settings.agents,
                    llm=self.kg.models.llm(),
                    load=self.kg.embedder,
                    cache=settings.cache,
                    reranker=settings.reranker,
                )
            return self._context

    # ----- rankings and answers out

    @property
    def rankings(self) -> Rankings:
        """See LocalSearching."""
        return self.kg.rankings

    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """Make a retriever from its name or expression, for many questions.

        Args:
            retriever: such as "pathrank" or "rrf(bm25, dense)"; a Retriever is returned as it is.

        Returns:
            The retriever over this collection.

        Raises:
            NotFoundError: there is no such retriever or collection.
            ConfigurationError: an option does not exist or is out of range, or a package is missing.
        """
        check_part(retriever, Retriever, "retriever")
        return make_retriever(retriever, self.context) if isinstance(retriever, str) else retriever

    def system(self, system: str | Strategy | None = None) -> Strategy:
        """Make a system from its name, for many questions.

        Args:
            system: such as "gear+pathrank"; None: the default; a Strategy is returned as it is.

        Returns:
            The strategy over its retriever.

        Raises:
            NotFoundError: there is no such strategy, retriever or collection.
            ConfigurationError: an option does not exist or is out of range.
        """
        check_part(system or "", Strategy, "system")
        return system if isinstance(system, Strategy) else make_system(system or self.usual, self.context)

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """Return the page, table or section that a question names, by rules and without a model.

        Args:
            question: such as "What is on page 3 of the manual?".
            filter: which documents may match; None: all.

        Returns:
            The part with its text or count; None if the question names no part.
        """
        return look_up(self.context, Query(question, filter or Filter()))

    def passage(self, text: str) -> Passage:
        """Return a passage.

        Args:
            text: (the beginning of) its id; or the key or title of a document, for its first passage.

        Returns:
            The passage.

        Raises:
            NotFoundError: there is no such passage.
        """
        return self.kg.passage(text, collection=self.name)

    def document(self, key: str, *, limit: int = 1000) -> DocumentContents:
        """Return the passages, tables and figures of a document.

        Args:
            key: the key of the document.
            limit: the most passages, the most tables, and the most figures.

        Returns:
            The contents in their order, with the number of all passages.

        Raises:
            NotFoundError: there is no such document.
        """
        return reader.document(self.kg.graph, self._record(), key, limit)

    def save(self, answer: Answer | Ranking) -> str:
        """Save an answer, or a search, as a Run with its Steps, linked to the passages that it used.

        Args:
            answer: the answer, or the ranking of a search.

        Returns:
            The run's id.
        """
        return runs.save_run(self.kg.graph, self._record().name, answer)

    def rate(self, run: str, *, good: bool | None, remark: str = "") -> None:
        """Record whether a saved answer is good.

        Args:
            run: (the beginning of) the run's id.
            good: None for no opinion.
            remark: why.

        Raises:
            NotFoundError: there is no such run.
        """
        runs.rate_run(self.kg.graph, self.name, run, good, remark)

    def runs(self) -> list[Run]:
        """Return the saved answers.

        Returns:
            The runs, newest first.
        """
        schema.check_schema(self.kg.graph)
        return runs.list_runs(self.kg.graph, self.name)

    # ----- for analysts

    def info(self) -> CollectionInfo:
        """Return the collection's embedder and counts.

        Returns:
            The collection at a glance.
        """
        return collection_info(self.kg.graph, self._record())

    def documents(self, *, after: str = "", limit: int = 100, search: str = "") -> list[DocumentInfo]:
        """Return documents in the order of their keys.

        Args:
            after: the key after which to begin; empty: begin with the first document.
            limit: the most documents.
            search: words, or parts of words, that each occur in the key or the title; empty: all documents.

        Returns:
            The documents at a glance.
        """
        return reader.documents(self.kg.graph, self._record().name, after, limit, search)

    def names(self, text: str, *, limit: int = 8) -> list[tuple[str, int]]:
        """Return names of entities that match words of a text; the last word may be incomplete.

        Names with exactly these words come first, then names in most passages: "norw" gives Norway, then Norwegian Sea.

        Args:
            text: one or several words.
            limit: the most names.

        Returns:
            (name, passages that mention it).
        """
        return reader.names_like(self.kg.graph, self._record(), text, limit)

    def example_questions(self) -> list[str]:
        """Return questions that the facts and names of the collection suggest, without a language model.

        Returns:
            At most three questions; an empty list for an empty collection.
        """
        return questions.example_questions(self.kg.graph, self._record().name)

    def inspect(self, *, near: float = 0.98) -> "Inspection":
        """Inspect the collection: counts, distributions, coverage, and findings with their remedies.

        Args:
            near: (1 + cosine) / 2 from which two texts, or two names, count as near duplicates.

        Returns:
            The inspection, which a notebook shows as a page.
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
        trust: "Trust" = "owner",
    ) -> "Rows":
        """Run a read-only Cypher statement.

        Args:
            statement: the statement; $collection is the name of this collection, unless `parameters` has another.
            parameters: name -> value.
            embeddings: whether embeddings stay in the result.
            plan: "explain" gives the server's plan, a row for each operator; "profile" also runs the statement.
            trust: "guest" for a statement from a user of your server.

        Returns:
            The rows. A warning says so if limits cut them.

        Raises:
            RefusedError: the statement does not only read, or a guest may not ask it.
            DatabaseError: the statement is wrong, or exceeds its time or memory.
        """
        parameters = {"collection": self.name, **(parameters or {})}
        return self.kg.cypher(statement, parameters, embeddings=embeddings, plan=plan, trust=trust)

    def saved_query(
        self, name: str, /, *, embeddings: bool = False, plan: "PlanKind | None" = None, **arguments: Any
    ) -> "Rows":
        """Run a saved query on this collection.

        Args:
            name: one of `kgrag cypher --list`.
            embeddings: whether embeddings stay in the result.
            plan: as in `cypher`.
            arguments: the query's other parameters.

        Returns:
            The rows.

        Raises:
            NotFoundError: there is no such query.
            ConfigurationError: the query does not have such a parameter, or one is missing.
        """
        from kgrag.graph.saved import find_query

        if "collection" in {p.name for p in find_query(name).parameters}:
            arguments = {"collection": self.name, **arguments}
        return self.kg.saved_query(name, embeddings=embeddings, plan=plan, **arguments)

    def history(self, name: str, *, as_of: str = "") -> "Rows":
        """Return the facts of a schema about an entity, each with its validity.

        Args:
            name: the name of the entity.
            as_of: a date such as 1912, 1912-03 or 1912-03-07, for only the facts valid then; empty: all.

        Returns:
            One row per fact: subject, predicate, object, valid_from, valid_to, ended_by, stated_at, passages.

        Raises:
            InputError: the date is not valid.
        """
        return self.saved_query("history", entity=name, as_of=checked_date(as_of), limit=FACTS)

    def question_parameters(self, question: str) -> dict[str, Any]:
        """Return the parameters of saved queries that follow from a question.

        Args:
            question: the question.

        Returns:
            `query`, its words for a full-text index; `vector`, its embedding; and the names of the collection's
            indexes.
        """
        from kgrag.graph.saved import question_parameters

        context = self.context
        return context.current(
            lambda: question_parameters(context.reader.collection, question, Query(question).vector(context.embedder))
        )

    def ask_cypher(self, question: str, *, run: bool = True, listener: Listener | None = None) -> "CypherAnswer":
        """Answer a question with rows, by a read-only Cypher statement that a language model writes.

        Args:
            question: the question.
            run: whether to run the statement.
            listener: receives each event as it happens.

        Returns:
            The statement, and its rows with `run`.

        Raises:
            ConfigurationError: no language model is configured.
            ModelError: the model's statement cannot be run, twice.
        """
        from kgrag.agents.text_to_cypher import ask_cypher

        record, llm = self._record(), self.kg.language_model()
        return ask_cypher(self.kg.graph, record, question, llm, self.kg.settings.gateway, run=run, listener=listener)

    def export(
        self,
        target: str,
        *,
        format: str | None = None,
        embeddings: bool = True,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> "ExportReport":
        """Write the whole collection to a file.

        Args:
            target: a path, or "-" for standard output.
            format: "jsonl" or "graphml"; None: by the name of the file.
            embeddings: whether to write vectors, without which the file cannot be imported.
            overwrite: whether an existing file may be replaced.
            progress: receives (stage, done, total).

        Returns:
            The counts and the duration.

        Raises:
            InputError: the target cannot be written.
            MismatchError: the collection changed meanwhile.
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
