"""Measures of how well a ranking holds the gold of a question, all between 0 and 1.

A ranking is measured by the ranks of the question's gold: for each gold its place from 1, or None when it was not
found. Every gold weighs the same.
"""

from collections.abc import Collection, Sequence
from math import log2

Ranks = Sequence[int | None]


def ranks_of(ranking: Sequence[str], gold: Collection[str]) -> tuple[int | None, ...]:
    """The rank of each gold key in a ranking of distinct keys, best first."""
    places = {key: rank for rank, key in enumerate(ranking, 1)}
    return tuple(places.get(key) for key in gold)


def recall_at(ranks: Ranks, k: int) -> float:
    """The share of gold among the first `k`. Raises ValueError without gold."""
    return len(_found(ranks, k)) / len(ranks)


def perfect_at(ranks: Ranks, k: int) -> bool:
    """Whether all gold is among the first `k`. Raises ValueError without gold."""
    return len(_found(ranks, k)) == len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """1 / rank of the first gold, 0 if there is none; its mean is MRR. Raises ValueError without gold."""
    found = _found(ranks)
    return 1 / min(found) if found else 0.0


def ndcg_at(ranks: Ranks, k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, relevance being 0 or 1.

    1 when the ranking begins with as much gold as fits into `k`, and never more, even where one passage holds two
    golds. Raises ValueError without gold.
    """
    gain = sum(_discount(rank) for rank in _found(ranks, k))
    ideal = sum(_discount(rank) for rank in range(1, min(k, len(ranks)) + 1))
    return min(1.0, gain / ideal) if ideal else 0.0


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def _found(ranks: Ranks, k: int | None = None) -> list[int]:
    if not ranks:
        raise ValueError("no gold")
    return [rank for rank in ranks if rank is not None and (k is None or rank <= k)]
