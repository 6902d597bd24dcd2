"""GEAR, Algorithm 1 and equations 2 and 3 (SyncGE, NaiveGE) in memory, beside `sync-ge` and `naive-ge` on a graph."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from beams import Beams, Fact, Search, algorithm_1, flattened
from corpus import Model, agree, ingested, nearest, passages, rrf, sparse
from naming import own

from kgrag import KnowledgeGraph
from kgrag.agents.episode import QuestionContext
from kgrag.agents.gear import Gear
from kgrag.retrieval.base import Query, make_retriever
from kgrag.retrieval.beam import BeamOptions, beam_search
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.long
CHAINS, EXPANSIONS, MEMORIES = 100, 60, 20  # cases of each of the four collections, and of each base
_NAMES = ("Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Willow")
_NO_HUBS = "hub=100000000, hub_triples=1"


@dataclass(frozen=True)
class Corpus:
    """A collection, the texts of its passages by id, and its triples by id."""

    context: SearchContext
    texts: dict[str, str]
    facts: dict[str, Fact]
    model: Model = field(default_factory=Model)


@pytest.fixture(scope="module", params=[(1, 1), (1, 6), (8, 12), (20, 60)], ids=str)
def corpus(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> Iterator[Corpus]:
    """Some passages state nothing, some triples have the same text, some lead from a name to itself, some nowhere."""
    count, triples = request.param
    chance = random.Random(triples)
    stated: list[list[Triple]] = [[] for _ in range(count)]
    for i in range(triples):
        triple = Triple(chance.choice(_NAMES), f"links{i // 2 if i % 5 else i}", chance.choice(_NAMES))
        chance.choice(stated[: max(1, count * 3 // 4)]).append(triple)
        if chance.random() < 0.2:
            chance.choice(stated).append(triple)
    texts = [". ".join(t.text for t in its) or f"xyzzy{i}" for i, its in enumerate(stated)]
    name = own(f"reference-gear-{count}-{triples}")
    documents = [
        Document(f"{i:02}", (Section(text),), "", triples=tuple(dict.fromkeys(its)))
        for i, (text, its) in enumerate(zip(texts, stated, strict=True))
    ]
    context = ingested(kg, name, documents)
    rows = kg.cypher(
        "MATCH (p:Passage {collection: $name})-[:STATES]->(t)-[:SUBJECT]->(s) MATCH (t)-[:OBJECT]->(o) "
        "RETURN t.id AS id, t.text AS text, [s.id, o.id] AS ends, p.id AS passage",
        {"name": name},
    )
    facts = {row["id"]: Fact(row["text"], frozenset(row["ends"]), row["passage"]) for row in rows}
    assert sorted(fact.text for fact in facts.values()) == sorted(t.text for its in stated for t in dict.fromkeys(its))
    made = Corpus(context, dict(zip(passages(kg, context), texts, strict=True)), facts)
    context.llm = made.model  # type: ignore[assignment]
    yield made
    kg[name].delete()


def equation_3(corpus: Corpus, base: Sequence[str], beams: Beams) -> dict[str, float]:
    """The chains flattened breadth-first, their unique source passages, fused with the base ranking."""
    return rrf(dict.fromkeys(corpus.facts[t].passage for t in flattened(beams)), base)


def test_algorithm_1_of_gear(corpus: Corpus) -> None:
    chance, ids = random.Random(len(corpus.facts)), list(corpus.facts)
    for _ in range(CHAINS):
        s = Search.drawn(chance)
        initial = chance.sample(ids, chance.randint(1, min(len(ids), 15)))
        settings = BeamOptions(
            beams=s.beams, length=s.length, gamma=s.gamma, diverse=s.diverse, exact=s.exact, hub=100_000_000
        )
        found = beam_search(corpus.context, Query(s.question), settings, triples=initial)
        expected = algorithm_1(corpus.facts, initial, s)
        assert [tuple(link.id for link in beam.links) for beam in found] == [chain for _, chain in expected]
        assert [beam.score for beam in found] == pytest.approx([score for score, _ in expected], abs=1e-5)


def test_equation_3_of_gear_by_naive_ge(corpus: Corpus) -> None:
    """Section 6.2: the chains begin with all triples of the base passages."""
    chance = random.Random(200 + len(corpus.facts))
    for _ in range(EXPANSIONS):
        s, read, wanted = Search.drawn(chance), chance.choice([1, 3, 15]), chance.choice([1, 5, 50])
        expression = f"naive-ge(dense, passages={read}, fuse=read, {s.options()}, {_NO_HUBS})"
        base = nearest(s.question, corpus.texts)[:read]
        initial = [t for t, fact in corpus.facts.items() if fact.passage in base]
        found = make_retriever(expression, corpus.context).rank(Query(s.question), wanted)
        if not initial:
            assert [x.id for x in found] == base[:wanted]
            continue
        agree(found, equation_3(corpus, base, algorithm_1(corpus.facts, initial, s)), wanted)


def test_equations_2_and_3_of_gear_by_sync_ge(corpus: Corpus) -> None:
    """Each fact that was read is linked to its most similar triple, where the chains begin."""
    chance = random.Random(300 + len(corpus.facts))
    for _ in range(EXPANSIONS):
        s, read, wanted = Search.drawn(chance), chance.choice([1, 3, 15]), chance.choice([1, 5, 50])
        corpus.model.facts = [
            (chance.choice(_NAMES), f"meets {chance.randint(1, 9)}", chance.choice(_NAMES))
            for _ in range(chance.randint(0, 6))
        ]
        expression = f"sync-ge(dense, passages={read}, fuse=read, {s.options()}, {_NO_HUBS})"
        base = nearest(s.question, corpus.texts)[:read]
        texts = {t: fact.text for t, fact in corpus.facts.items()}
        linked = dict.fromkeys(nearest(" ".join(fact), texts)[0] for fact in corpus.model.facts)
        found = make_retriever(expression, corpus.context).rank(Query(s.question), wanted)
        if not linked:
            assert [x.id for x in found] == base[:wanted]
            continue
        agree(found, equation_3(corpus, base, algorithm_1(corpus.facts, list(linked), s)), wanted)


def _ranked(base: str, asked: str, texts: Mapping[str, str]) -> list[str]:
    """h_base, by vectors, by words, or by both, each as deep as these small collections are."""
    if base == "rrf":
        return list(rrf(nearest(asked, texts), sparse(asked, texts)))
    return nearest(asked, texts) if base == "dense" else sparse(asked, texts)


@pytest.mark.parametrize("base", ["dense", "bm25", "rrf"])
def test_equations_8_to_10_of_gear(corpus: Corpus, base: str) -> None:
    """Each remembered fact is linked to passages by passages and triples like it; all lists are fused."""
    chance = random.Random(f"{base} {len(corpus.facts)}")
    triples = {t: fact.text for t, fact in corpus.facts.items()}
    for _ in range(MEMORIES):
        k, question = chance.choice([1, 2, 5]), f"Which of {' '.join(chance.sample(_NAMES, 2))}?"
        drawn = [(chance.choice(_NAMES), f"links{chance.randint(0, 9)}", chance.choice(_NAMES)) for _ in range(3)]
        corpus.model.facts = drawn[: chance.randint(1, 3)]
        retriever = make_retriever(base, corpus.context)
        inquiry = QuestionContext(Query(question), retriever, 50, lambda event: None, corpus.model)  # type: ignore[arg-type]
        episode = Gear(retriever, steps=1, fusion="all", link=k).begin(inquiry)
        found = _ranked(base, question, corpus.texts)[:10]
        memory = list(dict.fromkeys(map(" ".join, corpus.model.facts))) if found else []  # what is read in nothing
        linked = dict.fromkeys(nearest(fact, triples)[0] for fact in memory)
        begun = Search(question, beams=10, length=2, gamma=20, diverse=True, exact=False)
        step = equation_3(corpus, found, algorithm_1(corpus.facts, list(linked), begun))
        links = []
        for fact in memory:
            near = dict.fromkeys(corpus.facts[t].passage for t in _ranked(base, fact, triples)[:k])
            links.append(list(rrf(_ranked(base, fact, corpus.texts)[:k], near))[:k])
        episode.absorb(question, episode.retrieve(Query(question)))
        agree(episode.finalise(), rrf(*links, step))
