import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.lab import measures
from kgrag.lab.measures import paired_bootstrap


def column(values: list[float]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array(values, dtype=float).reshape(-1, 1)


def test_the_interval_is_that_of_the_mean() -> None:
    draws = np.random.default_rng(1)
    system, baseline = draws.normal(0.5, 1, (400, 1)), draws.normal(0.2, 1, (400, 1))
    (found,) = paired_bootstrap(system, baseline)
    delta = system - baseline
    error = float(delta.std() / 20)  # of the mean of 400
    assert found.value == pytest.approx(float(delta.mean()))
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.1 * error)


def test_pairs_stay_together() -> None:
    """What is a little better on every question is so for certain, however different the questions are."""
    hard = np.linspace(0, 1, 30).reshape(-1, 1)
    (found,) = paired_bootstrap(hard + 0.01, hard)
    assert found.verdict == "better"
    assert found.low == found.high == found.value == pytest.approx(0.01)


def test_equal_systems_are_noise_though_floats_are_not_exact() -> None:
    values = column([0.1, 0.2, 0.3, 1 / 3])
    assert paired_bootstrap(values, values)[0].noise
    assert paired_bootstrap(values + 1e-13, values)[0].noise


def test_the_seed_decides_and_blocks_do_not_matter_to_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(3)
    one, other = draws.random((50, 3)), draws.random((50, 3))
    found = paired_bootstrap(one, other, seed=7)
    assert found == paired_bootstrap(one, other, seed=7)
    assert found != paired_bootstrap(one, other, seed=8)
    monkeypatch.setattr(measures, "_BLOCK", 60)
    for a, b in zip(found, paired_bootstrap(one, other, seed=7), strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.02)


@settings(max_examples=20)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=30))
def test_swapping_the_systems_turns_the_sign(values: list[float]) -> None:
    baseline = column(values[::-1])
    (there,) = paired_bootstrap(column(values), baseline, resamples=500)
    (back,) = paired_bootstrap(baseline, column(values), resamples=500)
    assert there.value == -back.value
    assert there.low <= there.value <= there.high
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_without_questions_there_is_no_difference() -> None:
    with pytest.raises(ValueError, match="no questions"):
        paired_bootstrap(np.empty((0, 1)), np.empty((0, 1)))
