"""PathRank on a small graph: the walk, its trail, and names that are misspelt, in lower case, or missing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from coast import TEXTS, coast_documents
from queries_run import queries_of

from kgrag import KnowledgeGraph
from kgrag.graph.connection import _SEARCH
from kgrag.graph.queries import catalogue, sample
from kgrag.lab.records import in_force
from kgrag.retrieval.linking import link_question
from kgrag.retrieval.pathrank import PathRank, PathRankConstants
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.results import Filter

Constants = Callable[..., None]


@pytest.fixture
def constants(monkeypatch: pytest.MonkeyPatch) -> Constants:
    """Sets constants of PathRank for the rest of a test, and resets the others."""

    def change(**changes: Any) -> None:
        monkeypatch.setattr(PathRank, "constants", replace(PathRankConstants(), **changes))

    return change


_QUESTION = "Which painter worked in the home town of the captain of the Fjord Queen?"


def test_walks_over_names(kg: KnowledgeGraph, coast: str) -> None:
    ranking = kg[coast].search(_QUESTION, retriever="pathrank", k=5)
    titles = [h.passage.title for h in ranking]
    assert titles[0] == "Fjord Queen" and {"Ole Brandvik", "Nordvika"} < set(titles[1:4])
    hit = ranking.hits[titles.index("Nordvika")]
    assert [(s.via, s.label, s.name) for s in hit.why] == [
        ("names", "Entity", "Fjord Queen"), ("title of", "Passage", "Fjord Queen"),
        ("mentions", "Entity", "Ole Brandvik"), ("title of", "Passage", "Ole Brandvik"),
        ("mentions", "Entity", "Nordvika"), ("title of", "Passage", "Nordvika"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [_QUESTION.lower(), _QUESTION.replace("Fjord Queen", "Fjord Quen"), _QUESTION.upper()],
    ids=["lower case", "misspelt", "upper case"],
)
def test_names_as_people_type_them(kg: KnowledgeGraph, coast: str, question: str) -> None:
    titles = [h.passage.title for h in kg[coast].search(question, retriever="pathrank", k=5)]
    assert titles[0] == "Fjord Queen"
    assert "Ole Brandvik" in titles[:3]


def test_titles_of_common_words_are_names_where_nothing_has_capitals(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {
        "Decade": "Decade is a record of Neil Holm.",
        "An Event": "An Event was filmed by Siri Moen.",
        "Letters": "In a decade of letters an event follows another, and a captain follows an event.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])

    def weights(question: str) -> dict[str, float]:
        return {link.name: link.weight for link in link_question(kg[collection_name].context, question).links}

    assert weights("who is the singer of decade")["Decade"] > 0
    assert weights("who filmed an event")["An Event"] > 0
    assert weights("Who filmed an event in the decade of Siri Moen?").keys() == {"Siri Moen"}


def test_titles_within_longer_names(kg: KnowledgeGraph, collection_name: str) -> None:
    """ "Queen Sunniva Falk" leads to the article Sunniva Falk, in texts and in questions."""
    texts = {
        "Crown": "Crown is a film in which Marit Lie plays Queen Sunniva Falk.",
        "Harbour": "Harbour was opened by Queen Sunniva Falk.",
        "Sunniva Falk": "Sunniva Falk was born in Tolga.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    hits = kg[collection_name].search("Where was the queen of the film Crown born?", retriever="pathrank", k=3).hits
    why = next(hit.why for hit in hits if hit.passage.title == "Sunniva Falk")
    assert [(s.via, s.name) for s in why][-2:] == [("mentions", "Sunniva Falk"), ("title of", "Sunniva Falk")]
    links = link_question(kg[collection_name].context, "When did Queen Sunniva Falk reign?").links
    assert [(link.name, link.titles) for link in links] == [("Queen Sunniva Falk", 0), ("Sunniva Falk", 1)]


def test_headings_name_a_short_document_without_a_title(kg: KnowledgeGraph, collection_name: str) -> None:
    sections = tuple(Section(TEXTS[title], title) for title in ("Stilla", "Marta Holm"))
    kg[collection_name].ingest([Document("notes", sections), *coast_documents(["Nordvika"])])
    (hit, *_) = kg[collection_name].search("Who was Marta Holm?", retriever="pathrank", k=1)
    assert hit.passage.document == "notes"
    assert [(s.via, s.name) for s in hit.why] == [("names", "Marta Holm"), ("title of", "notes")]


def test_at_most_eight_round_trips(kg: KnowledgeGraph, coast: str) -> None:
    calls = queries_of(kg[coast].retriever("pathrank"), _QUESTION, 5)
    assert len(calls) <= 8, calls


def test_a_long_question_is_listed_as_a_set(kg: KnowledgeGraph, coast: str, constants: Constants) -> None:
    """The passage with a painter in its town gains most as part of the path; scores fall along the ranking."""

    def scores(retriever: str) -> dict[str, float]:
        return {h.passage.title: h.score for h in kg[coast].search(_QUESTION, retriever=retriever, k=20)}

    walked = scores("pathrank(places=0)")
    constants(cover=0, shared_name=0, on_path=0, finalists=0)
    listed = scores("pathrank")
    constants()
    assert list(listed.values()) == sorted(listed.values(), reverse=True)
    gains = {title: listed[title] - walked[title] for title in list(walked)[:3]}
    assert max(gains, key=lambda title: gains[title]) == "Nordvika"
    short = "Who was the captain of the Fjord Queen?"  # only two words besides names: too short for a set
    one, two = (kg[coast].search(short, retriever=r, k=20) for r in ("pathrank(places=0)", "pathrank"))
    assert [(h.passage.id, h.score) for h in one] == [(h.passage.id, h.score) for h in two]


def test_what_a_set_says_again_comes_later(kg: KnowledgeGraph, collection_name: str, constants: Constants) -> None:
    """A passage that repeats the words of the first falls behind one with the question's other words."""
    texts = {
        "Quay": "The Quay was designed by Ole Brandvik, an engineer who studied bridges in his youth.",
        "Quay road": "The engineer who designed the road to the Quay is the engineer who designed the Quay, in town.",
        "Ole Brandvik": "Ole Brandvik lived in Solheim.",
        "Solheim": "Solheim has a museum of clocks, with a famous collection of watches.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    question = "Which famous collection of watches is in the town of the engineer who designed the Quay?"

    def titles(retriever: str) -> list[str]:
        return [h.passage.title for h in kg[collection_name].search(question, retriever=retriever, k=4)]

    listed = titles("pathrank")
    constants(cover=0, shared_name=0, on_path=0, finalists=0)
    alone = titles("pathrank")
    assert alone.index("Quay road") < alone.index("Solheim")
    assert listed.index("Solheim") < listed.index("Quay road")


def test_what_is_recorded_depends_on_the_constants(kg: KnowledgeGraph, coast: str, constants: Constants) -> None:
    """A resumed run does not reuse records made with another constant."""
    retriever = kg[coast].retriever("pathrank")
    before = in_force(retriever)
    constants(cover=1.5)
    assert before != in_force(retriever)
    constants()
    assert before == in_force(retriever)


def test_filter(kg: KnowledgeGraph, coast: str) -> None:
    """The walk may pass through documents that the filter excludes from the ranking."""
    only = Filter(where={"letter": "N"})
    titles = [h.passage.title for h in kg[coast].search(_QUESTION, retriever="pathrank", k=5, filter=only)]
    assert titles == ["Nordvika"]


def test_without_names(kg: KnowledgeGraph, coast: str) -> None:
    assert kg[coast].search("known for salmon", retriever="pathrank", k=1).hits[0].passage.title == "Stilla"


def test_text_without_titles_or_capitals(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = [f"give dose {i} of drug {i % 7} to patients with condition {i % 11}" for i in range(80)]
    kg[collection_name].ingest([Document(str(i), (Section(t),)) for i, t in enumerate(texts)])
    question = "dose of drug 3 for patients with condition 5"
    walked = {h.passage.id for h in kg[collection_name].search(question, retriever="pathrank", k=10)}
    fused = {h.passage.id for h in kg[collection_name].search(question, retriever="hybrid", k=10)}
    assert len(walked) == 10
    assert len(walked & fused) >= 5


def test_a_title_reaches_few_passages_of_a_long_document(kg: KnowledgeGraph, collection_name: str) -> None:
    text = "\n\n".join(
        f"Chapter {i} of the saga tells of winter {i} and of hunger in valley {i}. " * 8 for i in range(60)
    )
    kg[collection_name].ingest(
        [
            Document("saga", (Section(text),), "Saga of Isbre"),
            Document("poet", (Section("The poet Eirik wrote the Saga of Isbre in a cabin."),), "Eirik"),
        ]
    )
    ranking = kg[collection_name].search("Which winter is told of in what the poet Eirik wrote?", k=20)
    named = [h for h in ranking if any(s.name == "Saga of Isbre" and s.label == "Entity" for s in h.why)]
    assert ranking.hits[0].passage.title == "Eirik"
    assert 1 <= len(named) <= 5


@pytest.mark.parametrize("heading", [True, False], ids=["sections with headings", "lines in a text without sections"])
def test_a_heading_of_a_long_document_is_a_title(kg: KnowledgeGraph, collection_name: str, heading: bool) -> None:
    filler = " ".join(f"Ropes, tar and {word} were bought for {word}." for word in ("sails", "masts", "hulls") * 30)
    parts = [(title, f"{text} {filler}") for title, text in TEXTS.items()]
    sections = [Section(t, title) for title, t in parts] if heading else [Section("\n\n".join(map("\n".join, parts)))]
    kg[collection_name].ingest([Document("volume", tuple(sections))])
    ranking = kg[collection_name].search(_QUESTION, k=8)
    assert "The Fjord Queen was a steamer" in ranking.hits[0].passage.text
    assert [(s.via, s.label) for s in ranking.hits[0].why] == [("names", "Entity"), ("title of", "Passage")]
    assert ranking.hits[0].score > ranking.hits[1].score + 0.5


def test_a_name_within_the_title_is_preferred(kg: KnowledgeGraph, collection_name: str, constants: Constants) -> None:
    """A path to a passage with the bridge in its title gains about `in_title`; rivals in large collections cost."""
    texts = {
        "Quay": "The Quay was built by Ole Brandvik of Nordvika.",
        "Nordvika harbour": "It lies in the bay, says Kari Aune.",
        "Alder": "It lies in the bay of Nordvika, says Kari Aune.",
        "Birch": "Nordvika was a place.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    question = "Where does the harbour of the builder of the Quay lie, in the bay?"

    def bridged(**changes: float) -> float:
        constants(lexical=0, **changes)
        hits = kg[collection_name].search(question, retriever="pathrank", k=4)
        return next(h.why[-1].score or 0.0 for h in hits if h.passage.title == "Nordvika harbour")

    assert bridged(in_title=0.1) == pytest.approx(bridged(in_title=0) + 0.1, abs=0.01)
    # four texts mention Nordvika; a collection with only one passage would not have three quarters of them
    rivals = 0.1 * math.log(1 + 4 * 0.75)
    large, small = (bridged(large=1, rivals=cost) for cost in (0.1, 0))
    assert small - large == pytest.approx(rivals, abs=0.01)


def test_names_that_triples_alone_know(kg: KnowledgeGraph, collection_name: str, constants: Constants) -> None:
    """Names known only from triples serve as bridges if texts have few names; links always lead to them."""
    facts = {
        "Quay": ("It was built by a man from the north.", Triple("Quay", "built by", "Ole Brandvik")),
        "Alder": ("It stands by the church.", Triple("Ole Brandvik", "planted", "Alder")),
        "Birch": ("It stands by the school.", Triple("Birch", "planted in", "June 1890")),
        "Pier": ("It was opened with a song.", Triple("Pier", "opened in", "June 1890")),
    }
    kg[collection_name].ingest([Document(t, (Section(x),), t, triples=(f,)) for t, (x, f) in facts.items()])

    def found(question: str, retriever: str, **changes: float) -> dict[str, tuple[float, list[str]]]:
        constants(**changes)
        hits = kg[collection_name].search(question, retriever=retriever, k=4)
        return {h.passage.title: (h.score, [s.name for s in h.why if s.label == "Entity"]) for h in hits}

    question = "Which tree was planted by the builder of the Quay?"
    plain = {"density": 1, "slack": 0, "lexical": 0}
    assert found(question, "pathrank(places=0)", **plain)["Alder"][1] == ["Quay", "Ole Brandvik"]
    assert "Alder" not in found(question, "pathrank(places=0)", density=0)
    when = "Which tree was planted when the Pier was opened?"
    assert "Birch" not in found(when, "pathrank(places=0)", **plain)  # dates are never bridges

    one, none = (found(question, "pathrank(places=0)", **plain, about=about)["Alder"][0] for about in (0.1, 0))
    assert one - none == pytest.approx(0.1, abs=0.03)
    linked, less = (found("Who was Ole Brandvik?", "pathrank", density=0, fact=most) for most in (0.8, 0))
    assert linked["Quay"][1] == ["Ole Brandvik"]
    assert linked["Quay"][0] - less["Quay"][0] == pytest.approx(0.4 / (1 + math.log(2)), abs=0.03)


def test_the_statements_of_a_search_are_planned_for_the_types_that_it_sends(kg: KnowledgeGraph, coast: str) -> None:
    sent: dict[str, Mapping[str, Any]] = {}
    with kg.graph.listening(sent.__setitem__):
        kg[coast].search(_QUESTION, k=5)
    assert "retrieve/pathrank" in sent and sent.keys() <= set(_SEARCH)
    for name, parameters in sent.items():
        for each in catalogue()[name].parameters:
            value = parameters[each.name]
            assert type(value) is type(sample(each.type)) and value not in ([], None), (name, each.name)
