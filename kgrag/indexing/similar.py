"""SIMILAR edges: the nearest neighbours of each passage or entity by embedding, with exact scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.graph.connection import Transaction
from kgrag.graph.description import describe
from kgrag.indexing.stage import StageContext
from kgrag.indexing.vectors import embedded_or_logged

Vectors = NDArray[np.float32]
_BLOCK = 1024  # rows compared at once
_PART = 8 * _BLOCK  # vectors that a block is compared with at once
_DIGITS = 6  # scores are rounded before comparison, so that equal texts tie in whatever block they are
_TIES = 8  # extra candidates per row, so that ties at the end are kept
_MANY = 32  # mean candidates per row and part; with more, only the nearest of the part are kept
_NEAR = 0.85  # least score from which a few components suffice to rule out most pairs
_COMPONENTS = 64


def nearest(
    vectors: Vectors, ids: Sequence[str], rows: NDArray[np.intp], k: int, least: float = 0.0
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """Yield the k nearest other vectors of each of `rows` (indices into `vectors`).

    `vectors`: float32 [n, d], unit length.

    Yields (row, [(other, score), ...]), best first, ties by id. score = (1 + cosine) / 2, as in Neo4j, and at least
    `least`. Memory is bounded: it holds the cosines of one block and the best few of its rows.
    """
    k = min(k, len(vectors) - 1)
    if k < 1:
        for row in rows:
            yield int(row), []
        return
    narrow = _narrowed(vectors) if least >= _NEAR and vectors.shape[1] >= 2 * _COMPONENTS else None
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        neighbours: list[list[tuple[int, float]]] = [[] for _ in block]
        for place, other, score in zip(*_best(vectors, narrow, block, k, least), strict=True):
            neighbours[place].append((other, score))
        for row, candidates in zip(block.tolist(), neighbours, strict=True):
            candidates.sort(key=lambda f: (-f[1], ids[f[0]]))
            yield row, [(other, round(score, _DIGITS)) for other, score in candidates[:k]]


def _narrowed(vectors: Vectors) -> Vectors:
    """Return the first principal components of unit vectors, and the length of the remainder: [n, components + 1].

    The product of two such rows is an upper bound of their cosine (Cauchy-Schwarz). It rules out most pairs.
    """
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    first = vectors @ axes[:, -_COMPONENTS:]
    rest = np.sqrt(np.maximum(0, 1 - np.square(first).sum(axis=1, keepdims=True)))
    return np.hstack([first, rest]).astype(np.float32, copy=False)


def _best(
    vectors: Vectors, narrow: Vectors | None, block: NDArray[np.intp], k: int, least: float
) -> tuple[list[int], list[int], list[float]]:
    """Return the k nearest of each row of a block, and ties with the last: [place in the block], [other], [score]."""
    places, others = np.empty(0, np.intp), np.empty(0, np.intp)
    scores = np.empty(0, np.float32)
    floors = np.full(len(block), least, np.float32)  # the score needed to be among the best of each row
    for low in range(0, len(vectors), _PART):
        place, other = _near(vectors, narrow, block, low, floors, k)
        cosine = np.einsum("ij,ij->i", vectors[block[place]], vectors[other])  # independent of the block
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
    """Return the vectors of a part that may reach the floors of a block's rows: [place in the block], [other].

    If there are too many, return only the nearest of each row in this part.
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
        scores = near[place, column]
        return place[scores], column[scores] + low
    place, column = np.nonzero(near)
    return place, column + low


def _scores(cosines: Vectors) -> Vectors:
    scores: Vectors = np.round((1 + cosines) / 2, _DIGITS).astype(np.float32, copy=False)
    return scores


def _cosines(scores: Vectors) -> Vectors:
    """Return the cosines of scores, rounded down so that no candidate is lost."""
    return 2 * scores - 1 - np.float32(4 * 10.0**-_DIGITS)


def displaced(vectors: Vectors, floors: Vectors, new: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows, without the `new` ones, that gain one of the `new` vectors as a neighbour.

    `floors`: the score of each row's last neighbour, float32 [n]; -1 if the row has fewer neighbours than wanted.
    """
    hit = np.zeros(len(vectors), bool)
    for start in range(0, len(new), _BLOCK):
        block = vectors[new[start : start + _BLOCK]]
        for low in range(0, len(vectors), _PART):
            cosines = vectors[low : low + _PART] @ block.T
            hit[low : low + _PART] |= _scores(cosines.max(axis=1)) >= floors[low : low + _PART]
    hit[new] = False
    return np.nonzero(hit)[0]


_BATCH = 1000
_CANDIDATES = 200  # candidates per search of the vector index, which are rescored exactly
SEARCHES = 200
"""Approximate number of vectors that are read and compared in the time of one search of the index."""
SMALL = 20_000  # vectors up to which all are compared, since that is exact


@dataclass(frozen=True, slots=True)
class Kind:
    """The label of the compared nodes. Each keeps at most `k` neighbours with a score of at least `least`."""

    label: str
    k: int
    least: float = 0.0

    @property
    def plural(self) -> str:
        """The plural of the nodes in words."""
        return describe().node(self.label).plural


def link_similar(work: StageContext) -> None:
    """Write the nearest neighbours of the marked passages, and of every passage that gains one of them."""
    due = work.due("Passage", "similar")
    if not due:
        return
    if work.collection.indexing.similar == 0:
        work.done("Passage", due, "similar")
        return
    link_nearest(work, Kind("Passage", work.collection.indexing.similar), due, lambda: work.passages)


def link_nearest(work: StageContext, kind: Kind, due: Sequence[str], count: Callable[[], int]) -> None:
    """Update the neighbours of the nodes in `due`, and of nodes that gain one of them. `count` counts all vectors."""
    total = count()
    size = total * work.collection.dimension * 4
    few = total > max(SMALL, SEARCHES * len(due))
    if few or size > work.settings.exact_neighbours_mb * 2**20:
        _by_index(work, kind, due)
    else:
        link_exactly(work, kind, due, total)


def link_exactly(work: StageContext, kind: Kind, due: Sequence[str], total: int) -> None:
    """Link nodes to their nearest neighbours by brute force."""
    ids: list[str] = []
    vectors = np.empty((total, work.collection.dimension), np.float32)
    floors = np.full(total, kind.least, np.float32)
    slot = work.collection.embedding
    stream = work.graph.stream("stages/vectors", label=kind.label, collection=work.name, embedding=slot)
    for i, (id, vector, floor) in enumerate(chain.from_iterable(record["nodes"] for record in stream)):
        ids.append(id)
        vectors[i] = vector
        floors[i] = kind.least if floor is None else floor
        if i % 10_000 == 0:
            work.progress(f"similar {kind.plural}", 0, len(due))  # the total is the pending nodes, not all nodes
    vectors, floors = vectors[: len(ids)], floors[: len(ids)]
    position = {id: i for i, id in enumerate(ids)}
    rows = np.array(sorted(position[id] for id in due if id in position), np.intp)
    work.done(kind.label, [id for id in due if id not in position], "similar")  # nodes without a vector have none
    if len(rows) < len(ids):
        moved = displaced(vectors, floors, rows)
        work.mark(kind.label, [ids[i] for i in moved], "similar")
        rows = np.union1d(rows, moved)
    pending: list[dict[str, Any]] = []
    for done, (row, neighbours) in enumerate(nearest(vectors, ids, rows, kind.k, kind.least)):
        pending.append(_row(ids[row], [{"id": ids[j], "score": score} for j, score in neighbours], kind.k))
        if len(pending) == _BATCH:
            work.progress(f"similar {kind.plural}", done, len(rows))
            _write(work, kind, pending)
            pending = []
    _write(work, kind, pending)
    work.flush()
    work.progress(f"similar {kind.plural}", len(rows), len(rows))


def _by_index(work: StageContext, kind: Kind, due: Sequence[str]) -> None:
    """Link nodes to candidates from the vector index, which the server scores exactly."""
    displaced = _write_by_index(work, kind, due, spread=True)
    _write_by_index(work, kind, displaced, spread=False)


def _write_by_index(work: StageContext, kind: Kind, due: Sequence[str], *, spread: bool) -> list[str]:
    """Write the neighbours of nodes. With `spread`, mark and return the nodes that gain one of them as a neighbour."""
    displaced: set[str] = set()
    for ids in work.batches(due, 100, f"similar {kind.plural}"):
        records = work.graph.run(
            "stages/neighbours",
            label=kind.label,
            ids=ids,
            index=work.collection.vector_index(kind.label),
            embedding=work.collection.embedding,
            candidates=_CANDIDATES,
            k=kind.k,
        )
        rows = {r["id"]: [n for n in r["neighbours"] if n["score"] >= kind.least] for r in records}
        if spread:
            near = {n["id"] for row in rows.values() for n in row if n["floor"] is None or n["score"] >= n["floor"]}
            near.difference_update(due)
            work.mark(kind.label, sorted(near), "similar")
            displaced |= near
        _write(work, kind, [_row(id, row[: kind.k], kind.k) for id, row in rows.items()])
        work.done(kind.label, [id for id in ids if id not in rows], "similar")
    return sorted(displaced)


def _row(id: str, near: list[dict[str, Any]], k: int) -> dict[str, Any]:
    return {"id": id, "floor": near[-1]["score"] if len(near) == k else None, "neighbours": near}


def _write(work: StageContext, kind: Kind, rows: list[dict[str, Any]]) -> None:
    if rows:

        def write(tx: Transaction) -> None:
            tx.run("write/similar", label=kind.label, rows=rows)

        work.commit(kind.label, "similar", [row["id"] for row in rows], write)


# SIMILAR edges between entities: names that resemble each other, like HippoRAG's synonymy edges (section 2.2).
#
# Only names from titles and triples have a vector. Capitalised phrases have none, since they are spelt as in the texts.
# Names with a digit have none, since vectors hardly tell 1876 from 1867, or the 9th century from the 11th.


_NAMES = 2000
_SHORTEST = 3  # letters, as in HippoRAG


def link_synonyms(work: StageContext) -> None:
    """Write the nearest names of the marked names, and of every name that gains one of them as a neighbour.

    Without an embedder, names without a vector stay pending.
    """
    due = work.due("Entity", "similar")
    if not due:
        return
    indexing, slot = work.collection.indexing, work.collection.embedding
    if indexing.synonyms == 0:
        for ids in work.batches(due, _NAMES, "names"):
            work.done("Entity", ids, "similar")
        return
    ready: list[str] = []
    for ids in work.batches(due, _NAMES, "names"):
        missing = {r["id"]: r["normal"] for r in work.graph.run("stages/unembedded_entities", ids=ids, embedding=slot)}
        ready += [id for id in ids if id not in missing]
        work.done("Entity", [id for id, name in missing.items() if not is_fit(name)], "similar")
        fit = {id: name for id, name in missing.items() if is_fit(name)}
        if fit and work.embedder is not None:
            vectors = embedded_or_logged(work.embedder, list(fit.values()), "names")
            rows = [{"id": id, "vector": vector} for id, vector in zip(fit, vectors, strict=True) if vector]
            work.graph.run("write/vectors", label="Entity", rows=rows, embedding=slot)
            ready += [row["id"] for row in rows]
            work.done("Entity", sorted(fit.keys() - set(ready)), "similar")
    if ready:
        names = Kind("Entity", indexing.synonyms, least=(1 + indexing.synonymy) / 2)
        link_nearest(work, names, ready, lambda: _count(work))


def _count(work: StageContext) -> int:
    slot = work.collection.embedding
    counted = work.graph.run("inspect/count_vectors", label="Entity", collection=work.name, embedding=slot)
    return int(counted[0]["having"])


def is_fit(name: str) -> bool:
    """Return whether a normalised name gets a vector."""
    return len(name) >= _SHORTEST and not any(letter.isdigit() for letter in name)
