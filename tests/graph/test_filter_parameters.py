"""The query parameters of a filter, without a graph."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kgrag.graph.reader import filter_parameters
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter


def test_values_are_compared_as_what_they_are_and_as_text() -> None:
    where = {
        "open": True, "shut": "false", "century": 14, "share": 0.5, "city": "Riga", "price": "-12.50",
        "code": "007",
    }  # fmt: skip
    where |= {"large": 10**21, "digits": "9" * 5000, "whole": "1897"}
    assert filter_parameters(Filter(where, "docs/"))["where"] == [
        ["open", [True, "true"]], ["shut", ["false", False]], ["century", [14, "14"]], ["share", [0.5, "0.5"]],
        ["city", ["Riga"]], ["price", ["-12.50", -12.5]], ["code", ["007"]],
        ["large", [1e21, str(10**21)]], ["digits", ["9" * 5000, float("inf")]], ["whole", ["1897", 1897]],
    ]  # fmt: skip
    assert filter_parameters(Filter(where, "docs/"))["source"] == "docs/"


def test_a_time_without_a_zone_is_local_time() -> None:
    local = datetime(2026, 7, 1, 12)
    since = filter_parameters(Filter(since=local))["since"]
    assert since.tzinfo is not None and since == local.astimezone(UTC)
    aware = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert filter_parameters(Filter(since=aware))["since"] == aware


def test_a_time_at_the_end_of_all_times_is_refused() -> None:
    for since in (
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
    ):
        with pytest.raises(ConfigurationError, match="since is invalid"):
            filter_parameters(Filter(since=since))


def test_each_part_makes_a_filter() -> None:
    assert not Filter()
    assert Filter(where={"a": 1}) and Filter(source="") and Filter(since=datetime(2026, 1, 1))


def test_local_time_is_that_of_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        since = filter_parameters(Filter(since=datetime(2026, 7, 1, 12)))["since"]
    time.tzset()
    assert since == datetime(2026, 7, 1, 3, tzinfo=UTC)


def test_ranges_of_numbers_are_floats_and_others_are_texts() -> None:
    ranges = {"a": (1, None), "b": (None, 10**400), "c": (True, 2), "d": ("x", None)}
    assert filter_parameters(Filter(ranges))["between"] == [
        ["a", 1.0, float("inf")], ["b", float("-inf"), 1e308], ["c", "true", "2\U0010ffff"], ["d", "x", "\U0010ffff"],
    ]  # fmt: skip
