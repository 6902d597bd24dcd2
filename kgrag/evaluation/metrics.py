"""Measures of one ranking against the gold it should hold, all between 0 and 1, and percentiles of times.

A ranking is a sequence of distinct keys, best first; `gold` is the set of keys that answer the question, never empty.
"""

from collections.abc import Collection, Sequence
from math import log2


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of gold among the first `k`. Raises ValueError without gold."""
    wanted = _gold(gold)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def perfect_at(ranking: Sequence[str], gold: Collection[str], k: int) -> bool:
    """Whether all gold is among the first `k`. Raises ValueError without gold."""
    return _gold(gold).issubset(ranking[:k])


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold, 0 if there is none; its mean is MRR. Raises ValueError without gold."""
    wanted = _gold(gold)
    return next((1 / rank for rank, key in enumerate(ranking, 1) if key in wanted), 0.0)


def ndcg_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, every gold weighing the same.

    1 when the ranking begins with as much gold as fits into `k`. Raises ValueError without gold.
    """
    wanted = _gold(gold)
    ideal = sum(_discount(rank) for rank in range(1, min(k, len(wanted)) + 1))
    gain = sum(_discount(rank) for rank, key in enumerate(ranking[:k], 1) if key in wanted)
    return gain / ideal if ideal else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, interpolated. Raises ValueError without values."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def _gold(gold: Collection[str]) -> set[str]:
    if not gold:
        raise ValueError("no gold")
    return set(gold)
