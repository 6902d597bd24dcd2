"""GEAR, Algorithm 1 and equations 2 and 3 (SyncGE, NaiveGE) in memory, beside `sync-ge` and `naive-ge` on a graph."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from beams import Beams, Fact, Search, algorithm_1, flattened
from corpus import Model, agree, best, cosine, ingested, passages, rrf, vector
from naming import own

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query
from kgrag.retrieval.beam import BeamOptions, beam_search
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.registry import make_retriever
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.long
CHAINS, EXPANSIONS = 60, 60  # cases of each collection, the latter half by SyncGE and half by NaiveGE
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
    texts = [". ".join(t.text for t in its) or f"Nothing {i}" for i, its in enumerate(stated)]
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
    context.tasks = made.model  # type: ignore[assignment]
    yield made
    kg[name].delete()


def nearest(texts: dict[str, str], asked: str) -> list[str]:
    """Ids of texts, the nearest to another text first."""
    return best({id: cosine(vector(text), vector(asked)) for id, text in texts.items()})


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
    for _ in range(EXPANSIONS // 2):
        s, read, wanted = Search.drawn(chance), chance.choice([1, 3, 15]), chance.choice([1, 5, 50])
        expression = f"naive-ge(dense, passages={read}, fuse=read, {s.options()}, {_NO_HUBS})"
        base = nearest(corpus.texts, s.question)[:read]
        initial = [t for t, fact in corpus.facts.items() if fact.passage in base]
        found = make_retriever(expression, corpus.context).rank(Query(s.question), wanted)
        if not initial:
            assert [x.id for x in found] == base[:wanted]
            continue
        agree(found, equation_3(corpus, base, algorithm_1(corpus.facts, initial, s)), wanted)


def test_equations_2_and_3_of_gear_by_sync_ge(corpus: Corpus) -> None:
    """Each fact that was read is linked to its most similar triple, where the chains begin."""
    chance = random.Random(300 + len(corpus.facts))
    for _ in range(EXPANSIONS // 2):
        s, read, wanted = Search.drawn(chance), chance.choice([1, 3, 15]), chance.choice([1, 5, 50])
        corpus.model.facts = [
            (chance.choice(_NAMES), f"meets {chance.randint(1, 9)}", chance.choice(_NAMES))
            for _ in range(chance.randint(0, 6))
        ]
        expression = f"sync-ge(dense, passages={read}, fuse=read, {s.options()}, {_NO_HUBS})"
        base = nearest(corpus.texts, s.question)[:read]
        texts = {t: fact.text for t, fact in corpus.facts.items()}
        linked = dict.fromkeys(nearest(texts, " ".join(fact))[0] for fact in corpus.model.facts)
        found = make_retriever(expression, corpus.context).rank(Query(s.question), wanted)
        if not linked:
            assert [x.id for x in found] == base[:wanted]
            continue
        agree(found, equation_3(corpus, base, algorithm_1(corpus.facts, list(linked), s)), wanted)
