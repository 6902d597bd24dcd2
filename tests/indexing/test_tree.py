"""The tree of summaries: similar passages are together, no work is repeated, and changes are redone."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from graph_rows import rows
from made_summaries import PRICES, SUMMARY, is_filtered_and_repaired
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing.tree import LEAST, soft_clusters
from kgrag.models.budget import HIGH
from kgrag.models.embed import unit
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
_NAME = "tree"
_rows = partial(rows, collection=_NAME)
_LOWEST = "MATCH (s:Summary {collection: $collection, level: 1})-[:SUMMARISES]->"
_REPLY = {"title": "Made places", "summary": SUMMARY}


@pytest.fixture(scope="module")
def collection(fill: Callable[..., str], make_documents: Make) -> str:
    """A collection of 120 documents."""
    return fill(_NAME, make_documents(0, 120))


def _texts(kg: KnowledgeGraph) -> dict[str, str]:
    found = _rows(kg, "MATCH (s:Summary {collection: $collection}) RETURN s.id AS id, s.text AS text")
    return {r["id"]: r["text"] for r in found}


@pytest.mark.parametrize("number", [1, 7, 60, 1500])
def test_every_vector_is_in_a_cluster(number: int) -> None:
    chance = np.random.default_rng(number)
    topics = unit(chance.normal(size=(max(1, number // 10), 32)))
    vectors = unit(topics[chance.integers(0, len(topics), number)] + 0.05 * chance.normal(size=(number, 32)))
    clusters = soft_clusters(vectors)
    assert {i for c in clusters for i in c.members} == set(range(number))
    assert clusters == soft_clusters(vectors)
    best = dict.fromkeys(range(number), 0.0)
    for cluster in clusters:
        for i, weight in zip(cluster.members, cluster.weights, strict=True):
            best[i] = max(best[i], weight)
    assert all(w >= LEAST or best[i] == w for c in clusters for i, w in zip(c.members, c.weights, strict=True))
    if number >= 60:
        assert 2 < number / len(clusters) < 40


def test_vectors_that_are_all_the_same_are_parted_all_the_same() -> None:
    same = unit(np.ones((900, 8)))
    clusters = soft_clusters(same)
    assert {i for c in clusters for i in c.members} == set(range(900))


def test_a_tree_without_a_model(kg: KnowledgeGraph, collection: str, make_documents: Make) -> None:
    before = digest(kg.graph, collection)
    report = kg[collection].build_tree()
    assert report.levels[0] > 5
    assert report.levels == tuple(sorted(report.levels, reverse=True))
    assert report.written == sum(report.levels)
    loose = "WHERE NOT EXISTS { (:Summary {level: 1})-[:SUMMARISES]->(p) } RETURN p"
    assert not _rows(kg, "MATCH (p:Passage {collection: $collection})" + loose)
    for row in _rows(kg, _LOWEST + "(p) RETURN s.text AS text, collect(p.text) AS texts"):
        whole = " ".join(" ".join(t.split()) for t in row["texts"])
        assert all(sentence.strip(". ") in whole for sentence in row["text"].split(". "))

    built = digest(kg.graph, collection)
    assert built["summaries"] != before["summaries"]
    assert {k: v for k, v in built.items() if k != "summaries"} == {k: v for k, v in before.items() if k != "summaries"}
    again = kg[collection].build_tree()
    assert (again.written, again.levels) == (0, report.levels)

    # a new document joins matching topics; only these, and their ancestors, are rewritten
    texts = _texts(kg)
    kg[collection].ingest(make_documents(120, 122))
    more = kg[collection].build_tree()
    now = _texts(kg)
    assert 0 < more.written < sum(report.levels) / 2
    assert set(now) == set(texts)
    assert sum(now[id] != texts[id] for id in now) <= more.written
    assert not kg[collection].build_tree().written

    # a deletion leaves no summary without passages
    smallest = "RETURN s.id AS id, collect(DISTINCT d.key) AS keys ORDER BY size(keys) LIMIT 1"
    members = _rows(kg, _LOWEST + "()<-[:HAS_PASSAGE]-(d) " + smallest)[0]
    gone = kg[collection].delete(members["keys"])
    assert gone
    assert members["id"] not in _texts(kg)
    assert not _rows(kg, "MATCH (s:Summary {collection: $collection}) WHERE NOT (s)-[:SUMMARISES]->() RETURN s")
    kg[collection].ingest([d for d in make_documents(0, 122) if d.key in members["keys"]])
    kg[collection].delete(["d120", "d121"])

    left = len(_texts(kg))
    assert kg[collection].remove_tree() == left
    assert digest(kg.graph, collection) == before


@pytest.mark.parametrize("stage", ["level 1", "level 2"])
def test_an_interrupted_tree_is_finished(kg: KnowledgeGraph, collection: str, stage: str) -> None:
    kg[collection].remove_tree()
    kg[collection].build_tree()
    whole = digest(kg.graph, collection)
    kg[collection].remove_tree()

    def interrupt(now: str, done: int, total: int | None) -> None:
        if now == stage and total and done == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kg[collection].build_tree(progress=interrupt)
    kg[collection].build_tree()
    assert digest(kg.graph, collection) == whole


def test_a_model_writes_each_summary_once(
    kg: KnowledgeGraph, collection: str, scripted: Scripted, connect: Callable[..., KnowledgeGraph]
) -> None:
    kg[collection].remove_tree()
    levels = kg[collection].build_tree().levels
    scripted.say("summarise", _REPLY)
    client = connect(prices=PRICES)
    estimate = client[collection].estimate_tree()
    assert estimate.calls == sum(levels)
    assert estimate.cost is not None

    stopped = connect(prices=PRICES, budget=estimate.cost[0] / 4)[collection].build_tree(ask=True, threads=2)
    assert stopped.stopped is not None
    assert 0 < stopped.usage.calls < sum(levels)
    assert stopped.left
    report = client[collection].build_tree(ask=True, threads=2)
    assert report.left == 0
    calls = stopped.usage.calls + report.usage.calls
    assert calls <= sum(levels) + 2  # plus calls in progress when the budget was used up
    sent = sum(len(m["content"].encode()) for call in scripted.calls for m in call["messages"])
    assert 0.85 * sent / HIGH <= estimate.prompt_tokens[1] <= 1.15 * sent / HIGH
    assert set(_texts(kg).values()) == {_REPLY["summary"].strip()}
    assert not client[collection].build_tree(ask=True).usage.calls
    assert client[collection].estimate_tree().calls == 0

    # a failed summary keeps its sentences, and is named
    kg[collection].remove_tree()
    scripted.say("summarise", "no JSON", "no JSON", _REPLY)
    failed = client[collection].build_tree(ask=True, threads=1)
    assert len(failed.failures) == 1
    assert failed.left == 1
    assert "summarise" in failed.failures[0].reason
    assert client[collection].build_tree(ask=True).written >= 1


def test_raptor_lifts_what_is_under_a_near_topic(kg: KnowledgeGraph, collection: str) -> None:
    kg[collection].remove_tree()
    question = "Which place was built near Banor Banor?"
    without = kg[collection].search(question, k=10, retriever="raptor(summaries=0)")
    dense = kg[collection].search(question, k=10, retriever="dense")
    assert [h.passage.id for h in without.hits] == [h.passage.id for h in dense.hits]
    assert any("kgrag enrich tree" in note for note in without.notes)

    kg[collection].build_tree()
    found = kg[collection].search(question, k=10, retriever="raptor")
    assert any(step.label == "Summary" for hit in found.hits for step in hit.why)
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)
    assert not found.notes
    lost = _rows(kg, "MATCH (s:Summary {collection: $collection}) SET s.embedding = null RETURN s")
    is_filtered_and_repaired(kg, collection, "raptor", found, len(lost))


def test_a_collection_that_is_too_small_has_no_tree(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("a", (Section("A short text on ice."),), "Ice")])
    assert kg[collection_name].build_tree().levels == ()
