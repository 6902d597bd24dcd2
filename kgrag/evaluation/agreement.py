"""How far two markers agree: a grader, and somebody who marked the same answers by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on `answers` that both marked.

    `same`: share of equal marks; `kappa`: Cohen's kappa with linear weights (Cohen, 1968), 1 at best and 0 where they
    agree as by chance; `error`: mean absolute difference; `correlation`: Pearson's. kappa and correlation are None
    where they are not defined, since one of the two gave the same mark to all.
    """

    answers: int
    same: float
    kappa: float | None
    error: float
    correlation: float | None


def agreement(ours: Sequence[float], theirs: Sequence[float]) -> Agreement | None:
    """The agreement of marks of the same answers in the same order; None of no answers."""
    if not ours:
        return None
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    apart = np.abs(a - b)  # (answers,)
    expected = float(np.abs(a[:, None] - b[None, :]).mean())  # by chance, with each one's own frequencies
    varied = a.std() > 0 and b.std() > 0
    return Agreement(
        answers=len(a),
        same=float((apart < 1e-9).mean()),
        kappa=1 - float(apart.mean()) / expected if expected else None,
        error=float(apart.mean()),
        correlation=float(np.corrcoef(a, b)[0, 1]) if varied else None,
    )
