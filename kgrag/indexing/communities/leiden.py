"""Hierarchical Leiden: a weighted graph is parted into communities, and those that are large again.

Source: Traag, Waltman and van Eck (2019) for Leiden; GraphRAG (Edge et al., 2024), section 3.1.4, for the hierarchy.
"""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

LEVELS = 6
"""Most levels of communities."""


@dataclass(frozen=True, slots=True)
class Part:
    """A community: its nodes, in order; the level, 0 for the coarsest; the place of the part that it is a part of."""

    nodes: NDArray[np.int64]
    level: int
    parent: int | None


def communities(ties: Any, size: int, smallest: int, resolution: float = 1.0, seed: int = 0) -> list[Part]:
    """The communities of a graph, a parent before its parts.

    `ties`: a symmetric matrix of weights [n, n], a scipy csr_matrix of float64. One of more than `size` nodes is parted
    again; those of fewer than `smallest` are left out, so their nodes are in none, or in a coarser one alone. The same
    graph gives the same communities. Raises ConfigurationError when graspologic-native is not installed.
    """
    found: list[Part] = []
    waiting: list[tuple[NDArray[np.int64], int | None]] = [(np.arange(ties.shape[0]), None)]
    while waiting:
        nodes, parent = waiting.pop(0)
        level = 0 if parent is None else found[parent].level + 1
        labels = _leiden(ties if parent is None else ties[nodes][:, nodes], resolution, seed)
        if parent is not None and not labels.any():
            continue  # it has no parts
        for number in range(labels.max(initial=-1) + 1):
            members = nodes[labels == number]
            if len(members) < smallest:
                continue
            found.append(Part(members, level, parent))
            if len(members) > size and level + 1 < LEVELS:
                waiting.append((members, len(found) - 1))
    return found


def _leiden(ties: Any, resolution: float, seed: int) -> NDArray[np.int64]:
    """[n]: the community of each node, numbered by their first nodes."""
    count = ties.shape[0]
    if not ties.nnz:
        return np.arange(count)
    try:
        native: Any = importlib.import_module("graspologic_native")
    except ImportError as error:
        raise ConfigurationError(
            "Communities are found by graspologic-native, which is not installed.",
            f"Install it: {install_hint('communities')}",
        ) from error
    _, mapped = native.leiden_csr(
        ties.indptr.astype(np.int64), ties.indices.astype(np.int32), ties.data, count, resolution=resolution, seed=seed
    )
    labels = np.array([mapped[i] for i in range(count)], np.int64)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(order[inverse], np.int64)
