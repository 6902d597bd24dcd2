"""GEAR, Algorithm 1, equations 2 and 3, and whole episodes in memory, against the retrievers and `gear` on a graph."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from beams import Beams, Fact, Search, algorithm_1, flattened
from corpus import Call, Model, Talker, agree, ingested, nearest, passages, rrf, sparse
from naming import own

from kgrag import KnowledgeGraph
from kgrag.agents.gear import Gear
from kgrag.retrieval.base import Query, Scored, make_retriever
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
    """A corpus in which some passages have no triples, and some triples repeat, loop, or lead nowhere."""
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
    """Return the chains flattened breadth-first, their unique source passages, fused with the base ranking."""
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
    """GEAR, section 6.2: the chains begin with all triples of the base passages."""
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
    """Each extracted fact is linked to its most similar triple, where the chains begin."""
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
    """Return h_base by vectors, by words, or by both, each as deep as these small collections."""
    if base == "rrf":
        return list(rrf(nearest(asked, texts), sparse(asked, texts)))
    return nearest(asked, texts) if base == "dense" else sparse(asked, texts)


def _reply(call: Call) -> Any:
    """Return a reply that depends on the prompt alone: facts, a verdict, another question, or an answer."""
    chance = random.Random(repr(call))
    facts = [(chance.choice(_NAMES), f"links{chance.randint(0, 9)}", chance.choice(_NAMES)) for _ in range(3)]
    return {
        "read": {"triples": facts[: chance.randint(0, 3)]},
        "reason": {"answerable": chance.random() < 0.1, "why": f"Missing: {chance.choice(_NAMES)}"},
        "rewrite": f"Which of {' '.join(chance.sample(_NAMES, 2))}?",
    }.get(call.task, "Ash")


@pytest.mark.parametrize("base", ["dense", "bm25", "rrf"])
def test_whole_episodes_of_gear(corpus: Corpus, base: str) -> None:
    """Equations 1 to 10: each call with its passages and facts, the passages of all steps and facts, and the reader."""
    chance = random.Random(f"{base} {len(corpus.facts)}")
    triples, retriever = {t: fact.text for t, fact in corpus.facts.items()}, make_retriever(base, corpus.context)
    for _ in range(MEMORIES):
        k, steps, gist = chance.choice([1, 2, 5]), chance.randint(1, 4), chance.choice([0, 3])
        again, expanded = chance.random() < 0.5, chance.random() < 0.5
        question, mine = f"Which of {' '.join(chance.sample(_NAMES, 2))}?", Talker(_reply)
        memory: dict[str, None] = {}
        asked, rankings, seen, why = question, list[list[str]](), set[str](), ""
        begun = Search(question, beams=10, length=2, gamma=20, diverse=True, exact=False)
        for step in range(1, steps + 1):
            if rankings:
                asked = mine.asked(Call("rewrite", question, (), tuple(memory), why))
            found = _ranked(base, asked, corpus.texts)[:10]
            facts = mine.read(asked, [corpus.texts[id] for id in found])
            linked = dict.fromkeys(nearest(fact, triples)[0] for fact in facts)
            chains = algorithm_1(corpus.facts, list(linked), begun.asking(asked))
            rankings.append(list(equation_3(corpus, found, chains)) if linked else found)
            seen.update(found)
            memory |= dict.fromkeys(facts if step == 1 or not again else ())
            if step > 1 or expanded:
                fresh = [id for id in rankings[-1][: gist or None] if again or id not in seen]
                seen.update(fresh)
                memory |= dict.fromkeys(mine.read(question, [corpus.texts[id] for id in fresh], memory))
            why = "Nothing that helps was found yet."
            if step < steps and memory:
                verdict = mine.asked(Call("reason", question, (), tuple(memory)))
                why = verdict["why"]
                if verdict["answerable"]:
                    break
        links = []
        for fact in memory:
            near = dict.fromkeys(corpus.facts[t].passage for t in _ranked(base, fact, triples)[:k])
            links.append(list(rrf(_ranked(base, fact, corpus.texts)[:k], near))[:k])
        corpus.context.llm = theirs = Talker(_reply)  # type: ignore[assignment]
        options = {"steps": steps, "link": k, "reread": again, "fusion": "all", "gist": gist, "structure": False}
        options["first_read"] = "expanded" if expanded else "base"
        answer = Gear(retriever, **options).ask(question, short=True, depth=50)
        agree([Scored(hit.passage.id, hit.score) for hit in answer.ranking], rrf(*links, *rankings))
        read = tuple(corpus.texts[hit.passage.id] for hit in answer.ranking[:5])
        assert theirs.calls == [*mine.calls, *[Call("answer", question, read, tuple(memory))] * bool(read or memory)]
