"""Exact nearest neighbours of unit vectors, block by block."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_BLOCK = 1024  # rows compared at once
_PART = 8 * _BLOCK  # with so many others
_DIGITS = 6  # scores are compared after rounding, so that equal texts tie whatever block they fall in
_TIES = 8  # more than wanted are kept of each row, so that ties at the end stay in
_MANY = 32  # others of a part that are near to a row, on average, from which they are sorted out before
_NEAR = 0.85  # the score from which a part of the components tells most pairs apart
_COMPONENTS = 64


def nearest(
    vectors: Vectors, ids: Sequence[str], rows: NDArray[np.intp], k: int, least: float = 0.0
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """For each of `rows` (indices into `vectors`, float32 [n, d], unit length) its k nearest other vectors.

    Yields (row, [(other, score), ...]), best first, ties by id; score = (1 + cosine) / 2, as Neo4j gives it, of at
    least `least`. What is kept at a time is bounded: the cosines of one block and the best few of its rows.
    """
    k = min(k, len(vectors) - 1)
    if k < 1:
        for row in rows:
            yield int(row), []
        return
    narrow = _narrowed(vectors) if least >= _NEAR and vectors.shape[1] >= 2 * _COMPONENTS else None
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        found: list[list[tuple[int, float]]] = [[] for _ in block]
        for place, other, score in zip(*_best(vectors, narrow, block, k, least), strict=True):
            found[place].append((other, score))
        for row, its in zip(block.tolist(), found, strict=True):
            its.sort(key=lambda f: (-f[1], ids[f[0]]))
            yield row, [(other, round(score, _DIGITS)) for other, score in its[:k]]


def _narrowed(vectors: Vectors) -> Vectors:
    """The first principal components of unit vectors, and the length of the rest: [n, components + 1].

    The product of two is never less than their cosine (Cauchy-Schwarz), so that most pairs need no other.
    """
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    first = vectors @ axes[:, -_COMPONENTS:]
    rest = np.sqrt(np.maximum(0, 1 - np.square(first).sum(axis=1, keepdims=True)))
    return np.hstack([first, rest]).astype(np.float32, copy=False)


def _best(
    vectors: Vectors, narrow: Vectors | None, block: NDArray[np.intp], k: int, least: float
) -> tuple[list[int], list[int], list[float]]:
    """The k nearest of each row of a block, and ties with the last: [place in the block], [other], [score]."""
    places, others = np.empty(0, np.intp), np.empty(0, np.intp)
    scores = np.empty(0, np.float32)
    floors = np.full(len(block), least, np.float32)  # what another must score to be among the best
    for low in range(0, len(vectors), _PART):
        place, other = _near(vectors, narrow, block, low, floors, k)
        cosine = np.einsum("ij,ij->i", vectors[block[place]], vectors[other])  # the same in whatever block
        places, others = np.concatenate([places, place]), np.concatenate([others, other])
        scores = np.concatenate([scores, _scores(cosine)])
        order = np.lexsort((others, -scores, places))
        order = order[scores[order] >= floors[places[order]]]
        ranks = np.arange(len(order)) - np.searchsorted(places[order], places[order])
        last = order[ranks == k - 1]
        floors[places[last]] = scores[last]
        order = order[ranks < k + _TIES]
        places, others, scores = places[order], others[order], scores[order]
    return places.tolist(), others.tolist(), scores.tolist()


def _near(
    vectors: Vectors, narrow: Vectors | None, block: NDArray[np.intp], low: int, floors: Vectors, k: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The vectors of a part that may reach the floors of a block's rows: [place in the block], [other].

    Not all of them, if they are many: those of each row that are nearest in this part.
    """
    part, least = slice(low, low + _PART), _cosines(floors)[:, None]
    if narrow is not None:
        near = narrow[block] @ narrow[part].T >= least
        if np.count_nonzero(near) <= _MANY * len(block):
            place, column = np.nonzero(near)
            apart = column + low != block[place]
            return place[apart], column[apart] + low
    cosines = vectors[block] @ vectors[part].T
    own = (block >= low) & (block < low + cosines.shape[1])
    cosines[np.nonzero(own)[0], block[own] - low] = -np.inf
    near, most = cosines >= least, k + _TIES
    if np.count_nonzero(near) > _MANY * len(block) and most < cosines.shape[1]:
        place = np.repeat(np.arange(len(block)), most)
        column = np.argpartition(cosines, -most, axis=1)[:, -most:].ravel()
        kept = near[place, column]
        return place[kept], column[kept] + low
    place, column = np.nonzero(near)
    return place, column + low


def _scores(cosines: Vectors) -> Vectors:
    scores: Vectors = np.round((1 + cosines) / 2, _DIGITS).astype(np.float32, copy=False)
    return scores


def _cosines(scores: Vectors) -> Vectors:
    """Cosines, rather too small, of scores."""
    return 2 * scores - 1 - np.float32(4 * 10.0**-_DIGITS)


def displaced(vectors: Vectors, floors: Vectors, new: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows, `new` ones left out, that have one of the `new` vectors nearer than their last neighbour.

    `floors`: score of each row's last neighbour, float32 [n]; -1 where there are fewer neighbours than wanted.
    """
    hit = np.zeros(len(vectors), bool)
    for start in range(0, len(new), _BLOCK):
        block = vectors[new[start : start + _BLOCK]]
        for low in range(0, len(vectors), _PART):
            cosines = vectors[low : low + _PART] @ block.T
            hit[low : low + _PART] |= _scores(cosines.max(axis=1)) >= floors[low : low + _PART]
    hit[new] = False
    return np.nonzero(hit)[0]
