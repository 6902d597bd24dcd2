"""Filters by metadata compare numbers as numbers, in any notation."""

from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter, Scalar

_NAME = "retrieval-filters"
_VALUES: dict[str, dict[str, object]] = {
    "price": {"n": 12345678.5}, "rate": {"n": 0.0001}, "ten": {"n": 10000000.0}, "big": {"n": 1e21},
    "small": {"n": -2.5e-9}, "year": {"n": 1897}, "long": {"n": 9007199254740993}, "text": {"n": "007"},
    "version": {"n": "1.50"}, "listed": {"n": [0.00025, 7.5]}, "mixed": {"n": [8, "eight"]},
    "open": {"n": True},
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(fill: Callable[..., str]) -> str:
    """Documents that differ in one metadata field."""
    return fill(_NAME, [Document(key, (Section("Kilns."),), metadata=fields) for key, fields in _VALUES.items()])


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("12345678.5", "price"), (12345678.5, "price"), ("1.23456785E7", "price"), ("0.0001", "rate"),
        (0.0001, "rate"), ("1e-4", "rate"), ("10000000.0", "ten"), ("10000000", "ten"), (10_000_000, "ten"),
        ("1e21", "big"), (10**21, "big"), (1e21, "big"), ("-0.0000000025", "small"), ("1897", "year"),
        (1897.0, "year"), ("9007199254740993", "long"), (9007199254740992, None), ("007", "text"), (7, None),
        ("7", None), ("1.50", "version"), ("1.5", None), (0.00025, "listed"), ("7.50", "listed"), (8, "mixed"),
        ("eight", "mixed"), (True, "open"), ("true", "open"), (1, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("retriever", ["bm25", "dense"])
def test_a_number_is_found_as_it_was_given(
    kg: KnowledgeGraph, measured: str, value: Scalar, found: str | None, retriever: str
) -> None:
    hits = kg[measured].search("kilns", retriever=retriever, k=20, filter=Filter({"n": value}))
    assert [hit.passage.document for hit in hits] == ([found] if found else [])


@pytest.mark.parametrize(
    ("value", "found"), [("12345678.5", "price"), ("0.0001", "rate"), ("true", "open"), ("007", "text")]
)
def test_the_saved_query_does_the_same(kg: KnowledgeGraph, measured: str, value: str, found: str) -> None:
    rows = kg.saved_query("documents_where", collection=measured, key="n", value=value).values
    assert [row[0] for row in rows] == [found]
