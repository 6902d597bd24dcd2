"""What a walk over names knows: the passages on its way, what each leaves of the question, and the trail to show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieval.clauses import OuterClause
from kgrag.retrieval.linking import Link, LinkedQuestion
from kgrag.retrieval.trail import follow
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import stems, words_of
from kgrag.values.results import Step

Hop = tuple[str, str, int]
"""Source, the name of the entity that leads on, and how it ties the target: MENTIONED, TITLE or BACK."""

_PRECISION, _ROUNDS = 1e-9, 200  # of the PageRank
MENTIONED, TITLE, BACK = 0, 1, 2  # the target mentions the entity, bears its name, or mentions the source's own


_CLAUSE_COSINE, _CLAUSE_SENTENCE, _FAR = 0.6, 0.4, 0.2
"""How a passage answers the outer clause: its cosine, a sentence with its words and an answer, two hops or more."""


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
    each passage in the PageRank what orders it; `ties` [n, names]: which of the `top` [n] mention which name; `unread`:
    passages whose names an ingest has yet to find, so that nothing leads to them.
    """

    question: LinkedQuestion
    vector: list[float]
    clause: OuterClause
    names_apart: bool
    word_weight: float
    hop_cost: float
    sparse: float = 0.0
    strength: float = 0.0
    passages: dict[str, Visited] = field(default_factory=dict)
    details: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    embedded: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    outer: dict[str, Outer] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    top: list[str] = field(default_factory=list)
    ties: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))


def pagerank(edges: NDArray[np.float64], reset: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Return the personalised PageRank [n + m] of n passages and m names.

    `edges` [n, m] lead in both directions.

    `reset` [n + m]: where the walk begins again with probability 1 - damping, or stands at a node without edges.
    """
    rows, columns = edges.nonzero()
    one, other = np.concatenate([rows, columns + len(edges)]), np.concatenate([columns + len(edges), rows])
    reset = reset / reset.sum()
    weights = np.tile(edges[rows, columns], 2)
    leaving = np.bincount(one, weights, len(reset))
    share = damping * weights / leaving[one]
    rank = reset
    for _ in range(_ROUNDS):
        before, stuck = rank, damping * rank[leaving == 0].sum()
        rank = np.bincount(other, share * rank[one], len(reset)) + (1 - damping + stuck) * reset
        if np.abs(rank - before).sum() < _PRECISION:
            break
    return rank


def _path_to(walk: Walk, x: str) -> list[Hop]:
    """Return the hops from a seed to passage x, in order."""
    path: list[Hop] = []
    seen = {x}
    while (parent := walk.passages[x].parent) is not None and parent[0] not in seen:
        path.append(parent)
        x = parent[0]
        seen.add(x)
    return path[::-1]


def trail_to(walk: Walk, x: str, names: Mapping[str, str]) -> tuple[Step, ...]:
    """Return the trail of the walk to passage x; `names`: of passages, by their ids."""
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


def spent_words(walk: Walk, x: str) -> frozenset[int]:
    """Return the words of the question that name passage x or an earlier one of its path."""
    details, question = walk.details[x], walk.question
    before = walk.passages[x].dropped
    own = {o["id"] for o in details["own"]}
    language = question.language
    title = set(stems(words_of(without_parenthesis(details["title"]), language), language))
    spent = set(before)
    for link in question.links:
        if link.entity in own or (not link.titles and link.entity in details["mentioned"]):
            spent.update(range(link.start, link.end))
    spent.update(i for i, stem in enumerate(question.stems) if stem in title and stem in question.idf)
    return before if len(spent) >= len(question.words) - 1 else frozenset(spent)


def rest_weights(walk: Walk, dropped: frozenset[int], outer: float) -> dict[str, float]:
    """Return the weights of the stems (between spaces) of the rest of the question; they add up to 1."""
    residual = {term["stem"]: term["weight"] for term in walk.question.terms(dropped)}
    if not dropped:
        return residual
    return walk.clause.weights(residual, frozenset(f" {walk.question.stems[i]} " for i in dropped), outer)


def answers_clause(walk: Walk, x: str) -> float:
    """Return how well passage x answers the outer clause."""
    known, parent = walk.outer[x], walk.passages[x].parent
    far = parent is not None and walk.passages[parent[0]].parent is not None
    return _CLAUSE_COSINE * known.cosine + _CLAUSE_SENTENCE * walk.clause.best_sentence(known.sentences) + _FAR * far
