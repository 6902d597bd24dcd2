"""Find the pairs of names that are worth a comparison: the pairs that share a key.

Blocking, as in Christen, Data Matching (2012), chapter 4: a name has a few keys, each for one way in which two names of
an entity differ. A block that is too large is split by the first words of its names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

from kgrag.indexing.resolution.words import Name, acronyms, is_generic, spelling

Pair = tuple[str, str]
"""Two ids, the smaller first."""

MARGIN = 0.15
"""How much more must speak for one reading of a short name than for another one."""
LARGEST_GROUP = 12
"""Names of a group."""


def pair(one: str, other: str) -> Pair:
    """Return two names as a sorted pair."""
    return (one, other) if one < other else (other, one)


def ambiguous(
    scores: Mapping[Pair, float], sure: float, apart: Callable[[str, str], bool]
) -> dict[Pair, tuple[str, ...]]:
    """Return the sure pairs of a name that fit another name as well, with these names.

    `scores` holds all pairs that are not ruled out; `apart`: whether two names cannot be one entity's.
    """
    partners: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for (one, other), score in scores.items():
        if score >= sure - MARGIN:
            partners[one].append((score, other))
            partners[other].append((score, one))
    names: defaultdict[Pair, set[str]] = defaultdict(set)
    for name, rivals in partners.items():
        if len(rivals) < 2:
            continue
        for (score, one), (rival, other) in combinations(rivals, 2):
            if max(score, rival) >= sure and apart(one, other):
                if score - rival < MARGIN - 1e-9:
                    names[pair(name, one)].add(other)
                if rival - score < MARGIN - 1e-9:
                    names[pair(name, other)].add(one)
    return {p: tuple(sorted(others)) for p, others in names.items() if scores[p] >= sure}


def groups(scores: Mapping[Pair, float], apart: Callable[[str, str], bool]) -> list[list[str]]:
    """Return groups of names that sure pairs join, each with at least two.

    Complete linkage, the surest pairs first.

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


LARGEST = 60
"""Names of a block all of whose pairs are tried."""
MOST_LONG = 8
"""Longer names that a short one may stand for; with more of them it says too little."""

_TAILS = frozenset(("of", "in", "at", "for"))


def pairs(names: Sequence[Name]) -> Iterator[tuple[int, int]]:
    """Yield the places (i, j), i < j, of names that share a key; a pair may occur more than once."""
    equal: defaultdict[str, list[int]] = defaultdict(list)
    short: defaultdict[str, list[int]] = defaultdict(list)
    long: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        for key in _keys(name):
            equal[key].append(place)
        for key in _short_keys(name):
            short[key].append(place)
        for key in _long_keys(name):
            long[key].append(place)
    for block in equal.values():
        for part in _parts(names, block) if len(block) > LARGEST else (block,):
            yield from combinations(part, 2)
    for key, block in short.items():
        longer = long.get(key, ())
        if longer and len(longer) <= MOST_LONG and len(block) <= LARGEST:
            yield from ((min(i, j), max(i, j)) for i, j in product(block, longer) if i != j)


def _parts(names: Sequence[Name], block: Sequence[int]) -> Iterator[list[int]]:
    parts: defaultdict[str, list[int]] = defaultdict(list)
    for place in block:
        parts[names[place].words[0]].append(place)
    yield from (part for part in parts.values() if 1 < len(part) <= LARGEST)


def _keys(name: Name) -> set[str]:
    """Return the keys that names share which differ in form, spelling, order, initials or middle names."""
    words = name.words
    keys = {"words " + " ".join(sorted(map(spelling, words)))}
    if not name.qualifier and len(words) < 4:
        keys.add("letters " + spelling("".join(words)))
    if name.qualifier and "," in name.text:
        words = name.qualifier + words
        keys.add("words " + " ".join(sorted(map(spelling, words))))
    if len(words) > 1 and not name.numbers:
        last = spelling(words[-1])
        if is_generic(words[-1]):
            keys.add(f"initials {''.join(w[0] for w in words[:-1])} {last}")
        else:
            keys.add(f"person {words[0][0]} {last}")
    return keys


def _short_keys(name: Name) -> set[str]:
    keys = set()
    if name.is_acronym:
        keys.add("acronym " + name.plain)
    if len(name.words) == 1:
        if not name.ordinary and not name.numbers:
            keys.add("last " + name.words[0])
    else:
        keys.add("begin " + " ".join(name.words))
    return keys


def _long_keys(name: Name) -> set[str]:
    keys = {"acronym " + letters for letters in acronyms(name)}
    if name.is_person:
        keys.add("last " + name.words[-1])
    plain = name.plain.split()
    if not _TAILS.isdisjoint(plain):
        keys.update("begin " + " ".join(name.words[:n]) for n in range(2, len(name.words)))
    return keys
