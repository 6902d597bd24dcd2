"""Tables of an experiment's records: measures by system, by group of questions, and their differences."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from statistics import fmean

import numpy as np

from kgrag.evaluation.experiment import DEPTH, Record
from kgrag.evaluation.metrics import Ranks, ndcg_at, percentile, perfect_at, recall_at, reciprocal_rank
from kgrag.evaluation.significance import Difference, paired_bootstrap

RECALLS = (2, 5, 10, 15)
PERFECT = 8
NDCG = 10
COMPARED = ("R@5", "R@10", "R@15", f"perfect@{PERFECT}", "MRR", f"nDCG@{NDCG}")
"""The measures whose differences are told."""

Rows = dict[str, dict[str, float | None]]
"""System -> measure -> value; None where there is nothing to measure."""


def measures(depth: int = DEPTH) -> dict[str, Callable[[Ranks], float]]:
    """What rankings of `depth` are measured by: name -> measure of one question's ranks.

    "R@k" is recall in per cent, "perfect@8" whether all gold is among the first 8, "MRR" the reciprocal rank of the
    first gold, "nDCG@10" with relevance 0 or 1. What a ranking is too short for is left out; recall at `depth` is
    added where that is deeper than the usual.
    """
    recalls = [k for k in RECALLS if k <= depth] + ([depth] if depth > RECALLS[-1] else [])
    found: dict[str, Callable[[Ranks], float]] = {f"R@{k}": _recall(k) for k in recalls}
    if depth >= PERFECT:
        found[f"perfect@{PERFECT}"] = lambda ranks: perfect_at(ranks, PERFECT)
    found["MRR"] = reciprocal_rank
    if depth >= NDCG:
        found[f"nDCG@{NDCG}"] = lambda ranks: ndcg_at(ranks, NDCG)
    return found


def table(records: Iterable[Record], depth: int = DEPTH) -> Rows:
    """System -> measure -> mean over its questions; records of a system stand together.

    Besides `measures`: "p50_ms" and "p95_ms", percentiles of latency in milliseconds, "questions", their number, and
    where there are any "errors", the number of questions that failed: these found nothing and have no latency.
    """
    return {name: _row(list(group), depth) for name, group in groupby(records, key=lambda r: r.system)}


def tables_by(records: Sequence[Record], what: str, depth: int = DEPTH) -> dict[str, Rows]:
    """The same table for each "type" of question, or for each number of "hops"."""
    groups: dict[str | int, list[Record]] = {}
    for record in records:
        group = record.question.hops if what == "hops" else record.question.type or "(none)"
        groups.setdefault(group, []).append(record)
    return {str(group): table(groups[group], depth) for group in sorted(groups)}


def differences(
    records: Iterable[Record], baseline: str, depth: int = DEPTH, seed: int = 0
) -> dict[str, dict[str, Difference]]:
    """System -> measure -> how much better than the baseline it is on the same questions, with a 95 % interval.

    In the units of `table`. A question that failed counts as one where nothing was found.
    """
    by_system = {name: list(group) for name, group in groupby(records, key=lambda r: r.system)}
    compared = {name: measure for name, measure in measures(depth).items() if name in COMPARED}
    values = {
        name: np.array([[measure(r.ranks) for measure in compared.values()] for r in group], dtype=float)
        for name, group in by_system.items()
    }
    return {
        name: dict(zip(compared, paired_bootstrap(found, values[baseline], seed=seed), strict=True))
        for name, found in values.items()
        if name != baseline
    }


def errors(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """System -> question id -> error, for what failed."""
    found: dict[str, dict[str, str]] = {}
    for record in records:
        if record.error:
            found.setdefault(record.system, {})[record.question.id] = record.error
    return found


def digits(measure: str) -> int:
    """How many decimals a measure is given with."""
    if measure in ("questions", "errors"):
        return 0
    return 1 if measure.startswith("R@") or measure.endswith("_ms") else 3


def _recall(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: 100 * recall_at(ranks, k)


def _row(records: Sequence[Record], depth: int) -> dict[str, float | None]:
    row: dict[str, float | None] = {
        name: round(fmean(measure(r.ranks) for r in records), digits(name)) for name, measure in measures(depth).items()
    }
    answered = [1000 * r.seconds for r in records if not r.error]
    for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95)):
        row[name] = round(percentile(answered, share), digits(name)) if answered else None
    row["questions"] = len(records)
    if len(answered) < len(records):
        row["errors"] = len(records) - len(answered)
    return row
