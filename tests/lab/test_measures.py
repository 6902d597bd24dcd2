"""Measures of rankings and answers by hand; the bootstrap, whose interval shows noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.lab import measures
from kgrag.lab.measures import (
    exact_match,
    f1,
    ndcg_at,
    normalised,
    paired_bootstrap,
    perfect_at,
    ranks_of,
    recall_at,
    reciprocal_rank,
)


def test_known_values() -> None:
    ranking, gold = ["a", "b", "c", "d"], {"b", "d", "x"}
    assert recall_at(ranks_of(ranking, gold), 2) == pytest.approx(1 / 3)
    assert recall_at(ranks_of(ranking, gold), 4) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranks_of(ranking, gold)) == 0.5
    assert ndcg_at(ranks_of(ranking, {"a", "c"}), 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert perfect_at(ranks_of(ranking, {"b", "d"}), 4)
    assert not perfect_at(ranks_of(ranking, {"b", "d"}), 3)


def test_without_gold_there_is_no_measure() -> None:
    for measure in (recall_at, perfect_at, ndcg_at):
        with pytest.raises(ValueError, match="no gold"):
            measure([], 1)
    with pytest.raises(ValueError, match="no gold"):
        reciprocal_rank([])


def test_two_golds_in_one_passage_are_no_better_than_ideal() -> None:
    assert ranks_of(["a", "b"], ["b", "x", "a"]) == (2, None, 1)
    assert ndcg_at([1, 1], 10) == 1
    assert ndcg_at([1, 2], 10) == 1
    assert recall_at([1, 1, None], 1) == pytest.approx(2 / 3)
    assert perfect_at([3, 3], 3)
    assert not perfect_at([3, None], 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Fram,  a ship!", "fram ship"),
        ("An apple\tand\na pear", "apple and pear"),
        ("Theatre", "theatre"),  # no article
        ("U.S.", "us"),
        ("$1.18 trillion", "118 trillion"),
        ("1914\u20131918", "19141918"),  # a dash is punctuation like a hyphen
        ("«Åse» – l\u2019été", "åse lété"),
        ("Bjo\u0308rling", "björling"),  # a letter with a combining mark is one letter
        ("Пётр 彼得。", "пётр 彼得"),
        (" ?! ", ""),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalised(text) == expected


@pytest.mark.parametrize(
    ("text", "known", "em", "score"),
    [
        ("The Larvik.", ["larvik"], 1, 1),
        ("Larvik, Norway", ["Larvik"], 0, 2 / 3),
        ("in Larvik", ["Oslo", "Larvik in Norway", "Larvik"], 0, 0.8),  # the best of several
        ("Larvik", ["Oslo", "LARVIK"], 1, 1),
        ("Oslo", ["Larvik"], 0, 0),
        ("no no yes", ["no yes yes"], 0, 2 / 3),  # words count with their frequency
        ("Bjo\u0308rling", ["björling"], 1, 1),
        ("", ["Larvik"], 0, 0),
        ("", ["The"], 0, 0),  # an empty answer is never right
        ("...", ["Larvik", "?"], 0, 0),
    ],
)
def test_agreement_with_the_answer_that_is_most_like_it(text: str, known: list[str], em: float, score: float) -> None:
    assert exact_match(text, known) == em
    assert f1(text, known) == pytest.approx(score)


def test_without_a_known_answer_there_is_nothing_to_measure() -> None:
    for measure in (exact_match, f1):
        with pytest.raises(ValueError, match="no known answer"):
            measure("Larvik", [])


def column(values: list[float]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array(values, dtype=float).reshape(-1, 1)


def test_the_interval_is_that_of_the_mean() -> None:
    draws = np.random.default_rng(1)
    system, baseline = draws.normal(0.5, 1, (400, 1)), draws.normal(0.2, 1, (400, 1))
    (found,) = paired_bootstrap(system, baseline)
    delta = system - baseline
    error = float(delta.std() / 20)  # standard error of the mean of 400
    assert found.value == pytest.approx(float(delta.mean()))
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.1 * error)


def test_pairs_stay_together() -> None:
    """A small gain on every question is significant, however different the questions are."""
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
    monkeypatch.setattr(measures, "BLOCK", 60)
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
