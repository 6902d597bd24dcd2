"""The probe of an address finds a version, a refused login, or nobody."""

import pytest
from pydantic import SecretStr

from kgrag import KnowledgeGraph
from kgrag.graph.local.probe import LoginRefused, server_version
from kgrag.settings import Settings
from kgrag.values.errors import UnreachableError


def test_a_server_tells_its_version(kg: KnowledgeGraph, graph_settings: Settings) -> None:
    user, password = graph_settings.neo4j_user, graph_settings.neo4j_password
    version = server_version(kg.graph.uri, user, password)
    assert kg.graph.run("schema/server_version")[0]["version"].startswith(version)
    with pytest.raises(LoginRefused, match="refuses the login") as refused:
        server_version(kg.graph.uri, "nobody", SecretStr("another"))  # failed logins delay that user
    assert "KGRAG_NEO4J_PASSWORD" in refused.value.remedy
    with pytest.raises(UnreachableError, match=r"bolt://127\.0\.0\.1:1 does not answer"):
        server_version("bolt://127.0.0.1:1", user, password)
