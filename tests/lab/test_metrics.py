import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.lab.measures import ndcg_at, perfect_at, ranks_of, recall_at, reciprocal_rank

keys = st.sampled_from("abcdefghij")
rankings = st.lists(keys, unique=True)
golds = st.sets(keys, min_size=1)
depths = st.integers(0, 12)


def test_known_values() -> None:
    ranking, gold = ["a", "b", "c", "d"], {"b", "d", "x"}
    assert recall_at(ranks_of(ranking, gold), 2) == pytest.approx(1 / 3)
    assert recall_at(ranks_of(ranking, gold), 4) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranks_of(ranking, gold)) == 0.5
    assert ndcg_at(ranks_of(ranking, {"a", "c"}), 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert perfect_at(ranks_of(ranking, {"b", "d"}), 4)
    assert not perfect_at(ranks_of(ranking, {"b", "d"}), 3)


@given(rankings, golds, depths)
def test_measures_lie_between_0_and_1(ranking: list[str], gold: set[str], k: int) -> None:
    for value in (
        recall_at(ranks_of(ranking, gold), k),
        ndcg_at(ranks_of(ranking, gold), k),
        reciprocal_rank(ranks_of(ranking, gold)),
    ):
        assert 0 <= value <= 1 + 1e-12


@given(rankings, golds, depths)
def test_recall_never_falls_with_depth_and_ends_at_what_the_ranking_holds(
    ranking: list[str], gold: set[str], k: int
) -> None:
    assert recall_at(ranks_of(ranking, gold), k) <= recall_at(ranks_of(ranking, gold), k + 1)
    assert recall_at(ranks_of(ranking, gold), len(ranking)) == len(gold & set(ranking)) / len(gold)


@given(rankings, golds, depths)
def test_perfect_is_full_recall(ranking: list[str], gold: set[str], k: int) -> None:
    assert perfect_at(ranks_of(ranking, gold), k) == (recall_at(ranks_of(ranking, gold), k) == 1)


@given(golds, rankings)
def test_gold_first_is_ideal_and_no_gold_is_nothing(gold: set[str], ranking: list[str]) -> None:
    ideal = [*sorted(gold), *(key for key in ranking if key not in gold)]
    assert ndcg_at(ranks_of(ideal, gold), 5) == pytest.approx(1)
    assert reciprocal_rank(ranks_of(ideal, gold)) == 1
    rest = ideal[len(gold) :]
    assert (
        ndcg_at(ranks_of(rest, gold), 5)
        == recall_at(ranks_of(rest, gold), 5)
        == reciprocal_rank(ranks_of(rest, gold))
        == 0
    )


@given(rankings.filter(bool), golds, depths, st.data())
def test_moving_gold_forward_never_hurts(ranking: list[str], gold: set[str], k: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(ranking) - 1))
    if ranking[place] not in gold:
        return
    better = [ranking[place], *ranking[:place], *ranking[place + 1 :]]
    assert recall_at(ranks_of(better, gold), k) >= recall_at(ranks_of(ranking, gold), k)
    assert ndcg_at(ranks_of(better, gold), k) >= ndcg_at(ranks_of(ranking, gold), k) - 1e-12
    assert reciprocal_rank(ranks_of(better, gold)) >= reciprocal_rank(ranks_of(ranking, gold))


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
