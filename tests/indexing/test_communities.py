"""Communities: the same graph gives the same ones, no work is repeated, and changes are redone."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from graph_rows import rows
from made_summaries import PRICES, SUMMARY, is_filtered_and_repaired
from scipy.sparse import csr_matrix
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing.community_plan import communities
from kgrag.models.budget import HIGH
from kgrag.values.documents import Document, Section
from kgrag.values.events import Answer, Noted
from kgrag.wire import from_json, to_json

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
_NAME = "communities"
_rows = partial(rows, collection=_NAME)
_FINDINGS = [f"Banor Dunor ruled {n} places on the coast, and was ruled by none of the others." for n in range(5)]
_REPLY = {"title": "Made places", "summary": SUMMARY, "findings": _FINDINGS}


@pytest.fixture(scope="module")
def collection(fill: Callable[..., str], make_documents: Make) -> str:
    """A collection of 120 documents."""
    return fill(_NAME, make_documents(0, 120))


def _texts(kg: KnowledgeGraph) -> dict[str, str]:
    found = _rows(kg, "MATCH (c:Community {collection: $collection}) RETURN c.id AS id, c.text AS text")
    return {r["id"]: r["text"] for r in found}


def _network(seed: int) -> csr_matrix:
    """Return twelve groups of twenty, in three clubs, with a few edges between them."""
    chance = np.random.default_rng(seed)
    group = np.repeat(np.arange(12), 20)
    share = np.where(group[:, None] == group, 0.5, np.where(group[:, None] // 4 == group // 4, 0.03, 0.002))
    ties = np.triu(chance.random(share.shape) < share, 1).astype(float)
    return csr_matrix(ties + ties.T)


def test_communities_are_found_in_levels() -> None:
    ties = _network(1)
    found = communities(ties, 20, 3)
    assert all(np.array_equal(a.nodes, b.nodes) for a, b in zip(found, communities(ties, 20, 3), strict=True))
    for part in found:
        if part.parent is not None:
            assert part.level == found[part.parent].level + 1
            assert set(part.nodes) < set(found[part.parent].nodes)
    finest = {int(i): part for part in found for i in part.nodes}
    together = [len({id(finest[i]) for i in range(g * 20, g * 20 + 20)}) == 1 for g in range(12)]
    assert sum(together) >= 10
    assert communities(csr_matrix((5, 5)), 2, 2) == []


def test_communities_without_a_model(kg: KnowledgeGraph, collection: str, make_documents: Make) -> None:
    before = digest(kg.graph, collection)
    report = kg[collection].build_communities(size=10)
    assert len(report.levels) > 1
    assert report.written == sum(report.levels) == len(_texts(kg))
    built = digest(kg.graph, collection)
    others = {k: v for k, v in before.items() if k != "communities"}
    assert {k: v for k, v in built.items() if k != "communities"} == others
    rests = "-[:SUMMARISES]->(p) RETURN c.text AS text, collect(p.text) AS texts, c.names AS names"
    for row in _rows(kg, "MATCH (c:Community {collection: $collection})" + rests):
        whole = " ".join(" ".join(t.split()) for t in row["texts"])
        assert all(sentence.strip(". ") in whole for sentence in row["text"].split(". "))
        assert any(name in whole for name in row["names"])
    odd = "WHERE COUNT { (e)-[:IN_COMMUNITY]->() } <> 1 RETURN e"
    assert not _rows(kg, "MATCH (:Community {collection: $collection})<-[:IN_COMMUNITY]-(e)" + odd)
    parts = "MATCH (c:Community {collection: $collection}) WHERE c.level > 0 AND NOT (c)-[:PART_OF]->(:Community) "
    assert not _rows(kg, parts + "RETURN c")
    sizes = "WITH c, COUNT { (c)<-[:PART_OF*0..6]-()<-[:IN_COMMUNITY]-(:Entity) } AS size WHERE size <> c.size RETURN c"
    assert not _rows(kg, "MATCH (c:Community {collection: $collection}) " + sizes)

    coarsest = list(kg[collection].saved_query("communities", limit=500))
    assert {row["level"] for row in coarsest} == {0}
    name = coarsest[0]["names"][0]
    about = list(kg[collection].saved_query("communities", starting=name.upper(), limit=500))
    assert coarsest[0]["community"] in [row["community"] for row in about]
    assert about[0]["level"] > 0  # the finest level first

    again = kg[collection].build_communities(size=10)
    assert (again.written, again.removed, again.levels) == (0, 0, report.levels)

    # a new document: its names join, and only changed reports are rewritten
    texts = _texts(kg)
    kg[collection].ingest(make_documents(120, 122))
    more = kg[collection].build_communities(size=10)
    now = _texts(kg)
    assert 0 < more.written < sum(report.levels) / 2
    assert set(texts) <= set(now)
    assert sum(now[id] != text for id, text in texts.items()) <= more.written
    assert not kg[collection].build_communities(size=10).written

    # a deletion leaves no community without members
    members = _rows(kg, "MATCH (c:Community {collection: $collection})<-[:IN_COMMUNITY]-(e)<-[:MENTIONS|ABOUT]-(x) "
                        "WITH c, collect(DISTINCT coalesce([(d)-[:HAS_PASSAGE]->(x) | d.key][0], x.key)) AS keys "
                        "RETURN c.id AS id, keys ORDER BY size(keys), id LIMIT 1")[0]  # fmt: skip
    kg[collection].delete(members["keys"])
    assert members["id"] not in _texts(kg)
    assert not _rows(kg, "MATCH (c:Community {collection: $collection}) "
                         "WHERE NOT (c)<-[:PART_OF*0..6]-()<-[:IN_COMMUNITY]-() RETURN c")  # fmt: skip
    kg[collection].ingest([d for d in make_documents(0, 122) if d.key in members["keys"]])
    kg[collection].delete(["d120", "d121"])

    left = len(_texts(kg))
    assert kg[collection].remove_communities() == left
    assert digest(kg.graph, collection) == before
    kg[collection].build_communities(size=10)
    assert digest(kg.graph, collection) == built


def test_half_then_half_gives_the_same_communities(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make
) -> None:
    found = []
    documents = make_documents(0, 60)
    for halves in ([documents], [documents[:25], documents[25:]]):
        for half in halves:
            kg[collection_name].ingest(half)
            kg[collection_name].build_communities(size=10)
        found.append(digest(kg.graph, collection_name)["communities"])
        kg[collection_name].delete()
    assert found[0] == found[1]


@pytest.mark.parametrize("stage", ["communities", "reports 1", "reports 0"])
def test_interrupted_communities_are_finished(kg: KnowledgeGraph, collection: str, stage: str) -> None:
    kg[collection].remove_communities()
    kg[collection].build_communities(size=10)
    whole = digest(kg.graph, collection)
    kg[collection].remove_communities()

    def interrupt(now: str, done: int, total: int | None) -> None:
        if now == stage and total and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kg[collection].build_communities(size=10, progress=interrupt)
    kg[collection].build_communities(size=10)
    assert digest(kg.graph, collection) == whole


def test_a_model_writes_each_report_once(
    kg: KnowledgeGraph,
    collection: str,
    scripted: Scripted,
    connect: Callable[..., KnowledgeGraph],
    make_documents: Make,
) -> None:
    kg[collection].remove_communities()
    levels = kg[collection].build_communities(size=10).levels
    scripted.say("report", _REPLY)
    client = connect(prices=PRICES)
    estimate = client[collection].estimate_communities()
    assert estimate.calls == sum(levels)
    assert estimate.cost is not None

    stopped = connect(prices=PRICES, budget=estimate.cost[0] / 4)[collection].build_communities(
        size=10, ask=True, threads=2
    )
    assert stopped.stopped is not None
    assert 0 < stopped.usage.calls < sum(levels)
    assert stopped.left
    report = client[collection].build_communities(size=10, ask=True, threads=2)
    assert report.left == 0
    assert stopped.usage.calls + report.usage.calls <= sum(levels) + 2  # plus calls in progress at the end
    sent = sum(len(m["content"].encode()) for call in scripted.calls for m in call["messages"])
    assert 0.85 * sent / HIGH <= estimate.prompt_tokens[1] <= 1.15 * sent / HIGH
    assert all(text.endswith(_FINDINGS[-1]) for text in _texts(kg).values())
    parents = [m["content"] for c in scripted.calls for m in c["messages"] if 'title="Made places"' in m["content"]]
    assert len(parents) >= sum(levels[:-1]) / 2  # the report of a community reads the reports of its parts
    assert not client[collection].build_communities(size=10, ask=True).usage.calls
    assert client[collection].estimate_communities().calls == 0

    # sentences never replace a paid report; an outdated one is marked, and rewritten on request
    kg[collection].ingest([Document("new", (Section("Banor Dunor built Kelor Masor near Banor Banor. " * 3),), "New")])
    free = kg[collection].build_communities(size=10)
    assert free.stale > 0
    marked = len(_rows(kg, "MATCH (c:Community {collection: $collection, stale: true}) RETURN c"))
    assert marked == free.stale
    assert [f.number for f in kg[collection].inspect().findings if f.name == "reports out of date"] == [marked]
    texts = _texts(kg)
    assert sum(text.endswith(_FINDINGS[-1]) for text in texts.values()) >= len(texts) - free.written
    paid = client[collection].build_communities(size=10, ask=True)
    assert marked <= paid.usage.calls < sum(levels)
    assert not _rows(kg, "MATCH (c:Community {collection: $collection, stale: true}) RETURN c")
    kg[collection].delete(["new"])

    # a failed report keeps its sentences, and is named
    kg[collection].remove_communities()
    scripted.say("report", "no JSON", "no JSON", _REPLY)
    failed = client[collection].build_communities(size=10, ask=True, threads=1)
    assert len(failed.failures) == 1
    assert failed.left == 1
    assert "report" in failed.failures[0].reason
    assert client[collection].build_communities(size=10, ask=True).written >= 1


def test_a_collection_without_names_has_no_communities(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("a", (Section("a short text on ice."),), "")])
    assert kg[collection_name].build_communities(size=10).levels == ()


def test_local_search_follows_the_communities_of_names(kg: KnowledgeGraph, collection: str) -> None:
    kg[collection].remove_communities()
    question = "Which place was built near Banor Banor?"
    without = kg[collection].search(question, k=10, retriever="communities")
    assert any("kgrag enrich communities" in note for note in without.notes)
    kg[collection].build_communities(size=10)
    found = kg[collection].search(question, k=10, retriever="communities")
    assert not found.notes
    assert "Banor Banor" in found[0].passage.text
    assert any(step.label == "Community" for hit in found for step in hit.why)
    unnamed = kg[collection].search("what is known for being ruled?", k=10, retriever="communities")
    assert any(step.label == "Community" for hit in unnamed for step in hit.why)
    lost = _rows(kg, "MATCH (c:Community {collection: $collection}) SET c.embedding = null RETURN c")
    is_filtered_and_repaired(kg, collection, "communities", found, len(lost))


@pytest.mark.parametrize("retriever", ["communities", "raptor(share=0)"])
def test_summaries_are_read_and_cited_by_their_passages(
    kg: KnowledgeGraph, collection: str, scripted: Scripted, connect: Callable[..., KnowledgeGraph], retriever: str
) -> None:
    kg[collection].build_communities(size=10)
    kg[collection].build_tree()
    scripted.say("answer", "It was built there [1][2][3][4][5].")
    question = "Which place was built near Banor Banor?"
    if retriever != "communities":  # a summary is nearest to its own words
        lowest = "MATCH (s:Summary {collection: $collection, level: 1}) RETURN s.text AS text ORDER BY s.id LIMIT 1"
        question = _rows(kg, lowest)[0]["text"]
    answer = connect()[collection].ask(question, system=f"single(evidence=5)+{retriever}")
    shown = scripted.calls[-1]["messages"][-1]["content"]
    read = [c for c in answer.citations if c.summary]
    assert read, shown
    assert f"Title: Summary: {read[0].summary[:20]}" in shown
    label = "Community" if retriever == "communities" else "Summary"
    rows = _rows(
        kg,
        f"MATCH (c:{label} {{collection: $collection, title: $title}})-[:SUMMARISES*1..5]->(p:Passage) "
        "RETURN c.text AS text, collect(p.id) AS ids",
        title=read[0].summary,
    )
    assert {c.passage.id for c in read if c.number == read[0].number} <= {id for row in rows for id in row["ids"]}
    assert any(row["text"][:40] in shown for row in rows)
    leaves = f"{retriever[:-1]}, shown='leaves')" if retriever.endswith(")") else f"{retriever}(shown='leaves')"
    plain = connect()[collection].ask(question, system=f"single+{leaves}")
    assert plain.citations
    assert not any(c.summary for c in plain.citations)
    assert from_json(Answer, to_json(answer)).citations == answer.citations
    kg[collection].remove_tree()


def test_global_search_reads_all_reports(
    kg: KnowledgeGraph, collection: str, scripted: Scripted, connect: Callable[..., KnowledgeGraph]
) -> None:
    levels = kg[collection].build_communities(size=10).levels
    assert sum(levels) > 10
    points = [{"text": "Places were built near others.", "score": 90, "reports": [1, 2]},
              {"text": "Nothing of worth.", "score": 0, "reports": [1]}]  # fmt: skip
    scripted.say("note", {"points": points}, {"points": [{"text": "Some came to rule.", "score": 40, "reports": []}]})
    scripted.say("answer", "They were built [1], and ruled [2].")
    client = connect()
    answer = client[collection].ask("What are the places known for?", system="global(level=1, batch=400)")
    assert not answer.problem
    assert answer.text == "They were built [1], and ruled [2]."
    notes = [event for event in answer.trace if isinstance(event, Noted)]
    rows = _rows(kg, "MATCH (c:Community {collection: $collection}) WHERE c.level = 1 OR c.level = 0 "
                     "AND NOT (c)<-[:PART_OF]-() RETURN count(c) AS n")  # fmt: skip
    assert sum(note.reports for note in notes) == rows[0]["n"]
    assert len(notes) > 2
    assert all(score > 0 for note in notes for _, score in note.points)
    shown = scripted.calls[-1]["messages"][-1]["content"]
    assert shown.index("Places were built near others.") < shown.index("Some came to rule.")
    assert {c.number for c in answer.citations} == {1, 2}
    assert {c.passage.id for c in answer.citations} <= {hit.passage.id for hit in answer.ranking}
    assert answer.by_task["note"].calls == len(notes)
    run = kg[collection].save(answer)
    step = _rows(kg, "MATCH (:Run {id: $id})-[:HAS_STEP]->(s) RETURN s.points AS points, "
                     "COUNT { (s)-[:RETRIEVED]->() } AS found", id=run)  # fmt: skip
    assert "90 | Places were built near others." in step[0]["points"]
    assert step[0]["found"]
    few = client[collection].ask("What are the places known for?", system="global(level=1, batch=400, reports=400)")
    assert few.by_task["note"].calls == 1
    kg[collection].remove_communities()
    assert not client[collection].ask("What are the places known for?", system="global").found
