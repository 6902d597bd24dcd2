"""Soft clusters of vectors, as RAPTOR makes them: Gaussian mixtures, their number by the information criterion.

Source: RAPTOR (Sarthi et al., 2024), section 3. It reduces dimensions by UMAP, first over all and then within clusters;
here k-means parts what is many, and principal components reduce what is left, which is quicker and has one result.
"""

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

SIZE = 8
"""Members of a cluster on average (RAPTOR, appendix C: summaries have 6.7 children)."""
LEAST = 0.1
"""Probability from which a vector belongs to a cluster (RAPTOR, its code)."""
_PART = 400  # vectors that a mixture is fitted to
_COMPONENTS = 10  # dimensions (RAPTOR, its code)
_NUMBERS = (0.7, 1.0, 1.4)  # of clusters, by how many SIZE makes

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The places of its members, and how probably each belongs to it, 0 to 1."""

    members: tuple[int, ...]
    weights: tuple[float, ...]


def soft_clusters(vectors: Matrix, size: float = SIZE, seed: int = 0) -> list[Cluster]:
    """Clusters of unit vectors [n, d], of some `size` members: each vector is in one or more. Always the same.

    Raises ConfigurationError when scikit-learn is not installed.
    """
    clusters: list[Cluster] = []
    for places in _parts(np.arange(len(vectors)), vectors, seed):
        clusters += [
            Cluster(tuple(int(places[i]) for i in c.members), c.weights) for c in _mixture(vectors[places], size, seed)
        ]
    return clusters


def _parts(places: NDArray[np.int64], vectors: Matrix, seed: int) -> Iterator[NDArray[np.int64]]:
    """Parts of at most _PART vectors that are alike."""
    if len(places) <= _PART:
        yield places
        return
    means = _sklearn("cluster").MiniBatchKMeans(
        n_clusters=min(64, math.ceil(2 * len(places) / _PART)), random_state=seed, n_init=1, batch_size=4096
    )
    label = means.fit_predict(vectors[places])
    found = [places[label == number] for number in np.unique(label)]
    if len(found) == 1:  # all the same
        found = [places[start : start + _PART] for start in range(0, len(places), _PART)]
    for part in found:
        yield from _parts(part, vectors, seed)


def _mixture(vectors: Matrix, size: float, seed: int) -> list[Cluster]:
    """The clusters of the mixture with the least Bayesian information criterion."""
    usual = len(vectors) / size
    numbers = sorted({round(usual * share) for share in _NUMBERS} - {0, 1})
    if not numbers or len(np.unique(vectors, axis=0)) <= numbers[-1]:
        return [Cluster(tuple(range(len(vectors))), (1.0,) * len(vectors))]
    dimensions = min(_COMPONENTS, *vectors.shape)
    reduced = _sklearn("decomposition").PCA(dimensions, random_state=seed).fit_transform(vectors)
    mixtures = [
        _sklearn("mixture").GaussianMixture(n, covariance_type="diag", reg_covar=1e-3, random_state=seed).fit(reduced)
        for n in numbers
    ]
    best = min(mixtures, key=lambda mixture: mixture.bic(reduced))
    shares = best.predict_proba(reduced)
    belongs = shares >= LEAST
    belongs[np.arange(len(vectors)), shares.argmax(axis=1)] = True
    found = [np.flatnonzero(column) for column in belongs.T]
    return [
        Cluster(tuple(map(int, members)), tuple(round(float(shares[i, k]), 4) for i in members))
        for k, members in enumerate(found)
        if len(members)
    ]


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise ConfigurationError(
            "Clusters are made by scikit-learn, which is not installed.", f"Install it: {install_hint('tree')}"
        ) from error
