"""Ask a server whether it answers, and as what version."""

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError
from pydantic import SecretStr

from kgrag.graph.connection import translated
from kgrag.values.errors import DatabaseError

TIMEOUT = 10.0


class LoginRefused(DatabaseError):
    """The server answers but refuses the login."""


def server_version(uri: str, user: str, password: SecretStr | None) -> str:
    """Return the version of the Neo4j at `uri`. Raises DatabaseError, LoginRefused for a refused login."""
    auth = None if password is None else (user, password.get_secret_value())
    try:
        with (
            translated(uri),
            GraphDatabase.driver(
                uri, auth=auth, connection_timeout=TIMEOUT, connection_acquisition_timeout=TIMEOUT
            ) as driver,
        ):
            return driver.get_server_info().agent.removeprefix("Neo4j/")
    except DatabaseError as error:
        if isinstance(error.__cause__, AuthError):
            raise LoginRefused(error.message, error.remedy) from error.__cause__
        raise
