"""The contract of retrieval: a Retriever turns a question into a Ranking of passages, each with its trail."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from kgrag.models.embed import Embedder, embed_questions
from kgrag.models.prompted import Listener
from kgrag.retrieval.context import PAUSES, Searchable, SearchContext, unknown_keys
from kgrag.retrieval.expression import Expression, parse
from kgrag.runtime.options import Count, Options, resolve
from kgrag.runtime.plugins import Plugins
from kgrag.runtime.spans import span
from kgrag.settings import BRIDGE_CAP
from kgrag.text.dates import checked_date
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.results import Filter, Hit, Passage, Ranking, Step

__all__ = [
    "BRIDGE_CAP", "DEFAULT_RETRIEVER", "LAYERS", "PAUSES", "RETRIEVERS", "Evidence", "FusionOptions", "Layer",
    "Query", "Retriever", "Scale", "Scored", "SummaryOptions", "Topic", "Use", "VectorOptions", "check_defaults",
    "check_retriever", "make_retriever",
]  # fmt: skip
RETRIEVERS: "Plugins[type[Retriever]]" = Plugins("kgrag.retrievers", "retriever")
"""The retrievers by name; a new one needs a module and an entry point."""
DEFAULT_RETRIEVER = "pathrank"

_DEPTHS = (1, 8, 8, 64)
"""Multiples of the wanted passages to rank, one per attempt after a pause, since some passages may be removed."""

_LOG = logging.getLogger(__name__)
Scale = Literal["cosine", "share", "relevance", "rank"]
Layer = Literal["triples", "keywords", "TAGME", "tree", "communities"]
"""Layers that later commands add to passages."""
LAYERS: dict[Layer, tuple[str, str, str]] = {
    "triples": ("triples", "kgrag enrich extract", "Triple"),
    "keywords": ("keywords of a language model", "kgrag enrich extract", "Keyword"),
    "TAGME": ("mentions of TAGME", "kgrag enrich tag", "Entity"),
    "tree": ("tree of summaries", "kgrag enrich tree", "Summary"),
    "communities": ("communities", "kgrag enrich communities", "Community"),
}
"""The names of the layers, the commands that make them, and the labels of their steps in a trail."""
Use = Literal["words", "vectors", "names", "triples", "mentions of TAGME", "a language model"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question with a filter of documents. A lone surrogate, which no server accepts, becomes U+FFFD.

    Attributes:
        text: at most LONGEST characters, since each word is looked up.
        filter: the documents that may match.
        listener: receives each event of the search, or None.
        memory: the state of retrievers across the queries of one question: {retriever: state}.
        knowledge: collections of kind knowledge whose facts may bridge between passages.

    Raises:
        InputError: the text is too long.

    Example:
        >>> query = Query("Who designed the Fram?", Filter(source="ships"))
        >>> ranking = Bm25(collection.context).retrieve(query, k=3)
    """

    LONGEST: ClassVar[int] = 100_000

    text: str
    filter: Filter = field(default_factory=Filter)
    listener: Listener | None = field(default=None, repr=False, compare=False)
    memory: dict["Retriever", Any] = field(default_factory=dict, repr=False, compare=False)
    knowledge: tuple[str, ...] = ()
    _vectors: dict[str, list[float]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > self.LONGEST:
            raise InputError(
                f"The question has {len(self.text):,} characters; at most {self.LONGEST:,} are taken.",
                "Ask in fewer words: the names and the words that matter.",
            )
        whole = self.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        object.__setattr__(self, "text", whole)

    @property
    def wording(self) -> str:
        """The text with the date of the filter, for a model. Raises InputError for an invalid date."""
        as_of = checked_date(self.filter.as_of)
        return f"{self.text} (as of {as_of})" if as_of else self.text

    def vector(self, embedder: Embedder) -> list[float]:
        """Return the question's vector, computed once for all retrievers of a composition.

        Args:
            embedder: the embedder.

        Returns:
            [d], of length 1.
        """
        if embedder.name not in self._vectors:
            self._vectors[embedder.name] = embed_questions(embedder, [self.text])[0].tolist()
        return self._vectors[embedder.name]


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of a passage.

    Attributes:
        id: the id of the passage.
        score: comparable only within its ranking.
        why: the trail that led to the passage.

    Example:
        >>> best = Bm25(collection.context).rank(Query("Who designed the Fram?"), 1)[0]
        >>> isinstance(best, Scored), best.score > 0
        (True, True)
    """

    id: str
    score: float
    why: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A summary or report for the reader. `leaves`: ids of its source passages, nearest first."""

    title: str
    text: str
    leaves: tuple[str, ...]


Evidence = Sequence[str] | Topic
"""One numbered item of evidence: the ids of one or several passages, or a summary."""


class VectorOptions(Options):
    """Options of retrievers that search a vector index."""

    over_fetch: Count = Field(200, description="vector index candidates that are scored again exactly")


class FusionOptions(Options):
    """Options of retrievers that fuse rankings."""

    rrf: float = Field(60.0, gt=0, le=10_000, description="reciprocal rank fusion: 1 / (rrf + rank) (GEAR, section 3)")


class SummaryOptions(Options):
    """Options of retrievers that rank summaries beside passages."""

    shown: Literal["summaries", "leaves"] = Field(
        "summaries", description="what a reader is shown (strategy single): summaries, too, or passages alone"
    )
    sources: Count = Field(3, description="passages that such a summary is cited by, the nearest to the question")


class Retriever(ABC):
    """Ranks the passages of a collection. Threads may share it.

    A retriever is a class with a `name`, a `summary`, its `options` and the method `rank`, registered by an entry point
    of the group `kgrag.retrievers`. Operators as in PyTerrier:

    - `a % 10`: the best ten of a;  `a >> b`: b, working on a;  `a ^ b`: the passages of a, then the others of b;
    - `a | b`: the union, `a & b`: the intersection, each fused by reciprocal ranks. (PyTerrier also has `+` and `*`,
      which add and scale scores. Scores of different retrievers are on different scales, so kgrag has neither.)

    Args:
        on: a collection's context, or the retrievers to work on.
        options: the options of the class.

    Attributes:
        over: the names of the default retrievers that it works on, if any.
        several: whether it accepts any number of them.
        paper: its source.
        uses: the resources of the retriever and its parts.
        needs: its requirements besides the graph.
        calls: the maximum of language model calls in one search.
        scale: the scale of its scores across queries: "cosine" (0 to 1), "share" (of a walk's probability),
            "relevance" (0 to 1, judged by a model), or "rank" (an order only).

    Raises:
        ConfigurationError: an option does not exist or is out of range.

    Example:
        >>> retriever = (Bm25(collection.context) | PathRank(collection.context, cap=20)) % 10
        >>> for hit in retriever.retrieve("Where was the designer of the Fram born?", k=3):
        ...     print(f"{hit.score:.3f}", hit.passage.title)
    """

    name: str
    summary: ClassVar[str]
    options: ClassVar[type[Options]] = Options
    over: ClassVar[tuple[str, ...]] = ()
    several: ClassVar[bool] = False
    paper: ClassVar[str] = ""
    uses: ClassVar[tuple[Use, ...]] = ()
    needs: ClassVar[str] = ""
    calls: ClassVar[int] = 0
    scale: Scale = "rank"

    constants: ClassVar[Any] = None
    """The fixed configuration as a dataclass, which no option changes; records depend on it."""
    settings: Options
    """The options in force."""

    expression: Expression
    parts: tuple["Retriever", ...]
    """The collection that it searches."""

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Make the retriever over a collection, or over other retrievers."""
        kind = type(self)
        self.given = options
        self.context = on[0].context if on else _nothing(kind.name)
        parts = tuple(part for part in on if isinstance(part, Retriever))
        self.settings = kind.check(options, parts, self.context.defaults)
        self.expression = Expression(kind.name, tuple(p.expression for p in parts), tuple(options.items()))
        self.name = str(self.expression)
        self.parts = parts or tuple(RETRIEVERS[name](self.context) for name in kind.over)

    @classmethod
    def check(
        cls, options: Mapping[str, Any], parts: Sequence[object] = (), defaults: Mapping[str, Any] | None = None
    ) -> Options:
        """Return the options in force.

        Args:
            options: name -> value.
            parts: the retrievers to work on.
            defaults: part -> options, from a SearchContext.

        Returns:
            The options, defaults included.

        Raises:
            ConfigurationError: an option does not exist or is out of range, or there are too many parts.
        """
        if parts and not cls.over:
            raise ConfigurationError(
                f"{cls.name!r} works on no other retriever.", f"Leave out what stands in its parentheses: {cls.name}"
            )
        if len(parts) > len(cls.over) and not cls.several:
            raise ConfigurationError(
                f"{cls.name!r} works on {len(cls.over)} other retriever, not {len(parts)}.",
                f"Fuse them: {cls.name}(rrf({', '.join(str(getattr(p, 'name', p)) for p in parts)})).",
            )
        return resolve(cls.options, cls.name, options, (defaults or {}).get(cls.name.replace("-", "_"), {}))

    @abstractmethod
    def rank(self, query: Query, n: int) -> list[Scored]:
        """Rank passages.

        Args:
            query: the question.
            n: the number of passages.

        Returns:
            At most `n` passages in descending order of score, ties in a fixed order.
        """

    def evidence(self, query: Query) -> Sequence[Evidence] | None:
        """Return the reader's evidence for the latest `rank`.

        Args:
            query: the question.

        Returns:
            Paths or summaries, best first, or None if the ranking itself is the evidence.
        """
        return None

    def max_model_calls(self) -> int:
        """Return the maximum of language model calls in one search.

        Returns:
            Their number, including the calls of its parts.
        """
        return type(self).calls + sum(part.max_model_calls() for part in self.parts)

    def is_stateful(self) -> bool:
        """Return whether it keeps state in a query's memory. The queries of one question then run one after another.

        Returns:
            True if it or one of its parts does.
        """
        own = type(self).evidence is not Retriever.evidence  # it returns the evidence of the latest query
        return own or any(part.is_stateful() for part in self.parts)

    def requires(self) -> frozenset[Layer]:
        """Return the layers of the graph that the retriever requires.

        Returns:
            Layers, excluding the layers of its parts.
        """
        return frozenset()

    def missing_layers(self) -> frozenset[Layer]:
        """Return the required layers that the collection lacks.

        Returns:
            Layers, including the layers of its parts.
        """
        own = self.requires()
        missing = own - self.context.reader.layers(own)
        return missing.union(*(part.missing_layers() for part in self.parts))

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """Return remarks on a ranking, such as which layers the collection lacks.

        Args:
            ranked: the ranking.

        Returns:
            Sentences.
        """
        walked = {step.label for x in ranked for step in x.why}
        missing = {layer for layer in self.requires() if LAYERS[layer][2] not in walked}
        lacking = sorted(missing - self.context.reader.layers(missing))
        own = (
            f"This collection holds no {what}: {self.name} does without ({command})."
            for what, command, _ in (LAYERS[layer] for layer in lacking)
        )
        return tuple(dict.fromkeys([*(note for part in self.parts for note in part.notes(ranked)), *own]))

    def retrieve(self, query: str | Query, k: int = 8) -> Ranking:
        """Return the best passages with their texts and trails.

        If a concurrent ingest removes passages, or has not finished their documents, the ranking is repeated with more
        candidates.

        Args:
            query: the question.
            k: the number of passages.

        Returns:
            At most `k` hits, best first; no hits for an empty question.
        """
        started = time.perf_counter()
        question = Query(query) if isinstance(query, str) else query
        if not question.text.strip() or k < 1:
            return Ranking(question.text, self.name)
        memory = dict(question.memory)
        for depth, pause in zip(_DEPTHS, PAUSES, strict=True):
            if pause:
                time.sleep(pause)
                _restore(question, memory)
            scored = self.ranked(question, depth * k)
            hits = self.hits(scored)[:k]
            whole = len(hits) >= min(k, len(scored)) and (hits or not self._removed_from())
            if whole or self.max_model_calls():  # repeating model calls would cost more than a short list is worth
                break
        _LOG.info("%s: %d of %d passages in %.0f ms", self.name, len(hits), k, 1000 * (time.perf_counter() - started))
        notes = self.notes(scored) if hits else (*self.notes(scored), *unknown_keys(self.contexts, question.filter))
        return Ranking(question.text, self.name, hits, notes)

    def ranked(self, query: Query, n: int) -> list[Scored]:
        """Rank passages of the current collection, even if it was replaced or re-embedded since the last search.

        Args:
            query: the question.
            n: the number of passages.

        Returns:
            At most `n` passages, best first.
        """
        memory = dict(query.memory)

        def rank() -> list[Scored]:
            _restore(query, memory)
            return self.rank(query, n)[:n]

        named = ",".join(context.reader.collection.name for context in self.contexts)
        with span(f"retrieval {named}", client=True, retriever=type(self).name, k=n) as noted:
            noted |= {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": named}  # names of OpenTelemetry
            return self.context.current(rank)

    @property
    def contexts(self) -> tuple[SearchContext, ...]:
        """The collections whose passages it ranks."""
        return (self.context,)

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return passages by their ids.

        Args:
            ids: ids of passages.

        Returns:
            id -> passage, without missing ones.
        """
        return self.context.reader.passages(ids)  # also works for ids of other collections

    def hits(self, scored: Sequence[Scored]) -> tuple[Hit, ...]:
        """Return the passages of a ranking with their texts.

        Args:
            scored: the ranking.

        Returns:
            The hits in their order, without missing passages.
        """
        passages = self.passages([s.id for s in scored])
        return tuple(Hit(passages[s.id], s.score, s.why) for s in scored if s.id in passages)

    def _removed_from(self) -> bool:
        """Return whether indexes may still hold removed nodes instead of new ones, so that searches find nothing."""
        return any(context.reader.stale() for context in self.contexts)

    def on(self, *parts: "Retriever") -> Self:
        """Return the same retriever over other retrievers.

        Args:
            parts: the retrievers.

        Returns:
            A new retriever with the same options.
        """
        return type(self)(*parts, **self.given)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __mod__(self, k: int) -> "Retriever":
        return RETRIEVERS["top"](self, k=k)

    def __rshift__(self, other: "Retriever") -> "Retriever":
        return other.on(self)

    def __or__(self, other: "Retriever") -> "Retriever":
        return self._join("rrf", other)

    def __and__(self, other: "Retriever") -> "Retriever":
        return self._join("common", other)

    def __xor__(self, other: "Retriever") -> "Retriever":
        return self._join("concat", other)

    def _join(self, name: str, other: "Retriever") -> "Retriever":
        """Return `a | b | c` as rrf(a, b, c), without nesting."""
        flat = self.expression.name == name and self.expression.parts and not self.given
        return RETRIEVERS[name](*(self.parts if flat else (self,)), other)


def _restore(query: Query, memory: Mapping[Retriever, Any]) -> None:
    """Restore the memory of a query before its ranking is repeated."""
    query.memory.clear()
    query.memory.update(memory)


def _nothing(name: str) -> SearchContext:
    raise ConfigurationError(f"{name!r} has no collection.", "Give it a collection: kg['notes'].")


def make_retriever(expression: str | Expression, context: SearchContext) -> Retriever:
    """Make the retriever of an expression: a name, or a composition such as `rrf(hybrid, pathrank(cap=20))`.

    Raises NotFoundError for an unknown name, ConfigurationError for an invalid expression or option.
    """
    parsed = parse(expression) if isinstance(expression, str) else expression
    kind = RETRIEVERS.find(parsed.name)
    options = dict(parsed.options)
    if parsed.parts:
        kind.check(options, parsed.parts)
    parts: list[Searchable] = [make_retriever(part, context) for part in parsed.parts]
    return kind(*(parts or [context]), **options)


def check_retriever(expression: str) -> str:
    """Return the expression in its standard spelling. Raises as `make_retriever` does, without a graph."""
    return str(_checked(parse(expression)))


def check_defaults(defaults: Mapping[str, Mapping[str, object]]) -> None:
    """Raise NotFoundError or ConfigurationError if settings name a retriever or an option that does not exist."""
    for name, options in defaults.items():
        RETRIEVERS.find(name.replace("_", "-")).check(options)


def _checked(expression: Expression) -> Expression:
    kind = RETRIEVERS.find(expression.name)
    kind.check(dict(expression.options), expression.parts)
    return Expression(expression.name, tuple(map(_checked, expression.parts)), expression.options)
