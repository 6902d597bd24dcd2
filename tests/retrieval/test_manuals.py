"""Searches in manuals use headings, symbols and words, but ignore the question words."""

from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

_NAME = "manuals"
_FILLER = "The shell reads a line and does what it says there, one after the other, until nothing is left of it. " * 12
_SECTIONS = {
    "Shell > Special Parameters": (
        "($@) Expands to the positional parameters, each a word of its own.\n\n"
        "($?) Expands to the status of what ran last.\n\n" + _FILLER
    ),
    "Shell > Word Splitting > Field Separators": _FILLER + "Those of white space are dropped at both ends.",
    "Shell > Options": "With -e it stops at once when a pipeline fails.\n\n--posix follows the standard.\n\n" + _FILLER,
    "Shell > The Queue": "globwide lets two asterisks match folders.\n\n" + _FILLER,
    "Questions": "What does this do? What does that do? How does one do it, and what does it do then? " * 8,
    "Package > Fields": "Essential: yes keeps a package from being taken away.\n\n" + _FILLER,
    "Package > Praise": "It is essential to read on, most essential. " + _FILLER,
}
_MODELS = {
    "Cox Models": "After all, Cox models are what this is about. " + _FILLER,
    "Ties": "The Cox model handles tied times by an average over their orders. " + _FILLER,
    **{f"Part {n}": f"A Cox model was fitted to data set {n}. " + _FILLER for n in range(9)},
}


@pytest.fixture(scope="module")
def manuals(fill: Callable[..., str]) -> str:
    shell = tuple(Section(text, heading) for heading, text in _SECTIONS.items())
    models = tuple(Section(text, heading) for heading, text in _MODELS.items())
    return fill(_NAME, [Document("shell", shell, "Shell manual"), Document("cox", models, "On survival")])


@pytest.mark.parametrize("retriever", ["bm25", "pathrank"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does $@ do?", "($@) Expands"), ("What does $? do?", "($?) Expands"),
        ("What is --posix?", "--posix follows"), ("What does -e do?", "With -e it stops"),
        ("What does Essential: do?", "Essential: yes"),
        ("What does globwide do?", "globwide lets"),  # another passage repeats the question words often
        ("What about field separators?", "dropped at both ends"),  # only headings have these words
    ],
)  # fmt: skip
def test_what_is_asked_for_is_found_first(
    kg: KnowledgeGraph, manuals: str, retriever: str, question: str, answer: str
) -> None:
    texts = [hit.passage.text for hit in kg[manuals].search(question, retriever=retriever, k=3)]
    if "separators" in question:  # both passages have this heading
        assert any(answer in text for text in texts[:2])
    else:
        assert answer in texts[0]


def test_a_name_that_all_passages_hold_does_not_lead_the_walk(kg: KnowledgeGraph, manuals: str) -> None:
    hits = kg[manuals].search("How does the Cox model handle tied times?", retriever="pathrank", k=3).hits
    assert "tied times by an average" in hits[0].passage.text


def test_what_shows_no_evidence_is_left_out(kg: KnowledgeGraph, manuals: str) -> None:
    hits = kg[manuals].search("What does globwide do?", retriever="pathrank", k=100).hits
    assert hits
    assert all(hit.score > 0 for hit in hits)


def test_texts_and_citations_are_as_they_were(kg: KnowledgeGraph, manuals: str) -> None:
    hit = kg[manuals].search("What is --posix?", retriever="bm25", k=1).hits[0]
    assert hit.passage.section == "Shell > Options"
    assert "sx" not in hit.passage.text.split()


def test_a_word_of_the_title_counts_more_than_one_of_the_text(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {"Harbour": "They sleep by day.", "Lamps": "The harbour is theirs, all of the harbour.", "Bells": "Rung."}
    kg[collection_name].ingest([Document(t, (Section(f"{x} {_FILLER}"),), t) for t, x in texts.items()])
    hits = kg[collection_name].search("Which harbour?", retriever="bm25", k=2).hits
    assert [hit.passage.title for hit in hits] == ["Harbour", "Lamps"]


def test_questions_of_no_words(kg: KnowledgeGraph, manuals: str) -> None:
    for question in ("what is it", "?!", '"\\', "東京"):
        for retriever in ("bm25", "pathrank", "tfidf"):
            kg[manuals].search(question, retriever=retriever, k=2)
