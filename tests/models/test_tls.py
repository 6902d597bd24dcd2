"""If only one side of a connection speaks TLS, every kind of connection reports exactly that."""

import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from in_thread import Handler, InThread

from kgrag import RemoteKnowledgeGraph
from kgrag.graph.connection import Graph
from kgrag.models.chat import Message
from kgrag.models.embed import load_embedder
from kgrag.models.openai_chat import OpenAIChat
from kgrag.settings import ChatSettings, EmbeddingSettings
from kgrag.values.errors import ConfigurationError, DatabaseError, KgragError, ModelError, tls_hint

_ALERT = b"\x15\x03\x01\x00\x02\x02\x46"
"""The reply of a TLS server to a plain connection."""


@pytest.fixture
def plain() -> Iterator[int]:
    """The port of an HTTP server without TLS."""
    with InThread(Handler) as server:
        yield server.port


@pytest.fixture(params=["alert", "reset"])
def encrypted(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a TLS server, which rejects plain text by an alert or a reset."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                if request.param == "alert":
                    connection.sendall(_ALERT)
                else:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    threading.Thread(target=serve, daemon=True).start()
    yield listening.getsockname()[1]
    listening.close()


def _failures(scheme: str, bolt: str, port: int) -> list[KgragError]:
    """Return the error of each way of connecting."""
    url = f"{scheme}://127.0.0.1:{port}/v1"
    chat = ChatSettings.model_validate({"model": "m", "base_url": url, "api_key": "k", "retries": 0})
    with OpenAIChat(chat) as model, pytest.raises(ModelError) as asked:
        model.chat([Message("user", "Who?")], task="answer")
    with pytest.raises(ConfigurationError) as embedded:
        load_embedder("openai:m", EmbeddingSettings.model_validate({"base_url": url, "api_key": "k", "retries": 0}))
    with pytest.raises(KgragError) as remote:
        RemoteKnowledgeGraph(url.removesuffix("/v1"), key="k").collections()
    with pytest.raises(DatabaseError) as database:
        Graph(f"{bolt}://127.0.0.1:{port}", "neo4j", None)
    return [asked.value, embedded.value, remote.value, database.value]


def test_tls_where_there_is_none(plain: int) -> None:
    *of_http, of_bolt = _failures("https", "bolt+s", plain)
    assert ["write http://" in error.remedy for error in of_http] == [True] * 3, [str(e) for e in of_http]
    assert "write bolt://" in of_bolt.remedy


def test_no_tls_where_there_is(encrypted: int) -> None:
    *of_http, of_bolt = _failures("http", "bolt", encrypted)
    assert ["try https://" in error.remedy for error in of_http] == [True] * 3, [str(e) for e in of_http]
    assert "try bolt+s://" in of_bolt.remedy, of_bolt


def test_an_error_that_is_its_own_cause() -> None:
    error = ValueError("reset by peer")
    error.__cause__ = error
    assert "bolt+s" in tls_hint("bolt://example.org", error)
