"""Extraction: the facts of a language model are in the graph once, whatever the order of events."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graph_rows import rows
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
Connect = Callable[..., KnowledgeGraph]
_BRAIN = Path(__file__).parent / "reader_brain.py"
_FRAM = Document("fram", (Section("The Fram was designed by Archer. She sailed north under Nansen."),), "Fram (ship)")
_ARCHER = Document("archer", (Section("Colin Archer, a shipwright, lived in Larvik."),), "Colin Archer")
_ENTITIES = [{"name": "Fram", "aliases": ["the ship"]}, {"name": "Colin Archer", "aliases": ["Archer"]}, "Nansen"]


def _said(*triples: Any, entities: list[Any] = _ENTITIES) -> dict[str, Any]:
    return {"entities": entities, "triples": list(triples)}


def _triples(kg: KnowledgeGraph, name: str, key: str) -> dict[str, Any]:
    """Return the facts of a document: text -> properties of the triple with its ends."""
    query = (
        "MATCH (:Document {collection: $name, key: $key})-[:HAS_PASSAGE]->(:Passage)-[:STATES]->(t:Triple) "
        "RETURN t {.text, .extracted, .given} AS triple, [(t)-[r:SUBJECT]->(e) | e.normal] AS subjects, "
        "[(t)-[r:OBJECT]->(e) | e.normal] AS objects"
    )
    found = rows(kg, query, name=name, key=key)
    return {r["triple"]["text"]: {**r["triple"], "ends": (sorted(r["subjects"]), sorted(r["objects"]))} for r in found}


def _entities(kg: KnowledgeGraph, name: str) -> dict[str, tuple[str, list[str] | None, str | None]]:
    query = "MATCH (e:Entity {collection: $name}) RETURN e.normal AS n, e.name AS s, e.aliases AS a, e.wikipedia AS w"
    return {row["n"]: (row["s"], row["a"], row["w"]) for row in rows(kg, query, name=name)}


def test_a_passage_gives_entities_and_triples(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(
        [_FRAM, _ARCHER, *(Document(f"l{i}", (Section(f"Wool for {i} crowns."),)) for i in range(3))]
    )
    scripted.say(
        "extract",
        _said(["Colin Archer", "lived in", "Larvik"], ["Colin Archer", "was", "shipwright"]),
        _said(["the Fram", "designed by", "Archer"], ["The ship", "sailed under", "Nansen"]),
        {"entities": [], "triples": []},
    )
    seen: list[tuple[str, int, int | None]] = []
    report = kg[collection_name].extract(threads=1, progress=lambda *at: seen.append(at))
    assert (report.passages, report.triples, report.left, report.failures) == (5, 4, 0, ())
    assert report.usage.calls == len(scripted.calls) == 5
    assert report.usage.prompt_tokens > 100
    assert ("extraction", 5, 5) in seen
    asked = scripted.calls[1]["messages"]
    assert [m["role"] for m in asked] == ["system", "user"]
    assert asked[1]["content"] == f"<passage>\nTitle: {_FRAM.title}\n{_FRAM.text}\n</passage>"

    found = _triples(kg, collection_name, "fram")
    assert found["the Fram designed by Archer"]["ends"] == (["fram"], ["colin archer"])
    assert found["The ship sailed under Nansen"]["ends"] == (["fram"], ["nansen"])
    assert all(t["extracted"] and t["given"] is False for t in found.values())
    assert _entities(kg, collection_name)["colin archer"] == ("Colin Archer", ["Archer"], None)
    assert next(c.finished for c in kg.collections() if c.name == collection_name)

    ranking = kg[collection_name].search(
        "Where did the designer of the Fram live?", retriever="naive-ge(bm25, passages=1)"
    )
    why = {h.passage.document: [s.name for s in h.why] for h in ranking}
    assert why["archer"][-4:] == [
        "the Fram designed by Archer", "Colin Archer", "Colin Archer lived in Larvik", "Colin Archer"
    ]  # fmt: skip
    passage = kg.passage("fram", collection_name)
    edges = {(e["type"], e["name"]): e["properties"] for e in kg.neighbourhood(passage.id, 50)}
    assert edges["MENTIONS", "Colin Archer"]["via"] == "triple"
    collection = open_collection(kg.graph, collection_name)
    words = kg.graph.run(
        "retrieve/fulltext",
        collection=collection_name,
        index=collection.index("triple_text"),
        query="shipwright",
        limit=5,
        embedding=None,
        vector=None,
    )
    vector = kg.embedder(collection.embedder).embed(["Colin Archer was shipwright"])[0].tolist()
    near = kg.graph.run(
        "retrieve/vector", index=collection.vector_index("Triple"), collection=collection_name,
        embedding=collection.embedding, vector=vector, candidates=20, limit=1, scanned=0, few=0,
    )  # fmt: skip
    ((nearest, score),) = near[0]["hits"]
    assert [id for id, *_ in words[0]["hits"]] == [nearest]
    assert score == pytest.approx(1, abs=1e-4)

    # an entity named by the model connects passages without a shared fact; nothing else uses it
    retriever = kg[collection_name].retriever("gnn-ret(edges=(named,), keyword_cap=0, alphas=(0.5,), k=1)")
    hits = {h.passage.document: h for h in retriever.retrieve("Colin Archer, a shipwright, lived in Larvik.", 5)}
    assert [(s.via, s.name) for s in hits["fram"].why[1:]] == [("names", "Colin Archer"), ("named in", "Fram (ship)")]
    assert [len(hits[f"l{i}"].why) for i in range(3)] == [1, 1, 1]
    query = "MATCH (:Passage {collection: $name})-[:NAMES]->(k:Keyword) RETURN DISTINCT k.name AS name ORDER BY name"
    named = kg.graph.driver.execute_query(query, name=collection_name).records
    assert [r["name"] for r in named] == ["Colin Archer", "Fram", "Nansen"]
    kg[collection_name].delete(["fram", "archer"])
    left = kg.graph.run("digest/keywords", collection=collection_name)
    assert not [r for r in left if r["content"][0].startswith("@")]


def test_articles_merge_names(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest([_FRAM, _ARCHER])
    scripted.say("extract", _said(["Fram", "designed by", "Archer"]))
    kg[collection_name].extract()
    plain = [
        {"name": "Archer", "aliases": ["the shipwright"], "wikipedia": "Colin Archer"},
        {"name": "Larvik", "wikipedia": None},
    ]
    address = [
        {"name": "Fram", "wikipedia": "https://en.wikipedia.org/wiki/Fram_(ship)"},
        {"name": "C. Archer", "wikipedia": "Colin_Archer"},
    ]
    scripted.say(
        "extract",
        _said(["the shipwright", "lived in", "Larvik"], entities=plain),
        _said(["Fram", "designed by", "C. Archer"], entities=address),
    )
    report = kg[collection_name].extract(linked=True, threads=1)
    assert (report.passages, report.triples) == (2, 2)
    assert "Wikipedia" in scripted.calls[-1]["messages"][0]["content"]
    entities = _entities(kg, collection_name)
    assert entities["colin archer"] == ("Colin Archer", ["Archer", "C. Archer", "the shipwright"], "Colin Archer")
    assert entities["fram ship"][1:] == (["Fram"], "Fram (ship)")
    assert _triples(kg, collection_name, "archer")["the shipwright lived in Larvik"]["ends"] == (
        ["colin archer"],
        ["larvik"],
    )
    kg[collection_name].delete(documents=["archer"])
    assert _entities(kg, collection_name)["colin archer"][1:] == (["C. Archer"], "Colin Archer")


def test_given_and_extracted_is_one(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    """A triple that a document gives and a model extracts is one node, which stays as long as either source."""
    kg = connect()
    given = replace(_FRAM, triples=(Triple("Fram", "designed by", "Archer"), Triple("Fram", "kept in", "Oslo")))
    kg[collection_name].ingest([given])
    before = digest(kg.graph, collection_name)
    scripted.say("extract", _said(["Fram", "designed by", "Archer"], ["Fram", "sailed under", "Nansen"]))
    kg[collection_name].extract()
    both = digest(kg.graph, collection_name)
    found = _triples(kg, collection_name, "fram")
    assert {text: (t["given"], t["extracted"] is not None) for text, t in found.items()} == {
        "Fram designed by Archer": (None, True),
        "Fram kept in Oslo": (None, False),
        "Fram sailed under Nansen": (False, True),
    }
    assert found["Fram designed by Archer"]["ends"] == (["fram"], ["archer", "colin archer"])

    kg[collection_name].ingest([_FRAM])  # no longer gives any triples
    assert len(scripted.calls) == 1
    assert {text: t["ends"][1] for text, t in _triples(kg, collection_name, "fram").items()} == {
        "Fram designed by Archer": ["colin archer"],
        "Fram sailed under Nansen": ["nansen"],
    }
    assert kg[collection_name].extract().passages == 0
    kg[collection_name].ingest([given])  # gives them again
    assert digest(kg.graph, collection_name) == both

    scripted.say("extract", _said(entities=[]))
    kg[collection_name].extract(linked=True)
    after = digest(kg.graph, collection_name)
    assert {k: v for k, v in after.items() if k != "passages"} == {k: v for k, v in before.items() if k != "passages"}


def test_a_changed_document_keeps_what_its_other_passages_gave(
    collection_name: str, scripted: Scripted, connect: Connect
) -> None:
    kg = connect()
    scripted.brain(_BRAIN)
    filler = " ".join(f"Ropes and tar were bought for ship {i}." for i in range(30))
    sections = tuple(Section(f"Port {n} was built near Bay {n}. {filler}", f"Part {n}") for n in "ABC")
    kg[collection_name].ingest([Document("a", sections, "Ports")])
    kg[collection_name].extract()
    first = len(scripted.calls)
    assert len(_triples(kg, collection_name, "a")) == 3
    changed = Document("a", (*sections[:2], Section(f"Port D was built near Bay D. {filler}", "Part D")), "Ports")
    kg[collection_name].ingest([changed])
    assert sorted(_triples(kg, collection_name, "a")) == [f"Port {n} was built near Bay {n}" for n in "AB"]
    kg[collection_name].extract()
    assert {text.split("\n")[1][:12] for text in scripted.prompts[first:]} == {"Title: Ports"}
    assert 0 < len(scripted.calls) - first < first
    assert len(_triples(kg, collection_name, "a")) == 3
    state = digest(kg.graph, collection_name)
    kg[collection_name].delete()
    kg[collection_name].ingest([changed])
    kg[collection_name].extract()
    assert digest(kg.graph, collection_name) == state


def test_any_script_and_no_passages(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect()
    document = Document("北京", (Section("北京是中国的首都。Łódź leży w Polsce 🦊."),), "北京")
    kg[collection_name].ingest([document])
    facts = (["北京", "是首都", "中国"], ["Łódź", "leży w", "Polska\ud83e \0🦊"])
    scripted.say("extract", json.dumps(_said(*facts, entities=["北京", "Łódź", "中国"])))
    assert kg[collection_name].extract().triples == 2
    assert sorted(_triples(kg, collection_name, "北京")) == ["Łódź leży w Polska 🦊", "北京 是首都 中国"]
    kg[collection_name].delete(documents=["北京"])
    empty = kg[collection_name].extract()
    assert (empty.passages, empty.left, empty.usage.calls) == (0, 0, 0)
    assert kg[collection_name].estimate_extraction().prompt_tokens == (0, 0)
    assert not _entities(kg, collection_name)
