"""A text that several documents share takes one place of a ranking, and its hit names the others."""

from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.adapters import metadata_of
from kgrag.cli.evidence import print_ranking
from kgrag.values.documents import Document, Section
from kgrag.values.results import Ranking
from kgrag.wire import from_json, to_json

_POLICY = "A journey is paid when it was asked for two weeks before, and when the tickets are handed in."
_BOOKS = [f"{place}.epub" for place in ("a", "b", "c", "d", "e")]
_CLAIMS = "What is paid of a journey by train? The tickets, when it was asked for."


@pytest.fixture(scope="module")
def office(fill: Callable[..., str]) -> str:
    documents = [Document(key, (Section(_POLICY),), "Policy") for key in (*_BOOKS, "policy.html")]
    documents += [Document("claims", (Section(_CLAIMS),), "Claims"), Document("again", (Section(_POLICY),), "Again")]
    documents += [Document(name, (Section("The capital is Oslo."),), name) for name in ("Norway", "Sweden")]
    return fill("office", documents)


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid", "pathrank"])
def test_a_text_takes_one_place(kg: KnowledgeGraph, office: str, retriever: str) -> None:
    question = "When is a journey paid that was asked for?"
    ranking = kg[office].search(question, k=4, retriever=retriever)
    assert [hit.passage.text for hit in ranking].count(_POLICY) == 1
    assert _CLAIMS in {hit.passage.text for hit in ranking}
    policy = next(hit for hit in ranking if hit.passage.text == _POLICY)
    of = {policy.passage.document, *(copy.document for copy in policy.copies)}
    assert of == {*_BOOKS, "policy.html", "again"}
    as_ranked = kg[office].retriever(retriever).retrieve(question, 4)
    assert [hit.passage.text for hit in as_ranked].count(_POLICY) > 1
    assert from_json(Ranking, to_json(ranking)) == ranking


def test_few_words_are_copies_under_the_same_heading_alone(kg: KnowledgeGraph, office: str) -> None:
    hits = kg[office].search("Of what is Oslo the capital?", k=2, retriever="bm25").hits
    assert [hit.passage.title for hit in hits] == ["Norway", "Sweden"]
    assert not any(hit.copies or hit.also_in for hit in hits)


def test_where_else_it_stands_is_said(kg: KnowledgeGraph, office: str, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = kg[office].search("When is a journey paid?", k=8, retriever="bm25")
    hit = next(hit for hit in ranking if hit.copies)
    said = hit.also_in
    assert said.startswith("also in ") and said.endswith(" and 3 more") and said.count(",") == 2
    print_ranking(ranking)
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in ranking._repr_html_()
    assert metadata_of(hit)["also_in"] == said
