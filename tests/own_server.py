"""Settings of a test's own Neo4j, and the content of that server."""

import socket
from pathlib import Path

import neo4j

from kgrag.graph.local.server import Endpoint
from kgrag.settings import LocalSettings, Settings


def free_ports() -> dict[str, int]:
    """Return two free ports of this machine."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return {"bolt_port": one.getsockname()[1], "http_port": two.getsockname()[1]}


def own_server(home: Path) -> Settings:
    """Return settings of a small server in `home`."""
    local = LocalSettings(**free_ports(), heap="512m", page_cache="64m")  # type: ignore[arg-type]
    return Settings(_env_file=None, home=home, local=local)  # type: ignore[call-arg]


def query(endpoint: Endpoint, text: str) -> object:
    """Return the first value of a server's reply to a statement."""
    auth = (endpoint.user, endpoint.password.get_secret_value())
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth) as driver:
        return driver.execute_query(text).records[0][0]
