"""The handle of a collection: opened once, refreshed by itself, limited in time and cost, streamed."""

import threading
import time
from collections.abc import Iterator

import pytest
from scripted import Scripted

from kgrag import Collection, KnowledgeGraph
from kgrag.graph.connection import Transaction
from kgrag.retrieval.bm25 import Bm25
from kgrag.runtime.limits import limited
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import CancelledError, DeadlineError, MismatchError, NotFoundError
from kgrag.values.events import Answered, Asked, Retrieved

SHIPS = [
    Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram"),
    Document("archer", (Section("Colin Archer was born in Larvik."),), "Colin Archer"),
]


@pytest.fixture
def talking(graph_settings: Settings, scripted: Scripted) -> Iterator[KnowledgeGraph]:
    """A client with the scripted language model, whose tokens have a price."""
    chat = scripted.settings(prices=dict.fromkeys(("think", "answer"), (1.0, 1.0)))
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": chat})) as client:
        yield client


@pytest.fixture
def ships(talking: KnowledgeGraph, collection_name: str) -> Collection:
    """A collection of two documents."""
    talking[collection_name].ingest(SHIPS)
    return talking[collection_name]


def test_a_handle_may_be_there_before_its_collection(kg: KnowledgeGraph, collection_name: str) -> None:
    ships = kg[collection_name]
    with pytest.raises(NotFoundError, match=collection_name):
        ships.search("Fram")
    ships.ingest(SHIPS)
    assert [hit.passage.title for hit in ships.search("Who designed the Fram?", k=1)] == ["Fram"]
    assert kg[collection_name] is ships
    assert ships.info().counts["Document"] == 2
    ships.delete()
    with pytest.raises(NotFoundError, match=collection_name):
        ships.search("Fram")


@pytest.mark.alone
def test_a_saved_query_without_a_collection_asks_the_default_one(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(SHIPS)
    kg["default"].ingest(SHIPS)
    try:
        assert kg.saved_query("contents").values == kg["default"].saved_query("contents").values
        assert len(kg.saved_query("hubs", limit=20)) == len(kg[collection_name].saved_query("hubs", limit=20))
    finally:
        kg["default"].delete()
    if len(kg.collections()) == 1:
        assert kg.saved_query("contents").values == kg[collection_name].saved_query("contents").values
    else:
        with pytest.raises(NotFoundError, match="Which collection"):
            kg.saved_query("hubs", limit=20)


def test_progress_counts_what_is_to_do(kg: KnowledgeGraph, collection_name: str) -> None:
    many = [Document(f"d{i}", (Section(f"Ship number {i} lay at port {i % 7}."),)) for i in range(60)]
    kg[collection_name].ingest(many)
    seen: list[tuple[str, int, int | None]] = []
    kg[collection_name].ingest(SHIPS, progress=lambda *at: seen.append(at))
    totals = {stage: total for stage, _, total in seen if stage == "similar passages"}
    assert not any("vectors" in stage for stage, _, _ in seen)
    first = next(total for stage, _, total in seen if stage == "similar passages")
    assert first == 2 and totals["similar passages"] is not None


def test_an_ingest_of_nothing_new_loads_no_embedder(
    kg: KnowledgeGraph, graph_settings: Settings, collection_name: str
) -> None:
    kg[collection_name].ingest(SHIPS)
    with KnowledgeGraph.connect(settings=graph_settings) as other:
        assert other[collection_name].ingest(SHIPS).unchanged == 2
        assert other.models.loaded == ()
        other[collection_name].ingest([Document("larvik", (Section("Larvik lies in Norway."),), "Larvik")])
        assert other.models.loaded == ("wordllama",)


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid", "pathrank", "ppr", "kgp", "gnn-ret", "knn", "tfidf"])
def test_a_collection_that_another_client_made_again_is_opened_again(
    kg: KnowledgeGraph, graph_settings: Settings, collection_name: str, retriever: str
) -> None:
    kg[collection_name].ingest(SHIPS)
    searching = kg[collection_name].retriever(retriever)
    assert {hit.passage.document for hit in searching.retrieve("Fram designed", 3)} <= {"fram", "archer"}
    with KnowledgeGraph.connect(settings=graph_settings) as other:
        other[collection_name].delete()
        other[collection_name].ingest([Document("new", (Section("Another Fram was designed here."),), "Fram")])
    assert [hit.passage.document for hit in searching.retrieve("Fram designed", 3)] == ["new"]


def test_retrievers_and_systems_may_be_objects(ships: Collection, scripted: Scripted) -> None:
    assert ships.search("Larvik", retriever=Bm25(ships)).hits == ships.search("Larvik", retriever="bm25").hits
    scripted.say("answer", "Colin Archer [1]")
    answer = ships.ask("Who designed the Fram?", system=ships.system("single(evidence=1)+bm25"))
    assert (answer.text, answer.system) == ("Colin Archer [1]", "single(evidence=1)+bm25")


def test_a_stream_gives_the_events_and_then_the_answer(ships: Collection, scripted: Scripted) -> None:
    scripted.say("answer", "Colin Archer designed it [1].")
    stream = ships.ask_stream("Who designed the Fram?", system="single+bm25")
    events = list(stream)
    assert [type(event) for event in events[:2]] == [Asked, Retrieved]
    written = [event for event in events if isinstance(event, Answered)]
    assert len(written) > 2
    assert written[-1].whole
    assert not written[0].whole
    assert stream.answer.text == "Colin Archer designed it [1]."
    assert list(stream) == []
    assert ships.ask_stream("Who designed the Fram?", system="single+bm25").answer.text == stream.answer.text


def test_a_stream_raises_what_the_question_raises(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(SHIPS)
    stream = kg[collection_name].ask_stream("Who?", system="single+bm25")
    with pytest.raises(Exception, match="KGRAG_CHAT__MODEL"):
        list(stream)


def test_leaving_a_stream_cancels_the_question(ships: Collection, scripted: Scripted) -> None:
    scripted.say("think", "Thinking on.")
    scripted.delay(0.2)
    for event in ships.ask_stream("Who designed the Fram?", system="ircot(steps=20)+bm25"):
        if isinstance(event, Retrieved):
            break
    asked = -1
    while asked != len(scripted.attempts):  # until the running call ends
        asked = len(scripted.attempts)
        time.sleep(1)
    assert asked <= 3


def test_a_deadline_ends_a_search(ships: Collection) -> None:
    with pytest.raises(DeadlineError, match="deadline"):
        ships.search("Who designed the Fram?", deadline=1e-6)
    assert len(ships.search("Who designed the Fram?", deadline=60)) == 2


def test_a_budget_ends_the_calls_of_one_question(ships: Collection, scripted: Scripted) -> None:
    scripted.say("think", "Her designer was Colin Archer.")
    scripted.say("answer", "Colin Archer [1]")
    spent = ships.ask("Who designed the Fram?", system="ircot(steps=2)+bm25", budget=1e-9)
    assert "budget" in spent.problem
    assert spent.usage.calls == 1
    assert ships.ask("Who designed the Fram?", system="single+bm25", budget=1).text == "Colin Archer [1]"


def test_what_is_cancelled_makes_no_further_query(ships: Collection) -> None:
    retriever = ships.retriever("bm25")
    cancelled = threading.Event()
    with limited(cancelled=cancelled):
        retriever.retrieve("Fram")
        cancelled.set()
        with pytest.raises(CancelledError):
            retriever.retrieve("Fram")
    assert len(retriever.retrieve("Fram")) == 1


def test_cypher_and_saved_queries_know_their_collection(ships: Collection) -> None:
    rows = ships.cypher("MATCH (d:Document {collection: $collection}) RETURN count(d) AS n")
    assert list(rows) == [{"n": 2}]
    assert "Colin Archer" in {row["name"] for row in ships.saved_query("hubs", limit=20)}


def test_a_removal_waits_for_what_is_about_to_commit(kg: KnowledgeGraph, collection_name: str) -> None:
    """A removal waits for a transaction that saw its collection; else its rows would arrive after the removal."""
    kg[collection_name].ingest(SHIPS)
    remover = threading.Thread(target=kg[collection_name].delete)

    def work(tx: Transaction) -> None:
        (there,) = tx.run("write/join_collection", name=collection_name)
        assert not there["removing"]
        remover.start()
        remover.join(1)
        assert remover.is_alive()

    kg.graph.write(work)
    remover.join(30)
    assert not kg.graph.run("look_up/collections", name=collection_name)


def test_a_collection_removed_while_it_is_filled_stays_removed(kg: KnowledgeGraph, collection_name: str) -> None:
    """The name is free again, and no pending write arrives under it."""

    def documents() -> Iterator[Document]:
        for number in range(3000):
            if number == 1500:
                kg[collection_name].delete()
            yield Document(f"{number}", (Section(f"The Fram was seen near Larvik on day {number}."),))

    with pytest.raises(MismatchError, match="was removed while"):
        kg[collection_name].ingest(documents())
    left = "MATCH (n) WHERE n.collection = $name RETURN count(n) AS left"
    assert kg.cypher(left, {"name": collection_name}).values[0] == (0,)
    kg[collection_name].ingest([Document("one", (Section("The Fram lay at Larvik."),))])
    assert kg[collection_name].info().counts["Passage"] == 1
