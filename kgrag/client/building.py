"""What makes a collection, changes it and removes it: documents, facts, topics, entities, vectors."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

from pydantic import Field

from kgrag.client.arguments import named
from kgrag.client.operations import OWNER, Most, Threads, asks_if_wanted, operation
from kgrag.engines import open_engine
from kgrag.graph import collections as registry
from kgrag.graph.collections import Collection as Record
from kgrag.graph.counts import collection_info
from kgrag.graph.jobs import collection_lock
from kgrag.loaders.source import Source
from kgrag.models.embed import Embedder
from kgrag.retrieval.context import SearchContext
from kgrag.runtime.document_progress import DocumentProgress
from kgrag.values.errors import InputError
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import CollectionInfo, IngestReport, RepairReport

if TYPE_CHECKING:
    from kgrag.client.connection import Connection
    from kgrag.indexing.attachment import Attachment
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.fact_schema import FactSchema
    from kgrag.indexing.group_texts import WritingReport
    from kgrag.indexing.resolution.resolve import NamePair, Resolution
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.loaders import Columns
    from kgrag.models.budget import Estimate


B = TypeVar("B", bound="Building")
P = ParamSpec("P")
R = TypeVar("R")


def by_one(kind: str) -> Callable[[Callable[Concatenate["B", P], R]], Callable[Concatenate["B", P], R]]:
    """Make a method run one at a time on a collection; `kind`: the work, as the error of others names it."""

    def decorate(method: Callable[Concatenate[B, P], R]) -> Callable[Concatenate[B, P], R]:
        @named
        @wraps(method)
        def called(self: B, /, *args: P.args, **kwargs: P.kwargs) -> R:
            with collection_lock(self.kg.graph, self.name, kind):
                if kind != "ingest":  # which looks for itself, and has nothing to look at in a new collection
                    from kgrag.indexing.rereading import resume  # searches need none of it

                    resume(self.kg.graph, self.name)
                return method(self, *args, **kwargs)

        return called

    return decorate


def _has_tagme(kg: "Connection", options: object) -> None:
    from kgrag.models.tagme import check_tagme  # takes time that searches save

    check_tagme(kg.settings)


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
        """Read files and folders, or take Documents, into the collection, which is made if it does not exist.

        Unchanged files and documents are skipped; an interrupted ingest resumes.

        Args:
            source: a path, several paths, or Documents and Problems.
            embedder: that of a new collection; None: that of the settings.
            language: of a new collection, an ISO 639-1 code; None: detected from the first documents.
            columns: those of rows' keys, titles and texts; None: detected.
            root: a folder to which files' keys are relative; None: keys are absolute paths.
            prune: whether to delete documents whose files no longer exist in these folders. Without `force` nothing is
                deleted
                if a folder is missing or has no file, or if it were more than the share KGRAG_LOADING__PRUNE_LIMIT.
            force: whether to prune in any case.
            settle: files that changed in the last so many seconds are left for later.
            names: path -> name by which a file is known and shown, if it is stored under another.
            progress: receives (stage, done, total).

        Returns:
            Counts, and the keys of documents whose files no longer exist.

        Raises:
            MismatchError: the collection has another embedder or language.
            InputError: no path can be read at all.
        """
        from kgrag.client.ingestion import ingest

        with DocumentProgress(progress or no_progress) as telling:
            return ingest(
                self.kg, self.name, source, embedder=embedder, language=language, columns=columns, root=root,
                prune=prune, force=force, settle=settle, names=names, progress=telling,
            )  # fmt: skip

    @by_one("ingest")
    def attach(
        self,
        mapping: "Attachment | str | Path | None" = None,
        *,
        labels: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Make the collection of nodes of another graph in the same database, or bring it in step with them.

        Each node becomes a document, and documents of nodes that went are deleted. That graph is only read. An
        interrupted call resumes.

        Args:
            mapping: labels, properties and relationships, or the path of a TOML or JSON file with them; None: what the
                collection is attached to, else what `propose_attachment` proposes.
            labels: those that a proposal is to be made for; None: all.
            progress: receives (stage, done, total).

        Returns:
            Counts; `gone` are the keys of documents whose nodes went.

        Raises:
            InputError: the mapping does not fit that graph, or there is none.
            MismatchError: the collection holds other documents.
        """
        from kgrag.client.ingestion import attach

        with DocumentProgress(progress or no_progress) as telling:
            return attach(self.kg, self.name, mapping, labels, telling)

    @operation(
        "extract",
        ready=lambda kg, options: options.rules or kg.language_model(),
        estimate="estimate_extraction",
        nothing_left="Every passage was read with this prompt.",
    )
    @by_one("extract")
    def extract(
        self,
        *,
        threads: Threads = 8,
        limit: Most = None,
        linked: bool = False,
        batch: Annotated[bool, OWNER] = False,
        cancel: Annotated[bool, OWNER] = False,
        rules: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionReport":
        """Extract entities and triples by a language model, or by rules, from the passages that have none yet.

        An interrupted extraction resumes, and so do its batches. A passage has the facts of the run that read it last:
        those of rules replace those of a model, and the other way round.

        Args:
            threads: passages asked for at once.
            limit: at most so many passages, the most telling first; None: all.
            linked: ask for Wikipedia articles, too, and merge entities that have the same one.
            batch: send the passages through the server's Batch API: at half the price, within a day.
            cancel: end the batches in progress, and write what they gave.
            rules: have patterns read the passages, without a language model.
            progress: receives (stage, done, total).

        Returns:
            Counts, usage and problems.

        Raises:
            ConfigurationError: no language model is configured.
            InputError: `rules` together with `linked`, `batch` or `cancel`.
            MismatchError: a batch in progress belongs to another server.
        """
        from kgrag.indexing.batched import BatchedExtraction
        from kgrag.indexing.extraction import extract

        if rules and (linked or batch or cancel):
            raise InputError("Rules ask no model: linked, batch and cancel go without them.")
        tasks = None if rules else self.kg.language_model()
        settings, progress = self.kg.settings, progress or no_progress
        record, model = self._open()
        record = registry.ensure_indexes(self.kg.graph, record, "Triple")
        with open_engine(settings.engine) as engine:
            if batch or cancel:
                batched = BatchedExtraction(self.kg.graph, record, model, settings, progress)
                return batched.run(limit=limit, linked=linked, cancel=cancel, engine=engine)
            return extract(
                self.kg.graph, record, tasks, model, settings, progress,
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
        """Estimate the most that `extract` takes, without a call of a language model.

        Args:
            limit: the most passages; None: all.
            linked: as in `extract`.
            batch: as in `extract`.
            progress: receives (stage, done, total).

        Returns:
            Calls, tokens and cost.
        """
        from kgrag.indexing.extraction import estimate

        chat, record = self.kg.settings.chat, self._documents()
        return estimate(self.kg.graph, record, chat, progress or no_progress, limit=limit, linked=linked, batch=batch)

    def fact_schema(self) -> "FactSchema | None":
        """Return what the facts of the collection are held to.

        Returns:
            Its types and predicates; None: facts are extracted as they come.
        """
        from kgrag.indexing.fact_schema import fact_schema

        return fact_schema(self._documents())

    @by_one("schema")
    def set_fact_schema(self, schema: "FactSchema | str | Path | None") -> "FactSchema | None":
        """Hold the facts of the collection to a schema; the next `extract` reads its passages again by it.

        Args:
            schema: types and predicates, or the path of a TOML or JSON file with them; None: no schema any more.

        Returns:
            The schema that is in force now.

        Raises:
            InputError: the file cannot be read, or is no schema.
        """
        from kgrag.indexing.fact_schema import read_fact_schema, set_fact_schema

        record = self._documents()
        schema = read_fact_schema(Path(schema)) if isinstance(schema, str | Path) else schema
        set_fact_schema(self.kg.graph, record, schema)
        return schema

    def propose_fact_schema(self, *, sample: int = 20) -> "FactSchema":
        """Have a language model propose a schema of facts from a sample of passages, in one call.

        Args:
            sample: how many passages, spread evenly over the collection.

        Returns:
            The proposal, which changes nothing by itself.

        Raises:
            ConfigurationError: no language model is configured.
            ModelError: the model proposed nothing that can be used.
        """
        from kgrag.indexing.schema_proposal import propose

        return propose(self.kg.graph, self._documents(), self.kg.language_model(), sample)

    @operation("tag", ready=_has_tagme)
    @by_one("tag")
    def tag(self, *, threads: Threads = 4, limit: Most = None, progress: Progress | None = None) -> "TaggingReport":
        """Annotate the passages that were not tagged yet with Wikipedia articles by TAGME, as mentions.

        With the endpoint "titles" no server is called: articles are the collection's own documents. An interrupted
        tagging resumes.

        Args:
            threads: passages asked for at once.
            limit: at most so many passages; None: all.
            progress: receives (stage, done, total).

        Returns:
            Counts and problems.

        Raises:
            ConfigurationError: the settings name no usable server.
        """
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import TITLES, load_tagme

        record, model = self._open()
        record = registry.ensure_indexes(self.kg.graph, record)
        settings = self.kg.settings
        server = nullcontext() if settings.tagme.endpoint == TITLES else load_tagme(settings)
        with server as tagme, open_engine(settings.engine) as engine:
            return tag(
                self.kg.graph, record, tagme, model, settings, progress or no_progress,
                threads=threads, limit=limit, engine=engine,
            )  # fmt: skip

    def untagged(self) -> int:
        """Count the passages that `tag` would send.

        Returns:
            Their number.
        """
        from kgrag.indexing.tagging import untagged

        return len(untagged(self.kg.graph, self._documents(), self.kg.settings.tagme))

    @operation(
        "resolve", ready=asks_if_wanted, estimate="estimate_resolution", nothing_left="No pair of names is in doubt."
    )
    @named
    def resolve(
        self,
        *,
        apply: bool = False,
        ask: bool = False,
        score: Annotated[float, Field(ge=0, le=1)] = 0.8,
        progress: Progress | None = None,
    ) -> "Resolution":
        """Find duplicate entities, and with `apply` tie them by SAME_AS edges, which searches follow.

        A later call updates them; `unresolve` removes them.

        Args:
            apply: tie the names by SAME_AS edges, and remove edges that no longer hold.
            ask: let a language model decide the doubtful pairs.
            score: how sure a pair must be, from 0 to 1.
            progress: receives (stage, done, total).

        Returns:
            The groups of names, and the doubtful pairs.

        Raises:
            ConfigurationError: `ask`, and no language model is configured.
        """
        from kgrag.indexing.resolution.resolve import resolve

        tasks = self.kg.language_model() if ask else None
        chat = self.kg.settings.chat
        with collection_lock(self.kg.graph, self.name, "resolve") if apply else nullcontext():
            record = self._documents()
            return resolve(self.kg.graph, record, chat, progress or no_progress, sure=score, tasks=tasks, apply=apply)

    def estimate_resolution(self) -> "Estimate":
        """Estimate the most that a language model takes for the doubtful pairs of names, without a call.

        Returns:
            Calls, tokens and cost.
        """
        return self.resolve().estimate

    def decide(self, names: "NamePair | Iterable[NamePair]", *, same: bool | None) -> None:
        """Record whether the names of pairs belong to one entity; a later `resolve` respects it.

        Args:
            names: a pair of `resolve`, or several.
            same: whether they are names of one entity; None takes a decision back.
        """
        from kgrag.indexing.resolution.resolve import NamePair, decide

        pairs = [names] if isinstance(names, NamePair) else names
        with collection_lock(self.kg.graph, self.name, "decide"):
            decide(self.kg.graph, self._documents(), pairs, same=same)

    def name_contexts(self, pairs: "Sequence[NamePair]") -> list[tuple[str, str]]:
        """Return sentences with the names of pairs, for people who decide.

        Args:
            pairs: pairs of `resolve`.

        Returns:
            For each pair a sentence with the first name, and one with the other; empty if there is none.
        """
        from kgrag.indexing.resolution.resolve import contexts

        return contexts(self.kg.graph, pairs)

    @by_one("unresolve")
    def unresolve(self) -> int:
        """Remove all that `resolve` wrote.

        Returns:
            The number of SAME_AS edges removed.
        """
        from kgrag.indexing.resolution.resolve import undo

        return undo(self.kg.graph, self._documents())

    @operation(
        "tree",
        ready=asks_if_wanted,
        estimate="estimate_tree",
        nothing_left="No summary is left to a model. Without a tree, make it first: that asks no model.",
    )
    @by_one("tree")
    def build_tree(
        self,
        *,
        ask: bool = False,
        threads: Threads = 8,
        size: Annotated[int, Field(ge=2, le=100)] = 8,
        progress: Progress | None = None,
    ) -> "WritingReport":
        """Build the tree of summaries (RAPTOR), or update it.

        An interrupted build resumes, and existing summaries are not written again.

        Args:
            ask: have a language model write the summaries.
            threads: calls of the model at once.
            size: members of a summary on average.
            progress: receives (stage, done, total).

        Returns:
            Counts of levels and texts, usage and failures.

        Raises:
            ConfigurationError: scikit-learn is not installed, or `ask`, and no language model is configured.
        """
        from kgrag.indexing.tree import build

        record, model = self._open()
        record = registry.ensure_indexes(self.kg.graph, record, "Summary")
        tasks = self.kg.language_model() if ask else None
        settings, progress = self.kg.settings, progress or no_progress
        return build(self.kg.graph, record, model, settings, progress, tasks=tasks, threads=threads, size=size)

    def estimate_tree(self, *, progress: Progress | None = None) -> "Estimate":
        """Estimate the most that a language model takes for the missing summaries, without a call.

        Args:
            progress: receives (stage, done, total).

        Returns:
            Calls, tokens and cost.
        """
        from kgrag.indexing.tree import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @by_one("remove tree")
    def remove_tree(self) -> int:
        """Remove all summaries.

        Returns:
            Their number.
        """
        from kgrag.indexing.tree import remove

        return remove(self.kg.graph, self._documents())

    @operation(
        "communities",
        ready=asks_if_wanted,
        estimate="estimate_communities",
        nothing_left="No report is left to a model. Without communities, find them first: that asks no model.",
    )
    @by_one("communities")
    def build_communities(
        self,
        *,
        ask: bool = False,
        threads: Threads = 8,
        size: Annotated[int, Field(ge=2, le=10_000)] = 50,
        progress: Progress | None = None,
    ) -> "WritingReport":
        """Find the communities of entities, or update them.

        An interrupted build resumes, and existing reports are not written again.

        Args:
            ask: have a language model write the reports.
            threads: calls of the model at once.
            size: the most members of a community that is not split again.
            progress: receives (stage, done, total).

        Returns:
            Counts of levels and texts, usage and failures.

        Raises:
            ConfigurationError: graspologic-native is not installed, or `ask`, and no language model is configured.
        """
        from kgrag.indexing.communities import build

        record, model = self._open()
        record = registry.ensure_indexes(self.kg.graph, record, "Community")
        tasks = self.kg.language_model() if ask else None
        settings, progress = self.kg.settings, progress or no_progress
        return build(self.kg.graph, record, model, settings, progress, tasks=tasks, threads=threads, size=size)

    def estimate_communities(self, *, progress: Progress | None = None) -> "Estimate":
        """Estimate the most that a language model takes for the missing reports, without a call.

        Args:
            progress: receives (stage, done, total).

        Returns:
            Calls, tokens and cost.
        """
        from kgrag.indexing.communities import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @by_one("remove communities")
    def remove_communities(self) -> int:
        """Remove all communities.

        Returns:
            Their number.
        """
        from kgrag.indexing.communities import remove

        return remove(self.kg.graph, self._documents())

    @by_one("delete")
    def delete(
        self, documents: Iterable[str] | None = None, *, missing_ok: bool = False, progress: Progress | None = None
    ) -> int:
        """Delete documents, or the whole collection.

        Args:
            documents: their keys; None: the whole collection.
            missing_ok: whether to skip keys that do not exist, so that an interrupted call can be repeated.
            progress: receives (stage, done, total).

        Returns:
            The number of passages removed.

        Raises:
            NotFoundError: a key does not exist; nothing is removed then.
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
        """Embed the collection again; searches use the old vectors until the new ones are complete.

        Args:
            embedder: the new one, or its name.
            progress: receives (stage, done, total).

        Returns:
            The collection at a glance.
        """
        from kgrag.indexing.repair import reembed

        self._documents()
        model = self.kg.embedder(embedder)
        return collection_info(
            self.kg.graph, reembed(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)
        )

    @by_one("relanguage")
    def relanguage(self, language: str, *, progress: Progress | None = None) -> CollectionInfo:
        """Read the collection in another language: its words, names, mentions and keywords are made again.

        Passages, vectors and facts stay. Names that were tied by `resolve`, topics and communities are to be made
        again afterwards.

        Args:
            language: ISO 639-1 code, such as "de"; "xx" for several languages.
            progress: receives (stage, done, total).

        Returns:
            The collection at a glance.

        Raises:
            ConfigurationError: kgrag knows no language of this code.
        """
        from kgrag.indexing.repair import relanguage

        record = self._documents()
        model, settings = self.kg.embedder(record.embedder), self.kg.settings
        return collection_info(
            self.kg.graph, relanguage(self.kg.graph, self.name, language, model, settings, progress or no_progress)
        )

    @by_one("repair")
    def repair(self, *, progress: Progress | None = None) -> RepairReport:
        """Make missing indexes and vectors, and complete interrupted stages.

        Args:
            progress: receives (stage, done, total).

        Returns:
            What was made.
        """
        from kgrag.indexing.repair import repair

        record = self._record()
        model = None if record.kind == registry.KNOWLEDGE else self.kg.embedder(record.embedder)
        return repair(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)

    def _record(self) -> Record:
        return registry.open_collection(self.kg.graph, self.name)

    def _documents(self) -> Record:
        """Return the record of a collection of documents. Raises MismatchError for one of facts."""
        return registry.check_documents(self._record())

    def _open(self) -> tuple[Record, Embedder]:
        """Return the collection's record and its embedder. Raises NotFoundError, MismatchError."""
        record = self._documents()
        model = self.kg.embedder(record.embedder)
        registry.check_embedder(record, model.name, model.dimension)
        return record, model
