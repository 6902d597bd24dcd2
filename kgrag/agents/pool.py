"""The pooled hits of several queries: each passage with its best score over all queries."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.retrieval.base import Scale, Scored

_RRF = 60.0  # reciprocal rank fusion: 1 / (60 + rank)


class Pool:
    """Passages with their best scores (BDTR, section 3.1, equations 2 to 4; IRCoT as run by HippoRAG).

    `scale` describes the retriever's scores. Scores that only define an order cannot be compared between queries, so
    they are replaced by 1 / (60 + rank).
    """

    def __init__(self, scale: Scale) -> None:
        self._ranks = scale == "rank"
        self._best: dict[str, Scored] = {}

    def add(self, ranking: Sequence[Scored]) -> None:
        """Add a ranking."""
        for rank, x in enumerate(ranking, 1):
            scored = replace(x, score=1 / (_RRF + rank)) if self._ranks else x
            previous = self._best.get(x.id)
            if previous is None or scored.score > previous.score:
                self._best[x.id] = scored

    def ranking(self) -> list[Scored]:
        """Return all passages, best first; ties keep the order of arrival."""
        return sorted(self._best.values(), key=lambda x: -x.score)
