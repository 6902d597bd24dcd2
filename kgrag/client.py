"""The public face of kgrag: a KnowledgeGraph is a context manager that ingests, searches and deletes."""

import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import SecretStr

from kgrag.agents.structure import Lookup, look_up
from kgrag.agents.system import DEFAULT_SYSTEM, DEPTH, System, make_system
from kgrag.errors import NotFoundError
from kgrag.events import Answer
from kgrag.graph import collections as registry
from kgrag.graph import reader, runs, schema
from kgrag.graph.connection import Graph
from kgrag.graph.runs import Run
from kgrag.loaders.source import Source, first_document, items_of
from kgrag.models.chat import no_model
from kgrag.models.embed import Embedder, load_embedder
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener, Tasks
from kgrag.retrieval.base import Index, Query, Retriever
from kgrag.retrieval.registry import DEFAULT_RETRIEVER, make_retriever
from kgrag.settings import Settings
from kgrag.types import CollectionInfo, Filter, IngestReport, Passage, Progress, Ranking

if TYPE_CHECKING:
    from kgrag.indexing.bulk import BulkReport
    from kgrag.indexing.extraction import ExtractionEstimate, ExtractionReport
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.loaders import Columns

DEFAULT_COLLECTION = "default"


def _silent(stage: str, done: int, total: int | None) -> None:
    pass


class KnowledgeGraph:
    """A Neo4j database with collections of documents. Safe to share between threads; close it, or use `with`.

    >>> with KnowledgeGraph.local() as kg:
    ...     kg.ingest("notes/", collection="notes")
    ...     for hit in kg.search("Who designed the ship?", collection="notes"):
    ...         print(hit.score, hit.passage.title, hit.why)
    """

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

    @staticmethod
    def load_in_bulk(
        source: Source,
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        columns: "Columns | None" = None,
        replace_database: bool = False,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> "BulkReport":
        """Ingest a first, large collection into this machine's own Neo4j, which is stopped and started for it.

        The graph is the one that `ingest` makes. Raises MismatchError if the database holds anything, unless it is to
        be replaced: then a dump of it is kept, and put back if the load fails. Raises ConfigurationError for another
        server, LocalServerError if the import fails.
        """
        from kgrag.indexing.bulk import load

        settings = settings or Settings()
        items, total = items_of(source, columns, settings)
        named = embedder or settings.embedder
        model = load_embedder(named) if isinstance(named, str) else named
        return load(
            items, collection, model, settings, progress or _silent, replace_database=replace_database, total=total
        )

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

    def collections(self) -> list[CollectionInfo]:
        """Every collection with its counts."""
        return [registry.describe(self.graph, c) for c in registry.list_collections(self.graph)]

    def ingest(
        self,
        source: Source,
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        columns: "Columns | None" = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read files and folders, or take Documents, into a collection, which is made if it does not exist.

        Unchanged documents are passed over; a broken-off ingest goes on where it was. Raises MismatchError when the
        collection has another embedder, InputError when no path can be read at all.
        """
        from kgrag.indexing.pipeline import ingest
        from kgrag.indexing.reembed import discard_old_vectors

        settings = self.settings
        existing = registry.find_collection(self.graph, collection)
        if existing is not None and isinstance(embedder, str):
            registry.check_embedder(existing, embedder)  # before a model is loaded in vain
        items, total = items_of(source, columns, settings)
        if existing is None:
            items, problems = first_document(items)
            if problems:
                return IngestReport(problems=problems)  # nothing to make a collection for
        model = self._embedder(existing.embedder if existing is not None and embedder is None else embedder)
        if existing is not None:
            registry.check_indexing(existing, settings.indexing)
            registry.check_embedder(existing, model.name, model.dimension)
            registry.ensure_indexes(self.graph, existing)
            discard_old_vectors(self.graph, existing)
        else:
            existing = registry.create_collection(
                self.graph, collection, model.name, model.dimension, settings.indexing
            )
        return ingest(self.graph, existing, items, model, settings, progress or _silent, total=total)

    def extract(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        threads: int = 8,
        limit: int | None = None,
        linked: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionReport":
        """Have a language model extract entities and triples from the passages that were not extracted yet.

        `limit`: passages at most; `linked`: ask for each entity's Wikipedia article, too, and merge those that have
        the same. A broken-off extraction goes on where it was. Raises NotFoundError, or ConfigurationError when no
        language model is configured.
        """
        from kgrag.indexing.extraction import extract

        found = registry.open_collection(self.graph, collection)
        tasks = self.tasks()
        if tasks is None:
            raise no_model()
        model = self._embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        registry.ensure_indexes(self.graph, found)
        return extract(
            self.graph, found, tasks, model, self.settings, progress or _silent,
            threads=threads, limit=limit, linked=linked,
        )  # fmt: skip

    def estimate_extraction(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        limit: int | None = None,
        linked: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionEstimate":
        """What `extract` would take at most; no language model is asked. Raises NotFoundError."""
        from kgrag.indexing.extraction import estimate

        found = registry.open_collection(self.graph, collection)
        return estimate(self.graph, found, self.settings.chat, progress or _silent, limit=limit, linked=linked)

    def tag(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        threads: int = 4,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> "TaggingReport":
        """Have TAGME name the Wikipedia articles that the passages which were not tagged yet speak of.

        `limit`: passages at most. They become mentions; a broken-off tagging goes on where it was. Raises
        NotFoundError, or ConfigurationError when the settings name no server that can be asked.
        """
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import load_tagme

        found = registry.open_collection(self.graph, collection)
        model = self._embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        registry.ensure_indexes(self.graph, found)
        with load_tagme(self.settings) as tagme:
            return tag(
                self.graph, found, tagme, model, self.settings, progress or _silent, threads=threads, limit=limit
            )

    def untagged(self, collection: str = DEFAULT_COLLECTION) -> int:
        """How many passages `tag` would ask for. Raises NotFoundError."""
        from kgrag.indexing.tagging import untagged

        return len(untagged(self.graph, registry.open_collection(self.graph, collection), self.settings.tagme))

    def tasks(self) -> Tasks | None:
        """The language model of the settings with its prompts; None when none is configured. Shared by all callers."""
        if self.settings.chat.model is None:
            return None
        with self._lock:
            if self._tasks is None:
                self._chat = load_chat(self.settings)
                self._tasks = Tasks(self._chat, self.settings.chat.prompts)
            return self._tasks

    def retriever(self, name: str = DEFAULT_RETRIEVER, collection: str = DEFAULT_COLLECTION) -> Retriever:
        """A retriever over a collection, to be asked many questions. Raises NotFoundError."""
        return make_retriever(name, self._index(collection))

    def search(
        self,
        query: str,
        collection: str = DEFAULT_COLLECTION,
        *,
        retriever: str = DEFAULT_RETRIEVER,
        k: int = 8,
        filter: Filter | None = None,
    ) -> Ranking:
        """The `k` best passages for a question, each with the trail that led to it. Raises NotFoundError."""
        return self.retriever(retriever, collection).retrieve(Query(query, filter or Filter()), k)

    def save(self, answer: Answer, collection: str = DEFAULT_COLLECTION) -> str:
        """Keep an answer as a Run with its Steps, linked to what they found; returns the run's id.

        Raises NotFoundError if there is no such collection.
        """
        return runs.save_run(self.graph, registry.open_collection(self.graph, collection).name, answer)

    def runs(self, collection: str | None = None) -> list[Run]:
        """The runs that are kept of a collection, or of all, newest first."""
        schema.check_schema(self.graph)
        return runs.list_runs(self.graph, collection)

    def delete_runs(self, ids: Iterable[str]) -> list[Run]:
        """Delete runs, each named by (the first 6 or more digits of) its id; returns them.

        Raises NotFoundError for one that does not exist, before anything is deleted.
        """
        schema.check_schema(self.graph)
        return runs.remove_runs(self.graph, ids)

    def system(self, name: str = DEFAULT_SYSTEM, collection: str = DEFAULT_COLLECTION) -> System:
        """A system over a collection, such as gear+pathrank, to be asked many questions. Raises NotFoundError."""
        return make_system(name, self._index(collection), self.settings.agents)

    def ask(
        self,
        question: str,
        collection: str = DEFAULT_COLLECTION,
        *,
        system: str = DEFAULT_SYSTEM,
        short: bool = False,
        k: int = DEPTH,
        filter: Filter | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """The answer to a question with its citations, trace and usage, and the `k` best passages.

        `short`: a few words without citations. `listener` hears of each step as it happens. A page, table or section
        that the question names is looked up (see `look_up`). Raises NotFoundError, ConfigurationError when no language
        model is configured and one is needed; what a model fails to do is the answer's `problem`.
        """
        return self.system(system, collection).ask(
            Query(question, filter or Filter()), short=short, depth=k, listener=listener
        )

    def look_up(
        self, question: str, collection: str = DEFAULT_COLLECTION, *, filter: Filter | None = None
    ) -> Lookup | None:
        """The page, table or section that a question names, by rules and without a model; None if it names none.

        Raises NotFoundError.
        """
        return look_up(self._index(collection), Query(question, filter or Filter()))

    def ask_many(
        self,
        questions: Iterable[str],
        collection: str = DEFAULT_COLLECTION,
        *,
        system: str = DEFAULT_SYSTEM,
        short: bool = False,
        k: int = DEPTH,
        threads: int = 8,
    ) -> Iterator[tuple[str, Answer | Exception]]:
        """The answers to many questions, several at a time, as they come: (question, answer, or what went wrong)."""
        asked = self.system(system, collection)
        return in_parallel(lambda question: asked.ask(question, short=short, depth=k), questions, threads)

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
        chosen = registry.open_collection(self.graph, found[0][1])
        return reader.Reader(self.graph, chosen).passages([found[0][0]])[found[0][0]]

    def neighbourhood(self, passage_id: str, limit: int = 10) -> list[dict[str, Any]]:
        """The edges around a passage, at most `limit` of each kind: maps with type, outgoing, label, name, id, ..."""
        return reader.neighbourhood(self.graph, passage_id, limit)

    def delete(
        self, collection: str, *, documents: Iterable[str] | None = None, progress: Progress | None = None
    ) -> int:
        """Delete documents by their keys, or with `documents` None the whole collection; returns the passages removed.

        Broken off and run again, it goes on where it was. Raises NotFoundError for a key that does not exist, before
        anything is removed.
        """
        from kgrag.indexing import removal

        if documents is None:
            return removal.delete_collection(self.graph, collection)
        found = registry.open_collection(self.graph, collection)
        return removal.delete_documents(self.graph, found, documents, self.settings, progress or _silent)

    def reembed(self, collection: str, embedder: str | Embedder, progress: Progress | None = None) -> CollectionInfo:
        """Embed a collection anew; searches go on with the old vectors until the new ones are complete."""
        from kgrag.indexing.reembed import reembed

        model = self._embedder(embedder)
        return registry.describe(self.graph, reembed(self.graph, collection, model, self.settings, progress or _silent))

    def migrate(self) -> list[str]:
        """Bring the database to this version's schema; returns the steps taken."""
        return schema.migrate(self.graph)

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
