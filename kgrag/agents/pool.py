"""The pool of what several queries found: each passage with the best score that any of them gave it."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.retrieval.base import Scale, Scored

_RRF = 60.0  # reciprocal rank fusion: 1 / (60 + rank)


class Pool:
    """Passages with their best scores (BDTR, section 3.1, equations 2 to 4; IRCoT as HippoRAG runs it).

    `scale` is that of the retriever: scores that are no more than an order are replaced by 1 / (60 + rank), since those
    of one query say nothing beside those of another.
    """

    def __init__(self, scale: Scale) -> None:
        self._ranks = scale == "rank"
        self._best: dict[str, Scored] = {}

    def add(self, ranking: Sequence[Scored]) -> None:
        """Take in a ranking."""
        for rank, x in enumerate(ranking, 1):
            scored = replace(x, score=1 / (_RRF + rank)) if self._ranks else x
            previous = self._best.get(x.id)
            if previous is None or scored.score > previous.score:
                self._best[x.id] = scored

    def ranking(self) -> list[Scored]:
        """Return all passages, best first; of ties the earliest first."""
        return sorted(self._best.values(), key=lambda x: -x.score)
