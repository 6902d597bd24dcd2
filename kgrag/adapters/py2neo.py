"""Results as subgraphs of py2neo, whose nodes and relationships are bound to the graph (package py2neo).

py2neo is no longer developed, but many notebooks use it. It identifies nodes by the numbers of Neo4j 4, which a server
may reuse after a deletion.

>>> graph = connect()
>>> found = subgraph(graph, kg["notes"].search("Who designed the Fram?"))
>>> [node["name"] for node in found.nodes if node.has_label("Entity")]
"""

from typing import Any

import py2neo  # type: ignore[import-untyped]
from py2neo.data import Subgraph  # type: ignore[import-untyped]

from kgrag.graph.connection import lookup
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings
from kgrag.values.events import Answer
from kgrag.values.results import Ranking

PASSAGES = 25
"""Passages of a ranking in its subgraph: more are not read at a glance."""


def connect(settings: Settings | None = None) -> py2neo.Graph:
    """Connect py2neo to the server of the settings, or start the local server and connect to it.

    Args:
        settings: None: those of the environment, .env and kgrag.toml.

    Returns:
        The graph. `graph.service.connector.close()` closes it.
    """
    settings = settings or Settings()
    uri, user, password = settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password
    if uri is None:
        server = LocalServer(settings).ensure_running()
        uri, user, password = server.uri, server.user, server.password
    auth = (user, password.get_secret_value() if password else "")
    return py2neo.Graph(uri, auth=auth, name=settings.neo4j_database)


def subgraph(graph: py2neo.Graph, result: Ranking | Answer) -> Subgraph:
    """Return the passages of a result with their documents, and the names and triples that tie them.

    Args:
        graph: from `connect`.
        result: a ranking, or an answer. The passages are the citations of an answer; of a ranking, and of an answer
            without citations, they are the best PASSAGES.

    Returns:
        The nodes with all properties, embeddings among them, so that `graph.push` of one loses none.
    """
    cited = [citation.passage for citation in result.citations] if isinstance(result, Answer) else []
    hits = result.ranking.hits if isinstance(result, Answer) else result.hits
    ids = [passage.id for passage in cited or [hit.passage for hit in hits[:PASSAGES]]]
    return _drawn(graph, "look_up/passage_ties", ids=ids)


def neighbourhood(graph: py2neo.Graph, collection: str, entity: str, edges: int = 100) -> Subgraph:
    """Return what surrounds an entity, as the saved query `around` does.

    Args:
        graph: from `connect`.
        collection: its name.
        entity: the name.
        edges: edges in all, at most.

    Returns:
        The nodes and relationships; none if no entity has such a name.
    """
    return _drawn(graph, "analyst/around", collection=collection, entity=entity, edges=edges)


def _drawn(graph: py2neo.Graph, statement: str, **parameters: Any) -> Subgraph:
    cursor = graph.run(lookup(statement, parameters).text, parameters, readonly=True)
    return cursor.to_subgraph() or Subgraph()
