"""Tagging: TAGME's annotations are in the graph once, whatever their order."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tagging import TOKEN, LocalTagme

from kgrag import KnowledgeGraph
from kgrag.graph import connection
from kgrag.graph.contents import digest
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, UnavailableError

pytestmark = pytest.mark.long

SPOTS = {
    "ship": ["Ship", 0.05], "Fram": ["Fram (ship)", 0.6], "Archer": ["Colin Archer", 0.45],
    "the Norwegian": ["Fridtjof Nansen", 0.2], "polar night": ["Polar night", 0.3],
}  # fmt: skip
Connect = Callable[..., KnowledgeGraph]


def _doc(key: str, title: str, text: str, *triples: Triple) -> Document:
    return Document(key, (Section(text),), title, triples=triples)


DOCUMENTS = [
    _doc("fram", "Fram (ship)", "The Fram was designed by Archer. In the polar night the Norwegian wrote."),
    _doc("archer", "Colin Archer", "Archer was a shipwright; his ship sailed the polar night."),
    _doc("nansen", "Fridtjof Nansen", "Nansen sailed in the Fram.", Triple("Nansen", "wrote in", "the polar night")),
    _doc("wool", "", "Wool for seven crowns, and no more."),
]


@pytest.fixture(scope="module")
def running() -> Iterator[LocalTagme]:
    with LocalTagme(SPOTS) as server:
        yield server


@pytest.fixture
def server(running: LocalTagme) -> LocalTagme:
    running.reset()
    return running


@pytest.fixture
def connect(kg: KnowledgeGraph, server: LocalTagme) -> Iterator[Connect]:
    """Makes clients that tag with the local server; they are closed at the end."""
    clients = []

    def connected(**changes: Any) -> KnowledgeGraph:
        settings = kg.settings.model_copy(update={"tagme": server.settings(**changes)})
        clients.append(KnowledgeGraph.connect(settings=settings))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


def _mentions(kg: KnowledgeGraph, name: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (document, entity) -> properties of the edge; fail if there are two edges."""
    query = (
        "MATCH (d:Document {collection: $name})-[:HAS_PASSAGE]->(p)-[m:MENTIONS]->(e) "
        "RETURN d.key AS d, e.normal AS e, properties(m) AS m"
    )
    records = kg.graph.driver.execute_query(query, name=name).records
    found = {(r["d"], r["e"]): r["m"] for r in records}
    assert len(found) == len(records)
    return found


def _entities(kg: KnowledgeGraph, name: str) -> dict[str, tuple[int, str | None]]:
    query = "MATCH (e:Entity {collection: $name}) RETURN e.normal AS n, e.df AS df, e.wikipedia AS w"
    records = kg.graph.driver.execute_query(query, name=name).records
    return {r["n"]: (r["df"], r["w"]) for r in records}


def _stems(kg: KnowledgeGraph, name: str, key: str) -> list[str]:
    query = "MATCH (:Document {collection: $name, key: $key})-[:HAS_PASSAGE]->(p) RETURN p.stems AS s"
    stems: str = kg.graph.driver.execute_query(query, name=name, key=key).records[0]["s"]
    return stems.split()


def test_articles_become_mentions(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(DOCUMENTS)
    before = _mentions(kg, collection_name)
    assert kg[collection_name].untagged() == 4
    seen: list[tuple[str, int, int | None]] = []
    report = kg[collection_name].tag(progress=lambda *at: seen.append(at))
    assert (report.passages, report.mentions, report.left, report.failures, report.stopped) == (4, 7, 0, (), None)
    assert sorted(server.texts) == sorted(d.text for d in DOCUMENTS)
    assert ("tagging", 4, 4) in seen

    found = _mentions(kg, collection_name)
    assert set(before) <= set(found)
    mention = found["fram", "fridtjof nansen"]
    assert mention == {
        "via": "tagme", "weight": 0.2, "tagme": 0.2, "wikipedia": "Fridtjof Nansen",
        "positions": mention["spots"], "spots": mention["spots"],
    }  # fmt: skip
    assert [_stems(kg, collection_name, "fram")[p] for p in mention["positions"]] == ["the"]
    assert not any("weight" in m for m in found.values() if m["via"] != "tagme")
    assert not any(e == "ship" for _, e in found)
    entities = _entities(kg, collection_name)
    assert entities["fridtjof nansen"][1] == "Fridtjof Nansen"
    for normal, (df, _) in entities.items():
        assert df == sum(e == normal for _, e in found), normal
    assert next(c.finished for c in kg.collections() if c.name == collection_name)

    assert kg[collection_name].tag().passages == 0
    assert len(server.attempts) == 4


def test_a_mention_that_is_there_anyway_stays_one(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest([_doc("a", "Colin Archer", "He drew."), _doc("b", "Ships", "Colin Archer drew Fram.")])
    local = _mentions(kg, collection_name)["b", "colin archer"]
    assert local["via"] == "local"
    kg[collection_name].tag()
    tagged = _mentions(kg, collection_name)["b", "colin archer"]
    assert tagged == local | {"tagme": 0.45, "spots": [2], "wikipedia": "Colin Archer"}
    assert tagged["positions"] == [1]

    kg[collection_name].delete(documents=["a"])  # the name is no longer a title, but stays a capitalised phrase
    alone = _mentions(kg, collection_name)["b", "colin archer"]
    assert alone == {**tagged, "via": "phrase"}
    kg[collection_name].ingest([_doc("a", "Colin Archer", "He drew.")])
    assert _mentions(kg, collection_name)["b", "colin archer"] == tagged


def test_the_order_leaves_no_trace(collection_name: str, kg: KnowledgeGraph, connect: Connect) -> None:
    kg = connect()
    other = f"{collection_name}-halves"
    try:
        kg[collection_name].ingest(DOCUMENTS)
        kg[collection_name].tag()
        kg[other].ingest(DOCUMENTS[2:])
        kg[other].tag(limit=1)
        kg[other].ingest(DOCUMENTS[:2])
        kg[other].tag()
        one, two = _mentions(kg, collection_name), _mentions(kg, other)
        assert one == two
        assert _entities(kg, collection_name) == _entities(kg, other)

        kg[other].delete(documents=["fram", "archer"])
        kg[collection_name].delete(documents=["archer", "fram"])
        kg[collection_name].ingest(DOCUMENTS)
        kg[collection_name].tag()
        assert _mentions(kg, collection_name) == one
    finally:
        kg[other].delete()


def test_digests_agree(collection_name: str, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(DOCUMENTS)
    untagged = digest(kg.graph, collection_name)
    kg[collection_name].tag()
    tagged = digest(kg.graph, collection_name)
    assert {kind for kind in tagged if tagged[kind] != untagged[kind]} == {"passages", "entities"}
    extra = _doc("night", "Night", "The polar night is long. The Fram lay in it with the Norwegian.")
    kg[collection_name].ingest([extra])
    kg[collection_name].tag()
    assert digest(kg.graph, collection_name) != tagged
    kg[collection_name].ingest([replace(extra, sections=(Section("Nothing of note."),))])
    kg[collection_name].tag()
    kg[collection_name].delete(documents=["night"])
    assert digest(kg.graph, collection_name) == tagged


def test_another_threshold_tags_again(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(DOCUMENTS)
    kg[collection_name].tag()
    first = digest(kg.graph, collection_name)
    strict = connect(threshold=0.4)
    report = strict[collection_name].tag()
    assert (report.passages, report.mentions) == (4, 4)
    found = _mentions(kg, collection_name)
    assert min(m["tagme"] for m in found.values() if "tagme" in m) == 0.45
    assert connect(threshold=0.0)[collection_name].tag().mentions == 8
    assert "ship" in _entities(kg, collection_name)
    kg[collection_name].tag()
    assert "ship" not in _entities(kg, collection_name)
    assert digest(kg.graph, collection_name) == first


def test_failures_are_left_for_the_next_run(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect(retries=0)
    kg[collection_name].ingest(DOCUMENTS)
    server.fail("html", "500")
    report = kg[collection_name].tag(threads=1)
    assert (report.passages, report.left, len(report.failures), report.stopped) == (2, 2, 2, None)
    assert [f.document for f in report.failures] == ["fram", "nansen"]  # first the documents that others name
    assert "nothing that can be used" in report.failures[0].reason
    assert kg[collection_name].tag().passages == 2
    assert len(server.attempts) == 6


def test_a_refused_token_ends_it(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(DOCUMENTS)
    server.fail("401")
    report = kg[collection_name].tag(threads=1)
    assert isinstance(report.stopped, UnavailableError)
    assert report.left == 4 - report.passages > 0
    with pytest.raises(ConfigurationError, match="token"):
        KnowledgeGraph(kg.graph, kg.settings.model_copy(update={"tagme": type(kg.settings.tagme)()}))[
            collection_name
        ].tag()


def test_a_broken_write_leaves_nothing_behind(
    collection_name: str, server: LocalTagme, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    kg = connect()
    kg[collection_name].ingest(DOCUMENTS)
    run = connection.Transaction.run

    def fail(self: connection.Transaction, name: str, /, **parameters: Any) -> Any:
        if name == "write/tagged_mentions":
            raise RuntimeError("killed")
        return run(self, name, **parameters)

    with monkeypatch.context() as patch:
        patch.setattr(connection.Transaction, "run", fail)
        with pytest.raises(RuntimeError, match="killed"):
            kg[collection_name].tag()
    assert kg[collection_name].untagged() == 4
    assert kg[collection_name].tag().mentions == 7


def test_several_are_under_way_at_once(collection_name: str, server: LocalTagme, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest([_doc(f"d{i}", f"Ship {i}", f"The Fram came by {i} times.") for i in range(24)])
    server.delay(0.05)
    kg[collection_name].tag(threads=6)
    assert server.most_under_way == 6


def test_the_walk_over_what_tagme_found(collection_name: str, connect: Connect) -> None:
    kg = connect()
    kg[collection_name].ingest(
        [
            _doc("start", "Diary", "A harpoon was carved in the polar night of that year."),
            _doc("far", "Letters", "Nothing came through the polar night but wolves."),
            _doc("other", "Accounts", "Nothing came that week but bills."),
        ]
    )
    walk = "kgp(edges=(tagme,), seeds=1)"
    assert [h.passage.document for h in kg[collection_name].search("harpoon", retriever=walk)] == ["start"]
    kg[collection_name].tag()
    ranking = kg[collection_name].search("harpoon", retriever=walk)
    assert [h.passage.document for h in ranking] == ["start", "far"]
    assert [(s.via, s.name) for s in ranking.hits[1].why][-2:] == [
        ("mentions", "Polar night"),
        ("mentioned in", "Letters"),
    ]
    mentions = kg[collection_name].search("harpoon", retriever="kgp(edges=(mention,), seeds=1)")
    assert [h.passage.document for h in mentions] == ["start", "far"]


def test_a_killed_tagging_goes_on_where_it_was(
    collection_name: str, server: LocalTagme, connect: Connect, neo4j_env: dict[str, str]
) -> None:
    kg = connect()
    documents = [_doc(f"d{i:03}", f"Log {i}", f"The Fram in the polar night {i}, {'x' * (i % 7)}.") for i in range(240)]
    kg[collection_name].ingest(documents)
    server.delay(0.03)
    env = {
        **os.environ,
        **neo4j_env,
        "KGRAG_TAGME__TOKEN": TOKEN,
        "KGRAG_TAGME__ENDPOINT": server.endpoint,
        "KGRAG_TAGME__CACHE": "false",
    }
    command = [sys.executable, "-m", "kgrag", "enrich", "tag", "-c", collection_name, "--json", "--threads", "4"]
    left = len(documents)
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while kg[collection_name].untagged() == left:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(how)
        assert process.wait() == code
        before, left = left, kg[collection_name].untagged()
        assert 0 < left < before
    server.reset()
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout)["passages"] == left == len(set(server.texts))
    assert len(server.texts) <= left + 4  # running requests of the killed process may arrive late
    assert {m["tagme"] for m in _mentions(kg, collection_name).values() if "tagme" in m} == {0.6, 0.3}
    entities = _entities(kg, collection_name)
    assert entities["fram ship"][0] == entities["polar night"][0] == 240

    dry = subprocess.run([*command, "--dry-run"], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(dry.stdout) == {"collection": collection_name, "passages": 0, "left": 0}
    bad = {**env, "KGRAG_TAGME__TOKEN": "bad", "KGRAG_TAGME__THRESHOLD": "0.5"}
    refused = subprocess.run(command, env=bad, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 7
    assert "refuses the token" in refused.stderr
    assert "240 passages left" in refused.stderr
