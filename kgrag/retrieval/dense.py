"""Dense retrieval: nearest passages by embedding, approximate candidates scored exactly."""

from kgrag.retrieval.base import Query, Retriever, Scored, VectorOptions
from kgrag.retrieval.compose import rank_step


class Dense(Retriever):
    """Passages whose embedding is nearest to the question's.

    Source: GEAR, appendix B.1 (SBERT).

    Example:
        >>> ranking = Dense(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "dense"
    summary = "nearest embeddings: vector index, scored again exactly"
    paper = "GEAR, appendix B.1 (SBERT)"
    uses = ("vectors",)
    options = VectorOptions
    scale = "cosine"
    settings: VectorOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are (1 + cosine) / 2."""
        vector = query.vector(self.context.embedder)
        rows = self.context.reader.vector(vector, n, self.settings.over_fetch, query.filter)
        return [Scored(id, score, (rank_step("dense", rank, score),)) for rank, (id, score) in enumerate(rows, 1)]
