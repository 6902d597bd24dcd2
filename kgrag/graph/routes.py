"""Where collections lie: patterns of their names -> addresses of databases, as KGRAG_ROUTES says."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from kgrag.errors import ConfigurationError, without_login
from kgrag.graph.connection import Graph
from kgrag.settings import Settings


def route(routes: Mapping[str, SecretStr], collection: str) -> str | None:
    """The pattern that leads to a collection: the first that fits its name; None where it lies with all others."""
    return next((pattern for pattern in routes if fnmatchcase(collection, pattern)), None)


def open_route(settings: Settings, pattern: str) -> Graph:
    """The database that a pattern leads to, opened.

    Its address is SCHEME://USER:PASSWORD@HOST:PORT/DATABASE; what that leaves out is as in the settings. Raises
    ConfigurationError for one that cannot be read, DatabaseError when it does not answer.
    """
    address = settings.routes[pattern].get_secret_value()
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host = None
    if not host:
        raise ConfigurationError(
            f"KGRAG_ROUTES leads {pattern!r} to {without_login(address)!r}, which is no address.",
            "Write it as in neo4j+s://USER:PASSWORD@HOST:7687/DATABASE.",
        )
    return Graph(
        f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        unquote(parts.username or "") or settings.neo4j_user,
        SecretStr(unquote(parts.password)) if parts.password else settings.neo4j_password,
        unquote(parts.path.strip("/")) or settings.neo4j_database,
    )
