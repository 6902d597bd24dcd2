"""Where collections lie: patterns of their names -> addresses of databases, as KGRAG_ROUTES says."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from kgrag.graph.connection import Graph
from kgrag.settings import Settings
from kgrag.values.errors import ConfigurationError, DatabaseError


def route(routes: Mapping[str, SecretStr], collection: str) -> str | None:
    """The pattern that leads to a collection: the first that fits its name; None where it lies with all others."""
    return next((pattern for pattern in routes if fnmatchcase(collection, pattern)), None)


def routed(settings: Settings, collection: str) -> Settings:
    """The settings of the database that a collection lies in. Raises ConfigurationError for a route to no address."""
    pattern = route(settings.routes, collection)
    return settings if pattern is None else follow(settings, pattern)


def follow(settings: Settings, pattern: str) -> Settings:
    """The settings of the database that a pattern leads to.

    Its address is SCHEME://USER:PASSWORD@HOST:PORT/DATABASE; what that leaves out is as in the settings. Raises
    ConfigurationError for one that cannot be read.
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
    its: dict[str, Any] = {
        "routes": {},
        "neo4j_uri": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        "neo4j_user": unquote(parts.username or "") or settings.neo4j_user,
        "neo4j_password": SecretStr(unquote(parts.password)) if parts.password else settings.neo4j_password,
        "neo4j_database": unquote(parts.path.strip("/")) or settings.neo4j_database,
    }
    return settings.model_copy(update=its)


def open_route(settings: Settings, pattern: str) -> tuple[Graph, Settings]:
    """The database that a pattern leads to, opened, and its settings.

    Raises ConfigurationError for an address that cannot be read, DatabaseError when it does not answer.
    """
    its = follow(settings, pattern)
    try:
        return Graph(
            str(its.neo4j_uri), its.neo4j_user, its.neo4j_password, its.neo4j_database, its.neo4j_retry_seconds
        ), its
    except DatabaseError as error:
        raise type(error)(error.message, f"KGRAG_ROUTES leads {pattern!r} there. {error.remedy}") from error
