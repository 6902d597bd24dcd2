"""NaiveGE over base retrievers: chains of triples lead to more passages, and the trail shows how."""

from collections.abc import Callable

import pytest
from queries_run import queries_of

from kgrag import KnowledgeGraph
from kgrag.retrieval.trail import trail
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.results import Filter

_NAME = "naive-ge"
_QUESTION = "Where did the captain of the Fjord Queen spend his childhood?"
_FACTS = {
    "Fjord Queen": ("The Fjord Queen was a steamer under captain Ole Brandvik.", [("Ole Brandvik", "captain of")]),
    "Brandvik family": ("Ole Brandvik grew up in Nordvika.", [("Ole Brandvik", "grew up in", "Nordvika")]),
    "Nordvika": ("Nordvika lies at a river mouth.", [("Nordvika", "lies at", "river mouth")]),
    "Captains": ("A captain may forget where his childhood was spent.", []),
}


def _document(title: str, text: str, facts: list[tuple[str, ...]]) -> Document:
    triples = tuple(Triple(*(*fact, title)[:3]) for fact in facts)
    return Document(title, (Section(text),), title, metadata={"letter": title[0]}, triples=triples)


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    documents = [_document(title, text, facts) for title, (text, facts) in _FACTS.items()]
    documents += [
        _document(f"Letter {i}", f"The merchant of port {i} sold wool for {i} crowns.", []) for i in range(20)
    ]
    return fill(_NAME, documents)


def test_finds_what_shares_no_word_with_the_question(kg: KnowledgeGraph, coast: str) -> None:
    assert "Brandvik family" not in [h.passage.title for h in kg[coast].search(_QUESTION, retriever="bm25", k=50)]
    ranking = kg[coast].search(_QUESTION, retriever="naive-ge(bm25)", k=5)
    hits = {h.passage.title: h for h in ranking}
    assert ranking.hits[0].passage.title == "Fjord Queen"
    assert [(s.via, s.label, s.name) for s in hits["Brandvik family"].why] == [
        ("resembles", "Triple", "Ole Brandvik captain of Fjord Queen"),
        ("names", "Entity", "Ole Brandvik"),
        ("named in", "Triple", "Ole Brandvik grew up in Nordvika"),
        ("stated in", "Passage", "Brandvik family"),
    ]
    assert ranking.notes == ()


def test_the_trail_of_what_both_found(kg: KnowledgeGraph, coast: str) -> None:
    first = kg[coast].search(_QUESTION, retriever="naive-ge(bm25)", k=1).hits[0]
    bm25, path = trail(first).split(" + ")
    assert bm25.startswith("bm25 rank ")
    assert path.startswith("question —resembles→ Fact Ole Brandvik captain of Fjord Queen (")
    assert path.endswith(") —stated in→ Passage Fjord Queen")


@pytest.mark.parametrize("base", ["hybrid", "pathrank", "dense"])
def test_works_on_any_retriever(kg: KnowledgeGraph, coast: str, base: str) -> None:
    """The ranking fuses the base's ranking with the chains' ranking, for any base."""
    ranking = kg[coast].search(_QUESTION, retriever=f"naive-ge({base})", k=24)
    alone = kg[coast].search(_QUESTION, retriever=base, k=24)
    ranks = {h.passage.id: rank for rank, h in enumerate(alone, 1)}
    for hit in ranking:
        if not any(step.label == "Triple" for step in hit.why):
            assert hit.score == pytest.approx(1 / (60 + ranks[hit.passage.id]))
        else:
            assert hit.score > (1 / (60 + ranks[hit.passage.id]) if hit.passage.id in ranks else 0)
    assert "Brandvik family" in [h.passage.title for h in ranking.hits[:4]]
    assert any(s.via.startswith(f"{base} rank ") for s in ranking.hits[0].why)


def test_as_many_base_passages_are_fused_as_are_read(kg: KnowledgeGraph, coast: str) -> None:
    """Any `k` fuses five passages of the base, and the passages that chains reach from these."""

    def of_the_base(fuse: str) -> int:
        ranking = kg[coast].search(_QUESTION, retriever=f"naive-ge(dense, passages=5, fuse={fuse})", k=24)
        return sum(any(step.via.startswith("dense rank ") for step in hit.why) for hit in ranking)

    assert (of_the_base("read"), of_the_base("wanted")) == (5, 24)
    read = kg[coast].search(_QUESTION, retriever="naive-ge(dense, passages=5, fuse=read)", k=15)
    five = kg[coast].search(_QUESTION, retriever="naive-ge(dense, passages=5)", k=5)
    assert [hit.passage.id for hit in read][:5] == [hit.passage.id for hit in five]


def test_a_path_of_the_base_and_one_of_the_chains_stay_apart(kg: KnowledgeGraph, coast: str) -> None:
    first = kg[coast].search(_QUESTION, retriever="naive-ge(pathrank)", k=1).hits[0]
    parts = trail(first).split(" + ")
    assert [p.startswith("question —") for p in parts] == [True, False, True]
    assert parts[1].startswith("pathrank rank ")


def test_options_of_the_search(kg: KnowledgeGraph, coast: str) -> None:
    """Two passages, only one with triples, and one beam give a single chain of two triples."""
    ranking = kg[coast].search(_QUESTION, retriever="naive-ge(bm25, passages=2, beams=1)", k=24)
    by_chains = [h.passage.title for h in ranking if any(s.label == "Triple" for s in h.why)]
    assert sorted(by_chains) == ["Brandvik family", "Fjord Queen"]
    single = kg[coast].search(_QUESTION, retriever="naive-ge(bm25, length=1)", k=24)
    assert "Brandvik family" not in [h.passage.title for h in single]


@pytest.mark.parametrize("option", ["exact=true", "diverse=false"])
def test_other_ways_to_score_find_it_too(kg: KnowledgeGraph, coast: str, option: str) -> None:
    ranking = kg[coast].search(_QUESTION, retriever=f"naive-ge(bm25, {option})", k=5)
    assert "Brandvik family" in [h.passage.title for h in ranking]


def test_filter(kg: KnowledgeGraph, coast: str) -> None:
    """Chains may pass through triples of documents that the filter excludes, but their passages stay out."""
    only = Filter(where={"letter": "F"})
    titles = [h.passage.title for h in kg[coast].search(_QUESTION, retriever="naive-ge(bm25)", k=5, filter=only)]
    assert titles == ["Fjord Queen"]


def test_two_round_trips_more_than_the_base(kg: KnowledgeGraph, coast: str) -> None:
    base, expanded = (queries_of(kg[coast].retriever(name), _QUESTION, 5) for name in ("hybrid", "naive-ge"))
    assert sorted(expanded) == sorted([*base, "retrieve/beam_start", "retrieve/beam_step"])


def test_without_triples_it_is_the_base_and_says_so(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document(str(i), (Section(f"Herring number {i} of Bergen."),)) for i in range(5)])
    base = kg[collection_name].search("herring of Bergen", retriever="bm25")
    ranking = kg[collection_name].search("herring of Bergen", retriever="naive-ge(bm25)")
    assert ranking.hits == base.hits
    assert ranking.notes == ("This collection holds no triples: naive-ge(bm25) does without (kgrag enrich extract).",)
    fused = kg[collection_name].search("herring of Bergen", retriever="rrf(dense, naive-ge(bm25))")
    assert fused.notes == ranking.notes
    assert base.notes == ()


def test_without_a_base_passage_there_is_nothing(kg: KnowledgeGraph, coast: str) -> None:
    assert len(kg[coast].search("qqqq zzzz", retriever="naive-ge(bm25)")) == 0
