"""SIMILAR edges: the nearest neighbours of each passage or entity by embedding, with exact scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgrag.graph.connection import Transaction
from kgrag.graph.description import describe
from kgrag.indexing import neighbours
from kgrag.indexing.stage import StageContext

_BATCH = 1000
_SEARCHES = 200
"""How many vectors are read and compared in the time of one search of the index, about."""
_SMALL = 20_000  # vectors that are compared all the same: that is exact


@dataclass(frozen=True, slots=True)
class Kind:
    """What is compared: the nodes of a label. At most `k` neighbours are kept, all of at least the score `least`."""

    label: str
    k: int
    least: float = 0.0

    @property
    def plural(self) -> str:
        """What the nodes are called."""
        return describe().node(self.label).plural


def link_similar(work: StageContext) -> None:
    """Write the nearest neighbours of the passages that are marked, and of those that a new passage comes close to."""
    due = work.due("Passage", "similar")
    if not due:
        return
    if work.collection.indexing.similar == 0:
        work.done("Passage", due, "similar")
        return
    link_nearest(work, Kind("Passage", work.collection.indexing.similar), due, lambda: work.passages)


def link_nearest(work: StageContext, kind: Kind, due: Sequence[str], count: Callable[[], int]) -> None:
    """Write the neighbours of the nodes `due`, and of those that one of them comes close to; `count`s all vectors."""
    total = count()
    held = total * work.collection.dimension * 4
    few = total > max(_SMALL, _SEARCHES * len(due))
    if few or held > work.settings.exact_neighbours_mb * 2**20:
        _by_index(work, kind, due)
    else:
        _exactly(work, kind, due, total)


def _exactly(work: StageContext, kind: Kind, due: Sequence[str], total: int) -> None:
    ids: list[str] = []
    vectors = np.empty((total, work.collection.dimension), np.float32)
    floors = np.full(total, kind.least, np.float32)
    slot = work.collection.embedding
    stream = work.graph.stream("stages/vectors", label=kind.label, collection=work.name, embedding=slot)
    for i, record in enumerate(stream):
        ids.append(record["id"])
        vectors[i] = record["vector"]
        floors[i] = kind.least if record["floor"] is None else record["floor"]
        if i % 10_000 == 0:
            work.progress(f"similar {kind.plural}", 0, len(due))  # not how many there are to compare with
    vectors, floors = vectors[: len(ids)], floors[: len(ids)]
    position = {id: i for i, id in enumerate(ids)}
    rows = np.array(sorted(position[id] for id in due if id in position), np.intp)
    work.done(kind.label, [id for id in due if id not in position], "similar")  # what has no vector is near nothing
    if len(rows) < len(ids):
        displaced = neighbours.displaced(vectors, floors, rows)
        work.mark(kind.label, [ids[i] for i in displaced], "similar")
        rows = np.union1d(rows, displaced)
    pending: list[dict[str, Any]] = []
    for done, (row, found) in enumerate(neighbours.nearest(vectors, ids, rows, kind.k, kind.least)):
        pending.append(_row(ids[row], [{"id": ids[j], "score": score} for j, score in found], kind.k))
        if len(pending) == _BATCH:
            work.progress(f"similar {kind.plural}", done, len(rows))
            _write(work, kind, pending)
            pending = []
    _write(work, kind, pending)
    work.flush()
    work.progress(f"similar {kind.plural}", len(rows), len(rows))


def _by_index(work: StageContext, kind: Kind, due: Sequence[str]) -> None:
    """For more vectors than are worth reading: candidates from the vector index, scored exactly on the server."""
    displaced = _write_by_index(work, kind, due, spread=True)
    _write_by_index(work, kind, displaced, spread=False)


def _write_by_index(work: StageContext, kind: Kind, due: Sequence[str], *, spread: bool) -> list[str]:
    """Write the neighbours of nodes; with `spread` mark and return those whose own last neighbour is further away."""
    displaced: set[str] = set()
    for ids in work.batches(due, 100, f"similar {kind.plural}"):
        found = work.graph.run(
            "stages/neighbours",
            label=kind.label,
            ids=ids,
            index=work.collection.vector_index(kind.label),
            embedding=work.collection.embedding,
            candidates=work.settings.over_fetch,
            k=kind.k,
        )
        rows = {r["id"]: [n for n in r["neighbours"] if n["score"] >= kind.least] for r in found}
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
