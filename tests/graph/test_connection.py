"""Every failure of a connection ends in one error with a remedy, and never shows the password."""

import logging
import signal
import socket

import pytest
from neo4j.exceptions import ServiceUnavailable
from pydantic import SecretStr

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph, translated
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, DatabaseError, MismatchError


def _uri(settings: Settings) -> str:
    assert settings.neo4j_uri is not None
    return settings.neo4j_uri


def test_wrong_password(graph_settings: Settings) -> None:
    with pytest.raises(DatabaseError, match="refuses the login") as error:
        Graph(_uri(graph_settings), "nobody", SecretStr("not-this-one"))  # three failed logins would delay the user
    assert "KGRAG_NEO4J_PASSWORD" in error.value.remedy
    assert "not-this-one" not in str(error.value)


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(DatabaseError, match="does not answer"):
        Graph(f"bolt://127.0.0.1:{port}", "neo4j", SecretStr("x"))


@pytest.mark.parametrize("uri", ["http://localhost:7474", "nonsense", "bolt://"])
def test_wrong_address(uri: str) -> None:
    with pytest.raises((ConfigurationError, DatabaseError)):
        Graph(uri, "neo4j", SecretStr("x"))


@pytest.mark.parametrize("uri", ["bolt://neo4j:sesame@127.0.0.1:1", "http://a:sesame@b", "neo4j:sesame@host"])
def test_a_password_in_the_address_is_not_shown(uri: str) -> None:
    with pytest.raises((ConfigurationError, DatabaseError)) as error:
        Graph(uri, "neo4j", SecretStr("x"))
    assert "sesame" not in str(error.value) and "***@" in error.value.message


def test_wrong_database(graph_settings: Settings) -> None:
    with pytest.raises(DatabaseError, match="no such database"):
        Graph(_uri(graph_settings), "neo4j", graph_settings.neo4j_password, "nowhere")


def test_a_cluster_is_told_what_was_written(graph_settings: Settings, collection_name: str) -> None:
    """On a routing address each transaction passes the earlier bookmarks, so no member answers from an older state."""
    assert graph_settings.neo4j_password is not None
    uri = _uri(graph_settings).replace("bolt://", "neo4j://")
    with KnowledgeGraph.connect(uri, "neo4j", graph_settings.neo4j_password.get_secret_value()) as kg:
        before = kg.graph._bookmarks.get_bookmarks()  # type: ignore[union-attr]
        kg[collection_name].ingest([Document("eel", (Section("The eel swims to Sargasso."),))])
        after = kg.graph._bookmarks.get_bookmarks()  # type: ignore[union-attr]
        assert set(before) != set(after)
        assert [hit.passage.text for hit in kg[collection_name].search("eel")] == ["The eel swims to Sargasso."]
        kg[collection_name].delete()


def test_no_secret_in_repr(kg: KnowledgeGraph, graph_settings: Settings) -> None:
    assert graph_settings.neo4j_password is not None
    secret = graph_settings.neo4j_password.get_secret_value()
    assert secret not in repr(kg) + repr(kg.graph) + repr(graph_settings)


def test_reads_cannot_write(kg: KnowledgeGraph) -> None:
    """A query with a read header runs in a session in which the server refuses writes."""
    from kgrag.graph import connection
    from kgrag.graph.queries import Query

    wrong = Query("test/wrong", "Writes though it says read.", "read", (), (), "", "CREATE (:Nothing)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "catalogue", lambda: {"test/wrong": wrong})
        with pytest.raises(DatabaseError, match="access mode"):
            kg.graph.run("test/wrong")


def test_a_search_takes_at_most_eight_round_trips(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search takes at most eight round trips with opening the collection, which stays open for seconds."""
    monkeypatch.setattr("kgrag.retrieval.context.REFRESH_SECONDS", 600.0)  # for a busy machine
    texts = {
        "Anna Bergstrom": "Anna Bergstrom was born in Visby Harbour.",
        "Visby Harbour": "Visby Harbour is a town on Gotland Island, where Carl Lindqvist built a church.",
        "Carl Lindqvist": "Carl Lindqvist lived on Gotland Island and taught Anna Bergstrom.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title=title) for title, text in texts.items()])
    asked: list[str] = []
    with kg.graph.listening(lambda name, parameters: asked.append(name)):
        first = kg[collection_name].search("Where was Anna Bergstrom born?")
        assert len(asked) <= 8, asked
        asked.clear()
        misspelt = kg[collection_name].search("Who taught Anna Bergstrum, and where is Visby Harbuor?")
        assert "retrieve/similar_titles" in asked
        assert len(asked) <= 7, asked
        asked.clear()
        kg[collection_name].search("Where was Anna Bergstrom born?", retriever="hybrid")
        assert len(asked) <= 3, asked
    assert first.hits[0].passage.title == "Anna Bergstrom"
    assert misspelt.hits
    asked.clear()
    kg[collection_name].search("Visby")
    assert not asked


def test_a_query_can_be_made_to_fail(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("eel", (Section("The eel swims to Sargasso."),))])

    def unplugged(name: str, parameters: object) -> None:
        if name == "retrieve/fulltext":
            raise ServiceUnavailable

    with kg.graph.listening(unplugged), pytest.raises(DatabaseError, match="does not answer"):
        kg[collection_name].search("eel", retriever="bm25")
    assert kg[collection_name].search("eel", retriever="bm25").hits


def test_what_runs_is_logged_without_its_parameters(kg: KnowledgeGraph, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kgrag.graph"):
        kg.graph.run("look_up/texts", ids=["of-the-user"])
    assert [record.name for record in caplog.records] == ["kgrag.graph"]
    assert "look_up/texts: " in caplog.text
    assert "records" in caplog.text
    assert "of-the-user" not in caplog.text


@pytest.mark.parametrize(
    "milliseconds", [5, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 10, 20, 40, 80, 160, 320))]
)
def test_ctrl_c_stays_ctrl_c_whatever_the_driver_was_sending(graph_settings: Settings, milliseconds: int) -> None:
    ids = [f"passage {i}" for i in range(100_000)]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with (
            pytest.raises(KeyboardInterrupt),
            Graph(_uri(graph_settings), graph_settings.neo4j_user, graph_settings.neo4j_password) as graph,
        ):
            # repeats, since Python drops exceptions in a callback of the garbage collector
            signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000, 5)
            try:
                while True:
                    graph.run("look_up/texts", ids=ids)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_lists_are_not_written_into_the_drivers_log(kg: KnowledgeGraph, caplog: pytest.LogCaptureFixture) -> None:
    """The driver formats parameters for its log; for rows with vectors that would take as long as writing them."""
    with caplog.at_level(logging.DEBUG, "neo4j"):
        kg.graph.run("look_up/passage_ids", ids=["a text of a document"])
        kg.graph.write(lambda tx: tx.run("look_up/passage_ids", ids=["a text of a document"]))
        list(kg.graph.stream("look_up/passage_ids", ids=["a text of a document"]))
    assert caplog.text.count("[1 values]") == 3
    assert "a text of a document" not in caplog.text


def test_vectors_of_another_length_are_told_as_such(kg: KnowledgeGraph) -> None:
    with pytest.raises(MismatchError, match="another length"), translated(kg.graph.uri):
        kg.graph.driver.execute_query("RETURN vector.similarity.cosine($a, $b)", a=[1.0, 2.0], b=[1.0, 2.0, 3.0])
