"""Rankings do not reveal removed content or the order of arrival."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from queries_run import db_hits

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader, names_like
from kgrag.indexing import corpus_stages
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import NotFoundError

_QUARTZ = "A quartz vein crosses the northern cliff of the island."
_STEPS = [f"A sandstone step number n{n}q stands behind the northern cliff." for n in range(8)]
_PEBBLES = [f"Some quartz pebble number m{n}q lies beneath the southern pier." for n in range(300)]


def _documents(kind: str, texts: list[str]) -> list[Document]:
    return [Document(f"{kind}{i}", (Section(text),)) for i, text in enumerate(texts)]


def _hits(kg: KnowledgeGraph, name: str, question: str, retriever: str, k: int = 10) -> list[tuple[str, float]]:
    found = kg[name].search(question, retriever=retriever, k=k)
    return [(hit.passage.document, round(hit.score, 6)) for hit in found]


def _same(one: list[tuple[str, float]], other: list[tuple[str, float]]) -> bool:
    """Return whether two rankings have the same scores, and the same documents except for the order of ties."""
    return [score for _, score in one] == [score for _, score in other] and sorted(one) == sorted(other)


@pytest.fixture
def two(collection_name: str, kg: KnowledgeGraph) -> Iterator[tuple[str, str]]:
    """A collection, and the name of a fresh one to compare it with."""
    yield collection_name, f"{collection_name}-fresh"
    with suppress(NotFoundError):
        kg[f"{collection_name}-fresh"].delete()


def test_what_was_removed_counts_no_more(kg: KnowledgeGraph, two: tuple[str, str]) -> None:
    kept, removed = _documents("p", [_QUARTZ, *_STEPS]), _documents("m", _PEBBLES)
    kg[two[0]].ingest(kept + removed)
    kg[two[0]].delete(documents=[document.key for document in removed])
    kg[two[1]].ingest(kept)
    for retriever in ("bm25", "hybrid", "pathrank", "hybrid(nearness=0.1)"):
        before, fresh = (_hits(kg, name, "quartz sandstone", retriever) for name in two)
        assert fresh[0][0] == "p0"
        assert _same(before, fresh), retriever
    assert kg.graph.run("look_up/collections", name=two[0])[0]["collection"].get("stale") is None


def test_what_was_replaced_and_put_back_counts_once(kg: KnowledgeGraph, two: tuple[str, str]) -> None:
    counts = [f"counts {'gulls ' * (i % 3)}and {'seals ' * (i % 5)}at dawn." for i in range(40)]
    documents = _documents("k", [f"Keeper {i} of the lighthouse {text}" for i, text in enumerate(counts)])
    kg[two[0]].ingest(documents)
    kg[two[0]].ingest([Document(d.key, (Section(f"Seals, again seals: {d.key}."),)) for d in documents[::3]])
    kg[two[0]].ingest(documents[::3])
    kg[two[1]].ingest(documents)
    for question in ("gulls and seals", "Which keeper counts seals?", "lighthouse"):
        assert _same(*(_hits(kg, name, question, "bm25", 40) for name in two)), question


def test_facts_that_were_removed_count_no_more(kg: KnowledgeGraph, two: tuple[str, str]) -> None:
    def stated(kind: str, texts: list[str], *fact: str) -> list[Document]:
        return [
            Document(
                f"{kind}{i}", (Section(text),), f"{kind} {i}", triples=(Triple(f"{fact[0]} {i}", fact[1], fact[2]),)
            )
            for i, text in enumerate(texts)
        ]

    kept = stated("p", _STEPS, "sandstone step", "stands behind", "quartz cliff")
    removed = stated("m", _PEBBLES[:60], "quartz pebble", "lies beneath", "pier")
    kg[two[0]].ingest(kept + removed)
    kg[two[0]].delete(documents=[document.key for document in removed])
    kg[two[1]].ingest(kept)

    def scores(name: str) -> list[float]:
        index = open_collection(kg.graph, name).index("triple_text")
        found = kg.graph.run("retrieve/fulltext_each", index=index, queries=["quartz sandstone"], limit=10)
        return [round(hit["score"], 6) for hit in found[0]["rows"][0]]

    assert scores(two[0]) == scores(two[1]) != []


def test_large_collections_are_indexed_anew_once_a_share_was_removed(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_stages, "REFILLED", 5)
    monkeypatch.setattr(corpus_stages, "SHARE", 0.2)

    def stale() -> int | None:
        return kg.graph.run("look_up/collections", name=collection_name)[0]["collection"].get("stale")

    kg[collection_name].ingest(_documents("p", _STEPS))
    kg[collection_name].delete(documents=["p0"])
    assert stale() == 1
    kg[collection_name].delete(documents=["p1"])
    assert stale() is None


_MARKERS = [f"Marker lantern word{chr(97 + i // 26)}{chr(97 + i % 26)}q." for i in range(80)]


@pytest.fixture
def markers(kg: KnowledgeGraph, collection_name: str) -> str:
    """A collection of 80 documents with names and facts of the same form."""
    documents = [
        Document(f"m{i}", (Section(text),), triples=(Triple(f"Lantern {i}", "stands by", f"Marker {i}"),))
        for i, text in enumerate(_MARKERS)
    ]
    kg[collection_name].ingest(documents)
    return collection_name


@pytest.mark.parametrize("retriever", ["bm25", "hybrid", "hybrid(nearness=0)", "dense", "pathrank"])
def test_equal_scores_have_one_order_for_every_k(kg: KnowledgeGraph, markers: str, retriever: str) -> None:
    whole = [hit.passage.id for hit in kg[markers].search("lantern", retriever=retriever, k=80)]
    assert len(whole) == 80 or retriever == "pathrank"
    if retriever == "bm25":
        assert whole == sorted(whole)
    for k in (1, 3, 10, 29, 30, 31):
        assert [hit.passage.id for hit in kg[markers].search("lantern", retriever=retriever, k=k)] == whole[:k], k


def test_equal_scores_of_several_texts_facts_and_names_have_one_order(kg: KnowledgeGraph, markers: str) -> None:
    collection = open_collection(kg.graph, markers)
    reader, query = Reader(kg.graph, collection), 'stems:"lantern" title_stems:"lantern"^0.5'
    stems, facts = collection.index("passage_stems"), collection.index("triple_text")
    unit = [1.0] + [0.0] * (collection.dimension - 1)

    def rows(index: str, text: str, limit: int) -> list[str]:
        found = reader.row("retrieve/fulltext_each", index=index, queries=[text, ""], limit=limit)["rows"]
        assert found[1] == []
        return [hit["id"] for hit in found[0]]

    asks: list[Callable[[int], list[str]]] = [
        lambda k: rows(stems, query, k),
        lambda k: rows(facts, "lantern", k),
        lambda k: [hit["id"] for hit in reader.similar_triples([unit], ["lantern"], k, 200)[1][0]],
        lambda k: [name for name, _ in names_like(kg.graph, collection, "lant", k)],
    ]
    for ask in asks:
        whole = ask(80)
        assert len(set(whole)) == 80 and whole == sorted(whole), ask
        assert [ask(k) for k in (1, 3, 10)] == [whole[:k] for k in (1, 3, 10)], ask


def test_equal_scores_cost_the_same_in_a_larger_collection(kg: KnowledgeGraph, markers: str) -> None:
    collection, hits = open_collection(kg.graph, markers), list[int]()
    asked = {"collection": markers, "index": collection.index("passage_stems"), "query": 'stems:"lantern"', "limit": 10}
    passages = f"CREATE (:Passage:{collection.label('Passage')} {{id: randomUUID(), stems: ' lantern '}})"
    for _ in range(2):
        kg.graph.driver.execute_query(f"UNWIND range(1, 1500) AS i {passages}")
        hits.append(db_hits(kg.graph, "retrieve/fulltext", **asked, embedding="", vector=[]))
    kg.graph.driver.execute_query(f"MATCH (p:{collection.label('Passage')}) WHERE p.collection IS NULL DELETE p")
    assert hits[0] == hits[1]
