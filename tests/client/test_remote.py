"""A remote and a local knowledge graph return the same for the same calls."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from scripted import Scripted
from served import Served, finish_late

from kgrag import KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import (
    AccessError,
    CancelledError,
    ConfigurationError,
    DatabaseError,
    InputError,
    NotFoundError,
    RefusedError,
    ServerError,
)
from kgrag.values.events import Answer, Answered, Event, Retrieved
from kgrag.values.results import Filter
from kgrag.values.rows import Edge, Node
from kgrag.values.rows import Path as GraphPath

Either = KnowledgeGraph | RemoteKnowledgeGraph
_NAME = "ships of the coast"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_SYSTEM = "single+pathrank"


@pytest.fixture(scope="module")
def settings(graph_settings: Settings, scripted_server: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return graph_settings.model_copy(
        update={"chat": scripted_server.settings(), "home": tmp_path_factory.mktemp("served")}
    )


@pytest.fixture(scope="module")
def local(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("ships")
    (folder / "Fjord Queen.md").write_text("The Fjord Queen was a steamer. Her captain was Ole Brandvik.\n")
    (folder / "Ole Brandvik.md").write_text("Ole Brandvik was born in Nordvika.\n")
    with KnowledgeGraph.connect(settings=settings) as kg:
        kg[_NAME].ingest(folder, root=folder)
        yield kg
        kg[_NAME].delete()


@pytest.fixture(scope="module")
def server(local: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(local, tmp_path_factory.mktemp("keys")) as running:
        running.key("all", "admin")
        yield running


@pytest.fixture(scope="module")
def remote(server: Served) -> Iterator[RemoteKnowledgeGraph]:
    with RemoteKnowledgeGraph(server.url, server.tokens["all"]) as kg:
        yield kg


@pytest.fixture(params=["local", "remote"])
def kg(request: pytest.FixtureRequest, local: KnowledgeGraph, remote: RemoteKnowledgeGraph) -> Either:
    return local if request.param == "local" else remote


def _same(answer: Answer) -> Answer:
    """Return an answer without the values that differ from run to run."""
    trace = tuple(replace(e, **{"seconds": 0.0} if hasattr(e, "seconds") else {}) for e in answer.trace)
    return replace(answer, seconds=0.0, trace=trace)


def test_rankings_and_answers_are_equal(
    local: KnowledgeGraph, remote: RemoteKnowledgeGraph, scripted: Scripted
) -> None:
    scripted.say("answer", "In Nordvika [2].")
    here, there = local[_NAME], remote[_NAME]
    assert there.search(_QUESTION, k=2) == here.search(_QUESTION, k=2)
    only = Filter(source="Queen")
    assert there.search("steamer", filter=only, retriever="bm25") == here.search(
        "steamer", filter=only, retriever="bm25"
    )
    assert len(there.search("steamer", filter=only)) == 1
    assert _same(there.ask(_QUESTION, system=_SYSTEM)) == _same(here.ask(_QUESTION, system=_SYSTEM))
    assert there.info() == here.info()
    assert [c for c in remote.collections() if c.name == _NAME] == [here.info()]
    assert there.documents() == here.documents()
    assert there.documents(after="Fjord Queen.md", limit=1)[0].key == "Ole Brandvik.md"
    assert there.passage("Ole Brandvik.md") == here.passage("Ole Brandvik.md")
    assert there.look_up(_QUESTION) is here.look_up(_QUESTION) is None
    assert there.look_up("What is on page 3 of Fjord Queen?") == here.look_up("What is on page 3 of Fjord Queen?")
    assert replace(there.inspect(), seconds=0.0) == replace(here.inspect(), seconds=0.0)
    here.save(here.search(_QUESTION))
    assert there.runs() == here.runs() != []


def test_several_collections_are_searched_and_asked_as_one(
    local: KnowledgeGraph, remote: RemoteKnowledgeGraph, scripted: Scripted
) -> None:
    scripted.say("answer", "In Nordvika [2].")
    local["towns"].ingest(
        [Document("Nordvika", (Section("Nordvika is a town on the Stilla.", "Rowing and sculling"),), "Nordvika")]
    )
    try:
        here, there = local[_NAME, "towns"], remote[_NAME, "towns"]
        assert there.search(_QUESTION) == here.search(_QUESTION)
        assert {hit.passage.collection for hit in there.search("Nordvika")} == {_NAME, "towns"}
        place = "What does the section on Rowing and sculling say?"
        assert there.look_up(place) == here.look_up(place)
        assert there.look_up(place) is not None
        assert remote.select(f"{_NAME}, towns").search(_QUESTION) == here.search(_QUESTION)
        assert remote.select(_NAME).name == _NAME
        answer = there.ask(_QUESTION)
        assert _same(answer) == _same(here.ask(_QUESTION)) and answer.system == "single+pathrank"
        with pytest.raises(ConfigurationError, match="walks the graph of one collection"):
            there.ask(_QUESTION, system="gear+pathrank")
        with pytest.raises(NotFoundError, match="nowhere"):
            remote[_NAME, "nowhere"].search(_QUESTION)
    finally:
        local["towns"].delete()


def test_collections_are_named_one_by_one_and_looked_for(kg: Either) -> None:
    assert _NAME in list(kg)
    assert _NAME in kg
    assert "none" not in kg
    with pytest.raises(TypeError, match="by its name"):
        _ = 1 in kg


def test_many_questions_are_answered_as_they_come(kg: Either, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    answers = dict(kg[_NAME].ask_many([_QUESTION, ""], system=_SYSTEM))
    told = answers[_QUESTION]
    assert isinstance(told, Answer) and told.text == "In Nordvika [2]."
    assert answers.keys() == {_QUESTION, ""}


def test_drawings_are_equal(
    local: KnowledgeGraph, remote: RemoteKnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.drawing.visualise", lambda drawn: drawn)
    paths = "MATCH path = (:Collection {name: $name})-[:HOLDS]->(:Document) RETURN path"
    assert remote.draw(paths, {"name": _NAME}) == local.draw(paths, {"name": _NAME})
    found = local[_NAME].search(_QUESTION)
    assert remote.draw(found) == local.draw(found)


def test_rows_are_equal(local: KnowledgeGraph, remote: RemoteKnowledgeGraph) -> None:
    statement = (
        "MATCH path = (d:Document {collection: $collection})-[e:HAS_PASSAGE]->(p) "
        "RETURN d, e, p.title AS title, [path] AS paths, {of: d} AS map, 1.5 AS number, null AS none ORDER BY title"
    )
    here, there = local[_NAME].cypher(statement), remote[_NAME].cypher(statement)
    assert (there.columns, there.values, there.cut) == (here.columns, here.values, here.cut)
    row = next(iter(there))
    assert isinstance(row["d"], Node) and isinstance(row["e"], Edge) and isinstance(row["paths"][0], GraphPath)
    assert remote[_NAME].saved_query("names", name="brandvik").values == (
        local[_NAME].saved_query("names", name="brandvik").values
    )
    assert remote.saved_query("collections").columns == local.saved_query("collections").columns


def test_a_streamed_answer(kg: Either, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    stream = kg[_NAME].ask_stream(_QUESTION, system=_SYSTEM)
    events = list(stream)
    heard: list[Event] = []
    assert kg[_NAME].ask(_QUESTION, system=_SYSTEM, listener=heard.append).text == "In Nordvika [2]."
    assert [type(e) for e in heard] == [type(e) for e in events if e.in_trace]
    assert [type(e) for e in events if isinstance(e, Retrieved)] == [Retrieved]
    written = [e.text for e in events if isinstance(e, Answered) and not e.whole]
    assert len(written) > 1 and written[-1] == "In Nordvika [2]."
    assert all(later.startswith(earlier) for earlier, later in pairwise(written))
    assert any(isinstance(e, Answered) and e.whole for e in events)
    assert stream.answer.text == "In Nordvika [2]."
    assert [c.passage.title for c in stream.answer.citations] == ["Ole Brandvik"]


def test_a_closed_stream_ends_the_work(kg: Either, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    stream = kg[_NAME].ask_stream(_QUESTION, system=_SYSTEM)
    for _ in stream:
        break
    with pytest.raises(CancelledError):
        _ = stream.answer


def test_errors_are_equal(kg: Either, scripted: Scripted) -> None:
    calls = [
        (NotFoundError, lambda: kg["none"].search("x")),
        (NotFoundError, lambda: kg[_NAME].search("x", retriever="pathrnk")),
        (NotFoundError, lambda: kg[_NAME].passage("none")), (NotFoundError, lambda: kg["none"].ask("x")),
        (RefusedError, lambda: kg[_NAME].cypher("MATCH (n) DETACH DELETE n")),
        (DatabaseError, lambda: kg[_NAME].cypher("RETURN nothing")),
        (NotFoundError, lambda: kg[_NAME].saved_query("none")),
        (ConfigurationError, lambda: kg[_NAME].saved_query("names", colour="red")),
        (InputError, lambda: kg[_NAME].ingest("/no/such/path")),
    ]  # fmt: skip
    for kind, call in calls:
        with pytest.raises(kind) as raised:
            call()
        assert raised.value.message
        assert raised.value.remedy
    scripted.fail("401", task="answer")
    assert kg[_NAME].ask(_QUESTION, system=_SYSTEM).problem


def test_files_are_sent_read_and_deleted(
    kg: Either, tmp_path: Path, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_late(monkeypatch)
    folder = tmp_path / "boats"
    (folder / "old").mkdir(parents=True)
    for i in range(5):
        (folder / "old" / f"boat_{i}.txt").write_text(f"Boat {i} was built in Larvik.")
    (folder / "bad.pdf").write_bytes(b"no PDF")
    (folder / ".hidden.txt").write_text("hidden")
    (folder / "boat.exe").write_bytes(b"\0")
    stages: set[str] = set()
    collection = kg[collection_name]
    report = collection.ingest(folder, root=folder, progress=lambda stage, done, total: stages.add(stage))
    assert (report.added, report.passages) == (5, 5)
    assert [Path(problem.place).name for problem in report.problems] == ["bad.pdf"]
    assert stages
    assert [d.key for d in collection.documents()] == [f"old/boat_{i}.txt" for i in range(5)]
    assert collection.ingest(folder, root=folder).unchanged == 5
    assert collection.delete(["old/boat_0.txt", "old/boat_1.txt"]) == 2
    with pytest.raises(NotFoundError):
        collection.delete(["old/boat_0.txt"])
    assert collection.delete() == 3
    with pytest.raises(NotFoundError):
        collection.info()


def test_jobs_are_watched_and_cancelled(remote: RemoteKnowledgeGraph) -> None:
    job = remote[_NAME].submit("tree", {"size": 4})
    seen = list(remote.watch(job.id))
    assert seen[-1].state == "done"
    assert seen[-1] == remote.job(job.id) == remote.finished(job)
    assert remote.cancel(job.id).state == remote.retry(job.id).state == "done"
    assert job.id in [found.id for found in remote.jobs(_NAME, "done")]
    assert remote.jobs(_NAME, "failed") == []
    with pytest.raises(ConfigurationError):
        remote[_NAME].submit("tree", {"size": 0})
    with pytest.raises(NotFoundError):
        remote.job("none")


def test_threads_share_it(remote: RemoteKnowledgeGraph) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(remote[_NAME].search(_QUESTION, k=1)[0].passage.title))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_server_that_is_none(server: Served, scripted: Scripted) -> None:
    key = server.tokens["all"]
    with RemoteKnowledgeGraph(server.url, "kgrag_wrong") as kg, pytest.raises(AccessError):
        kg.collections()
    with RemoteKnowledgeGraph("http://127.0.0.1:9", key) as kg, pytest.raises(ServerError) as raised:
        kg.collections()
    assert raised.value.remedy
    with RemoteKnowledgeGraph(scripted.base_url, key) as kg, pytest.raises(ServerError):
        kg.collections()
    with pytest.raises(ConfigurationError):
        RemoteKnowledgeGraph("file:///etc/passwd")
    secret = RemoteKnowledgeGraph("http://user:word@127.0.0.1:9", key)
    assert key not in repr(secret) and "word" not in repr(secret)
    secret.close()
