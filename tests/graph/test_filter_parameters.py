"""What a filter becomes for the graph, without one."""

from datetime import UTC, datetime

from kgrag.graph.reader import _filter
from kgrag.types import Filter


def test_values_are_compared_as_cypher_writes_them() -> None:
    where = {"open": True, "shut": False, "century": 14, "share": 0.5, "city": "Riga"}
    assert _filter(Filter(where, "docs/"))["where"] == {
        "open": "true", "shut": "false", "century": "14", "share": "0.5", "city": "Riga",
    }  # fmt: skip
    assert _filter(Filter(where, "docs/"))["source"] == "docs/"


def test_a_time_without_a_zone_is_local_time() -> None:
    local = datetime(2026, 7, 1, 12)
    since = _filter(Filter(since=local))["since"]
    assert since.tzinfo is not None and since == local.astimezone(UTC)
    aware = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert _filter(Filter(since=aware))["since"] == aware


def test_each_part_makes_a_filter() -> None:
    assert not Filter()
    assert Filter(where={"a": 1}) and Filter(source="") and Filter(since=datetime(2026, 1, 1))
