"""Personalised PageRank on a small graph: its restart, its ranking, and its trail."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.results import Filter

_NAME, _PLAIN = "ppr", "ppr without triples"
_TEXTS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "Fjord Queen": (
        "The Fjord Queen was a steamer. Her captain was Ole Brandvik, who had come up from deck hand.",
        (("Fjord Queen", "had as captain", "Ole Brandvik"),),
    ),
    "Ole Brandvik": (
        "He went to sea at fourteen. His childhood was spent in Nordvika among fishermen.",
        (("Ole Brandvik", "grew up in", "Nordvika"),),
    ),
    "Marta Holm": (
        "Marta Holm painted boats in bright oils. She kept a studio in Nordvika.",
        (("Marta Holm", "kept a studio in", "Nordvika"),),
    ),
    "Harbour lights": ("The harbour lights burn all night in bad weather.", ()),
    "Wool": ("Wool is sheared in spring and spun in winter.", ()),
}
_QUESTION = "Who painted in the place where the captain of the Fjord Queen grew up?"


def _documents(with_triples: bool) -> list[Document]:
    documents = [
        Document(
            title,
            (Section(text),),
            title,
            metadata={"letter": title[0]},
            triples=tuple(Triple(*t) for t in triples) if with_triples else (),
        )
        for title, (text, triples) in _TEXTS.items()
    ]
    for i in range(40):
        text = f"In Bergvik a merchant sold wool to Kari Aune for {i} crowns."
        documents.append(Document(f"letter {i}", (Section(text),), f"Letter {i}"))
    return documents


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    return fill(_NAME, _documents(True))


@pytest.fixture(scope="module")
def plain(fill: Callable[..., str]) -> str:
    return fill(_PLAIN, _documents(False))


def test_triples_lead_to_the_passages_that_state_them(kg: KnowledgeGraph, coast: str) -> None:
    ranking = kg[coast].search(_QUESTION, retriever="ppr", k=5)
    assert {h.passage.title for h in ranking.hits[:3]} == {"Fjord Queen", "Ole Brandvik", "Marta Holm"}
    assert all(0 < h.score < 1 for h in ranking)
    assert [h.score for h in ranking] == sorted((h.score for h in ranking), reverse=True)


def test_the_trail_is_a_path_from_a_seed_to_the_passage(kg: KnowledgeGraph, coast: str) -> None:
    for hit in kg[coast].search(_QUESTION, retriever="ppr", k=20):
        first, last = hit.why[0], hit.why[-1]
        assert first.via in ("names", "resembles the question")
        assert (last.label, last.name) == ("Passage", hit.passage.title)
        assert all(step.name for step in hit.why)
    best = kg[coast].search("Fjord Queen", retriever="ppr(triples=0)", k=1).hits[0]
    assert [(s.via, s.label, s.name) for s in best.why] == [
        ("names", "Entity", "Fjord Queen"),
        ("title of", "Passage", "Fjord Queen"),
    ]


@pytest.mark.parametrize("collection", ["coast", "plain"])
def test_exact_and_local_agree(kg: KnowledgeGraph, request: pytest.FixtureRequest, collection: str) -> None:
    """All forty-five passages surround the seeds, so the local graph is nearly the whole graph."""
    name = request.getfixturevalue(collection)
    local = kg[name].search(_QUESTION, retriever="ppr", k=3)
    exact = kg[name].search(_QUESTION, retriever="ppr(exact=true)", k=3)
    assert [h.passage.title for h in local] == [h.passage.title for h in exact]
    assert exact.hits[0].why[-1] == local.hits[0].why[-1]


def test_without_triples_mentions_carry_the_walk(kg: KnowledgeGraph, plain: str) -> None:
    titles = [h.passage.title for h in kg[plain].search("Who was captain of the Fjord Queen?", retriever="ppr", k=2)]
    assert titles == ["Fjord Queen", "Ole Brandvik"]


def test_few_triples_do_not_lead_the_walk_astray(kg: KnowledgeGraph, plain: str, collection_name: str) -> None:
    """The nearest of only two triples is unrelated to the question, as after a trial extraction of twenty passages."""
    facts = (Triple("Kari Aune", "paid", "crowns"), Triple("a merchant", "sold wool to", "Kari Aune"))
    some = [replace(d, triples=facts) if d.title == "Letter 7" else d for d in _documents(False)]
    kg[collection_name].ingest(some)
    found, without = (kg[name].search(_QUESTION, retriever="ppr", k=4) for name in (collection_name, plain))
    assert [hit.passage.title for hit in found] == [hit.passage.title for hit in without]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in without], abs=0.01)


def test_a_hub_leads_nowhere(kg: KnowledgeGraph, coast: str) -> None:
    """Kari Aune is mentioned in forty passages; without nearest passages only her name connects them."""
    options = "triples=0, passages=1, most=0"
    over = kg[coast].search("Kari Aune", retriever=f"ppr({options})", k=45)
    capped = kg[coast].search("Kari Aune", retriever=f"ppr({options}, cap=10)", k=45)
    assert len(over) >= 40
    assert len(capped) == 1


def test_of_many_documents_of_one_title_the_other_words_tell(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = [f"A gull sat on rope {i % 7} of the pier; sign{i:03}q was seen, and the tide rose." for i in range(300)]
    kg[collection_name].ingest(Document(f"d{i}", (Section(text),), "Harbour Log") for i, text in enumerate(texts))
    for i in (0, 123, 299):
        hits = kg[collection_name].search(f"Harbour Log sign{i:03}q", retriever="ppr", k=10)
        assert f"d{i}" in [hit.passage.document for hit in hits]


def test_the_walk_is_kept_to_the_passages_that_it_reaches_most(kg: KnowledgeGraph, coast: str) -> None:
    """Kari Aune is mentioned in forty passages, Ole Brandvik in one; rare names are expanded first."""
    options = "triples=0, passages=1, most=0, surrounding=10"
    found = kg[coast].search("Kari Aune or Ole Brandvik", retriever=f"ppr({options})", k=45)
    assert 10 <= len(found) <= 11
    assert {"Fjord Queen", "Ole Brandvik"} <= {h.passage.title for h in found}


def test_filters_hold(kg: KnowledgeGraph, coast: str) -> None:
    for retriever in ("ppr", "ppr(exact=true)"):
        found = kg[coast].search(_QUESTION, retriever=retriever, filter=Filter({"letter": "M"}))
        assert [h.passage.title for h in found] == ["Marta Holm"]


def test_few_round_trips(kg: KnowledgeGraph, coast: str) -> None:
    retriever = kg[coast].retriever("ppr")
    calls: list[str] = []
    with kg.graph.listening(lambda name, parameters: calls.append(name)):
        assert len(retriever.retrieve(_QUESTION)) > 0
    assert len(calls) <= 6


def test_questions_that_name_nothing(kg: KnowledgeGraph, coast: str) -> None:
    assert len(kg[coast].search("xyzzy qwfp", retriever="ppr", k=3)) == 3
    assert len(kg[coast].retriever("ppr").retrieve("  ")) == 0
