"""What makes a collection, changes it and removes it: documents, facts, topics, entities, vectors."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from kgrag.client.arguments import named
from kgrag.engines import open_engine
from kgrag.graph import collections as registry
from kgrag.graph.collections import Collection as Record
from kgrag.graph.counts import collection_info
from kgrag.graph.holding import collection_lock
from kgrag.loaders.source import Source
from kgrag.models.embed import Embedder
from kgrag.retrieval.context import SearchContext
from kgrag.runtime.document_progress import DocumentProgress
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import CollectionInfo, IngestReport, RepairReport

if TYPE_CHECKING:
    from kgrag.client.connection import Connection
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.group_texts import WritingReport
    from kgrag.indexing.resolution.resolve import NamePair, Resolution
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.loaders import Columns
    from kgrag.models.estimate import Estimate


B = TypeVar("B", bound="Building")
P = ParamSpec("P")
R = TypeVar("R")


def by_one(kind: str) -> Callable[[Callable[Concatenate["B", P], R]], Callable[Concatenate["B", P], R]]:
    """For methods that run one at a time on a collection; `kind`: the work, as the error of others names it."""

    def decorate(method: Callable[Concatenate[B, P], R]) -> Callable[Concatenate[B, P], R]:
        @named
        @wraps(method)
        def called(self: B, /, *args: P.args, **kwargs: P.kwargs) -> R:
            with collection_lock(self.kg.graph, self.name, kind):
                if kind != "ingest":  # which looks for itself, and has nothing to look at in a new collection
                    from kgrag.indexing.first_load import recount  # searches need none of it

                    recount(self.kg.graph, self.name)
                return method(self, *args, **kwargs)

        return called

    return decorate


class Building:
    """The part of a Collection that writes. Methods raise NotFoundError when there is no such collection.

    Those that take long raise BusyError while somebody else works on the collection, also a server's job.
    """

    def __init__(self, kg: "Connection", name: str) -> None:
        self.kg = kg
        self.name = name
        self._context: SearchContext | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Collection {self.name!r}>"

    @by_one("ingest")
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
        names: Mapping[Path, str] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read files and folders, or take Documents; the collection is made if it does not exist.

        A file is known by its absolute path, or if `root` is a folder that holds it, by its path in there. Files that
        have not changed are not read again, unchanged documents are passed over; an interrupted ingest goes on where it
        was. `language` of a new collection, as an ISO 639-1 code: found out from its first documents, if it is not
        given. The report names documents whose files are no longer in these folders; `prune` deletes them, but with a
        folder that is missing or holds no file at all, and more than a share of them (KGRAG_LOADING__PRUNE_LIMIT), only
        if it is `force`d: else `pruned` of the report is 0. Files that changed in the last `settle` seconds are left
        for later. `names`: of files that are stored under others, what they are known by and shown as.
        Raises MismatchError when the collection has another embedder or language,
        InputError when no path can be read at all.
        """
        from kgrag.client.ingestion import ingest

        with DocumentProgress(progress or no_progress) as telling:
            return ingest(
                self.kg, self.name, source, embedder=embedder, language=language, columns=columns, root=root,
                prune=prune, force=force, settle=settle, names=names, progress=telling,
            )  # fmt: skip

    @by_one("extract")
    def extract(
        self,
        *,
        threads: int = 8,
        limit: int | None = None,
        linked: bool = False,
        batch: bool = False,
        cancel: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionReport":
        """Have a language model extract entities and triples from the passages that were not extracted yet.

        `limit`: passages at most; `linked`: ask for each entity's Wikipedia article, too, and merge those that have
        the same; `batch`: through the server's Batch API, whose batches go on when this is interrupted, and are fetched
        by the next call; `cancel` ends those under way. An interrupted extraction goes on where it was. Raises
        ConfigurationError when no language model is configured, MismatchError for a batch of another server.
        """
        from kgrag.indexing.batched import BatchedExtraction
        from kgrag.indexing.extraction import extract

        tasks = self.kg.language_model()
        settings, progress = self.kg.settings, progress or no_progress
        found, model = self._open()
        found = registry.ensure_indexes(self.kg.graph, found, "Triple")
        with open_engine(settings.engine) as engine:
            if batch or cancel:
                batched = BatchedExtraction(self.kg.graph, found, model, settings, progress)
                return batched.run(limit=limit, linked=linked, cancel=cancel, engine=engine)
            return extract(
                self.kg.graph, found, tasks, model, settings, progress,
                threads=threads, limit=limit, linked=linked, engine=engine,
            )  # fmt: skip

    def estimate_extraction(
        self,
        *,
        limit: int | None = None,
        linked: bool = False,
        batch: bool = False,
        progress: Progress | None = None,
    ) -> "Estimate":
        """What `extract` would take at most; no language model is asked."""
        from kgrag.indexing.extraction import estimate

        chat, found = self.kg.settings.chat, self._documents()
        return estimate(self.kg.graph, found, chat, progress or no_progress, limit=limit, linked=linked, batch=batch)

    @by_one("tag")
    def tag(self, *, threads: int = 4, limit: int | None = None, progress: Progress | None = None) -> "TaggingReport":
        """Have TAGME name the Wikipedia articles that the passages which were not tagged yet speak of.

        Where the endpoint is "titles" no server is asked: articles are the collection's own documents. `limit`:
        passages at most. They become mentions; an interrupted tagging goes on where it was. Raises ConfigurationError
        when the settings name no server that can be asked.
        """
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import TITLES, load_tagme

        found, model = self._open()
        found = registry.ensure_indexes(self.kg.graph, found)
        settings = self.kg.settings
        server = nullcontext() if settings.tagme.endpoint == TITLES else load_tagme(settings)
        with server as tagme, open_engine(settings.engine) as engine:
            return tag(
                self.kg.graph, found, tagme, model, settings, progress or no_progress,
                threads=threads, limit=limit, engine=engine,
            )  # fmt: skip

    def untagged(self) -> int:
        """How many passages `tag` would ask for."""
        from kgrag.indexing.tagging import untagged

        return len(untagged(self.kg.graph, self._documents(), self.kg.settings.tagme))

    def resolve(
        self, *, apply: bool = False, ask: bool = False, score: float = 0.8, progress: Progress | None = None
    ) -> "Resolution":
        """Find duplicate entities, and with `apply` tie them by SAME_AS edges, which searches follow.

        `score`: from which a pair counts; `ask`: a language model decides doubtful pairs. Run again after an ingest it
        writes what has changed; what a model said is kept with `apply`. `unresolve` takes all back. Raises
        ConfigurationError with `ask` when no language model is configured.
        """
        from kgrag.indexing.resolution.resolve import resolve

        tasks = self.kg.language_model() if ask else None
        chat = self.kg.settings.chat
        with collection_lock(self.kg.graph, self.name, "resolve") if apply else nullcontext():
            found = self._documents()
            return resolve(self.kg.graph, found, chat, progress or no_progress, sure=score, tasks=tasks, apply=apply)

    def decide(self, names: "NamePair | Iterable[NamePair]", *, same: bool) -> None:
        """Say of pairs that `resolve` found whether their names are one entity's; a later `resolve` keeps to it."""
        from kgrag.indexing.resolution.resolve import NamePair, decide

        pairs = [names] if isinstance(names, NamePair) else names
        with collection_lock(self.kg.graph, self.name, "decide"):
            decide(self.kg.graph, self._documents(), pairs, same=same)

    def name_contexts(self, pairs: "Sequence[NamePair]") -> list[tuple[str, str]]:
        """For each pair that `resolve` found a sentence with the first name, and one with the other; empty if none."""
        from kgrag.indexing.resolution.resolve import contexts

        return contexts(self.kg.graph, pairs)

    @by_one("unresolve")
    def unresolve(self) -> int:
        """Take back all that `resolve` wrote; returns how many SAME_AS edges."""
        from kgrag.indexing.resolution.resolve import undo

        return undo(self.kg.graph, self._documents())

    @by_one("tree")
    def build_tree(
        self, *, ask: bool = False, threads: int = 8, size: int = 8, progress: Progress | None = None
    ) -> "WritingReport":
        """Make the tree of summaries (RAPTOR), or bring it up to date; `ask`: a language model writes them.

        `size`: members of a summary on average. Interrupted and run again, it goes on where it was; what was written
        is not asked for again. Raises ConfigurationError when scikit-learn is not installed, or with `ask` no language
        model is configured.
        """
        from kgrag.indexing.tree import build

        found, model = self._open()
        found = registry.ensure_indexes(self.kg.graph, found, "Summary")
        tasks = self.kg.language_model() if ask else None
        settings, progress = self.kg.settings, progress or no_progress
        return build(self.kg.graph, found, model, settings, progress, tasks=tasks, threads=threads, size=size)

    def estimate_tree(self, *, progress: Progress | None = None) -> "Estimate":
        """What a language model would take for the summaries that it has not written; nothing is asked."""
        from kgrag.indexing.tree import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @by_one("remove tree")
    def remove_tree(self) -> int:
        """Remove all summaries; returns how many there were."""
        from kgrag.indexing.tree import remove

        return remove(self.kg.graph, self._documents())

    @by_one("communities")
    def build_communities(
        self, *, ask: bool = False, threads: int = 8, size: int = 50, progress: Progress | None = None
    ) -> "WritingReport":
        """Find the communities of entities, or bring them up to date; `ask`: a language model writes their reports.

        `size`: most members of one that is not parted again. Interrupted and run again, it goes on where it was; what
        was written is not asked for again. Raises ConfigurationError when graspologic-native is not installed, or with
        `ask` no language model is configured.
        """
        from kgrag.indexing.communities import build

        found, model = self._open()
        found = registry.ensure_indexes(self.kg.graph, found, "Community")
        tasks = self.kg.language_model() if ask else None
        settings, progress = self.kg.settings, progress or no_progress
        return build(self.kg.graph, found, model, settings, progress, tasks=tasks, threads=threads, size=size)

    def estimate_communities(self, *, progress: Progress | None = None) -> "Estimate":
        """What a language model would take for the reports that it has not written; nothing is asked."""
        from kgrag.indexing.communities import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @by_one("remove communities")
    def remove_communities(self) -> int:
        """Remove all communities; returns how many there were."""
        from kgrag.indexing.communities import remove

        return remove(self.kg.graph, self._documents())

    @by_one("delete")
    def delete(
        self, documents: Iterable[str] | None = None, *, missing_ok: bool = False, progress: Progress | None = None
    ) -> int:
        """Delete documents by their keys, or with `documents` None the whole collection; returns the passages removed.

        Interrupted and run again with `missing_ok`, it goes on where it was. Raises NotFoundError for a key that does
        not exist, before anything is removed; with `missing_ok` such keys are passed over.
        """
        from kgrag.indexing import removal

        if documents is None:
            with self._lock:
                self._context = None
            return removal.delete_collection(self.kg.graph, self.name, self.kg.settings)
        return removal.delete_documents(
            self.kg.graph,
            self._documents(),
            documents,
            self.kg.settings,
            progress or no_progress,
            missing_ok=missing_ok,
        )

    @by_one("reembed")
    def reembed(self, embedder: str | Embedder, *, progress: Progress | None = None) -> CollectionInfo:
        """Embed it again; searches go on with the old vectors until the new ones are complete."""
        from kgrag.indexing.repair import reembed

        self._documents()
        model = self.kg.embedder(embedder)
        return collection_info(
            self.kg.graph, reembed(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)
        )

    @by_one("repair")
    def repair(self, *, progress: Progress | None = None) -> RepairReport:
        """Make the indexes and vectors that it misses, and finish what was interrupted in it."""
        from kgrag.indexing.repair import repair

        found = self._record()
        model = None if found.kind == registry.KNOWLEDGE else self.kg.embedder(found.embedder)
        return repair(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)

    def _record(self) -> Record:
        return registry.open_collection(self.kg.graph, self.name)

    def _documents(self) -> Record:
        """The same of documents. Raises MismatchError for one of facts."""
        return registry.check_documents(self._record())

    def _open(self) -> tuple[Record, Embedder]:
        """The collection as it is recorded, and its embedder. Raises NotFoundError, MismatchError."""
        found = self._documents()
        model = self.kg.embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        return found, model
