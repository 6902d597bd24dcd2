"""Millions of GEAR-s, equation 1 and whole episodes with BM25, against `gears` and `rrf(depth=1)` on two graphs."""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from beams import Fact, Search, algorithm_1, flattened
from corpus import Call, Talker, ingested, nearest, passages, rrf, sparse
from naming import own

from kgrag import KnowledgeGraph
from kgrag.agents.gears import Gears
from kgrag.retrieval.base import make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long
EPISODES = 100  # cases of each of the two collections
_NAMES = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow")
_VERBS = ("feeds", "hides", "joins", "marks")


@dataclass(frozen=True)
class Corpus:
    """A collection and its passages' texts by id, and facts by id in the collection `world`."""

    context: SearchContext
    texts: Mapping[str, str]
    world: str
    facts: Mapping[str, Fact]


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
    """Return equation 1: the k best of both."""
    fused = rrf(nearest(asked, texts)[:k], sparse(asked, texts)[:k])
    return {id: fused[id] for id in list(fused)[:k]}


def _asked(chance: random.Random) -> str:
    return " ".join(chance.choices(_NAMES + _VERBS, k=chance.randint(1, 4)))


def _reply(call: Call) -> Any:
    """Return a reply that depends on the prompt alone: facts, a verdict, numbers of passages, or an answer."""
    chance = random.Random(repr(call))
    facts = [[chance.choice(_NAMES), chance.choice(_VERBS), chance.choice(_NAMES)] for _ in range(chance.randint(0, 3))]
    numbers = [f"[{number}]" for number in range(1, len(call.texts) + 1) if chance.random() < 0.6]
    return {
        "read": {"triples": facts},
        "rewrite-or-stop": f"no {_asked(chance)}" if chance.random() < 0.9 else "yes",
        "filter": " ".join(numbers) or "none",
    }.get(call.task, "ash")


def test_whole_episodes_of_gears(corpus: Corpus) -> None:
    """Equations 1 to 7: from step 2 on facts are linked, expanded and aligned; the reader is shown all facts."""
    chance, texts = random.Random(300 + len(corpus.texts)), {id: fact.text for id, fact in corpus.facts.items()}
    for _ in range(EPISODES):
        s, k, steps, window = (
            Search.drawn(chance),
            chance.choice([1, 3, 10]),
            chance.randint(1, 4),
            chance.choice([2, 20]),
        )
        question, mine = _asked(chance), Talker(_reply)
        asked = [question]
        memory, facts = dict[str, None](), dict[str, None]()
        while True:
            expected = hybrid(asked[-1], corpus.texts, k)
            read = mine.read(asked[-1], [corpus.texts[id] for id in expected])
            facts |= dict.fromkeys(read)
            if len(asked) > 1 and read:
                linked = dict.fromkeys(id for fact in read for id in sparse(fact, texts)[:1])
                chains = algorithm_1(corpus.facts, list(linked), s.asking(asked[-1]))
                aligned = (sparse(texts[t], corpus.texts)[:1] for t in flattened(chains))
                expected = rrf(dict.fromkeys(id for ids in aligned for id in ids), expected)
            memory |= dict.fromkeys(expected)
            if len(asked) == steps:
                break
            rewrites = "\n".join(f"{n}. {text}" for n, text in enumerate(asked[1:], 1)) or "(none yet)"
            reply = mine.asked(Call("rewrite-or-stop", question, (), tuple(facts), rewrites))
            verdict, _, following = reply.partition(" ")
            if verdict == "yes" or following in asked:
                break
            asked.append(following)
        ranking, kept = list(memory), list[str]()
        for start in range(0, len(ranking), window):
            part = ranking[start : start + window]
            numbers = mine.asked(Call("filter", question, tuple(corpus.texts[id] for id in part), tuple(facts)))
            kept += [part[int(number) - 1] for number in re.findall(r"\d+", numbers)]
        if kept or facts:
            mine.asked(Call("answer", question, tuple(corpus.texts[id] for id in kept), tuple(facts)))
        corpus.context.llm = theirs = Talker(_reply)  # type: ignore[assignment]
        options = {name: getattr(s, name) for name in ("beams", "length", "gamma", "diverse", "exact")}
        options |= {"steps": steps, "passages": k, "window": window, "structure": False}
        retriever = make_retriever("rrf(depth=1)", corpus.context)
        system = Gears(retriever, knowledge=(corpus.world,), hub=10_000, order="appended", **options)
        answer = system.ask(question, short=True, depth=50)
        assert theirs.calls == mine.calls
        dropped = [id for id in ranking if id not in kept]
        assert [hit.passage.id for hit in answer.ranking] == [*kept, *dropped]
