"""RAPTOR's collapsed tree and GraphRAG's local search in memory, against `raptor` and `communities` on a graph."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from corpus import Hashed, agree, best, cosine, ingested, passages, rrf, vector
from naming import own

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.indexing.tree import soft_clusters
from kgrag.retrieval.base import Query, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.linking import link_question
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long
CASES = 60
_FIRST, _LAST = ("Ada", "Carl", "Edda", "Gustav"), ("Aune", "Berg", "Dahl", "Eide", "Foss", "Grieg", "Holm", "Lund")
_NAMES = [f"{first} {last}" for last in _LAST for first in _FIRST]


@dataclass(frozen=True)
class Corpus:
    """A collection, its passages' texts by id, the texts of groups, and the members of each group or name."""

    context: SearchContext
    passages: Mapping[str, str]
    groups: Mapping[str, str]
    below: Mapping[str, list[str]]
    above: Mapping[str, list[str]]
    named: Mapping[str, list[str]]

    def under(self, group: str) -> set[str]:
        """Return all members of a summary, and their members."""
        members = set(self.below.get(group, ()))
        return members.union(*map(self.under, members))

    def over(self, group: str) -> set[str]:
        """Return a community, and all communities that contain it."""
        return {group}.union(*map(self.over, self.above.get(group, ())))


@pytest.fixture(scope="module")
def corpus(kg: KnowledgeGraph) -> Iterator[Corpus]:
    """Passages that name people of one family, or occasionally of two."""
    chance, name = random.Random(5), own("reference-groups")
    texts = []
    for number in range(60):
        start = 4 * (number % 8)
        people = [*chance.sample(_NAMES[start : start + 4], 2), chance.choice(_NAMES[: start + 4])]
        texts.append(f"In the year {1800 + number} {people[0]} met {people[1]}, and then {people[2]}.")
    ingested(kg, name, [Document(f"{n:02}", (Section(text),), "") for n, text in enumerate(texts)])
    with KnowledgeGraph.connect(settings=kg.settings) as client:
        client[name].ingest([], embedder=Hashed())
        assert len(client[name].build_tree(size=4).levels) > 1
        assert len(client[name].build_communities(size=4).levels) > 1
    context = SearchContext(Reader(kg.graph, open_collection(kg.graph, name)), Hashed())

    def read(pattern: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        rows = kg.cypher(f"MATCH {pattern} RETURN a.id AS a, b.id AS b ORDER BY a, b", {"name": name})
        for row in rows:
            found.setdefault(row["a"], []).append(row["b"])
        return found

    groups = "MATCH (g:Summary|Community {collection: $name}) RETURN g.id AS id, g.text AS text"
    yield Corpus(
        context,
        dict(zip(passages(kg, context), texts, strict=True)),
        {row["id"]: row["text"] for row in kg.cypher(groups, {"name": name})},
        read("(a:Summary|Community {collection: $name})-[:SUMMARISES]->(b)"),
        read("(a {collection: $name})-[:PART_OF|IN_COMMUNITY]->(b:Community)"),
        read("(b:Passage {collection: $name})-[:MENTIONS]->(a)"),
    )
    kg[name].delete()


def _near(texts: Mapping[str, str], question: str) -> dict[str, float]:
    """Return scores of texts: (1 + cosine) / 2."""
    return {id: (1 + cosine(vector(text), vector(question))) / 2 for id, text in texts.items()}


def test_scores_of_raptor(corpus: Corpus) -> None:
    """A passage has its own score, plus a share of its best summary's excess over it."""
    chance = random.Random(1)
    communities = {c for groups in corpus.above.values() for c in groups}
    summaries = {id: text for id, text in corpus.groups.items() if id not in communities}
    for case in range(CASES):
        question, share = f"Which {case}?", chance.choice([0.25, 1.0])
        n, followed, leaves = (chance.choice(counts) for counts in ([1, 10, 60], [0, 1, 3, 100], [1, 3, 60]))
        plain, near = _near(corpus.passages, question), _near(summaries, question)
        lifts: dict[str, list[float]] = {id: [0.0] for id in plain}
        for summary in best(near)[:followed]:
            for id in best({id: plain[id] for id in corpus.under(summary) if id in plain})[:leaves]:
                lifts[id].append(near[summary] - plain[id])
        scores = {id: plain[id] + share * max(lifts[id]) for id in plain}
        options = f"summaries={followed}, leaves={leaves}, share={share}"
        agree(make_retriever(f"raptor({options})", corpus.context).rank(Query(question), n), scores, n)


def test_ranks_of_local_search_over_communities(corpus: Corpus) -> None:
    """Passages of names, of the nearest communities above these, and all by vectors: fused, or by their mean."""
    chance, parts, both = random.Random(2), 0, 0
    for _ in range(CASES):
        question, followed = f"Where did {' and '.join(chance.sample(_NAMES, 2))} meet?", chance.choice([1, 2, 8])
        weights = {link.entity: link.weight for link in link_question(corpus.context, question).links}
        dense = _near(corpus.passages, question)
        named: dict[str, float] = {}
        for entity, weight in weights.items():
            for id in corpus.named[entity]:
                named[id] = named.get(id, 0.0) + weight
        above = {c for entity in weights for finest in corpus.above[entity] for c in corpus.over(finest)}
        both += len(weights) > 1
        parts += any(c in corpus.above for c in above)
        near = _near({c: corpus.groups[c] for c in above}, question)
        nearest = best(near)[:followed]
        joined = {id: dense[id] for c in nearest for id in corpus.below[c]}
        by_names = sorted(named, key=lambda id: (-named[id], -dense[id], id))
        reports = {id: max(near[c] for c in nearest if id in corpus.below[c]) for id in joined}
        summed = {id: (dense[id] + reports.get(id, 0) + named.get(id, 0) / sum(weights.values())) / 3 for id in dense}
        fused = rrf(by_names, best(joined), best(dense))
        for score, scale, scores in (("ranks", "rank", fused), ("sum", "cosine", summed)):
            retriever = make_retriever(f"communities(communities={followed}, score={score})", corpus.context)
            agree(retriever.rank(Query(question), 60), scores)
            assert retriever.scale == scale
    assert min(parts, both) > CASES / 2


def test_a_vector_between_two_clusters_belongs_to_both() -> None:
    """RAPTOR, section 3: clusters are soft. Two groups lie on a line, and one vector in the middle between them."""
    side = [[1.5 + 3 * n / 7, 0.1 * (n % 2)] for n in range(8)]
    vectors = np.array([*side, [0.0, 0.05], *([-x, y] for x, y in side)], np.float32)
    found = soft_clusters(vectors, 12)
    homes = [sum(place in cluster.members for cluster in found) for place in range(len(vectors))]
    assert (homes[8], set(homes[:8] + homes[9:])) == (2, {1}), found
