"""NaiveGE: a base retriever, expanded by diverse triple beam search from all triples of its passages.

GEAR, sections 4.2 and 6.2. The embedder is the only model; see `beam` for the search.
"""

from pydantic import Field

from kgrag.retrieval.base import Layer, Query, Retriever, Scored
from kgrag.retrieval.beam import BeamOptions, base_ranking, expand
from kgrag.runtime.options import Count


class NaiveGeOptions(BeamOptions):
    """Options of NaiveGE."""

    passages: Count = Field(15, description="base passages whose triples begin the chains (appendix C)")


class NaiveGe(Retriever):
    """Fuses the passages of the base retriever with the passages that chains of triples lead to from them.

    Source: GEAR, section 6.2.

    Example:
        >>> expanded = NaiveGe(Bm25(collection.context), beams=5)
        >>> len(expanded.retrieve("Where was the designer of the Fram born?", k=3))
        3
    """

    name = "naive-ge"
    summary = "another's passages, and passages that chains of triples lead to; GEAR without a language model"
    paper = "GEAR, section 6.2"
    uses = ("triples", "vectors")
    options = NaiveGeOptions
    over = ("hybrid",)
    settings: NaiveGeOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; returns the base ranking itself if its passages state no triples."""
        s = self.settings
        base = base_ranking(self.parts[0], query, s.passages if s.fuse == "read" else max(n, s.passages))
        return expand(self.context, query, base, s, passages=[x.id for x in base[: s.passages]])[:n]

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"triples"})
