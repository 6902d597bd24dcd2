"""SyncGE over base retrievers: facts from the model are linked to triples of the graph, where beams start."""

from collections.abc import Callable

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ModelError
from kgrag.values.events import Event, Linked, Read
from kgrag.values.results import Filter

_NAME = "sync-ge"
_QUESTION = "Where did the captain of the Fjord Queen spend his childhood?"
_FACTS = {
    "Fjord Queen": ("The Fjord Queen was a steamer under captain Ole Brandvik.", ("Ole Brandvik", "captain of", "her")),
    "Brandvik family": ("Ole Brandvik grew up in Nordvika.", ("Ole Brandvik", "grew up in", "Nordvika")),
    "Nordvika": ("Nordvika lies at a river mouth.", ("Nordvika", "lies at", "river mouth")),
    "Captains": ("A captain may forget where his childhood was spent.", None),
}


@pytest.fixture(scope="module")
def sea(fill: Callable[..., str]) -> str:
    documents = [
        Document(title, (Section(text),), title, metadata={"kind": "sea"}, triples=(Triple(*fact),) if fact else ())
        for title, (text, fact) in _FACTS.items()
    ]
    documents += [
        Document(f"Letter {i}", (Section(f"The merchant of port {i} sold wool for {i} crowns."),)) for i in range(20)
    ]
    return fill(_NAME, documents)


def test_beams_start_at_what_was_read(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("read", {"triples": [["Ole Brandvik", "was captain of", "the Fjord Queen"]]})
    ranking = talking[sea].search(_QUESTION, retriever="sync-ge(bm25)", k=4)
    hits = {hit.passage.title: hit for hit in ranking}
    assert "Brandvik family" in hits
    assert [(s.via, s.label, s.name) for s in hits["Brandvik family"].why] == [
        ("resembles", "Triple", "Ole Brandvik captain of her"),
        ("names", "Entity", "Ole Brandvik"),
        ("named in", "Triple", "Ole Brandvik grew up in Nordvika"),
        ("stated in", "Passage", "Brandvik family"),
    ]
    assert len(scripted.calls) == 1
    assert ranking.notes == ()


@pytest.mark.parametrize("link", ["vector", "hybrid"])
def test_facts_are_linked_one_by_one(talking: KnowledgeGraph, scripted: Scripted, sea: str, link: str) -> None:
    facts = [["Nordvika", "lies at", "the mouth of a river"], ["Ole Brandvik", "raised in", "Nordvika"]]
    scripted.say("read", {"triples": facts})
    heard: list[Event] = []
    retriever = talking[sea].retriever(f"sync-ge(bm25, link={link}, length=1)")
    retriever.retrieve(Query(_QUESTION, Filter(), heard.append), 5)
    assert [event.triples for event in heard if isinstance(event, Read)] == [tuple(Triple(*fact) for fact in facts)]
    linked = [event for event in heard if isinstance(event, Linked)]
    assert [event.text for event in linked] == ["Nordvika lies at river mouth", "Ole Brandvik grew up in Nordvika"]
    assert all(0.5 < event.score <= 1 for event in linked)


@pytest.mark.parametrize(
    "reply",
    [
        '{"facts": [{"subject": "Ole Brandvik", "predicate": "captain of", "object": "Fjord Queen"}]}',
        '[["Ole Brandvik", "captain of", "Fjord Queen"]]',
        '["Ole Brandvik", "captain of", "Fjord Queen"]',
        'Here they are:\n```json\n{"triples": [["Ole  Brandvik", "captain of", "Fjord Queen"], ["x", null, ""]]}\n```',
    ],
)
def test_models_write_triples_in_many_ways(talking: KnowledgeGraph, scripted: Scripted, sea: str, reply: str) -> None:
    scripted.say("read", reply)
    heard: list[Event] = []
    talking[sea].retriever("sync-ge(bm25)").retrieve(Query(_QUESTION, Filter(), heard.append), 5)
    read = next(event for event in heard if isinstance(event, Read))
    assert read.triples == (Triple("Ole Brandvik", "captain of", "Fjord Queen"),)
    assert len(scripted.calls) == 1


def test_nothing_read_leaves_the_base(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("read", {"triples": []})
    found = [hit.passage.id for hit in talking[sea].search(_QUESTION, retriever="sync-ge(bm25)", k=3)]
    assert found == [hit.passage.id for hit in talking[sea].search(_QUESTION, retriever="bm25", k=3)]


def test_as_many_base_passages_are_fused_as_are_read(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("read", {"triples": [["Ole Brandvik", "grew up in", "Nordvika"]]})
    for fuse, count in (("read", 5), ("wanted", 24)):
        ranking = talking[sea].search(_QUESTION, retriever=f"sync-ge(dense, passages=5, fuse={fuse})", k=24)
        based = [hit for hit in ranking if any(step.via.startswith("dense rank ") for step in hit.why)]
        assert len(based) == count
    assert all(call["messages"][-1]["content"].count("Title: ") == 5 for call in scripted.calls)


def test_a_filter_holds(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("read", {"triples": [["Ole Brandvik", "grew up in", "Nordvika"]]})
    ranking = talking[sea].search(
        "merchant captain", retriever="sync-ge(bm25)", k=20, filter=Filter(where={"kind": "sea"})
    )
    assert {hit.passage.title for hit in ranking} <= set(_FACTS)
    assert len(ranking) > 0


def test_what_is_no_triple_is_asked_for_once_more(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("read", '{"triples": [["a", "b"]]}', '{"triples": "none"}')
    with pytest.raises(ModelError, match="no usable JSON for 'read', twice"):
        talking[sea].search(_QUESTION, retriever="sync-ge(bm25)")
    assert len(scripted.calls) == 2
    assert "no triple" in scripted.calls[1]["messages"][-1]["content"]
