"""A Collection: documents in, rankings and answers out, and what an analyst wants to know of it."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from kgrag import limits
from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEFAULT_SYSTEM, DEPTH, make_system
from kgrag.client.stream import Stream
from kgrag.errors import ConfigurationError
from kgrag.events import Answer
from kgrag.graph import collections as registry
from kgrag.graph import runs, schema
from kgrag.graph.collections import Collection as Record
from kgrag.graph.reader import Reader
from kgrag.graph.runs import Run
from kgrag.loaders.source import Source
from kgrag.models.embed import Embedder
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import Query, Retriever, SearchContext
from kgrag.retrieval.registry import DEFAULT_RETRIEVER, check_defaults, make_retriever
from kgrag.types import CollectionInfo, Filter, IngestReport, Passage, Progress, Ranking, RepairReport

if TYPE_CHECKING:
    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.exchange.export import ExportReport
    from kgrag.graph.gateway import PlanKind
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.resolution.resolve import Resolution
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.indexing.tree.tree import TreeReport
    from kgrag.inspection.result import Inspection
    from kgrag.loaders import Columns
    from kgrag.models.estimate import Estimate
    from kgrag.rows import Rows


def silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


class Collection:
    """A collection by its name: `kg["notes"]`. Safe to share between threads.

    Every method takes what it works on first, and options as keywords. What searches opens the collection once, and
    again by itself when it was made or embedded again. Methods raise NotFoundError when there is no such collection.
    """

    def __init__(self, kg: "KnowledgeGraph", name: str) -> None:
        self.kg = kg
        self.name = name
        self._context: SearchContext | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Collection {self.name!r}>"

    @property
    def context(self) -> SearchContext:
        """What retrievers work on."""
        with self._lock:
            if self._context is None:
                found, model = self._open()
                settings = self.kg.settings
                check_defaults(settings.retrieval)
                self._context = SearchContext(
                    Reader(self.kg.graph, found),
                    model,
                    defaults=settings.retrieval,
                    agents=settings.agents,
                    tasks=self.kg.tasks(),
                    load=self.kg.embedder,
                    cache=settings.cache,
                )
            return self._context

    # ----- documents in

    def ingest(
        self,
        source: Source,
        *,
        embedder: str | Embedder | None = None,
        language: str | None = None,
        columns: "Columns | None" = None,
        root: str | Path | None = None,
        prune: bool = False,
        force: bool = False,
        settle: float = 0.0,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read files and folders, or take Documents; the collection is made if it does not exist.

        A file is known by its absolute path, or if `root` is a folder that holds it, by its path in there. Files that
        have not changed are not read again, unchanged documents are passed over; an interrupted ingest goes on where it
        was. `language` of a new collection, as an ISO 639-1 code: found out from its first documents, if it is not
        given. The report names documents whose files are no longer in these folders; `prune` deletes them, but with a
        folder that is missing or holds no file at all only if it is `force`d. Files that changed in the last `settle`
        seconds are left for later. Raises MismatchError when the collection has another embedder or language,
        InputError when no path can be read at all.
        """
        from kgrag.client.ingestion import ingest

        return ingest(
            self.kg, self.name, source, embedder=embedder, language=language, columns=columns, root=root,
            prune=prune, force=force, settle=settle, progress=progress or silent,
        )  # fmt: skip

    def extract(
        self,
        *,
        threads: int = 8,
        limit: int | None = None,
        linked: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionReport":
        """Have a language model extract entities and triples from the passages that were not extracted yet.

        `limit`: passages at most; `linked`: ask for each entity's Wikipedia article, too, and merge those that have
        the same. An interrupted extraction goes on where it was. Raises ConfigurationError when no language model is
        configured.
        """
        from kgrag.indexing.extraction import extract

        tasks = self.kg.language_model()
        found, model = self._open()
        registry.ensure_indexes(self.kg.graph, found)
        return extract(
            self.kg.graph, found, tasks, model, self.kg.settings, progress or silent,
            threads=threads, limit=limit, linked=linked,
        )  # fmt: skip

    def estimate_extraction(
        self, *, limit: int | None = None, linked: bool = False, progress: Progress | None = None
    ) -> "Estimate":
        """What `extract` would take at most; no language model is asked."""
        from kgrag.indexing.extraction import estimate

        chat = self.kg.settings.chat
        return estimate(self.kg.graph, self._record(), chat, progress or silent, limit=limit, linked=linked)

    def tag(self, *, threads: int = 4, limit: int | None = None, progress: Progress | None = None) -> "TaggingReport":
        """Have TAGME name the Wikipedia articles that the passages which were not tagged yet speak of.

        `limit`: passages at most. They become mentions; an interrupted tagging goes on where it was. Raises
        ConfigurationError when the settings name no server that can be asked.
        """
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import load_tagme

        found, model = self._open()
        registry.ensure_indexes(self.kg.graph, found)
        settings = self.kg.settings
        with load_tagme(settings) as tagme:
            return tag(self.kg.graph, found, tagme, model, settings, progress or silent, threads=threads, limit=limit)

    def untagged(self) -> int:
        """How many passages `tag` would ask for."""
        from kgrag.indexing.tagging import untagged

        return len(untagged(self.kg.graph, self._record(), self.kg.settings.tagme))

    def resolve(
        self, *, apply: bool = False, ask: bool = False, score: float = 0.8, progress: Progress | None = None
    ) -> "Resolution":
        """Find the names that are one entity's, and with `apply` tie them by SAME_AS edges, which searches follow.

        `score`: from which a pair counts; `ask`: a language model decides doubtful pairs. Run again after an ingest it
        writes what has changed; what a model said is kept with `apply`. `unresolve` takes all back. Raises
        ConfigurationError with `ask` when no language model is configured.
        """
        from kgrag.indexing.resolution.resolve import resolve

        tasks = self.kg.language_model() if ask else None
        chat, found = self.kg.settings.chat, self._record()
        return resolve(self.kg.graph, found, chat, progress or silent, sure=score, tasks=tasks, apply=apply)

    def unresolve(self) -> int:
        """Take back all that `resolve` wrote; returns how many SAME_AS edges."""
        from kgrag.indexing.resolution.resolve import undo

        return undo(self.kg.graph, self._record())

    def build_tree(
        self, *, ask: bool = False, threads: int = 8, size: int = 8, progress: Progress | None = None
    ) -> "TreeReport":
        """Make the tree of summaries (RAPTOR), or bring it up to date; `ask`: a language model writes them.

        `size`: members of a summary on average. Interrupted and run again, it goes on where it was; what was written
        is not asked for again. Raises ConfigurationError when scikit-learn is not installed, or with `ask` no language
        model is configured.
        """
        from kgrag.indexing.tree.tree import build

        found, model = self._open()
        tasks = self.kg.language_model() if ask else None
        settings, progress = self.kg.settings, progress or silent
        return build(self.kg.graph, found, model, settings, progress, tasks=tasks, threads=threads, size=size)

    def estimate_tree(self, *, progress: Progress | None = None) -> "Estimate":
        """What a language model would take for the summaries that it has not written; nothing is asked."""
        from kgrag.indexing.tree.tree import estimate

        return estimate(self.kg.graph, self._record(), self.kg.settings.chat, progress or silent)

    def remove_tree(self) -> int:
        """Remove all summaries; returns how many there were."""
        from kgrag.indexing.tree.tree import remove

        return remove(self.kg.graph, self._record())

    def delete(self, documents: Iterable[str] | None = None, *, progress: Progress | None = None) -> int:
        """Delete documents by their keys, or with `documents` None the whole collection; returns the passages removed.

        Interrupted and run again, it goes on where it was. Raises NotFoundError for a key that does not exist, before
        anything is removed.
        """
        from kgrag.indexing import removal

        if documents is None:
            with self._lock:
                self._context = None
            return removal.delete_collection(self.kg.graph, self.name)
        return removal.delete_documents(self.kg.graph, self._record(), documents, self.kg.settings, progress or silent)

    def reembed(self, embedder: str | Embedder, *, progress: Progress | None = None) -> CollectionInfo:
        """Embed it again; searches go on with the old vectors until the new ones are complete."""
        from kgrag.indexing.reembed import reembed

        model = self.kg.embedder(embedder)
        return registry.describe(
            self.kg.graph, reembed(self.kg.graph, self.name, model, self.kg.settings, progress or silent)
        )

    def repair(self, *, progress: Progress | None = None) -> RepairReport:
        """Make the indexes and vectors that it misses, and finish what was interrupted in it."""
        from kgrag.indexing.repair import repair

        model = self.kg.embedder(self._record().embedder)
        return repair(self.kg.graph, self.name, model, self.kg.settings, progress or silent)

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
        deadline: float | None = None,
    ) -> Ranking:
        """The `k` best passages for a question, each with the trail that led to it.

        Raises DeadlineError when it takes longer than `deadline` seconds, ConfigurationError for a `k` below 1.
        """
        if k < 1:
            raise ConfigurationError(f"k is invalid: {k} passages.", "Ask for 1 or more.")
        with limits.limited(deadline):
            return self.retriever(retriever).retrieve(Query(query, filter or Filter()), k)

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
    ) -> Answer | Stream:
        """The answer to a question with its citations, trace and usage, and the `k` best passages.

        `short`: a few words without citations; `choices`: the answer is one of these. `listener` hears of each step as
        it happens; with `stream` the events are iterated over instead, and the stream's `answer` is there at the end. A
        page, table or section that the question names is looked up (see `look_up`). `budget`: cost of language models,
        after which none is asked. What a model fails to do is the answer's `problem`. Raises ConfigurationError when no
        language model is configured and one is needed, DeadlineError when it takes longer than `deadline` seconds.
        """
        query = Query(question, filter or Filter())
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

    def _record(self) -> Record:
        return registry.open_collection(self.kg.graph, self.name)

    def _open(self) -> tuple[Record, Embedder]:
        """The collection as it is recorded, and its embedder. Raises NotFoundError, MismatchError."""
        found = self._record()
        model = self.kg.embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        return found, model
