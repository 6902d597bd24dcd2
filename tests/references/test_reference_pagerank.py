"""Personalised PageRank by a dense solve and by networkx, against `hipporag`, `hipporag2` and `ppr` on a graph."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import networkx
import numpy as np
import pytest
from corpus import Model, agree, best, cosine, ingested, passages, vector
from naming import own
from numpy.typing import NDArray

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.entity_graph import EntityGraph
from kgrag.values.documents import Document, Section, Triple

GRAPHS, QUESTIONS = 300, 60  # QUESTIONS for each of the three collections and retrievers
_NAMES = ("Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Willow", "Yew")
_SYNONYMY = 0.5  # two in eight of these names have such a cosine


def dense_pagerank(weights: NDArray[np.float64], reset: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Solve x = d P'x + (1 - d) r; a node without edges leads to the restart. `weights` [n, n], `reset` [n]."""
    share = reset / reset.sum()
    leaving = weights.sum(axis=1, keepdims=True)
    steps = np.where(leaving > 0, weights / np.where(leaving > 0, leaving, 1), share)
    solved: NDArray[np.float64] = np.linalg.solve(np.eye(len(share)) - damping * steps.T, (1 - damping) * share)
    return solved


@pytest.mark.parametrize("over_passages", [True, False])
def test_pagerank_with_weights_and_nodes_that_lead_nowhere(over_passages: bool) -> None:
    chance = random.Random(over_passages)
    for _ in range(GRAPHS // 2):
        entities = [f"e{i}" for i in range(chance.randint(1, 12))]
        rows, named, ties = [], Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for i in range(chance.randint(1, 10)):
            number = chance.choice([0, 0, 1, 3]) if i else 1
            facts = [(chance.choice(entities), chance.choice(entities)) for _ in range(number)]
            ends = [end for fact in facts for end in fact]
            rows.append((f"p{i}", f"#p{i}", ends, [], [s for s, _ in facts], [o for _, o in facts]))
            named.update((f"p{i}", end) for end in ends)
            ties.update((min(fact), max(fact)) for fact in facts if fact[0] != fact[1])
        pairs = list(combinations(entities, 2))
        similar = {pair: chance.uniform(0.8, 1.0) for pair in chance.sample(pairs, min(len(pairs), 4))}
        graph = EntityGraph.of(
            rows, [(a, b, (1 + cosine) / 2) for (a, b), cosine in similar.items()], over_passages=over_passages
        )
        weights = np.zeros((len(graph.node), len(graph.node)))
        known = set(graph.node)
        edges = {pair: near for pair, near in similar.items() if known.issuperset(pair) and pair not in ties}
        edges |= {pair: float(times) for pair, times in ties.items()}
        if over_passages:
            edges |= {(f"#{passage}", entity): 1.0 for passage, entity in named}
        for (one, other), weight in edges.items():
            a, b = graph.node[one], graph.node[other]
            weights[a, b] = weights[b, a] = weight
        starts = chance.sample(range(len(known)), chance.randint(1, len(known)))
        reset = {i: chance.choice([0.05, 0.5, 1.0, 2.0]) for i in starts}
        damping = chance.choice([0.1, 0.5, 0.85])
        share = np.array([reset.get(i, 0.0) for i in range(len(known))])
        assert graph.shares(reset, damping) == pytest.approx(dense_pagerank(weights, share, damping), abs=1e-6)


@dataclass(frozen=True)
class Corpus:
    """A collection; `stated`: the triples of each passage, `texts`: its text, both by id."""

    context: SearchContext
    stated: Mapping[str, Sequence[Triple]]
    texts: Mapping[str, str]
    model: Model = field(default_factory=Model)

    def named(self) -> Counter[tuple[str, str]]:
        """Return (passage, name) -> how often the passage's triples name it."""
        return Counter((id, end) for id, its in self.stated.items() for t in its for end in (t.subject, t.object))

    def graph(self, *, over_passages: bool) -> "networkx.Graph[str]":
        """Return the edges of names, by triples or by the cosine of their normal forms, and of names with passages."""
        graph: networkx.Graph[str] = networkx.Graph()
        ties = Counter(frozenset((t.subject, t.object)) for its in self.stated.values() for t in its)
        names = sorted({name for pair in ties for name in pair})
        graph.add_nodes_from(names)
        for pair in combinations(names, 2):
            near = cosine(*(vector(name.lower()) for name in pair))
            if ties[frozenset(pair)]:
                graph.add_edge(*pair, weight=ties[frozenset(pair)])
            elif near >= _SYNONYMY:
                graph.add_edge(*pair, weight=near)
        if over_passages:
            graph.add_nodes_from(self.stated)
            graph.add_edges_from(self.named(), weight=1.0)
        return graph


@pytest.fixture(scope="module", params=[1, 6, 20])
def corpus(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> Iterator[Corpus]:
    """A corpus with passages without triples, triples that are self-loops, and repeated passages."""
    count, chance = request.param, random.Random(request.param)
    stated = [
        [
            Triple(chance.choice(_NAMES), f"links{i}x{j}", chance.choice(_NAMES))
            for j in range(chance.choice([0, 1, 2]) if i else 2)
        ]
        for i in range(count)
    ]
    stated[-1] = stated[0]
    texts = [". ".join(t.text for t in its) or f"nothing {i}" for i, its in enumerate(stated)]
    name = own(f"reference-pagerank-{count}")
    documents = [
        Document(f"{i:02}", (Section(text),), "", triples=tuple(its))
        for i, (text, its) in enumerate(zip(texts, stated, strict=True))
    ]
    context = ingested(kg, name, documents, synonymy=_SYNONYMY, synonyms=100)
    ids = passages(kg, context)
    made = Corpus(context, dict(zip(ids, stated, strict=True)), dict(zip(ids, texts, strict=True)))
    context.llm = made.model  # type: ignore[assignment]
    yield made
    kg[name].delete()


def _ranked(scores: Mapping[str, float]) -> dict[str, float]:
    return {id: score for id, score in scores.items() if score > 0}


@pytest.mark.long
def test_hipporag_by_networkx(corpus: Corpus) -> None:
    """HippoRAG, section 2.3: a walk over names, weighted by rarity; passages sum the scores of their names."""
    chance, graph, named = random.Random(len(corpus.texts)), corpus.graph(over_passages=False), corpus.named()
    held = Counter(name for _, name in named)
    for case in range(QUESTIONS):
        corpus.model.names = chance.sample(sorted(held), chance.randint(1, min(3, len(held))))
        damping, wanted = chance.choice([0.1, 0.5, 0.85]), chance.choice([1, 5, 50])
        start = {name: 1 / held[name] for name in corpus.model.names}
        shares = networkx.pagerank(graph, damping, start, tol=1e-12, max_iter=1000)
        scores = dict.fromkeys(corpus.texts, 0.0)
        for (id, name), times in named.items():
            scores[id] += times * shares[name]
        found = make_retriever(f"hipporag(damping={damping})", corpus.context).rank(Query(f"Which {case}?"), wanted)
        agree(found, _ranked(scores), wanted)


def weighed(corpus: Corpus, question: str, triples: int, weight: float) -> dict[str, float]:
    """Return the restart by the nearest facts and by all passages (HippoRAG 2, section 3.5).

    Cosines are scaled from the lowest to the highest; a name has the mean of its facts, over its number of passages.
    """
    asked = vector(question)
    facts = {t.text.lower(): t for its in corpus.stated.values() for t in its}
    near = {text: cosine(vector(t.text), asked) for text, t in facts.items()}
    low, high = min(near.values()), max(near.values())
    held = Counter(name for _, name in corpus.named())
    weights: dict[str, list[float]] = {}
    for text in best(near)[:triples]:
        share = (near[text] - low) / (high - low) if high > low else 1.0
        for name in {facts[text].subject, facts[text].object}:
            weights.setdefault(name, []).append(share / held[name])
    start = {name: sum(its) / len(its) for name, its in weights.items()}
    cosines = {id: cosine(vector(text), asked) for id, text in corpus.texts.items()}
    low, high = min(cosines.values()), max(cosines.values())
    if high > low:
        start |= {id: weight * (near - low) / (high - low) for id, near in cosines.items()}
    return {node: share for node, share in start.items() if share > 1e-9}


@pytest.mark.long
def test_hipporag2_by_networkx(corpus: Corpus) -> None:
    chance, graph = random.Random(50 + len(corpus.texts)), corpus.graph(over_passages=True)
    for case in range(QUESTIONS):
        damping, wanted = chance.choice([0.1, 0.5, 0.85]), chance.choice([1, 5, 50])
        triples, weight = chance.choice([1, 3, 10]), chance.choice([0.05, 1.0])
        start = weighed(corpus, f"Which {case}?", triples, weight)
        shares = networkx.pagerank(graph, damping, start, tol=1e-12, max_iter=1000)
        expression = f"hipporag2(damping={damping}, triples={triples}, linked=100, passage_weight={weight})"
        found = make_retriever(expression, corpus.context).rank(Query(f"Which {case}?"), wanted)
        agree(found, _ranked({id: shares[id] for id in corpus.texts}), wanted)


@pytest.mark.long
def test_ppr_by_networkx(corpus: Corpus) -> None:
    """The restart as documented: shares of the best of the nearest triples, less if few passages have triples."""
    chance, graph = random.Random(90 + len(corpus.texts)), corpus.graph(over_passages=True)
    held = Counter(name for _, name in corpus.named())
    for case in range(QUESTIONS):
        damping, wanted = chance.choice([0.1, 0.5, 0.85]), chance.choice([1, 5, 50])
        triples, nearest, weight = chance.choice([1, 3, 10]), chance.choice([1, 5, 30]), chance.choice([0.05, 1.0])
        asked = vector(f"Which {case}?")
        cosines = {id: cosine(vector(text), asked) for id, text in corpus.texts.items()}
        kept = best(cosines)[:nearest]
        low, high = cosines[kept[-1]], cosines[kept[0]]
        start = {id: weight * ((cosines[id] - low) / (high - low) if high > low else 1.0) for id in kept}
        stated = sum(bool(corpus.stated[id]) for id in kept) / len(kept)
        facts = sorted(
            ((cosine(vector(t.text), asked), t.subject, t.object) for its in corpus.stated.values() for t in its),
            reverse=True,
        )[:triples]
        shares: dict[str, list[float]] = {}
        for near, *ends in facts:
            for name in set(ends):
                shares.setdefault(name, []).append(max(near, 0) / facts[0][0] if facts[0][0] > 0 else 0.0)
        start |= {name: stated**3 * sum(its) / len(its) / held[name] for name, its in shares.items()}
        start = {node: share for node, share in start.items() if share > 1e-9}
        options = f"exact=true, damping={damping}, triples={triples}, passages={nearest}, passage_weight={weight}"
        found = make_retriever(f"ppr({options})", corpus.context).rank(Query(f"Which {case}?"), wanted)
        walked = networkx.pagerank(graph, damping, start, tol=1e-12, max_iter=1000) if start else {}
        agree(found, _ranked({id: walked[id] for id in corpus.texts}) if start else {}, wanted)
