"""The hybrid sum of BM25 and vector scores, computed by hand from both rankings."""

import pytest

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter

_QUESTION = "Where was the designer of the Fram born?"
_TEXTS = {
    "Fram": "The Fram was designed by Colin Archer.",
    "Archer": "Colin Archer, a designer of ships, was born in Larvik.",
    "Larvik": "Larvik is a town by the sea, and the birthplace of many builders of boats.",
    "Bread": "Rye is baked into flat loaves twice a year.",
    "Gjoa": "The Gjoa was born of a herring boat.",
}


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    documents = [Document(name, (Section(text),), name, metadata={"letter": name[0]}) for name, text in _TEXTS.items()]
    kg[collection_name].ingest(documents)
    return collection_name


def _scores(kg: KnowledgeGraph, name: str, retriever: str, question: str = _QUESTION) -> dict[str, float]:
    return {hit.passage.title: hit.score for hit in kg[name].search(question, retriever=retriever, k=10)}


def test_the_scores_are_those_of_the_equation(kg: KnowledgeGraph, ships: str) -> None:
    words, near = (_scores(kg, ships, name) for name in ("bm25", "dense"))
    assert set(words) == {"Fram", "Archer", "Gjoa"} and set(near) == set(_TEXTS)
    average = sum(near[name] for name in words) / len(words)
    for weight in (0.0, 0.4, 1.0):
        expected = {
            name: (1 - weight) * words.get(name, 0) / max(words.values())
            + weight * (near[name] - average) / (1 - average)
            for name in _TEXTS
        }
        found = _scores(kg, ships, f"hybrid(nearness={weight})")
        assert found == pytest.approx(expected)
        assert list(found.values()) == sorted(expected.values(), reverse=True)
    assert _scores(kg, ships, "hybrid") == _scores(kg, ships, "hybrid(nearness=0.4)")
    hits = kg[ships].search(_QUESTION, retriever="hybrid", k=10).hits
    ways = {hit.passage.title: [step.via.split()[0] for step in hit.why] for hit in hits}
    assert ways == {name: ["bm25", "dense"] if name in words else ["dense"] for name in _TEXTS}


def test_what_one_of_both_has_not_found_counts_as_its_last(kg: KnowledgeGraph, ships: str) -> None:
    """The BM25 list is full, so a passage beyond it gets its last score; the passage's cosine is looked up."""
    words, near = (_scores(kg, ships, name) for name in ("bm25", "dense"))
    first, second = sorted(words, key=words.__getitem__, reverse=True)[:2]
    average = (near[first] + near[second]) / 2
    found = kg[ships].search(_QUESTION, retriever="hybrid(depth=2)", k=2)
    least = words[second] / words[first]
    expected = {
        name: 0.6 * (words.get(name, 0) / words[first] if name in (first, second) else least)
        + 0.4 * (near[name] - average) / (1 - average)
        for name in {first, second, *sorted(near, key=near.__getitem__, reverse=True)[:2]}
    }
    best = sorted(expected, key=lambda name: -expected[name])[:2]
    assert {hit.passage.title: hit.score for hit in found} == pytest.approx({name: expected[name] for name in best})


@pytest.mark.parametrize(("question", "first"), [("qqqq zzzz", None), ("loaves", "Bread")])
def test_without_words_in_common_the_nearest_come(
    kg: KnowledgeGraph, ships: str, question: str, first: str | None
) -> None:
    found = list(_scores(kg, ships, "hybrid", question))
    assert len(found) == len(_TEXTS)
    assert found == list(_scores(kg, ships, "dense", question)) if first is None else found[0] == first


def test_a_filter_holds_for_both(kg: KnowledgeGraph, ships: str) -> None:
    found = kg[ships].search(_QUESTION, retriever="hybrid", filter=Filter({"letter": "L"}))
    assert {hit.passage.title for hit in found} == {"Larvik"}
