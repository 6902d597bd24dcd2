"""Millions of GEAR-s, equations 1, 3 and 4 with BM25 in memory, beside `gears` and `rrf(depth=1)` on two graphs."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from beams import Fact, Search, algorithm_1, flattened
from corpus import Model, agree, ingested, nearest, passages, rrf, sparse
from naming import own

from kgrag import KnowledgeGraph
from kgrag.agents.episode import QuestionContext
from kgrag.agents.gears import Gears
from kgrag.retrieval.base import Query, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long
FUSIONS, EPISODES = 100, 100  # cases of each of the two collections
_NAMES = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow")
_VERBS = ("feeds", "hides", "joins", "marks")


@dataclass(frozen=True)
class Corpus:
    """A collection and the texts of its passages by id; beside it facts by id, in the collection `world`."""

    context: SearchContext
    texts: Mapping[str, str]
    world: str
    facts: Mapping[str, Fact]
    model: Model = field(default_factory=Model)


@pytest.fixture(scope="module", params=[1, 20])
def corpus(
    request: pytest.FixtureRequest, kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Corpus]:
    count, chance = request.param, random.Random(request.param)
    name, world = own(f"reference-gears-{count}"), own(f"reference_world_{count}")
    texts = [" ".join(chance.choices(_NAMES + _VERBS, k=chance.randint(1, 8))) for _ in range(count)]
    texts[-1] = texts[0]
    rows = sorted({(chance.choice(_NAMES), chance.choice(_VERBS), chance.choice(_NAMES)) for _ in range(3 * count)})
    path = tmp_path_factory.mktemp("world") / "world.csv"
    path.write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    KnowledgeGraph.import_knowledge(path, world, settings=kg.settings)
    context = ingested(kg, name, [Document(f"{number:02}", (Section(text),), "") for number, text in enumerate(texts)])
    found = kg.cypher(
        "MATCH (t:Triple {collection: $name})-[:SUBJECT]->(s) MATCH (t)-[:OBJECT]->(o) "
        "RETURN t.id AS id, t.text AS text, [s.id, o.id] AS ends",
        {"name": world},
    )
    facts = {row["id"]: Fact(row["text"], frozenset(row["ends"]), "") for row in found}
    assert sorted(fact.text for fact in facts.values()) == sorted(map(" ".join, rows))
    yield Corpus(context, dict(zip(passages(kg, context), texts, strict=True)), world, facts)
    for made in (name, world):
        kg[made].delete()


def hybrid(asked: str, texts: Mapping[str, str], k: int) -> dict[str, float]:
    """Equation 1: the k best of both."""
    fused = rrf(nearest(asked, texts)[:k], sparse(asked, texts)[:k])
    return {id: fused[id] for id in list(fused)[:k]}


def _asked(chance: random.Random) -> str:
    return " ".join(chance.choices(_NAMES + _VERBS, k=chance.randint(1, 4)))


def test_equation_1_of_gears(corpus: Corpus) -> None:
    chance = random.Random(len(corpus.texts))
    for _ in range(FUSIONS):
        asked, k = _asked(chance), chance.choice([1, 2, 5, 50])
        found = make_retriever("rrf(depth=1)", corpus.context).rank(Query(asked), k)
        agree(found, hybrid(asked, corpus.texts, k), k)


def test_equations_3_and_4_of_gears(corpus: Corpus) -> None:
    """Two steps, of which the second links, expands and aligns; its passages are appended to those of the first."""
    chance, texts = random.Random(300 + len(corpus.texts)), {id: fact.text for id, fact in corpus.facts.items()}
    for _ in range(EPISODES):
        s, k = Search.drawn(chance), chance.choice([1, 3, 10])
        retriever = make_retriever("rrf(depth=1)", corpus.context)
        options = {name: getattr(s, name) for name in ("beams", "length", "gamma", "diverse", "exact")}
        strategy = Gears(retriever, knowledge=(corpus.world,), passages=k, hub=10_000, order="appended", **options)
        inquiry = QuestionContext(Query("?"), retriever, 10, lambda event: None, corpus.model)  # type: ignore[arg-type]
        episode = strategy.begin(inquiry)
        memory: dict[str, None] = {}
        for step in (1, 2):
            asked = _asked(chance)
            read = [[chance.choice(_NAMES), chance.choice(_VERBS), chance.choice(_NAMES)] for _ in range(3)]
            corpus.model.facts = read if chance.random() < 0.9 else []
            expected = hybrid(asked, corpus.texts, k)
            if step == 2 and corpus.model.facts:
                linked = dict.fromkeys(id for fact in read for id in sparse(" ".join(fact), texts)[:1])
                chains = algorithm_1(corpus.facts, list(linked), s.asking(asked))
                aligned = (sparse(texts[t], corpus.texts)[:1] for t in flattened(chains))
                soft = dict.fromkeys(id for ids in aligned for id in ids)
                expected = rrf(soft, expected)
            agree(episode.retrieve(Query(asked)), expected)
            memory |= dict.fromkeys(expected)
        assert [x.id for x in episode.finalise()] == list(memory)
