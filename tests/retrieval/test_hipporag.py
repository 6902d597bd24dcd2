"""HippoRAG and HippoRAG 2 as published, beside the same walks worked out by hand with dense matrices."""

import gc
import weakref
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
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
    """No names resemble each other here, so that the graph is that of the triples."""
    changes = {"indexing": IndexingSettings(synonymy=1)}
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update=changes)) as kg:
        kg[_NAME].ingest(_documents())
        yield _NAME
        kg[_NAME].delete()


def _walk(
    reset: Mapping[str, float], *, over_passages: bool, damping: float = 0.5
) -> tuple[dict[str, float], Counter[tuple[str, str]]]:
    """Node -> share, by solving the equations of the walk; (passage, entity) -> how often its triples name it."""
    edges: defaultdict[tuple[str, str], float] = defaultdict(float)
    named: Counter[tuple[str, str]] = Counter()
    for title, (_, triples) in _TEXTS.items():
        for subject, _, object in triples:
            named.update([(title, subject.lower()), (title, object.lower())])
            edges[subject.lower(), object.lower()] += 1
    if over_passages:
        edges.update({(f"P {title}", entity): 1.0 for title, entity in named})
    nodes = sorted({node for pair in edges for node in pair} | ({f"P {t}" for t in _TEXTS} if over_passages else set()))
    matrix = np.zeros((len(nodes), len(nodes)))
    for (one, other), weight in edges.items():
        i, j = nodes.index(one), nodes.index(other)
        matrix[i, j] += weight
        matrix[j, i] += weight
    start = np.array([reset.get(node, 0.0) for node in nodes])
    start /= start.sum()
    leaving = matrix.sum(0)
    steps = np.where(leaving > 0, matrix / np.where(leaving > 0, leaving, 1), start[:, None])
    shares = np.linalg.solve(np.eye(len(nodes)) - damping * steps, (1 - damping) * start)
    return dict(zip(nodes, shares.tolist(), strict=True)), named


def _scores(ranking: Ranking) -> dict[str, float]:
    return {hit.passage.title: hit.score for hit in ranking}


def _is_by_nearness(dense: Ranking, found: Ranking) -> None:
    """The order is that of the vectors, and scores add up to 1, so that they stand beside shares of other queries."""
    assert [hit.passage.id for hit in found] == [hit.passage.id for hit in dense]
    assert len(found) == 6
    assert sum(hit.score for hit in found) == pytest.approx(1)
    assert list(_scores(found).values()) == sorted(_scores(found).values(), reverse=True)


def test_hipporag_walks_over_entities_from_what_is_named(talking: KnowledgeGraph, scripted: Scripted, sea: str) -> None:
    scripted.say("name", {"names": ["the Fjord Queen", "1902", "", 7]})
    ranking = talking[sea].search(_QUESTION, retriever="hipporag", k=6)
    assert scripted.tasks == ["name"]
    assert scripted.calls[0]["messages"][-1]["content"] == f"Question: {_QUESTION}"
    shares, named = _walk({"fjord queen": 1 / 2, "1902": 1}, over_passages=False)  # two passages name the ship
    wanted: Counter[str] = Counter()
    for (title, entity), times in named.items():
        wanted[title] += times * shares[entity]  # type: ignore[assignment]
    assert _scores(ranking) == pytest.approx(dict(wanted), abs=1e-5)
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


def _hipporag2(sea: KnowledgeGraph, kept: list[tuple[str, str, str]]) -> dict[str, float]:
    """The scores by hand from the vectors of all facts and passages."""
    embedder = sea[_NAME].context.embedder
    facts = list(dict.fromkeys(t for _, triples in _TEXTS.values() for t in triples))
    vectors = embedder.embed([_QUESTION, *(" ".join(fact) for fact in facts)])
    cosines = dict(zip(facts, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    low, high = min(cosines.values()), max(cosines.values())
    passages = {hit.passage.title: 2 * hit.score - 1 for hit in sea[_NAME].search(_QUESTION, retriever="dense", k=6)}
    least, most = min(passages.values()), max(passages.values())
    holding: Counter[str] = Counter()
    for _, triples in _TEXTS.values():
        holding.update({part.lower() for t in triples for part in (t[0], t[2])})
    weights: defaultdict[str, list[float]] = defaultdict(list)
    for fact in kept:
        for entity in (fact[0].lower(), fact[2].lower()):
            weights[entity].append((cosines[fact] - low) / (high - low) / holding[entity])
    best = dict(sorted(((e, sum(w) / len(w)) for e, w in weights.items()), key=lambda x: -x[1])[:5])
    reset = best | {f"P {t}": 0.05 * (c - least) / (most - least) for t, c in passages.items()}
    shares, _ = _walk(reset, over_passages=True)
    return {title: shares[f"P {title}"] for title in _TEXTS if shares[f"P {title}"] > 0}


def test_hipporag2_walks_from_the_facts_that_are_recognised(
    talking: KnowledgeGraph, scripted: Scripted, sea: str
) -> None:
    scripted.say("recognise", {"kept": []})
    talking[sea].search(_QUESTION, retriever="hipporag2")
    shown = scripted.calls[0]["messages"][-1]["content"]
    assert shown.endswith(f"\n\nQuestion: {_QUESTION}")
    lines = [line for line in shown.splitlines() if line[:1].isdigit()]
    assert len(lines) == len({line.split(". ")[1] for line in lines}) == 5  # the reprint's fact is there once
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
    assert _scores(ranking) == pytest.approx(_hipporag2(talking, kept), abs=1e-5)
    assert "Tides" not in {hit.passage.title for hit in ranking if hit.why[0].label == "Triple"}
    assert ranking.hits[0].why[0].via == "resembles the question"
    filtered = retriever.retrieve(Query(_QUESTION, Filter({"letter": "T"})), 6)
    assert [hit.passage.title for hit in filtered] == ["Tides"]  # by the reset of the passages alone
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
    assert scripted.tasks == ["name", "name", "recognise"]  # without triples there is nothing to be recognised


def test_they_need_a_model(kg: KnowledgeGraph, sea: str) -> None:
    for name in ("hipporag", "hipporag2"):
        with pytest.raises(ConfigurationError, match="No language model"):
            kg[sea].retriever(name)
