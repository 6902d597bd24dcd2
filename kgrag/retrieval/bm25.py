"""BM25 over title, headings and text, by Neo4j's full-text index with the collection's own statistics."""

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.compose import rank_step


class Bm25(Retriever):
    """Passages that share words with the question, stemmed by its language, or symbols such as `--flag`.

    Source: Robertson et al., 2009; GEAR, section 3.

    Example:
        >>> ranking = Bm25(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "bm25"
    summary = "words shared with the question: full-text index, stemmed"
    paper = "Robertson et al., 2009; GEAR, section 3"
    uses = ("words",)

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. Question words ("what does") count only if the question has no other words."""
        rows = self.context.reader.fulltext(query.text, n, query.filter)
        return [Scored(id, score, (rank_step("bm25", rank, score),)) for rank, (id, score) in enumerate(rows, 1)]
