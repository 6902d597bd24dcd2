"""One ranking over several collections.

Scores of different collections cannot be compared: each has its own statistics, perhaps its own embedder. So each ranks
its own passages, and a passage counts by its rank there, times how well its collection fits the question at all: the
BM25 score of the collection's best passage as a share of the highest. (Resource selection and result merging, as in
Callan's "Distributed Information Retrieval", 2000, with reciprocal ranks in place of scores; the weight is our choice.)
"""

from collections.abc import Mapping
from typing import ClassVar

from kgrag.models.parallel import in_parallel
from kgrag.retrieval.base import FusionOptions, Query, Retriever, Scored
from kgrag.retrieval.context import Searchable, SearchContext

_MOST_AT_ONCE = 16


class Federated(Retriever):
    """Retrievers of several collections, asked side by side; its rankings are theirs, merged."""

    name = "federated"
    summary = "several collections searched as one"
    options = FusionOptions
    over: ClassVar[tuple[str, ...]] = ("pathrank",)
    several = True
    settings: FusionOptions

    def __init__(self, *on: Searchable, rrf: float = 60.0) -> None:
        """Make the retriever over one retriever a collection, with their name."""
        super().__init__(*on, rrf=rrf)
        self.name = self.parts[0].name

    @property
    def contexts(self) -> tuple[SearchContext, ...]:
        """See Retriever."""
        return tuple(part.context for part in self.parts)

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; ties go by rank, then id."""
        found: Mapping[Retriever, tuple[list[Scored], float] | Exception] = dict(
            in_parallel(lambda part: (part.ranked(query, n), _fit(part.context, query)), self.parts, _MOST_AT_ONCE)
        )
        rankings = []
        for part in self.parts:
            its = found[part]
            if isinstance(its, Exception):
                raise its
            rankings.append(its)
        best = max(fit for _, fit in rankings) or 1.0
        merged = [
            (-(fit / best) / (self.settings.rrf + rank), rank, scored)
            for ranking, fit in rankings
            for rank, scored in enumerate(ranking, 1)
        ]
        merged.sort(key=lambda each: (*each[:2], each[2].id))
        return [Scored(scored.id, -score, scored.why) for score, _, scored in merged[:n]]


def _fit(context: SearchContext, query: Query) -> float:
    """Return the BM25 score of the collection's best passage for a question, 0 if none shares a word with it."""
    best = context.reader.fulltext(query.text, 1, query.filter)
    return best[0][1] if best else 0.0
