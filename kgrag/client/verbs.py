"""Verbs of a collection: the layers added after its documents. Each is declared once for all interfaces.

The module imports nothing heavy, since the help of the command line reads the methods.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

from annotated_types import Interval

from kgrag.client.arguments import suggest_keywords
from kgrag.client.operations import OWNER, Most, Operation, Threads, asks_if_wanted, operation
from kgrag.values.errors import InputError
from kgrag.values.events import Progress, no_progress

if TYPE_CHECKING:
    from kgrag.client.connection import Connection
    from kgrag.graph.collections import Collection as Record
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.group_texts import WritingReport
    from kgrag.indexing.resolution.resolve import NamePair, Resolution
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.models.budget import Estimate
    from kgrag.models.embed import Embedder

V = TypeVar("V", bound="Verbs")
P = ParamSpec("P")
R = TypeVar("R")


def exclusive(kind: str) -> Callable[[Callable[Concatenate["V", P], R]], Callable[Concatenate["V", P], R]]:
    """Run a method under the lock of its collection; `kind` names the work in the error for other callers."""

    def decorate(method: Callable[Concatenate[V, P], R]) -> Callable[Concatenate[V, P], R]:
        @suggest_keywords
        @wraps(method)
        def called(self: V, /, *args: P.args, **kwargs: P.kwargs) -> R:
            from kgrag.graph.jobs import collection_lock

            with collection_lock(self.kg.graph, self.name, kind):
                if kind != "ingest":  # ingest() does this check itself
                    from kgrag.indexing.rereading import resume  # slow to import, and not needed for searches

                    resume(self.kg.graph, self.name)
                return method(self, *args, **kwargs)

        return called

    return decorate


def _has_tagme(kg: "Connection", options: object) -> None:
    from kgrag.models.tagme import check_tagme  # slow to import, and not needed for searches

    check_tagme(kg.settings)


class Verbs:
    """The verbs of a Collection. Methods raise NotFoundError when there is no such collection.

    Long methods raise BusyError while another client or a server's job works on the collection.
    """

    kg: "Connection"
    name: str

    @operation(
        "extract",
        ready=lambda kg, options: options.rules or kg.language_model(),
        estimate="estimate_extraction",
        nothing_left="Every passage was read with this prompt.",
    )
    @exclusive("extract")
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
        from kgrag.engines import open_engine
        from kgrag.indexing.batched import BatchedExtraction
        from kgrag.indexing.extraction import extract

        if rules and (linked or batch or cancel):
            raise InputError("Rules ask no model: linked, batch and cancel go without them.")
        llm = None if rules else self.kg.language_model()
        settings, progress = self.kg.settings, progress or no_progress
        record, model = self._indexed("Triple")
        with open_engine(settings.engine) as engine:
            if batch or cancel:
                batched = BatchedExtraction(self.kg.graph, record, model, settings, progress)
                return batched.run(limit=limit, linked=linked, cancel=cancel, engine=engine)
            return extract(
                self.kg.graph, record, llm, model, settings, progress,
                threads=threads, limit=limit, linked=linked, engine=engine,
            )  # fmt: skip

    def estimate_extraction(
        self, *, limit: int | None = None, linked: bool = False, batch: bool = False, progress: Progress | None = None
    ) -> "Estimate":
        """Estimate the maximum usage of `extract`, without a call of a language model.

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

    @operation("tag", ready=_has_tagme)
    @exclusive("tag")
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
        from kgrag.engines import open_engine
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import TITLES, load_tagme

        record, model = self._indexed()
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
    @suggest_keywords
    def resolve(
        self,
        *,
        apply: bool = False,
        ask: bool = False,
        score: Annotated[float, Interval(ge=0, le=1)] = 0.8,
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
        from kgrag.graph.jobs import collection_lock
        from kgrag.indexing.resolution.resolve import resolve

        llm = self.kg.language_model() if ask else None
        chat = self.kg.settings.chat
        with collection_lock(self.kg.graph, self.name, "resolve") if apply else nullcontext():
            record = self._documents()
            return resolve(self.kg.graph, record, chat, progress or no_progress, sure=score, llm=llm, apply=apply)

    def estimate_resolution(self) -> "Estimate":
        """Estimate the maximum usage of a language model for the doubtful pairs of names, without a call.

        Returns:
            Calls, tokens and cost.
        """
        return self.resolve().estimate

    def decide(self, names: "NamePair | Iterable[NamePair]", *, same: bool | None) -> None:
        """Record whether the names of pairs belong to one entity; a later `resolve` respects it.

        Args:
            names: a pair of `resolve`, or several.
            same: whether they are names of one entity; None withdraws a decision.
        """
        from kgrag.graph.jobs import collection_lock
        from kgrag.indexing.resolution.resolve import NamePair, decide

        pairs = [names] if isinstance(names, NamePair) else names
        with collection_lock(self.kg.graph, self.name, "decide"):
            decide(self.kg.graph, self._documents(), pairs, same=same)

    def name_contexts(self, pairs: "Sequence[NamePair]") -> list[tuple[str, str]]:
        """Return example sentences with the names of pairs, to help people decide.

        Args:
            pairs: pairs of `resolve`.

        Returns:
            For each pair a sentence with the first name and one with the other; empty if no pair is left.
        """
        from kgrag.indexing.resolution.resolve import contexts

        return contexts(self.kg.graph, pairs)

    @exclusive("unresolve")
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
    @exclusive("tree")
    def build_tree(
        self,
        *,
        ask: bool = False,
        threads: Threads = 8,
        size: Annotated[int, Interval(ge=2, le=100)] = 8,
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
        from kgrag.indexing.group_texts import build
        from kgrag.indexing.tree import Tree

        grouping = Tree(self.kg.graph, *self._indexed("Summary"), progress or no_progress, size)
        llm = self.kg.language_model() if ask else None
        return build(grouping, self.kg.settings, llm=llm, threads=threads)

    def estimate_tree(self, *, progress: Progress | None = None) -> "Estimate":
        """Estimate the maximum usage of a language model for the missing summaries, without a call.

        Args:
            progress: receives (stage, done, total).

        Returns:
            Calls, tokens and cost.
        """
        from kgrag.indexing.tree import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @exclusive("remove tree")
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
    @exclusive("communities")
    def build_communities(
        self,
        *,
        ask: bool = False,
        threads: Threads = 8,
        size: Annotated[int, Interval(ge=2, le=10_000)] = 50,
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
        from kgrag.indexing.communities import Communities
        from kgrag.indexing.group_texts import build

        grouping = Communities(self.kg.graph, *self._indexed("Community"), progress or no_progress, size)
        llm = self.kg.language_model() if ask else None
        return build(grouping, self.kg.settings, llm=llm, threads=threads)

    def estimate_communities(self, *, progress: Progress | None = None) -> "Estimate":
        """Estimate the maximum usage of a language model for the missing reports, without a call.

        Args:
            progress: receives (stage, done, total).

        Returns:
            Calls, tokens and cost.
        """
        from kgrag.indexing.communities import estimate

        return estimate(self.kg.graph, self._documents(), self.kg.settings.chat, progress or no_progress)

    @exclusive("remove communities")
    def remove_communities(self) -> int:
        """Remove all communities.

        Returns:
            Their number.
        """
        from kgrag.indexing.communities import remove

        return remove(self.kg.graph, self._documents())

    def _record(self) -> "Record":
        from kgrag.graph.collections import open_collection

        return open_collection(self.kg.graph, self.name)

    def _documents(self) -> "Record":
        """Return the record of a collection of documents. Raises MismatchError for a collection of facts."""
        from kgrag.graph.collections import check_documents

        return check_documents(self._record())

    def _open(self) -> "tuple[Record, Embedder]":
        """Return the collection's record and its embedder. Raises NotFoundError, MismatchError."""
        from kgrag.graph.collections import check_embedder

        record = self._documents()
        model = self.kg.embedder(record.embedder)
        check_embedder(record, model.name, model.dimension)
        return record, model

    def _indexed(self, *labels: str) -> "tuple[Record, Embedder]":
        """See _open; first creates the indexes for nodes of these labels, which a verb is about to write."""
        from kgrag.graph.collections import ensure_indexes

        record, model = self._open()
        return ensure_indexes(self.kg.graph, record, *labels), model


def operations() -> dict[str, Operation]:
    """Return the verbs of a collection by name."""
    declared = (getattr(method, "operation", None) for _, method in inspect.getmembers(Verbs))
    return {each.name: each for each in declared if isinstance(each, Operation)}
