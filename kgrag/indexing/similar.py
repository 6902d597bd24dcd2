"""SIMILAR edges: the nearest neighbours of each passage by embedding, with exact scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kgrag.graph.connection import Unit
from kgrag.indexing import neighbours
from kgrag.indexing.work import Work

_BATCH = 1000


def link_similar(work: Work) -> None:
    """Write the nearest neighbours of the passages that are marked, and of those that a new passage comes close to."""
    due = work.due("passages", "similar")
    if not due:
        return
    if work.collection.indexing.similar == 0:
        work.graph.run("write/done_passages", ids=due, stage="similar")
    elif work.count_passages() * work.collection.dimension * 4 > work.settings.exact_neighbours_mb * 2**20:
        _by_index(work, due)
    else:
        _exactly(work, due)


def _exactly(work: Work, due: Sequence[str]) -> None:
    k = work.collection.indexing.similar
    total = work.count_passages()
    ids: list[str] = []
    vectors = np.empty((total, work.collection.dimension), np.float32)
    floors = np.full(total, -1, np.float32)
    stream = work.graph.stream("search/vectors", collection=work.name, embedding=work.collection.embedding)
    for i, record in enumerate(stream):
        ids.append(record["id"])
        vectors[i] = record["vector"]
        floors[i] = -1 if record["floor"] is None else record["floor"]
        if i % 10_000 == 0:
            work.progress("vectors", i, total)
    work.progress("vectors", len(ids), len(ids))
    vectors, floors = vectors[: len(ids)], floors[: len(ids)]
    position = {id: i for i, id in enumerate(ids)}
    rows = np.array(sorted(position[id] for id in due), np.intp)
    if len(rows) < len(ids):
        displaced = neighbours.displaced(vectors, floors, rows)
        work.mark([ids[i] for i in displaced], "similar")
        rows = np.union1d(rows, displaced)
    pending: list[dict[str, Any]] = []
    for done, (row, found) in enumerate(neighbours.nearest(vectors, ids, rows, k)):
        pending.append(_row(ids[row], [{"id": ids[j], "score": score} for j, score in found], k))
        if len(pending) == _BATCH:
            work.progress("neighbours", done, len(rows))
            _write(work, pending)
            pending = []
    _write(work, pending)
    work.flush()
    work.progress("neighbours", len(rows), len(rows))


def _by_index(work: Work, due: Sequence[str]) -> None:
    """For vectors that do not fit into memory: candidates from the vector index, scored exactly on the server."""
    k = work.collection.indexing.similar
    work.mark(_write_by_index(work, due, k), "similar")
    displaced = set(work.due("passages", "similar"))
    _write_by_index(work, sorted(displaced), k)


def _write_by_index(work: Work, due: Sequence[str], k: int) -> list[str]:
    """Write the neighbours of passages; returns those that have one of them nearer than their own last neighbour."""
    displaced: set[str] = set()
    for ids in work.batches(due, 100, "neighbours"):
        found = work.graph.run(
            "search/neighbours",
            ids=ids,
            index=work.collection.vector_index("Passage"),
            embedding=work.collection.embedding,
            candidates=work.settings.retrieval.over_fetch,
            k=k,
        )
        near = {n["id"] for r in found for n in r["neighbours"] if n["floor"] is None or n["score"] >= n["floor"]}
        displaced |= near
        work.mark(sorted(near.difference(due)), "similar")
        _write(work, [_row(r["id"], r["neighbours"][:k], k) for r in found])
    return sorted(displaced.difference(due))


def _row(passage: str, near: list[dict[str, Any]], k: int) -> dict[str, Any]:
    return {"passage": passage, "floor": near[-1]["score"] if len(near) == k else None, "neighbours": near}


def _write(work: Work, rows: list[dict[str, Any]]) -> None:
    if rows:

        def write(unit: Unit) -> None:
            unit.run("write/similar", rows=rows)

        work.commit("passages", "similar", [row["passage"] for row in rows], write)
