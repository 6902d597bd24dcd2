"""The PageRank of passages and names equals the solution of its equations."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kgrag.retrieval.name_walk import pagerank


def _solved(edges: NDArray[np.float64], reset: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Solve rank = damping P rank + (1 - damping) reset; a node without edges leads back to the reset."""
    n, m = edges.shape
    both = np.block([[np.zeros((n, n)), edges], [edges.T, np.zeros((m, m))]])
    reset = reset / reset.sum()
    leaving = both.sum(0)
    steps = np.where(leaving > 0, both / np.where(leaving > 0, leaving, 1), reset[:, None])
    found: NDArray[np.float64] = np.linalg.solve(np.eye(n + m) - damping * steps, (1 - damping) * reset)
    return found


@pytest.mark.parametrize("damping", [0.1, 0.5, 0.85])
def test_the_ranks_solve_the_equations(damping: float) -> None:
    draw = np.random.default_rng(7)
    edges = np.where(draw.random((6, 9)) < 0.4, draw.integers(1, 3, (6, 9)), 0).astype(float)
    edges[2] = 0  # a passage without names
    edges[:, 4] = 0
    reset = draw.random(15)
    reset[[0, 3, 9]] = 0
    rows, columns = edges.nonzero()
    found = pagerank(np.array([rows, columns + 6]), edges[rows, columns], reset, damping)
    assert found == pytest.approx(_solved(edges, reset, damping), abs=1e-8)
    assert found.sum() == pytest.approx(1)
