"""Where collections lie: patterns of their names -> addresses of databases, as KGRAG_ROUTES says."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from kgrag.errors import ConfigurationError, DatabaseError
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
    try:
        parts = urlsplit(settings.routes[pattern].get_secret_value())
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        host = None
    if not host or "@" in f"{parts.path}{parts.query}{parts.fragment}":  # a / ? # of a password ends the host
        raise ConfigurationError(
            f"KGRAG_ROUTES leads {pattern!r} to what is no address.",
            "Write neo4j+s://USER:PASSWORD@HOST:7687/DATABASE; in a password / ? # @ % are %2F %3F %23 %40 %25.",
        )
    try:
        return Graph(
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
            unquote(parts.username or "") or settings.neo4j_user,
            SecretStr(unquote(parts.password)) if parts.password else settings.neo4j_password,
            unquote(parts.path.strip("/")) or settings.neo4j_database,
        )
    except DatabaseError as error:
        raise DatabaseError(error.message, f"KGRAG_ROUTES leads {pattern!r} there. {error.remedy}") from error
