"""KNN with fuzzy search finds misspelt wording, and the trail has both rankings."""

from collections.abc import Callable

import pytest
from coast import coast_documents

from kgrag import KnowledgeGraph
from kgrag.retrieval.trail import trail
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter

_NAME = "knn"


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    long = Document("mill", (Section("Sacks of rye stood in rows. " * 8 + "Kvernholmen grinds no more."),), "Mill")
    return fill(_NAME, [*coast_documents(), long])


def test_wording_is_compared_whole_or_in_part(kg: KnowledgeGraph, coast: str) -> None:
    """In all passages, misspelt words resemble a part of a long text, but not the whole text."""
    question = "Kvernnholmenn grnids no moer"

    def fuzzy(compare: str) -> str:
        found = kg[coast].search(question, retriever=f"knn(compare={compare}, candidates=200)", k=30)
        return next(hit.passage.title for hit in found if any(step.via == "fuzzy rank 1" for step in hit.why))

    assert fuzzy("part") == "Mill"
    assert fuzzy("whole") != "Mill"


def test_both_rankings_are_fused(kg: KnowledgeGraph, coast: str) -> None:
    question = "Marta Holm painted boats and harbors in bright oil."
    ranking = kg[coast].search(question, retriever="knn", k=5)
    assert ranking.hits[0].passage.title == "Marta Holm"
    assert trail(ranking.hits[0]).startswith("dense rank 1 (")
    assert "fuzzy rank 1 (0.9" in trail(ranking.hits[0])
    assert [hit.score for hit in ranking] == sorted((hit.score for hit in ranking), reverse=True)


def test_a_filter_holds(kg: KnowledgeGraph, coast: str) -> None:
    found = kg[coast].search("steamer", retriever="knn", filter=Filter(where={"letter": "N"}))
    assert [hit.passage.title for hit in found] == ["Nordvika"]
