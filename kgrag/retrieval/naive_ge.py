"""NaiveGE: a base retriever, expanded by diverse triple beam search from all triples of its passages.

GEAR, sections 4.2 and 6.2. No model but the embedder is asked; `beam` holds the search.
"""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.retrieval.beam import expand
from kgrag.types import Step


class NaiveGe(Retriever):
    """The base retriever's passages, fused with those that chains of triples lead to from them."""

    name = "naive-ge"

    def __init__(self, index: Index, base: Retriever) -> None:
        super().__init__(index)
        self.base = base

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the base ranking itself where its passages state no triples."""
        s = self.index.settings.naive_ge
        base = [self._ranked(x, rank) for rank, x in enumerate(self.base.rank(query, max(n, s.passages)), 1)]
        return expand(self.index, query, base, s, passages=[x.id for x in base[: s.passages]])[:n]

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """See Retriever; says so when the collection holds no triples."""
        notes = self.base.notes(ranked)
        if any(step.label == "Triple" for x in ranked for step in x.why) or self.index.reader.has_triples():
            return notes
        return (*notes, f"This collection holds no triples: {self.name} gives what {self.base.name} gives.")

    def _ranked(self, scored: Scored, rank: int) -> Scored:
        """With the base's rank in the trail, unless the base says it itself."""
        step = Step(f"{self.base.name} rank {rank}", "Passage", "", scored.score)
        return scored if step in scored.why else replace(scored, why=(*scored.why, step))
