"""An order of passages as a set: each place goes to the passage that adds most to those before it.

What a passage adds is what it is worth alone, the words of the question that none before it has, a rare name that it
shares with one before it, and being on the path to one before it. Source: our own experiment on questions of 2 to 4
hops (PathRank, the list as a set); the greedy choice is that of maximum coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is known of n passages and of the m words of a question.

    `alone` [n]: what each is worth by itself; `end` [n]: how well it answers what is asked in the end; `words` [n, m]:
    which words each has; `mass` [m]: what each word is worth; `names` [n, names]: which names each mentions;
    `titles` [n], as numbers; `parents` [n]: the place of the passage that the walk came from, or -1.
    """

    alone: Numbers
    end: Numbers
    words: NDArray[np.bool_]
    mass: Numbers
    names: NDArray[np.bool_]
    titles: NDArray[np.int64]
    parents: Sequence[int]


def covering(c: Candidates, places: int, tie: float, led: float, ends: int, end_place: int) -> list[int]:
    """Return the places of the candidates, best first: `places` of them by coverage, the rest by their worth.

    A passage adds the mass of its words that are new, `tie` times the rarity of the rarest name shared with one chosen
    (1 - ln k / ln 2n, where k of the n have it; 0 under one title), and `led` if one chosen was reached through it.
    From place `end_place` on the first `ends` by `end` that are not in yet come first: a list never loses its end to
    the path there.
    """
    n = len(c.alone)
    held = c.names.sum(0)
    rarity = 1 - np.log(np.maximum(held, 1)) / np.log(2 * max(1, n))
    last = np.argsort(-c.end, kind="stable")[:ends]
    missing, words = c.mass.copy(), c.words.astype(float)
    near, on_path, free = np.zeros(n), np.zeros(n), np.ones(n, bool)
    chosen: list[int] = []
    while len(chosen) < min(n, places):
        kept = [int(i) for i in last if free[i]] if len(chosen) >= end_place else []
        gain = c.alone + words @ missing + tie * near + led * on_path
        best = kept[0] if kept else int(np.where(free, gain, -np.inf).argmax())
        chosen.append(best)
        free[best] = False
        missing[c.words[best]] = 0.0
        near = np.maximum(near, _tied(c, rarity, best))
        seen = {best}
        while (best := c.parents[best]) >= 0 and best not in seen:
            seen.add(best)
            on_path[best] = 1.0
    return chosen + [int(i) for i in np.argsort(-c.alone, kind="stable") if free[i]]


def _tied(c: Candidates, rarity: Numbers, place: int) -> Numbers:
    """Return the rarity [n] of the rarest common name of each passage and `place`; 0 under the same title."""
    shared = c.names[place]
    tied: Numbers = (c.names[:, shared] * rarity[shared]).max(1, initial=0.0)
    tied[c.titles == c.titles[place]] = 0.0
    return tied
