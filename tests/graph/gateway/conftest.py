"""A small collection, a web of nodes in which paths explode, and traps that nobody may touch."""

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import neo4j
import pytest
from gateway_attacks import SECRET

from kgrag.client import KnowledgeGraph
from kgrag.settings import Settings
from kgrag.types import Document, Section, Triple

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
def gateway_driver(graph_settings: Settings) -> Iterator[neo4j.Driver]:
    """What tests set up and look at the database with."""
    assert graph_settings.neo4j_uri is not None
    assert graph_settings.neo4j_password is not None
    auth = (graph_settings.neo4j_user, graph_settings.neo4j_password.get_secret_value())
    with neo4j.GraphDatabase.driver(graph_settings.neo4j_uri, auth=auth, notifications_min_severity="OFF") as driver:
        yield driver


@pytest.fixture(scope="module")
def gateway_graph(kg: KnowledgeGraph, gateway_driver: neo4j.Driver) -> Iterator[KnowledgeGraph]:
    """A graph with the collection "gateway" and a dense web beside it."""
    kg["gateway"].ingest(DOCUMENTS)
    gateway_driver.execute_query(
        "UNWIND range(1, 150) AS i "
        "CREATE (:Web {number: i, text: 'node ' + i, embedding: [x IN range(1, 64) | x / 64.0]})"
    )
    gateway_driver.execute_query(
        "MATCH (a:Web), (b:Web) WHERE a.number < b.number AND (a.number * b.number) % 7 < 2 "
        "CREATE (a)-[:NEXT {embedding: CASE a.number WHEN 1 THEN a.embedding END}]->(b)"
    )
    gateway_driver.execute_query("CREATE FULLTEXT INDEX harm_text FOR (n:Web) ON EACH [n.text]")
    gateway_driver.execute_query(
        "CREATE VECTOR INDEX harm_vector FOR (n:Web) ON n.embedding "
        "OPTIONS {indexConfig: {`vector.dimensions`: 64, `vector.similarity_function`: 'cosine'}}"
    )
    gateway_driver.execute_query(
        "CREATE VECTOR INDEX harm_edges FOR ()-[r:NEXT]-() ON r.embedding "
        "OPTIONS {indexConfig: {`vector.dimensions`: 64, `vector.similarity_function`: 'cosine'}}"
    )
    gateway_driver.execute_query("CALL db.awaitIndexes(60)")
    yield kg
    gateway_driver.execute_query("DROP INDEX harm_text")
    gateway_driver.execute_query("DROP INDEX harm_vector")
    gateway_driver.execute_query("DROP INDEX harm_edges")
    gateway_driver.execute_query("MATCH (n:Web) DETACH DELETE n")
    kg["gateway"].delete()


@pytest.fixture(scope="module")
def gateway_digest(gateway_driver: neo4j.Driver) -> Callable[[], str]:
    """A digest of all that the database holds: nodes, relationships, indexes, constraints, tokens, users."""

    def digest() -> str:
        parts = []
        for statement in (
            "MATCH (n) RETURN elementId(n) AS e, labels(n) AS l, properties(n) AS p ORDER BY e",
            "MATCH (a)-[r]->(b) RETURN elementId(r) AS e, type(r) AS t, elementId(a) AS a, elementId(b) AS b, "
            "properties(r) AS p ORDER BY e",
            "SHOW INDEXES YIELD name, state, type RETURN name, state, type ORDER BY name",
            "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name",
            "SHOW USERS YIELD user RETURN user ORDER BY user",
            "CALL db.labels() YIELD label RETURN label ORDER BY label",
            "CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t ORDER BY t",
            "CALL db.propertyKeys() YIELD propertyKey AS k RETURN k ORDER BY k",
        ):
            records = gateway_driver.execute_query(statement).records
            parts.append(json.dumps([r.data() for r in records], default=str, sort_keys=True))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    return digest


@pytest.fixture(scope="module")
def gateway_traps(graph_settings: Settings) -> Iterator[tuple[int, list[str]]]:
    """A file where the server reads files from, and a listener: its port, and who touched it."""
    folder = graph_settings.home / "server" / "import"
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
