"""Names that are tied to each other: only groups all of whose pairs may be one entity's."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations

Pair = tuple[str, str]
"""Two ids, the smaller first."""

MARGIN = 0.15
"""How much more must speak for one reading of a short name than for another one."""
LARGEST_GROUP = 12
"""Names of a group."""


def pair(one: str, other: str) -> Pair:
    """The two in their order."""
    return (one, other) if one < other else (other, one)


def ambiguous(
    scores: Mapping[Pair, float], sure: float, apart: Callable[[str, str], bool]
) -> dict[Pair, tuple[str, ...]]:
    """The sure pairs of a name that may as well be another's, with the others that it may be.

    `scores` holds all pairs that are not ruled out; `apart`: whether two names cannot be one entity's.
    """
    partners: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for (one, other), score in scores.items():
        if score >= sure - MARGIN:
            partners[one].append((score, other))
            partners[other].append((score, one))
    found: defaultdict[Pair, set[str]] = defaultdict(set)
    for name, its in partners.items():
        if len(its) < 2:
            continue
        for (score, one), (rival, other) in combinations(its, 2):
            if max(score, rival) >= sure and apart(one, other):
                if score - rival < MARGIN - 1e-9:
                    found[pair(name, one)].add(other)
                if rival - score < MARGIN - 1e-9:
                    found[pair(name, other)].add(one)
    return {p: tuple(sorted(others)) for p, others in found.items() if scores[p] >= sure}


def groups(scores: Mapping[Pair, float], apart: Callable[[str, str], bool]) -> list[list[str]]:
    """Groups of names that sure pairs join, each with at least two: complete linkage, the surest pairs first.

    Two groups are joined only if no name of one is `apart` from a name of the other.
    """
    group: dict[str, list[str]] = {}
    for one, other in sorted(scores, key=lambda p: (-scores[p], p)):
        a, b = group.get(one) or [one], group.get(other) or [other]
        if a is b or len(a) + len(b) > LARGEST_GROUP:
            continue
        if any(apart(x, y) for x in a for y in b if pair(x, y) not in scores):
            continue
        joined = a + b
        group.update(dict.fromkeys(joined, joined))
    return sorted(sorted(members) for members in {id(g): g for g in group.values()}.values())
