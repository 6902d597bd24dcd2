"""A small collection, a web of nodes with exploding numbers of paths, and traps that nobody may touch."""

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from gateway_statements import SECRET, statements

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section, Triple

DOCUMENTS = [
    Document(
        "fram",
        (Section("The Fram was designed by Colin Archer."),),
        "Fram",
        triples=(Triple("Fram", "designed by", "Colin Archer"),),
    ),
    Document(
        "archer",
        (Section("Colin Archer lived in Larvik."),),
        "Colin Archer",
        triples=(Triple("Colin Archer", "lived in", "Larvik"),),
    ),
    Document("larvik", (Section("Larvik is a town on the coast."),), "Larvik"),
]


@pytest.fixture(scope="session")
def attacked_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a separate server for attacks, so that they neither delay nor disturb other tests."""
    settings = Settings(_env_file=None, home=tmp_path_factory.mktemp("attacked"))  # type: ignore[call-arg]
    server = LocalServer(settings)
    endpoint = server.ensure_running()
    named = {"neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user, "neo4j_password": endpoint.password}
    yield settings.model_copy(update=named)
    server.stop()


@pytest.fixture(scope="session")
def gateway_graph(attacked_settings: Settings) -> Iterator[KnowledgeGraph]:
    """A graph with the collection "gateway" and a dense web beside it."""
    with KnowledgeGraph.connect(settings=attacked_settings) as kg:
        _furnish(kg)
        yield kg


@pytest.fixture(scope="module")
def honest_graph(kg: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    """The same in the Neo4j of the test run."""
    _furnish(kg)
    yield kg
    kg.graph.driver.execute_query("MATCH (n:Web) DETACH DELETE n")
    kg["gateway"].delete()


def _furnish(kg: KnowledgeGraph) -> None:
    run = kg.graph.driver.execute_query
    kg["gateway"].ingest(DOCUMENTS)
    run(
        "UNWIND range(1, 150) AS i "
        "CREATE (:Web {number: i, text: 'node ' + i, embedding: [x IN range(1, 64) | x / 64.0]})"
    )
    run(
        "MATCH (a:Web), (b:Web) WHERE a.number < b.number AND (a.number * b.number) % 7 < 2 "
        "CREATE (a)-[:NEXT {embedding: CASE a.number WHEN 1 THEN a.embedding END}]->(b)"
    )
    run("CREATE FULLTEXT INDEX harm_text FOR (n:Web) ON EACH [n.text]")
    vectors = "OPTIONS {indexConfig: {`vector.dimensions`: 64, `vector.similarity_function`: 'cosine'}}"
    run(f"CREATE VECTOR INDEX harm_vector FOR (n:Web) ON n.embedding {vectors}")
    run(f"CREATE VECTOR INDEX harm_edges FOR ()-[r:NEXT]-() ON r.embedding {vectors}")
    run("CALL db.awaitIndexes(60)")


@pytest.fixture(scope="module")
def gateway_digest(gateway_graph: KnowledgeGraph) -> Callable[[], str]:
    """A digest of the database: nodes, relationships, indexes, constraints, tokens, users."""

    def digest() -> str:
        parts = []
        for asked in statements("digest"):
            records = gateway_graph.graph.driver.execute_query(asked.text).records
            parts.append(json.dumps([r.data() for r in records], default=str, sort_keys=True))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    return digest


@pytest.fixture(scope="module")
def gateway_traps(attacked_settings: Settings) -> Iterator[tuple[int, list[str]]]:
    """A file where the server may read files, and a listener: its port, and the list of its visitors."""
    folder = attacked_settings.home / "server" / "import"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret.csv").write_text(SECRET)
    touched: list[str] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, address = listener.accept()
                except OSError:
                    return
                touched.append(str(address))
                connection.close()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], touched
