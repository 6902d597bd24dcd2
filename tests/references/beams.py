"""GEAR, Algorithm 1, literally on triples in memory; Millions of GEAR-s uses the same algorithm."""

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from corpus import cosine, vector


@dataclass(frozen=True)
class Fact:
    """A triple of the graph: `ends` are the ids of its head and tail entities, `passage` is its source."""

    text: str
    ends: frozenset[str]
    passage: str


@dataclass(frozen=True)
class Search:
    """Options of a search; `exact`: embed a chain's text, else take the mean of its triples' vectors."""

    question: str
    beams: int
    length: int
    gamma: float
    diverse: bool
    exact: bool

    @classmethod
    def drawn(cls, chance: random.Random) -> "Search":
        """Return random options."""
        beams = chance.choice([1, 2, 5, 10])
        gamma = chance.choice([2 * beams, 0.5, 3])
        question, diverse = f"Which {chance.random()}?", chance.random() < 0.8
        return cls(question, beams, chance.randint(1, 4), gamma, diverse, chance.random() < 0.5)

    def asking(self, question: str) -> "Search":
        """Return the same search for another question."""
        return replace(self, question=question)

    def options(self) -> str:
        """Return the options in the form of an expression."""
        return (
            f"beams={self.beams}, length={self.length}, gamma={self.gamma}, diverse={str(self.diverse).lower()}, "
            f"exact={str(self.exact).lower()}"
        )


Beams = list[tuple[float, tuple[str, ...]]]


def algorithm_1(facts: Mapping[str, Fact], initial: Sequence[str], s: Search) -> Beams:
    """Run Algorithm 1 literally: return the best chains of triple ids with their scores; ties by ids."""
    asked = vector(s.question)
    kept: dict[tuple[str, ...], float] = {}

    def score(chain: tuple[str, ...]) -> float:
        if chain not in kept:
            texts = [facts[t].text for t in chain]
            kept[chain] = cosine(asked, vector(" ".join(texts)) if s.exact else sum(map(vector, texts)))  # type: ignore[arg-type]
        return kept[chain]

    def top(beams: Beams) -> Beams:
        return sorted(beams, key=lambda b: (-round(b[0], 6), b[1]))

    beams = top([(score((t,)), (t,)) for t in initial])[: s.beams]
    for _ in range(s.length - 1):
        exists = set(itertools.chain.from_iterable(chain for _, chain in beams))
        pool: Beams = []
        for total, chain in beams:
            ends = facts[chain[-1]].ends
            near = [t for t, fact in facts.items() if ends & fact.ends and t not in exists]
            children = top([(total + score((*chain, t)), (*chain, t)) for t in near])
            for n, (value, child) in enumerate(children):
                pool.append((value * (math.exp(-min(n, s.gamma) / s.gamma) if s.diverse else 1), child))
        if not pool:
            break
        beams = top(pool)[: s.beams]
    return beams


def flattened(beams: Beams) -> list[str]:
    """Return all first triples, all second ones, and so on."""
    longest = max((len(chain) for _, chain in beams), default=0)
    return [chain[place] for place in range(longest) for _, chain in beams]
