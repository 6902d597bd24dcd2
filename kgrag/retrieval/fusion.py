"""Reciprocal rank fusion of rankings: score = sum of 1 / (60 + rank)."""

from collections.abc import Sequence

from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.dense import Dense
from kgrag.types import Step


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Scored]], constant: float) -> list[Scored]:
    """Fuse rankings (GEAR, section 3): ranks count from 1, ties by id, the trails of all rankings are kept."""
    scores: dict[str, float] = {}
    trails: dict[str, tuple[Step, ...]] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (constant + rank)
            trails[hit.id] = trails.get(hit.id, ()) + hit.why
    order = sorted(scores, key=lambda id: (-scores[id], id))
    return [Scored(id, scores[id], trails[id]) for id in order]


class Fusion(Retriever):
    """The reciprocal rank fusion of other retrievers."""

    def __init__(self, index: Index, parts: Sequence[Retriever], name: str = "") -> None:
        super().__init__(index)
        self.parts = tuple(parts)
        self.name = name or f"rrf({', '.join(p.name for p in parts)})"

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; each part contributes its best `depth` passages, or n if that is more."""
        depth = max(n, self.index.settings.depth)
        fused = reciprocal_rank_fusion([p.rank(query, depth) for p in self.parts], self.index.settings.rrf)
        return fused[:n]

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """See Retriever; what its parts say."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes(ranked)))


def hybrid(index: Index) -> Fusion:
    """The fusion of BM25 and dense retrieval (GEAR, section 3)."""
    return Fusion(index, (Bm25(index), Dense(index)), "hybrid")
