"""The nearest neighbours are exact, as if all pairs were compared."""

import numpy as np
import pytest

from kgrag.indexing.similar import Vectors, displaced, nearest

_K = 4


def _vectors(groups: int, of_each: int, seed: int = 0) -> Vectors:
    """Return unit vectors [groups * of_each, 160] in groups that are near to each other; the first five are equal."""
    chance = np.random.default_rng(seed)
    vectors = np.repeat(chance.normal(size=(groups, 160)), of_each, axis=0)
    vectors += 0.4 * chance.normal(size=vectors.shape)
    vectors[:, :60] *= 3  # like embeddings, some axes vary more
    vectors[1:5] = vectors[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return _vectors(3000, 4)


@pytest.mark.parametrize("least", [0.0, 0.9])
def test_neighbours_are_those_of_all_comparisons(vectors: Vectors, least: float) -> None:
    ids = [f"{i * 7919 % len(vectors):06}" for i in range(len(vectors))]
    rows = np.array([0, 1, 2, 3, 4, 5, 900, 8191, 8192, 8193, 11_999], np.intp)
    found = dict(nearest(vectors, ids, rows, _K, least))
    assert list(found) == rows.tolist()
    for row in rows:
        scores = np.round((1 + vectors @ vectors[row]) / 2, 6)
        best = sorted(
            (j for j in range(len(ids)) if j != row and scores[j] >= least), key=lambda j: (-scores[j], ids[j])
        )
        assert [j for j, _ in found[row]] == best[:_K]
        assert [score for _, score in found[row]] == pytest.approx(scores[best[:_K]], abs=1e-6)
    assert all(score >= least for its in found.values() for _, score in its)


def test_vectors_that_are_the_same_tie_by_id() -> None:
    vectors = np.repeat(_vectors(1, 1), 20, axis=0)
    found = dict(nearest(vectors, [f"{i:02}" for i in range(20)], np.arange(20), _K, 0.9))
    assert [j for j, _ in found[0]] == [1, 2, 3, 4]
    assert all(len(its) == _K for its in found.values())


def test_few_vectors() -> None:
    one = _vectors(1, 1)
    assert list(nearest(one, ["a"], np.array([0]), _K)) == [(0, [])]
    assert [len(its) for _, its in nearest(_vectors(1, 3), ["a", "b", "c"], np.arange(3), _K)] == [2, 2, 2]


def test_only_those_that_a_new_one_comes_close_to_are_displaced(vectors: Vectors) -> None:
    floors = np.full(len(vectors), 0.9, np.float32)
    found = displaced(vectors, floors, np.array([40, 41]))
    near = np.round((1 + vectors @ vectors[[40, 41]].T) / 2, 6).max(axis=1) >= 0.9
    near[[40, 41]] = False
    assert found.tolist() == np.nonzero(near)[0].tolist() != []
