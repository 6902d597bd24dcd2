"""Exact nearest neighbours of unit vectors, block by block."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_BLOCK = 1024  # rows scored at once
_DIGITS = 6  # scores are compared after rounding, so that equal texts tie whatever block they fall in


def nearest(
    vectors: Vectors, ids: Sequence[str], rows: NDArray[np.intp], k: int
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """For each of `rows` (indices into `vectors`, float32 [n, d], unit length) its k nearest other vectors.

    Yields (row, [(other, score), ...]), best first, ties by id; score = (1 + cosine) / 2, as Neo4j gives it.
    """
    k = min(k, len(vectors) - 1)
    if k < 1:
        for row in rows:
            yield int(row), []
        return
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        best_score = np.full((len(block), 0), -1, np.float32)
        best_index = np.empty((len(block), 0), np.intp)
        for low in range(0, len(vectors), 16 * _BLOCK):
            part = vectors[low : low + 16 * _BLOCK]
            scores = _scores(vectors[block], part)
            inside = (block >= low) & (block < low + len(part))
            scores[np.nonzero(inside)[0], block[inside] - low] = -1
            best_score, best_index = _merge(best_score, best_index, scores, low, k)
        for i, row in enumerate(block):
            found = sorted(
                zip(best_index[i].tolist(), best_score[i].tolist(), strict=True), key=lambda f: (-f[1], ids[f[0]])
            )
            yield int(row), [(j, round(s, _DIGITS)) for j, s in found[:k] if s >= 0]


def _scores(rows: Vectors, columns: Vectors) -> Vectors:
    scores: Vectors = np.round((1 + rows @ columns.T) / 2, _DIGITS).astype(np.float32, copy=False)
    return scores


def _merge(
    best_score: Vectors, best_index: NDArray[np.intp], scores: Vectors, low: int, k: int
) -> tuple[Vectors, NDArray[np.intp]]:
    """The best so far and those of a new block, a few more than k of each so that ties at the end stay in."""
    keep = min(k + 8, scores.shape[1])
    top = np.argpartition(-scores, keep - 1, axis=1)[:, :keep]
    merged_score = np.hstack([best_score, np.take_along_axis(scores, top, axis=1)])
    merged_index = np.hstack([best_index, top + low])
    if merged_score.shape[1] > k + 8:
        order = np.argpartition(-merged_score, k + 7, axis=1)[:, : k + 8]
        merged_score = np.take_along_axis(merged_score, order, axis=1)
        merged_index = np.take_along_axis(merged_index, order, axis=1)
    return merged_score, merged_index


def displaced(vectors: Vectors, floors: NDArray[np.float32], new: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows, `new` ones left out, that have one of the `new` vectors nearer than their last neighbour.

    `floors`: score of each row's last neighbour, float32 [n]; -1 where there are fewer neighbours than wanted.
    """
    hit = np.zeros(len(vectors), bool)
    for start in range(0, len(new), _BLOCK):
        block = vectors[new[start : start + _BLOCK]]
        for low in range(0, len(vectors), 16 * _BLOCK):
            scores = _scores(vectors[low : low + 16 * _BLOCK], block)
            hit[low : low + 16 * _BLOCK] |= scores.max(axis=1) >= floors[low : low + 16 * _BLOCK]
    hit[new] = False
    return np.nonzero(hit)[0]
