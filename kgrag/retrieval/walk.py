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
    each passage in the PageRank what orders it, `ties`: the passages that mention a name, by its place in the graph.
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
    ties: dict[int, list[str]] = field(default_factory=dict)


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
