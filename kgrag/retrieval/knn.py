"""KNN with fuzzy search: the nearest passages by embedding, fused with the passages most similar in wording.

Wording is compared by Levenshtein distance, which no index supports, so only the nearest passages by embedding and the
best by words are compared. Source: KGP, section 5.1.2 and appendix A.2.3.
"""

from typing import Literal

from pydantic import Field
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from kgrag.retrieval.base import FusionOptions, Query, Retriever, Scored, VectorOptions
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.runtime.options import Count
from kgrag.values.results import Step


class KnnOptions(FusionOptions, VectorOptions):
    """Options of KNN with fuzzy search."""

    candidates: Count = Field(100, description="nearest passages, and best by words, that are compared letterwise")
    each: int | None = Field(
        None,
        le=1_000,
        ge=1,
        description="passages that either ranking contributes (appendix A.2.3: 15); unset: as many as wanted",
    )
    compare: Literal["whole", "part"] = Field(
        "whole",
        description="with the whole passage by Levenshtein distance (appendix A.2.3), or with the part most alike",
    )


class Knn(Retriever):
    """Reciprocal rank fusion of the embedding's ranking with the ranking of a fuzzy comparison of texts.

    Source: KGP, section 5.1.2 and appendix A.2.3.

    Example:
        >>> ranking = Knn(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "knn"
    summary = "dense, fused with the passages whose wording is most like the question (Levenshtein)"
    paper = "KGP, appendix A.2 (KNN)"
    uses = ("words", "vectors")
    options = KnnOptions
    settings: KnnOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever."""
        s, reader = self.settings, self.context.reader
        depth = max(n, s.candidates)
        vector = query.vector(self.context.embedder)
        near = reader.vector(vector, depth, max(depth, self.settings.over_fetch), query.filter)
        worded = reader.fulltext(query.text, depth, query.filter)
        passages = reader.passages(list(dict.fromkeys(id for id, _ in near + worded)))
        text = query.text.lower()
        alike = {id: self._alike(text, p.text.lower()) for id, p in passages.items()}
        fuzzy = sorted(alike.items(), key=lambda pair: (-pair[1], pair[0]))
        most = s.each or n
        rankings = [
            [Scored(id, score, (Step(f"{name} rank {rank}", "Passage", "", score),)) for rank, (id, score) in listed]
            for name, listed in (("dense", enumerate(near[:most], 1)), ("fuzzy", enumerate(fuzzy[:most], 1)))
        ]
        return reciprocal_rank_fusion(rankings, self.settings.rrf)[:n]

    def _alike(self, question: str, text: str) -> float:
        """Return the similarity of wording, 0 to 1."""
        if self.settings.compare == "part":
            return fuzz.partial_ratio(question, text) / 100
        return Levenshtein.normalized_similarity(question, text)
