"""Parallel work on many items."""

import threading
import time
from collections.abc import Iterator

import pytest

from kgrag.models.parallel import in_parallel


def test_every_item_with_its_result() -> None:
    assert sorted(in_parallel(lambda n: n * n, range(100), 7)) == [(n, n * n) for n in range(100)]
    assert list(in_parallel(lambda n: n, [], 7)) == []
    assert list(in_parallel(lambda n: n is None, [None, None], 1)) == [(None, True), (None, True)]


def test_an_exception_is_the_result_of_its_item_alone() -> None:
    found = dict(in_parallel(lambda n: 10 // n, [0, 1, 2], 2))
    assert isinstance(found.pop(0), ZeroDivisionError)
    assert found == {1: 10, 2: 5}


def test_results_come_as_they_are_ready_and_at_once() -> None:
    started = time.monotonic()
    found = [n for n, _ in in_parallel(lambda n: time.sleep(n / 5), [3, 1, 2], 3)]
    assert found == [1, 2, 3]
    assert time.monotonic() - started < 1.1


def test_items_are_taken_as_they_are_needed_in_the_callers_thread() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for n in range(1000):
            assert threading.current_thread() is threading.main_thread()
            taken.append(n)
            yield n

    for done, _ in enumerate(in_parallel(lambda n: n, items(), 4), start=1):
        assert len(taken) <= done + 8


def test_an_error_of_the_items_comes_through() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError):
        list(in_parallel(lambda n: n, items(), 2))


def test_an_interruption_within_is_one_of_the_caller() -> None:
    def interrupted(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_parallel(interrupted, [1, 2], 2))


def workers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("kgrag-")]


def test_closed_it_begins_nothing_more_and_waits_for_nothing() -> None:
    begun: list[int] = []
    slow = threading.Event()

    def work(n: int) -> int:
        begun.append(n)
        if n:
            slow.wait(30)
        return n

    results = in_parallel(work, range(100), 3)
    assert next(results) == (0, 0)
    started = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 1
    count = len(begun)
    slow.set()
    deadline = time.monotonic() + 10
    while workers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not workers()
    assert len(begun) == count <= 4
