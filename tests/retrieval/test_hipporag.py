"""HippoRAG and HippoRAG 2 as published: their prompts, replies and events; tests/references has their walks."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from scripted import Scripted

from kgrag import HippoRag, HippoRag2, KnowledgeGraph
from kgrag.retrieval.base import Query
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, ModelError
from kgrag.values.events import Event, Failed, Recognised
from kgrag.values.results import Filter, Ranking

_NAME = "hipporag"
_QUESTION = "Which river meets the sea where the captain of the Fjord Queen grew up?"
_TEXTS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "Fjord Queen": (
        "The Fjord Queen was a steamer of 1902. Her captain was Ole Brandvik, who had come up from deck hand.",
        (("Fjord Queen", "had as captain", "Ole Brandvik"), ("Fjord Queen", "built in", "1902")),
    ),
    "A childhood": (
        "Ole Brandvik went to sea at fourteen. His childhood was spent in Nordvika among fishermen.",
        (("Ole Brandvik", "grew up in", "Nordvika"), ("Ole Brandvik", "went to", "sea")),
    ),
    "A town": (
        "Nordvika lies where the river Stilla meets the sea.",
        (("Nordvika", "lies at the mouth of", "Stilla"), ("Stilla", "meets", "sea")),
    ),
    "A studio": ("Marta Holm kept a studio in Nordvika.", (("Marta Holm", "kept a studio in", "Nordvika"),)),
    "A reprint": (
        "The Fjord Queen had Ole Brandvik as captain, it says again.",
        (("Fjord Queen", "had as captain", "Ole Brandvik"),),
    ),
    "Tides": ("A river meets the sea at ebb, and a captain waits for the flood.", ()),
}


def _documents() -> list[Document]:
    return [
        Document(
            title, (Section(text),), title, metadata={"letter": title[0]}, triples=tuple(Triple(*t) for t in triples)
        )
        for title, (text, triples) in _TEXTS.items()
    ]


@pytest.fixture(scope="module")
def sea(graph_settings: Settings) -> Iterator[str]:
    """A collection without SIMILAR names, so that the graph has only the edges of triples."""
    changes = {"indexing": IndexingSettings(synonymy=1)}
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update=changes)) as kg:
        kg[_NAME].ingest(_documents())
        yield _NAME
        kg[_NAME].delete()


def _scores(ranking: Ranking) -> dict[str, float]:
    return {hit.passage.title: hit.score for hit in ranking}


def _is_by_nearness(dense: Ranking, found: Ranking) -> None:
    """Assert that vectors decide the order, and that scores sum to 1 to be comparable between queries."""
    assert [hit.passage.id for hit in found] == [hit.passage.id for hit in dense]
    assert len(found) == 6
    assert sum(hit.score for hit in found) == pytest.approx(1)
    assert list(_scores(found).values()) == sorted(_scores(found).values(), reverse=True)


def test_hipporag_walks_over_entities_from_what_is_named(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("name", {"names": ["the Fjord Queen", "1902", "", 7]})
    ranking = talking[sea].search(_QUESTION, retriever="hipporag", k=6)
    assert scripted.tasks == ["name"]
    assert scripted.calls[0]["messages"][-1]["content"] == f"Question: {_QUESTION}"
    assert [hit.passage.title for hit in ranking][:2] == ["Fjord Queen", "A reprint"]
    assert [(s.via, s.label, s.name) for s in ranking.hits[2].why] == [
        ("names", "Entity", "Fjord Queen"),
        ("in a triple with", "Entity", "Ole Brandvik"),
        ("mentioned in", "Passage", "A childhood"),
    ]


def test_hipporag_takes_the_entity_of_the_nearest_name(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("name", {"names": ["Captain Brandvik", "Capt. Ole Brandvik"]})
    ranking = talking[sea].search(_QUESTION, retriever="hipporag(damping=0.01)", k=6)
    assert {hit.why[0].name for hit in ranking} == {"Ole Brandvik"}
    found = talking[sea].search(_QUESTION, retriever="hipporag", k=6, filter=Filter({"letter": "A"}))
    assert {hit.passage.title for hit in found} == {"A childhood", "A town", "A studio", "A reprint"}


@pytest.mark.parametrize(("name", "task", "reply"), [("hipporag", "name", "names"), ("hipporag2", "recognise", "kept")])
def test_question_without_names_or_facts_is_ranked_by_nearness(
    talking: KnowledgeGraph, scripted: Scripted, sea: str, name: str, task: str, reply: str
) -> None:
    scripted.say(task, {reply: []})
    found = talking[sea].search(_QUESTION, retriever=name, k=6)
    _is_by_nearness(talking[sea].search(_QUESTION, retriever="dense", k=6), found)


def test_hipporag2_walks_from_the_facts_that_are_recognised(
    talking: KnowledgeGraph, scripted: Scripted, sea: str
) -> None:
    scripted.say("recognise", {"kept": []})
    talking[sea].search(_QUESTION, retriever="hipporag2")
    shown = scripted.calls[0]["messages"][-1]["content"]
    assert shown.endswith(f"\n\nQuestion: {_QUESTION}")
    lines = [line for line in shown.splitlines() if line[:1].isdigit()]
    assert len(lines) == len({line.split(". ")[1] for line in lines}) == 5  # the duplicate's fact occurs only once
    all_facts = [tuple(t) for _, triples in _TEXTS.values() for t in triples]
    facts = [next(t for t in all_facts if all(f'"{part}"' in line for part in t)) for line in lines]
    scripted.reset()
    scripted.say("recognise", {"kept": [2, 4, 2, 77, 0]})
    heard: list[Event] = []
    retriever = talking[sea].retriever("hipporag2")
    ranking = retriever.retrieve(Query(_QUESTION, listener=heard.append), 6)
    assert scripted.tasks == ["recognise"]
    kept = [facts[1], facts[3]]
    event = next(event for event in heard if isinstance(event, Recognised))
    assert [(t.subject, t.predicate, t.object) for t in event.kept] == kept
    assert len(event.dropped) == 3
    assert "Tides" not in {hit.passage.title for hit in ranking if hit.why[0].label == "Triple"}
    assert ranking.hits[0].why[0].via == "resembles the question"
    filtered = retriever.retrieve(Query(_QUESTION, Filter({"letter": "T"})), 6)
    assert [hit.passage.title for hit in filtered] == ["Tides"]  # by the reset of passages alone
    assert [(s.via, s.label) for s in filtered.hits[0].why] == [("resembles the question", "Passage")]


def test_the_whole_graph_is_read_once_for_all_that_live(talking: KnowledgeGraph, sea: str) -> None:
    context = talking[sea].context
    one, other = (HippoRag2(context, recognise=False, linked=n) for n in (1, 2))
    held = weakref.ref(one.whole())
    assert one.retrieve(_QUESTION).hits[0].passage.id
    assert other.whole() is held() is not HippoRag(context).whole()
    del one, other
    gc.collect()
    assert held() is None


def test_hipporag2_without_the_filter_asks_no_model(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    ranking = talking[sea].search(_QUESTION, retriever="hipporag2(recognise=false, triples=2, linked=1)", k=6)
    assert scripted.tasks == []
    assert len({hit.why[:2] for hit in ranking if hit.why[0].label == "Triple"}) == 1


@pytest.mark.parametrize(("name", "task"), [("hipporag", "name"), ("hipporag2", "recognise")])
def test_what_cannot_be_read_is_asked_for_once_more(
    talking: KnowledgeGraph, scripted: Scripted, sea: str, name: str, task: str
) -> None:
    scripted.say(task, "I do not know.")
    with pytest.raises(ModelError, match=f"no usable JSON for '{task}', twice"):
        talking[sea].search(_QUESTION, retriever=name)
    assert scripted.tasks == [task, task]
    answer = talking[sea].ask(_QUESTION, system=f"ircot+{name}", short=True)
    assert any(isinstance(event, Failed) for event in answer.trace)
    assert task in answer.problem


def test_what_a_collection_lacks_is_said(
    talking: KnowledgeGraph, scripted: Scripted, sea: str, collection_name: str
) -> None:
    scripted.say("name", {"names": ["Fjord Queen"]})
    scripted.say("recognise", {"kept": [1]})
    talking[collection_name].ingest([Document("x", (Section("The Fjord Queen was a steamer."),), "Fjord Queen")])
    for name in ("hipporag", "hipporag2"):
        found = talking[collection_name].search(_QUESTION, retriever=name)
        assert len(found) == 1
        assert any("holds no triples" in note for note in found.notes)
        assert talking[sea].search("Fjord Queen", retriever=f"{name}", k=1).notes == ()
    assert scripted.tasks == ["name", "name", "recognise"]  # without triples the model is not asked to recognise any


def test_they_need_a_model(kg: KnowledgeGraph, sea: str) -> None:
    for name in ("hipporag", "hipporag2"):
        with pytest.raises(ConfigurationError, match="No language model"):
            kg[sea].retriever(name)
