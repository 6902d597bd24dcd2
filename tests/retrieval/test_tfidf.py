"""TF-IDF: the cosine by hand, and its differences from BM25."""

import math
from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.retrieval.trail import trail
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter

_NAME = "tfidf"
_TEXTS = {
    "short": "Salmon harbour.",
    "long": "Salmon harbour, and beside it warehouses, churches, mills, barns, inns, smithies, gardens and stables.",
    "often": "Salmon salmon salmon salmon; a cellar.",
    "other": "Warehouses and mills by a cellar.",
}


@pytest.fixture(scope="module")
def harbours(fill: Callable[..., str]) -> str:
    return fill(_NAME, [Document(key, (Section(text),), metadata={"key": key}) for key, text in _TEXTS.items()])


def test_the_cosine_by_hand(kg: KnowledgeGraph, harbours: str) -> None:
    """Four passages; salmon is in three, harbour in two, cellar in two."""
    salmon, harbour, cellar = (1 + math.log(5 / (1 + df)) for df in (3, 2, 2))
    scores = {hit.passage.document: hit.score for hit in kg[harbours].search("the salmon harbour", retriever="tfidf")}
    assert scores["short"] == pytest.approx(1)
    tf = 1 + math.log(4)
    expected = tf * salmon * salmon / math.hypot(salmon, harbour) / math.hypot(tf * salmon, cellar)
    assert scores["often"] == pytest.approx(expected)
    assert scores["short"] > scores["often"] > scores["long"]
    assert "other" not in scores


def test_a_word_that_comes_often_counts_more_than_for_bm25(kg: KnowledgeGraph, harbours: str) -> None:
    def share(retriever: str) -> float:
        scores = {hit.passage.document: hit.score for hit in kg[harbours].search("salmon mills", retriever=retriever)}
        return scores["often"] / scores["long"]

    assert share("tfidf") > share("bm25")


def test_its_trail_names_the_words(kg: KnowledgeGraph, harbours: str) -> None:
    ranking = kg[harbours].search("Is there salmon in the harbour?", retriever="tfidf", k=1)
    assert trail(ranking.hits[0]) == "tfidf rank 1, harbour salmon (1.00)"


def test_nothing_shared_nothing_found_and_a_filter_holds(kg: KnowledgeGraph, harbours: str) -> None:
    assert kg[harbours].search("of the", retriever="tfidf").hits == ()
    assert kg[harbours].search("zebra", retriever="tfidf").hits == ()
    found = kg[harbours].search("salmon", retriever="tfidf", filter=Filter(where={"key": "long"}))
    assert [hit.passage.document for hit in found] == ["long"]
    assert len(kg[harbours].search("salmon cellar mills", retriever="tfidf(candidates=1)", k=2)) == 2
