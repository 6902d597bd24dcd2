"""NaiveGE: a base retriever, expanded by diverse triple beam search from all triples of its passages.

GEAR, sections 4.2 and 6.2. No model but the embedder is asked; `beam` holds the search.
"""

from collections.abc import Sequence

from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.retrieval.beam import base_ranking, expand, notes_on_triples


class NaiveGe(Retriever):
    """The base retriever's passages, fused with those that chains of triples lead to from them."""

    name = "naive-ge"

    def __init__(self, index: Index, base: Retriever) -> None:
        super().__init__(index)
        self.base = base

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the base ranking itself where its passages state no triples."""
        s = self.index.settings.naive_ge
        base = base_ranking(self.base, query, max(n, s.passages))
        return expand(self.index, query, base, s, passages=[x.id for x in base[: s.passages]])[:n]

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """See Retriever; says so when the collection holds no triples."""
        return notes_on_triples(self, self.base, ranked)
