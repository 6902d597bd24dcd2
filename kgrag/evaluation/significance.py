"""Which differences between two systems are more than noise: paired bootstrap intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
_BLOCK = 4_000_000  # drawn indices that are held at once


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of the differences between two systems over the same questions, and its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def noise(self) -> bool:
        """Whether the interval includes 0, so that the questions do not tell which system is better."""
        return self.low <= 0 <= self.high

    @property
    def verdict(self) -> str:
        """The same in a word: better, worse or noise."""
        return "noise" if self.noise else "better" if self.value > 0 else "worse"


def paired_bootstrap(
    system: NDArray[np.float64],
    baseline: NDArray[np.float64],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> list[Difference]:
    """The difference of each measure between two systems, with its percentile bootstrap interval.

    `system` and `baseline` are matrices [questions, measures], row by row of the same question. d is the matrix of
    their differences, and the value of a measure the mean of its column. As many rows as there are questions are drawn
    from d with replacement, `resamples` times; each draw gives a mean, and the interval holds the middle `confidence`
    of these means (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). Drawing differences, not
    the values of each system, keeps the pairs together: what makes a question hard for both does not widen the
    interval. All measures see the same draws. Raises ValueError without questions.
    """
    delta = np.asarray(system, dtype=float) - np.asarray(baseline, dtype=float)
    questions, count = delta.shape
    if not questions:
        raise ValueError("no questions")
    draws = np.random.default_rng(seed)
    means = np.empty((resamples, count))
    step = max(1, _BLOCK // questions)
    for start in range(0, resamples, step):
        rows = draws.integers(questions, size=(min(step, resamples - start), questions))
        for measure in range(count):
            means[start : start + step, measure] = delta[:, measure][rows].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, (tail, 1 - tail), axis=0).round(9)  # else 1e-17 would count as a difference
    return [Difference(*map(float, found)) for found in zip(delta.mean(axis=0).round(9), low, high, strict=True)]
