"""What a walk over names knows: the passages on its way, how it came to each, and the trail to show of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieval.clauses import OuterClause
from kgrag.retrieval.linking import Link, LinkedQuestion
from kgrag.retrieval.trail import follow
from kgrag.types import Step

Hop = tuple[str, str, int]
"""Source, the name of the entity that leads on, and how it ties the target: MENTIONED, TITLE or BACK."""

_PRECISION, _ROUNDS = 1e-9, 200  # of the PageRank
MENTIONED, TITLE, BACK = 0, 1, 2  # the target mentions the entity, bears its name, or mentions the source's own


@dataclass(slots=True)
class Visited:
    """What the walk knows of a passage; `parent`: the hop that the best path came by."""

    base: float
    score: float
    bonus: float = 0.0
    named_by: Link | None = None
    dropped: frozenset[int] = frozenset()
    parent: Hop | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    """What the last step wants to know of a passage: title, cosine with the outer clause, sentences in stems."""

    title: str
    cosine: float
    sentences: str


@dataclass(slots=True)
class Walk:
    """What is known of a question and of the passages on its way.

    `strength`: how far the list is a set, 0 to 1. `embedded`: unit vectors [d] of parts of the question; `outer`: of
    each passage in the PageRank what orders it; `ties` [n, names]: which of the `top` [n] mention which name.
    """

    question: LinkedQuestion
    vector: list[float]
    clause: OuterClause
    names_apart: bool
    beta: float
    off: float
    sparse: float = 0.0
    strength: float = 0.0
    passages: dict[str, Visited] = field(default_factory=dict)
    details: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    embedded: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    outer: dict[str, Outer] = field(default_factory=dict)
    top: list[str] = field(default_factory=list)
    ties: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))


def pagerank(edges: NDArray[np.float64], reset: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Personalised PageRank [n + m] of n passages and m names, tied by `edges` [n, m] in both directions.

    `reset` [n + m]: where the walk begins again with probability 1 - damping, or stands at a node without edges.
    """
    passages = len(edges)
    reset = reset / reset.sum()
    leaving = np.concatenate([edges.sum(1), edges.sum(0)])
    share = np.divide(1.0, leaving, out=np.zeros_like(leaving), where=leaving > 0)
    rank = reset
    for _ in range(_ROUNDS):
        sent = damping * rank * share
        before, stuck = rank, damping * rank[leaving == 0].sum()
        rank = np.concatenate([edges @ sent[passages:], sent[:passages] @ edges]) + (1 - damping + stuck) * reset
        if np.abs(rank - before).sum() < _PRECISION:
            break
    return rank


def _path_to(walk: Walk, x: str) -> list[Hop]:
    """The hops from a seed to passage x, in order."""
    path: list[Hop] = []
    seen = {x}
    while (parent := walk.passages[x].parent) is not None and parent[0] not in seen:
        path.append(parent)
        x = parent[0]
        seen.add(x)
    return path[::-1]


def trail_to(walk: Walk, x: str, names: Mapping[str, str]) -> tuple[Step, ...]:
    """How the walk came to passage x, to be shown; `names`: of passages, by their ids."""
    path = _path_to(walk, x)
    seed = path[0][0] if path else x
    link = walk.passages[seed].named_by
    steps: list[Step] = []
    if link is None:
        steps.append(Step("resembles the question", "Passage", names.get(seed, ""), walk.passages[seed].base))
    else:
        steps.append(Step("names", "Entity", link.name, link.weight))
        own = {o["id"] for o in walk.details[seed]["own"]} if seed in walk.details else set()
        edge = "ABOUT" if link.entity in own else "MENTIONS"
        steps.append(follow(edge, "Passage", names.get(seed, ""), walk.passages[seed].base))
    for i, (_, entity, kind) in enumerate(path):
        target = path[i + 1][0] if i + 1 < len(path) else x
        steps.append(follow("ABOUT" if kind == BACK else "MENTIONS", "Entity", entity))
        edge = "ABOUT" if kind == TITLE else "MENTIONS"
        steps.append(follow(edge, "Passage", names.get(target, ""), walk.passages[target].score))
    return tuple(steps)
