"""Rows as data frames, and the labels of nodes."""

import sys

import pandas as pd
import pytest

from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint
from kgrag.values.rows import Edge, Node, Rows

FRAM = Node("1", ("Document",), {"name": "Fram", "updated": "2024-05-31T12:00:00.5+02:00"})
MAUD = Node("2", ("Document", "Ship"), {"name": "Maud"})
ROWS = Rows(
    ("d", "e", "day", "at", "text"),
    (
        (FRAM, Edge("3", "LINKS_TO", "1", "2", {"weight": 0.5}), "1892-10-26", "2024-05-31T12:00:00Z", "1892-10-26"),
        (MAUD, None, None, "2024-05-31T14:00:00+02:00", "2024-05-31, a Friday"),
    ),
)


def test_only_labels_of_one_collection_are_hidden() -> None:
    labels = ("Supply_chain", "Supply_chain_c12", "Passage", "Passage_c7", "Ship_c2")
    assert Node("1", labels, {}).kinds == ("Supply_chain", "Passage", "Ship_c2")


def test_days_and_moments_become_timestamps() -> None:
    table = ROWS.to_df()
    assert list(table.columns) == list(ROWS.columns) and table["d"].tolist() == [FRAM, MAUD]
    assert table["day"][0] == pd.Timestamp("1892-10-26") and table["day"].isna().tolist() == [False, True]
    assert table["at"].tolist() == [pd.Timestamp("2024-05-31T12:00Z")] * 2
    assert table["text"].tolist() == ["1892-10-26", "2024-05-31, a Friday"]
    assert ROWS.to_df(parse_dates=False)["day"][0] == "1892-10-26"
    assert str(Rows(("day",), (("0001-01-01",),)).to_df()["day"][0]).startswith("0001-01-01")
    assert list(Rows(("a", "b"), ()).to_df().columns) == ["a", "b"]


def test_nodes_and_relationships_are_flattened() -> None:
    table = ROWS.to_df(expand=True)
    named = {"d.labels", "d.name", "d.updated", "e.type", "e.weight", "day", "at", "text"}
    assert set(table.columns) - {"e"} == named
    assert table["d.labels"].tolist() == [("Document",), ("Document", "Ship")]
    assert table["d.updated"][0] == pd.Timestamp("2024-05-31T10:00:00.5Z")


def test_without_pandas_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError, match="pandas") as caught:
        ROWS.to_df()
    assert install_hint("interop") in caught.value.remedy
