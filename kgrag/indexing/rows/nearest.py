"""The nearest neighbours of the passages or names of a new collection, all compared with all, as relationships."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from kgrag.indexing import neighbours
from kgrag.indexing.rows.columns import Tables
from kgrag.models.embed import Vectors

_TOLD = 1000  # nodes between two signs of progress


@dataclass(frozen=True, slots=True)
class Nearest:
    """The `k` nearest of nodes with these ids, at most: (place, [(place of a neighbour, score), ...])."""

    ids: list[str]
    k: int
    rows: Iterable[tuple[int, list[tuple[int, float]]]]

    @classmethod
    def of(cls, vectors: Vectors, ids: list[str], k: int, least: float = 0.0, *, at_once: bool) -> "Nearest":
        """Compare vectors of float32 [n, d]; a row of zeros is no vector and near nothing.

        Args:
            vectors: The vectors.
            ids: The id of each.
            k: Neighbours at most; 0 for none at all.
            least: The score that a neighbour has at least.
            at_once: Whether to compare now; else as `link` asks for the rows, which takes less memory.
        """
        there = np.flatnonzero(vectors.any(axis=1))
        if len(there) < len(ids):
            vectors, ids = vectors[there], [ids[i] for i in there]
        rows = neighbours.nearest(vectors, ids, np.arange(len(ids)), k, least) if k else iter(())
        return cls(ids, k, list(rows) if at_once else rows)

    def link(self, tables: Tables, table: str, progress: Callable[[int], None] = lambda done: None) -> dict[str, float]:
        """Write the relationships; returns the score of the last one by id, where there are as many as wanted."""
        floors: dict[str, float] = {}
        for done, (row, near) in enumerate(self.rows):
            id = self.ids[row]
            for other, score in near:
                tables.link(table, id, self.ids[other], score, "embedding")
            if len(near) == self.k:
                floors[id] = near[-1][1]
            if done % _TOLD == 0:
                progress(done)
        return floors
