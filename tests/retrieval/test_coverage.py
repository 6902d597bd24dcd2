"""The ranking of passages as a set: against its description step by step, and by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieval.name_walk import Candidates, select_as_set


def candidates(
    alone: Sequence[float],
    words: Sequence[Sequence[int]] = (),
    mass: Sequence[float] = (),
    names: Sequence[Sequence[int]] = (),
    titles: Sequence[str] = (),
    parents: Sequence[int] = (),
    end: Sequence[float] = (),
) -> Candidates:
    n = len(alone)
    has = np.array([[j in own for j in range(len(mass))] for own in (words or [()] * n)], bool).reshape(n, len(mass))
    named = np.array([[i in its for its in names] for i in range(n)], bool).reshape(n, len(names))
    titled = np.unique(titles or [str(i) for i in range(n)], return_inverse=True)[1]
    return Candidates(
        np.array(alone, float), np.array(end or alone, float), has, np.array(mass, float), named, titled,
        parents or [-1] * n,
    )  # fmt: skip


def test_words_count_once() -> None:
    """The second passage repeats the first one's word, so the third with a new word overtakes it."""
    c = candidates([1.0, 0.9, 0.5], words=[(0,), (0,), (1,)], mass=[1.0, 0.5])
    assert select_as_set(c, 3, 0, 0, 0, 0) == [0, 2, 1]
    assert select_as_set(c, 0, 0, 0, 0, 0) == [0, 1, 2]  # by their own scores alone
    assert select_as_set(c, 1, 0, 0, 0, 0) == [0, 1, 2]  # the first as a set, the rest by score


def test_the_rarest_name_ties() -> None:
    """A name in two of three candidates weighs 1 - ln 2 / ln 6, in three 1 - ln 3 / ln 6, under one title 0."""
    rare, common = 1 - math.log(2) / math.log(6), 1 - math.log(3) / math.log(6)
    gap = rare - common
    for less, expected in ((gap - 0.01, [0, 2, 1]), (gap + 0.01, [0, 1, 2])):
        c = candidates([2.0, 1.0, 1.0 - less], names=[(0, 1, 2), (0, 2)])
        assert select_as_set(c, 3, 1, 0, 0, 0) == expected
    c = candidates([2.0, 1.0, 0.9], names=[(0, 2)], titles=["a", "b", "a"])
    assert select_as_set(c, 3, 1, 0, 0, 0) == [0, 1, 2]


def test_what_led_there_comes_up() -> None:
    """The last was reached through the second, and the second through the third; a cycle of parents ends."""
    c = candidates([0.1, 0.2, 0.3, 2.0], parents=[-1, 2, -1, 1])
    assert select_as_set(c, 4, 0, 1, 0, 0) == [3, 2, 1, 0]
    c = candidates([0.1, 0.2, 0.3, 2.0], parents=[3, -1, -1, 0])
    assert select_as_set(c, 4, 0, 1, 0, 0) == [3, 0, 2, 1]


def test_places_are_kept_for_ends() -> None:
    """From the third rank on the two best end passages come first, in order of their scores."""
    c = candidates([5.0, 4.0, 3.0, 2.0, 1.0], end=[0.0, 0.0, 0.0, 1.0, 2.0])
    assert select_as_set(c, 5, 0, 0, 2, 2) == [0, 1, 4, 3, 2]
    assert select_as_set(c, 5, 0, 0, 1, 0) == [4, 0, 1, 2, 3]
    assert select_as_set(c, 2, 0, 0, 2, 2) == [0, 1, 2, 3, 4]  # no rank from the third on is filled as a set


def test_nothing_to_order() -> None:
    assert select_as_set(candidates([]), 5, 1, 1, 3, 4) == []
    assert select_as_set(candidates([1.0, 1.0]), 5, 1, 1, 3, 4) == [0, 1]  # ties keep their order


def _by_the_letter(c: Candidates, places: int, tie: float, led: float, ends: int, finalist_place: int) -> list[int]:
    """Compute the same ranking literally from its description, without matrices."""
    n, m = len(c.alone), len(c.mass)

    def tied(x: int, y: int) -> float:
        if c.titles[x] == c.titles[y]:
            return 0.0
        of = [sum(its) for its in c.names.T if its[x] and its[y]]
        return max((1 - math.log(k) / math.log(2 * n) for k in of), default=0.0)

    def leads(x: int, y: int) -> bool:
        seen = {y}
        while (y := c.parents[y]) >= 0 and y not in seen:
            if y == x:
                return True
            seen.add(y)
        return False

    last = sorted(range(n), key=lambda x: -c.end[x])[:ends]
    chosen: list[int] = []
    while len(chosen) < min(n, places):
        kept = [x for x in last if x not in chosen] if len(chosen) >= finalist_place else []

        def gain(x: int) -> float:
            covered = {t for t in range(m) for y in chosen if c.words[y, t]}
            new = sum(c.mass[t] for t in range(m) if c.words[x, t] and t not in covered)
            near = max((tied(x, y) for y in chosen), default=0.0)
            return float(c.alone[x] + new + tie * near + led * any(leads(x, y) for y in chosen))

        rest = [x for x in range(n) if x not in chosen]
        chosen.append(kept[0] if kept else max(rest, key=lambda x: (round(gain(x), 9), -x)))
    return chosen + sorted((x for x in range(n) if x not in chosen), key=lambda x: -c.alone[x])


@st.composite
def _drawn(draw: st.DrawFn) -> Candidates:
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    places = st.lists(st.integers(0, n - 1), min_size=1, max_size=n)
    numbers = st.lists(st.integers(0, 40), min_size=n, max_size=n, unique=True)
    return candidates(
        [x / 17 for x in draw(numbers)],
        [draw(st.lists(st.integers(0, m - 1))) for _ in range(n)],
        [x / 13 for x in draw(st.lists(st.integers(0, 40), min_size=m, max_size=m))],
        draw(st.lists(places, max_size=3)),
        draw(st.lists(st.sampled_from("abcde"), min_size=n, max_size=n)),
        [draw(st.integers(-1, n - 1).filter(lambda p, x=x: p != x)) for x in range(n)],  # type: ignore[misc]
        [x / 19 for x in draw(numbers)],
    )


@pytest.mark.hypothesis
@given(_drawn(), st.integers(0, 8), st.integers(0, 4), st.integers(0, 5))
def test_as_by_the_letter(c: Candidates, places: int, ends: int, finalist_place: int) -> None:
    found = select_as_set(c, places, 0.37, 0.23, ends, finalist_place)
    assert found == _by_the_letter(c, places, 0.37, 0.23, ends, finalist_place)
