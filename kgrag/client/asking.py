"""What asks the graph: rankings of passages, answers, and runs that are kept."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kgrag.agents.structure import Lookup, look_up
from kgrag.agents.system import DEFAULT_SYSTEM, DEPTH, System, make_system
from kgrag.client.connected import DEFAULT_COLLECTION, Connected
from kgrag.errors import NotFoundError
from kgrag.events import Answer
from kgrag.graph import collections as registry
from kgrag.graph import reader, runs, schema
from kgrag.graph.runs import Run
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import Query, Retriever
from kgrag.retrieval.registry import DEFAULT_RETRIEVER, make_retriever
from kgrag.types import Filter, Passage, Ranking

if TYPE_CHECKING:
    pass


class Asking(Connected):
    """A client that searches and answers."""

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

    def look_up(
        self, question: str, collection: str = DEFAULT_COLLECTION, *, filter: Filter | None = None
    ) -> Lookup | None:
        """The page, table or section that a question names, by rules and without a model; None if it names none.

        Raises NotFoundError.
        """
        return look_up(self._index(collection), Query(question, filter or Filter()))

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
