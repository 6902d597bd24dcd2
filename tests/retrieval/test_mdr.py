"""MDR: chains of passages, with an embedder that knows the next passage."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from coast import coast_documents

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.models.embed import Vectors, unit
from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.mdr import Mdr
from kgrag.retrieval.trail import trail
from kgrag.values.results import Filter

_NAME = "mdr"
_QUESTION = "Where did the captain of the Fjord Queen grow up?"
_ORDER = ("Fjord Queen", "Ole Brandvik", "Nordvika", "Stilla")


class NextFact:
    """An embedder that knows the order of the tale: a text's vector points to the passage after its last one."""

    name = "next-fact"
    dimension = 8

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors: a passage has its own direction, a query mostly the direction of the next passage.

        No two passages have quite the same vector; else an index of nearest neighbours could not navigate.
        """
        rows = np.full((len(texts), self.dimension), 0.05)
        for row, text in zip(rows, texts, strict=True):
            if text.startswith(_QUESTION):
                told = [i for i, title in enumerate(_ORDER) if f"\n{title}: " in text]
                row[min(max(told, default=-1) + 1, len(_ORDER) - 1)] += 1
            else:
                title = text.partition("\n")[0]
                row[_ORDER.index(title) if title in _ORDER else 4 + len(text) % 4] += 1
                row += np.random.default_rng(crc32(text.encode())).normal(scale=0.01, size=self.dimension)
        return unit(rows)


@pytest.fixture(scope="module")
def index(kg: KnowledgeGraph, fill: Callable[..., str]) -> SearchContext:
    embedder = NextFact()
    fill(_NAME, coast_documents(), embedder=embedder)
    reader = Reader(kg.graph, open_collection(kg.graph, _NAME))
    return SearchContext(reader, embedder)


def _mdr(context: SearchContext, **values: int) -> Mdr:
    return Mdr(context, **values)


def test_each_hop_leads_on(index: SearchContext) -> None:
    ranking = _mdr(index, hops=3, width=2, branch=1).retrieve(_QUESTION, 3)
    assert [hit.passage.title for hit in ranking] == ["Fjord Queen", "Ole Brandvik", "Nordvika"]
    one_hop = _mdr(index, hops=1).retrieve(_QUESTION, 3)
    assert next(hit.passage.title for hit in one_hop) == "Fjord Queen"
    assert "Ole Brandvik" not in [hit.passage.title for hit in one_hop]


def test_the_trail_is_the_chain(index: SearchContext) -> None:
    hit = _mdr(index).retrieve(_QUESTION, 2).hits[1]
    assert trail(hit).startswith("question —resembles the question→ Passage Fjord Queen (")
    assert " —resembles both→ Passage Ole Brandvik (" in trail(hit)


def test_the_searches_of_a_hop_are_one_round_trip(index: SearchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = index.row

    def row(name: str, /, **parameters: Any) -> dict[str, Any]:
        if name == "retrieve/mdr":
            asked.append(len(parameters["chains"]))
        return real(name, **parameters)

    monkeypatch.setattr(index, "row", row)
    _mdr(index, hops=3, width=5, branch=2, beams=6).retrieve(_QUESTION)
    assert asked == [5, 6]


def test_all_that_is_wanted_is_found_once_and_a_filter_holds(index: SearchContext) -> None:
    ranking = _mdr(index, width=1, branch=1).retrieve(_QUESTION, 40)
    assert len({hit.passage.id for hit in ranking}) == len(ranking) == 40
    found = _mdr(index).retrieve(Query(_QUESTION, Filter(where={"letter": "N"})), 5)
    assert [hit.passage.title for hit in found] == ["Nordvika"]
