"""The base retrievers: correct rankings, stable order, complete filters, and sane results for odd questions."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag import KnowledgeGraph
from kgrag.graph.reader import escape
from kgrag.retrieval.base import RETRIEVERS, Scored
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, InputError, NotFoundError
from kgrag.values.results import Filter, Step

_NAME = "retrieval-base"
_PLAIN = [name for name, entry in RETRIEVERS.items() if not entry.needs]  # retrievers that need only the graph
_CITIES = ["Bergen", "Lübeck", "Danzig", "Riga", "Bruges", "Visby", "Tallinn", "Novgorod"]


@pytest.fixture(scope="module")
def hanse(fill: Callable[..., str]) -> str:
    """400 short documents about ports; only every 40th mentions amber."""
    documents = []
    for i in range(400):
        city = _CITIES[i % 8]
        text = (
            f"Ships of {city} carried load number {i} of herring, salt and timber over the sea in year {1300 + i % 90}."
        )
        if i % 40 == 0:
            text = f"The guild of {city} traded amber beads, lot {i}, with merchants of the east."
        metadata = {"century": 13 + i % 3, "city": city, "open": i % 2 == 0}
        documents.append(Document(f"h{i}", (Section(text),), f"{city} ledger {i}", f"archive/{city}.txt", metadata))
    return fill(_NAME, documents)


@pytest.mark.parametrize("retriever", _PLAIN)
def test_finds_what_is_asked(kg: KnowledgeGraph, hanse: str, retriever: str) -> None:
    ranking = kg[hanse].search("amber beads traded with merchants of the east", retriever=retriever, k=10)
    assert {h.passage.document for h in ranking} == {f"h{i}" for i in range(0, 400, 40)}
    scores = [h.score for h in ranking]
    assert scores == sorted(scores, reverse=True)
    assert all(h.why for h in ranking)
    again = kg[hanse].search("amber beads traded with merchants of the east", retriever=retriever, k=10)
    assert again == ranking


@pytest.mark.parametrize("retriever", _PLAIN)
def test_more_than_there_is(kg: KnowledgeGraph, hanse: str, retriever: str) -> None:
    ranking = kg[hanse].search("herring of Bergen", retriever=retriever, k=5000)
    assert 0 < len(ranking) <= 400
    assert len({h.passage.id for h in ranking}) == len(ranking)
    with pytest.raises(ConfigurationError, match="k is invalid"):  # like the command line
        kg[hanse].search("herring of Bergen", retriever=retriever, k=0)


def test_dense_scores_are_exact(kg: KnowledgeGraph, hanse: str) -> None:
    embedder = kg[hanse].context.embedder
    ranking = kg[hanse].search("salt from Riga", retriever="dense", k=5)
    for hit in ranking:
        vectors = embedder.embed(["salt from Riga", f"{hit.passage.title}\n{hit.passage.text}"])
        assert math.isclose(hit.score, (1 + float(vectors[0] @ vectors[1])) / 2, abs_tol=1e-5)


@pytest.mark.parametrize("form", ["The watch saw nothing. All is well.", "Watch {}: it saw nothing. All is well."])
@pytest.mark.parametrize("only", [None, Filter(source="archive")], ids=["all", "filtered"])
def test_copies_do_not_blind_the_nearest(
    kg: KnowledgeGraph, collection_name: str, form: str, only: Filter | None
) -> None:
    """Copies link only to copies, so the index returns nothing else, and fewer results than it has."""
    goods = ("herring", "salt", "amber", "timber", "furs", "wax", "cloth", "wine")
    texts = [f"The harbour of {city} shipped {good} to the west." for city in _CITIES for good in goods]
    documents = [Document(f"t{i}", (Section(text),), "Harbour", "archive/a.txt") for i, text in enumerate(texts)]
    documents += [Document(f"c{i}", (Section(form.format(i)),), "Watch", "archive/b.txt") for i in range(300)]
    kg[collection_name].ingest(documents)
    embedder = kg[collection_name].context.embedder
    vectors = embedder.embed([f"Harbour\n{text}" for text in texts])
    for question in ("Which harbour shipped amber?", "Who shipped wine of Riga?", "Where did furs of Visby go?"):
        (asked,) = embedder.embed([question])
        nearest = sorted(range(len(texts)), key=lambda i: -float(vectors[i] @ asked))[:5]
        found = kg[collection_name].search(question, retriever="dense", k=5, filter=only)
        assert {hit.passage.document for hit in found} == {f"t{i}" for i in nearest}


@pytest.mark.parametrize(
    "question",
    ["the of and", "AND OR NOT", "?!", '"', "title:x AND (", "a*", "\\", "🦊", "~ ^2 [x TO y]", "half \ud800 amber"],
)
@pytest.mark.parametrize("retriever", _PLAIN)
def test_odd_questions(kg: KnowledgeGraph, hanse: str, retriever: str, question: str) -> None:
    ranking = kg[hanse].search(question, retriever=retriever, k=3)
    assert len(ranking) <= 3


def test_a_very_long_question(kg: KnowledgeGraph, hanse: str) -> None:
    question = " ".join(f"word{i}" for i in range(5000)) + " amber"
    assert len(kg[hanse].search("amber " + question, retriever="hybrid", k=3)) == 3


def test_a_question_beyond_measure_is_refused_at_once(kg: KnowledgeGraph, hanse: str) -> None:
    for question in ("x" * 1_000_000, "amber " * 200_000):
        with pytest.raises(InputError, match="at most 100,000"):
            kg[hanse].search(question, k=3)
    kg[hanse].search("x" * 90_000, retriever="hybrid", k=3)


@settings(max_examples=60)
@given(st.text(max_size=60).filter(str.strip))
def test_any_text_is_a_lawful_lucene_query(kg: KnowledgeGraph, hanse: str, text: str) -> None:
    kg[hanse].search(text, retriever="bm25", k=1)


def test_escape() -> None:
    assert escape("NOT (a AND b)") == "not a and b"
    assert escape("C++ or C#?") == "C or C#"
    assert escape("?? -- !") == ""
    assert escape("again again") == "again"


def test_operators_are_words(kg: KnowledgeGraph, hanse: str) -> None:
    assert kg[hanse].search("NOT amber", retriever="bm25", k=3).hits[0].passage.text.count("amber") == 1


def test_unknown_retriever(kg: KnowledgeGraph, hanse: str) -> None:
    with pytest.raises(NotFoundError, match="no retriever 'magic'"):
        kg[hanse].search("x", retriever="magic")


@pytest.mark.parametrize("retriever", _PLAIN)
@pytest.mark.parametrize(
    ("only", "fits"),
    [
        (Filter(where={"century": 14}), lambda i: 13 + i % 3 == 14),
        (Filter(where={"century": "14", "city": "Bruges"}), lambda i: 13 + i % 3 == 14 and i % 8 == 4),
        (Filter(where={"open": True}), lambda i: i % 2 == 0),
        (Filter(source="Riga"), lambda i: i % 8 == 3),
        (Filter(where={"city": "Atlantis"}), lambda i: False),
        (Filter(where={"colour": "red"}), lambda i: False),
    ],
)
def test_filters(kg: KnowledgeGraph, hanse: str, retriever: str, only: Filter, fits: Any, monkeypatch: Any) -> None:
    """Every hit matches the filter, and the ranking is the unfiltered one without the other hits."""
    search = partial(kg[hanse].search, "ships carried herring and salt", retriever=retriever)
    ranking = search(k=20, filter=only)
    assert all(fits(int(h.passage.document[1:])) for h in ranking)
    monkeypatch.setattr("kgrag.graph.reader._FILTER_MATCHES", 0)  # so that it asks for more
    assert search(k=20, filter=only) == ranking
    if retriever in ("bm25", "dense", "pathrank"):  # others fuse ranks, which a filter moves
        scores = {h.passage.id: round(h.score, 5) for h in search(k=400) if fits(int(h.passage.document[1:]))}
        wanted, found = [*scores.items()][:20], [(h.passage.id, round(h.score, 5)) for h in ranking]
        assert {s for _, s in found} == {s for _, s in wanted}
        assert len(set(found) & set(wanted)) >= 0.9 * len(wanted)


def test_since(kg: KnowledgeGraph, hanse: str) -> None:
    now = datetime.now(UTC)
    assert len(kg[hanse].search("salt", filter=Filter(since=now - timedelta(hours=1)))) == 8
    assert len(kg[hanse].search("salt", filter=Filter(since=now + timedelta(hours=1)))) == 0
    assert len(kg[hanse].search("salt", filter=Filter(since=datetime(2000, 1, 1)))) == 8


def test_vectors_without_words(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("a", (Section("12 34 — 56 % §"),)), Document("b", (Section("… !!! ???"),))])
    for retriever, number in (("dense", 2), ("bm25", 0), ("hybrid", 2)):
        assert len(kg[collection_name].search("numbers", retriever=retriever)) == number


def test_statistics_are_the_collections_own(kg: KnowledgeGraph, hanse: str, collection_name: str) -> None:
    before = kg[hanse].search("amber", retriever="bm25")
    kg[collection_name].ingest([Document(f"x{i}", (Section(f"amber amber {i}"),)) for i in range(50)])
    assert kg[hanse].search("amber", retriever="bm25") == before


def test_many_threads(kg: KnowledgeGraph, hanse: str) -> None:
    questions = [f"{city} {word}" for city in _CITIES for word in ("salt", "herring", "amber")]
    alone = [kg[hanse].search(q) for q in questions]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda q: kg[hanse].search(q), questions))
    assert together == alone


def test_reciprocal_rank_fusion() -> None:
    fused = reciprocal_rank_fusion([[Scored("a", 9.0), Scored("b", 8.0)], [Scored("c", 0.5), Scored("a", 0.4)]], 60)
    assert [(s.id, s.score) for s in fused] == [("a", 1 / 61 + 1 / 62), ("c", 1 / 61), ("b", 1 / 62)]
    assert reciprocal_rank_fusion([], 60) == []


def test_fused_passages_of_equal_score_go_by_id_and_keep_their_trails() -> None:
    one, other = Step("bm25 rank 1", "Passage", ""), Step("dense rank 1", "Passage", "")
    fused = reciprocal_rank_fusion([[Scored("b", 9.0, (one,)), Scored("z", 1.0)], [Scored("a", 0.5, (other,))]], 60)
    assert [x.id for x in fused] == ["a", "b", "z"]
    (both,) = reciprocal_rank_fusion([[Scored("a", 9.0, (one,))], [Scored("a", 0.5, (other,))]], 60)
    assert both.why == (one, other)


@pytest.mark.parametrize("retriever", ["bm25", "dense"])
def test_since_of_each_index(kg: KnowledgeGraph, hanse: str, retriever: str) -> None:
    now = datetime.now(UTC)
    filters = [Filter(since=now + timedelta(hours=hours)) for hours in (-1, 1)]
    assert [len(kg[hanse].search("salt", retriever=retriever, filter=only)) for only in filters] == [8, 0]
