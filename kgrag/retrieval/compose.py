"""Retrievers composed of others: fused by ranks or scores, cut, intersected and concatenated."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from pydantic import Field

from kgrag.retrieval.base import FusionOptions, Query, Retriever, Scored, VectorOptions
from kgrag.retrieval.context import Searchable
from kgrag.runtime.options import Count, Options
from kgrag.values.results import Passage, Step

ONE_AT_A_TIME = threading.Lock()
"""Held while a model runs in this process, since parallel threads of torch would compete for the cores."""


def rank_again(
    retriever: Retriever, query: Query, depth: int, n: int, score: Callable[[list[str]], Sequence[float]]
) -> list[Scored]:
    """Return the best `n` among the first `depth` passages of the retriever's base, by the `score` of their texts.

    Passages removed meanwhile are skipped. Ties keep the order of the base. A passage keeps its trail, and its new rank
    is added as a step.
    """
    ranking = retriever.parts[0].rank(query, depth)
    passages = retriever.context.reader.passages([hit.id for hit in ranking])
    ranking = [hit for hit in ranking if hit.id in passages]
    if not ranking:
        return []
    values = score([text_of(passages[hit.id]) for hit in ranking])
    scores = dict(zip([hit.id for hit in ranking], values, strict=True))
    best = sorted(ranking, key=lambda hit: -scores[hit.id])[:n]
    return [
        Scored(hit.id, scores[hit.id], (*hit.why, rank_step(type(retriever).name, rank, scores[hit.id])))
        for rank, hit in enumerate(best, 1)
    ]


def rank_step(name: str, rank: int, score: float) -> Step:
    """Return the step of a passage's rank."""
    return Step(f"{name} rank {rank}", "Passage", "", score)


def text_of(passage: Passage) -> str:
    """Return a passage as text for a model: its title and its text."""
    return f"{passage.title}\n{passage.text}".strip()


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Scored]], constant: float) -> list[Scored]:
    """Fuse rankings (GEAR, section 3). Ranks count from 1, ids break ties, and all trails are kept."""
    scores: dict[str, float] = {}
    trails: dict[str, tuple[Step, ...]] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (constant + rank)
            trails[hit.id] = trails.get(hit.id, ()) + hit.why
    order = sorted(scores, key=lambda id: (-scores[id], id))
    return [Scored(id, scores[id], trails[id]) for id in order]


def concatenate(rankings: Iterable[Sequence[Scored]], most: int | None = None) -> list[Scored]:
    """Append to each ranking the passages that only the next one has, up to `most` passages. Scores are 1 / rank."""
    appended: dict[str, Scored] = {}
    for ranking in rankings:
        for x in ranking:
            appended.setdefault(x.id, x)
        if most is not None and len(appended) >= most:
            break
    return [Scored(x.id, 1 / rank, x.why) for rank, x in enumerate(list(appended.values())[:most], 1)]


class RrfOptions(FusionOptions):
    """Options of reciprocal rank fusion."""

    depth: Count = Field(100, description="how many passages each fused ranking contributes")


class Rrf(Retriever):
    """The reciprocal rank fusion of other retrievers, also written `a | b`.

    Source: GEAR, section 3.

    Example:
        >>> fused = Bm25(collection.context) | Dense(collection.context)
        >>> fused.name, len(fused.retrieve("Where was the designer of the Fram born?", k=3))
        ('rrf(bm25, dense)', 3)
    """

    name = "rrf"
    summary = "reciprocal rank fusion of any others, of bm25 and dense by itself: rrf(hybrid, pathrank)"
    paper = "GEAR, section 3"
    options = RrfOptions
    over: ClassVar[tuple[str, ...]] = ("bm25", "dense")
    several = True
    settings: RrfOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. Each part contributes its best max(`depth`, n) passages."""
        depth = max(n, self.settings.depth)
        return self.fuse([part.rank(query, depth) for part in self.parts])[:n]

    def fuse(self, rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
        """Fuse rankings into one.

        Args:
            rankings: each best first.

        Returns:
            The fused ranking, best first.
        """
        return reciprocal_rank_fusion(rankings, self.settings.rrf)


class HybridOptions(VectorOptions):
    """Options of BM25 and dense retrieval together."""

    depth: Count = Field(100, description="how many passages each of both contributes")
    nearness: float = Field(0.4, ge=0, le=1, description="weight of the vectors; the words have the rest")


class Hybrid(Retriever):
    """A weighted sum of BM25 and dense scores.

    BM25 is scaled by its best score. The cosine is scaled between the average of the passages that share words with the
    question, and the maximum. So no calibration is needed, whatever the range of an embedder's cosines.

    Source: Bruch et al., "An Analysis of Fusion Functions for Hybrid Retrieval", 2023, section 4, with another
    normalisation.

    Example:
        >>> ranking = Hybrid(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "hybrid"
    summary = "bm25 and dense, their scores added"
    paper = "Bruch et al., 2023"
    uses = ("words", "vectors")
    options = HybridOptions
    settings: HybridOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. Ids break ties."""
        depth, weight = max(n, self.settings.depth), self.settings.nearness
        reader, vector = self.context.reader, query.vector(self.context.embedder)
        worded, nearness = reader.fulltext_and_nearness(query.text, vector, depth, query.filter)
        average = sum(nearness.values()) / len(nearness) if nearness else 0.0
        nearest = reader.vector(vector, depth, self.settings.over_fetch, query.filter)
        nearness |= dict(nearest)
        farthest = min(nearness.values(), default=0.0)  # assumed for a passage without a vector
        words = dict(worded)
        best = max(words.values(), default=1.0)
        least = min(words.values()) if len(words) == depth else 0.0  # upper bound for the next passages
        why: defaultdict[str, list[Step]] = defaultdict(list)
        for name, ranked in (("bm25", worded), ("dense", nearest)):
            for rank, (id, score) in enumerate(ranked, 1):
                why[id].append(rank_step(name, rank, score))
        ranking = [
            Scored(
                id,
                (1 - weight) * words.get(id, least) / best
                + weight * (nearness.get(id, farthest) - average) / max(1 - average, 1e-9),
                tuple(steps),
            )
            for id, steps in why.items()
        ]
        return sorted(ranking, key=lambda x: (-x.score, x.id))[:n]


class Common(Rrf):
    """The passages that all of several retrievers find, by reciprocal rank fusion, also written `a & b`.

    Example:
        >>> both = Bm25(collection.context) & Dense(collection.context)
        >>> both.name
        'common(bm25, dense)'
    """

    name = "common"
    summary = "what all of several others find among their best, fused: common(bm25, dense)"

    def fuse(self, rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
        """See Rrf."""
        everywhere = set.intersection(*({x.id for x in ranking} for ranking in rankings))
        return [x for x in super().fuse(rankings) if x.id in everywhere]


class Concat(Retriever):
    """The passages of one retriever, then the passages that only the next one finds, also written `a ^ b`.

    Example:
        >>> then = Bm25(collection.context) ^ Dense(collection.context)
        >>> then.name
        'concat(bm25, dense)'
    """

    name = "concat"
    summary = "one after the other: concat(top(pathrank, k=5), bm25)"
    over = ("bm25", "dense")
    several = True

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. Scores are 1 / rank."""
        return concatenate((part.rank(query, n) for part in self.parts), n)


class TopOptions(Options):
    """Options of a cut."""

    k: Count = Field(10, description="passages that are left")


class Top(Retriever):
    """The best few passages of another retriever, also written `a % k`.

    Example:
        >>> few = Bm25(collection.context) % 2
        >>> len(few.retrieve("Where was the designer of the Fram born?", k=8))
        2
    """

    name = "top"
    summary = "the best few of another: top(bm25, k=5)"
    needs = "another retriever to cut"
    options = TopOptions
    over = ("hybrid",)
    settings: TopOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        super().__init__(*on, **options)
        self.scale = self.parts[0].scale

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever."""
        return self.parts[0].rank(query, min(n, self.settings.k))
