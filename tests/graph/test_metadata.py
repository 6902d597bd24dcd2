"""Metadata as properties: the values for filters, and all of it in the original form."""

from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from kgrag.graph.property_values import as_text, from_properties, to_properties


@pytest.mark.parametrize(
    ("value", "looked_at", "kept"),
    [
        ("a", "a", None), (True, True, None), (2.5, 2.5, None), (["a", "b"], ["a", "b"], None), ((1, 2), [1, 2], None),
        ([1, "a", True, 2.5], ["1", "a", "true", "2.5"], [1, "a", True, 2.5]),  # Neo4j's lists have one type
        ([1, 2.0], ["1", "2.0"], [1, 2.0]),
        ([], None, []), ({"x": 1}, None, {"x": 1}), ([{"x": 1}], None, [{"x": 1}]), (["a", None], None, ["a", None]),
    ],
)  # fmt: skip
def test_values_are_looked_at_and_come_back(value: Any, looked_at: Any, kept: Any) -> None:
    properties = to_properties({"key": value, "none": None})
    assert properties.get("meta_key") == looked_at
    assert type(properties.get("meta_key")) is type(looked_at)
    assert ("metadata" in properties) == (kept is not None)
    assert from_properties(properties) == {"key": list(value) if isinstance(value, tuple) else value}


def test_values_of_frames_are_looked_at() -> None:
    values = {"n": np.int64(3), "is": np.bool_(True), "on": date(1912, 1, 17), "all": [np.float64(0.5)]}
    values["at"] = datetime(1912, 1, 17, 6, tzinfo=timezone(timedelta(hours=2)))
    looked_at = {"n": 3, "is": True, "on": "1912-01-17", "all": [0.5], "at": "1912-01-17T04:00:00"}
    assert to_properties(values) == {f"meta_{key}": value for key, value in looked_at.items()}
    assert to_properties(values)["meta_is"] is True


def test_texts_are_those_of_cypher() -> None:
    assert [as_text(value) for value in (True, False, 1, 2.0, "x")] == ["true", "false", "1", "2.0", "x"]
    assert to_properties({}) == {} == from_properties({"name": "x", "title": "y"})
