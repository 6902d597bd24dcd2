"""Filters on metadata of documents: their own dates, and ranges of numbers and of texts."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kgrag import KnowledgeGraph
from kgrag.cli.connect import where
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter, Range, Scalar

_METADATA: dict[str, dict[str, Scalar]] = {
    "day": {"date": "2024-03-05", "year": 2024, "weight": 9},
    "row": {"date": "2023-12-31", "year": "2023", "weight": "10.5"},
    "moment": {"Published": "2024-01-01T10:30:00+05:00", "author": "Ann"},
    "year": {"year": 1897, "author": "Bob", "weight": 10},
    "unclear": {"date": "05/03/2024", "created": "March 5, 2024"},
    "none": {"weight": True},
}


@pytest.fixture(scope="module")
def dated(fill: Callable[..., str]) -> str:
    return fill("dated", [Document(key, (Section(f"Harbour {key}."),), metadata=its) for key, its in _METADATA.items()])


@pytest.mark.parametrize("retriever", ["bm25", "dense", "pathrank"])
@pytest.mark.parametrize(
    ("only", "left_out"),
    [
        (Filter(since=datetime(2024, 1, 1)), {"row"}), (Filter(since=datetime(2024, 1, 1, 10, 31)), {"row", "moment"}),
        (Filter(since=datetime(2024, 3, 5, tzinfo=UTC)), {"row", "moment"}),
        (Filter(since=datetime(2024, 3, 6)), {"row", "moment", "day"}),
        (Filter(since=datetime(2999, 1, 1)), set(_METADATA)),
        (Filter(where={"year": (1897, 2023)}), {"day", "moment", "unclear", "none"}),
        (Filter(where={"year": (2023.5, None)}), {"row", "moment", "year", "unclear", "none"}),
        (Filter(where={"weight": (None, 10)}), {"row", "moment", "unclear", "none"}),
        (Filter(where={"date": (None, "2024-03")}), {"moment", "year", "none"}),
        (Filter(where={"date": ("2024", "2024-03")}), {"row", "moment", "year", "none", "unclear"}),
        (Filter(where={"author": (None, None)}), {"day", "row", "unclear", "none"}),
        (Filter(where={"weight": (True, True)}), {"day", "row", "moment", "year", "unclear"}),
    ],
)  # fmt: skip
def test_dates_and_ranges(kg: KnowledgeGraph, dated: str, retriever: str, only: Filter, left_out: set[str]) -> None:
    found = kg[dated].search("harbour", retriever=retriever, filter=only)
    assert {hit.passage.document for hit in found} == _METADATA.keys() - left_out


@pytest.mark.parametrize("retriever", ["bm25", "dense", "pathrank"])
def test_one_of_a_list_is_found(kg: KnowledgeGraph, collection_name: str, retriever: str) -> None:
    listed = {"a": ["alpha", "beta, or so"], "b": ["beta"], "c": ['"alpha"', "al", "pha"], "d": "alpha"}
    documents = [
        Document(key, (Section(f"Harbour {key}."),), metadata={"tags": tags, "more": ["alpha"] * (key == "b")})
        for key, tags in listed.items()
    ]
    kg[collection_name].ingest(documents)

    def found(tag: str) -> set[str]:
        hits = kg[collection_name].search("harbour", retriever=retriever, filter=Filter(where={"tags": tag}))
        return {hit.passage.document for hit in hits}

    assert [found(tag) for tag in ("alpha", "beta", "beta, or so", "gamma")] == [{"a", "d"}, {"b"}, {"a"}, set()]


_LISTS: dict[str, object] = {
    "numbers": [1897, 1911], "one": ["Tromsø"], "empty": [], "mixed": ["1911", 3.5, True],
    "unicode": ["日本語", "e\u0301", 'a"b\\c, ]'], "days": ["1897-06-01", "1912-01-17"],
    "deep": [["1897"], {"a": 1897}], "nothing": [None, "1897"], "single": 1911,
}  # fmt: skip


@pytest.mark.parametrize("retriever", ["bm25", "dense", "pathrank"])
def test_what_lists_hold(kg: KnowledgeGraph, collection_name: str, retriever: str) -> None:
    kg[collection_name].ingest(
        Document(key, (Section(f"Harbour {key}."),), metadata={"its": its}) for key, its in _LISTS.items()
    )

    def found(its: Scalar | Range) -> set[str]:
        hits = kg[collection_name].search("harbour", retriever=retriever, filter=Filter(where={"its": its}))
        return {hit.passage.document for hit in hits}

    values = (1897, "1911", "Tromsø", 3.5, True, "日本語", "e\u0301", "é", 'a"b\\c, ]', "", "[]")
    held = [{"numbers"}, {"numbers", "mixed", "single"}, {"one"}, {"mixed"}, {"mixed"}, {"unicode"}, {"unicode"}]
    assert [found(value) for value in values] == [*held, set(), {"unicode"}, set(), set()]
    assert found((1900, 1950)) == {"numbers", "mixed", "single", "days"}  # a date counts as its year
    assert found((3, 4)) == {"mixed"}
    assert found(("1912", "1912-01")) == {"days"}
    told = {hit.passage.document: hit.passage.metadata for hit in kg[collection_name].search("harbour", k=9)}
    assert told == {key: {"its": its} for key, its in _LISTS.items()}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("year=1890..1899", (1890, 1899)), ("year=1890..", (1890, None)), ("share=..0.5", (None, 0.5)),
        ("at=-1.5..2", (-1.5, 2)), ("date=..1897-06", (None, "1897-06")),
        ("date=1897..1898-02-01", ("1897", "1898-02-01")), ("version=1.10", "1.10"),
        ("path=../notes..old", "../notes..old"), ("any=..", (None, None)),
    ],
)  # fmt: skip
def test_how_ranges_are_written(said: str, meant: Scalar | Range) -> None:
    ((_, found),) = where(None, None, (said,))  # type: ignore[arg-type]
    assert found == meant
