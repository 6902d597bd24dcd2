"""The merging of rankings from several collections, by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.client.federation import Federated
from kgrag.retrieval.base import FusionOptions, Query, Scored


class Part:
    """A retriever of one collection, with a score of how well that collection fits the question."""

    def __init__(self, fit: float, *ids: str) -> None:
        self.context = SimpleNamespace(fit=fit)
        self.ids = ids

    def ranked(self, query: Query, n: int) -> list[Scored]:
        return [Scored(id, 99.0) for id in self.ids[:n]]


def merged(n: int, *parts: Part) -> list[tuple[str, float]]:
    federated: Any = object.__new__(Federated)
    federated.parts, federated.settings = parts, FusionOptions()
    return [(x.id, x.score) for x in federated.rank(Query("Who?"), n)]


def test_a_passage_counts_by_its_rank_and_by_how_well_its_collection_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.client.federation.fits", lambda context, query: context.fit)
    fits, less = Part(4.0, "z", "y", "x"), Part(1.0, "a", "b")
    expected = {"z": 1 / 61, "y": 1 / 62, "x": 1 / 63, "a": 0.25 / 61, "b": 0.25 / 62}
    assert merged(9, less, fits) == [(id, pytest.approx(score)) for id, score in expected.items()]
    assert [id for id, _ in merged(2, less, fits)] == ["z", "y"]
    assert [id for id, _ in merged(9, Part(2.0, "c", "d"), Part(2.0, "b", "e"))] == ["b", "c", "d", "e"]  # ties by id
    assert merged(9, Part(0.0, "c"), Part(0.0)) == [("c", 0.0)]
