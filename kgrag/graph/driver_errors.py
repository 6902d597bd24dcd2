"""The errors of Neo4j's driver as those of kgrag, each with its remedy."""

import re
from types import TracebackType

from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    WriteServiceUnavailable,
)

from kgrag.runtime import limits
from kgrag.values.errors import (
    DatabaseError,
    InputError,
    MismatchError,
    UnreachableError,
    tls_hint,
    without_login,
)

_OTHER_LENGTH = re.compile(r"Index query vector has \d+ dimensions|vectors do not have the same number of dimensions")
_OWN_INDEX = re.compile(r"([a-z]+)_\w+_c\d+")
_NO_INDEX = re.compile(r"There is no such (?:fulltext|vector) schema index: (\w+)")


class translated:  # noqa: N801 - reads as a verb in `with translated(uri):`
    """Turns the driver's errors into DatabaseError, UnreachableError where that fits, with a remedy.

    Ctrl-C in the middle of a message leaves the driver unable to tidy up after it; what it then raises is
    KeyboardInterrupt still.
    """

    def __init__(self, uri: str) -> None:
        self._uri = without_login(uri)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, KeyboardInterrupt) and _interrupted(error):
            raise KeyboardInterrupt from error
        if isinstance(error, DriverError) and "closed" in str(error).lower():
            raise DatabaseError(
                f"This client of {self._uri} is closed.", "Make another, by KnowledgeGraph.connect() or local()."
            ) from error
        if isinstance(error, AuthError):
            raise UnreachableError(
                f"Neo4j at {self._uri} refuses the login.", "Check KGRAG_NEO4J_USER and KGRAG_NEO4J_PASSWORD."
            ) from error
        if isinstance(error, SessionExpired) and isinstance(error.__cause__, WriteServiceUnavailable):
            raise UnreachableError(
                f"The cluster at {self._uri} has no leader that takes writes.",
                "Searches go on. `SHOW SERVERS` and `SHOW DATABASES` in Neo4j Browser tell why; then run it again.",
            ) from error
        if isinstance(error, ServiceUnavailable):
            hint = tls_hint(self._uri, error)
            raise UnreachableError(
                f"Neo4j at {self._uri} does not answer.",
                f"{hint} Set KGRAG_NEO4J_URI."
                if hint
                else "Is it running? `kgrag db status` tells for the local server; otherwise check KGRAG_NEO4J_URI.",
            ) from error
        if isinstance(error, ClientError) and error.code and "DatabaseNotFound" in error.code:
            raise UnreachableError(
                f"The server at {self._uri} has no such database.", "Check KGRAG_NEO4J_DATABASE."
            ) from error
        if isinstance(error, Neo4jError) and "TransactionTimedOut" in (error.code or ""):
            raise limits.passed() from error
        if isinstance(error, Neo4jError) and (missing := missing_index(error.message or "")):
            raise missing from error
        if isinstance(error, Neo4jError) and (unreadable := unreadable_words(error.message or "")):
            raise unreadable from error
        if isinstance(error, Neo4jError) and _OTHER_LENGTH.search(error.message or ""):
            raise MismatchError(
                "The vectors of the collection have another length than the question's.",
                "Try again: the collection was embedded again a moment ago. If it stays so: kgrag db repair",
            ) from error
        if isinstance(error, Neo4jError | DriverError):
            hint = tls_hint(self._uri, error) if isinstance(error, DriverError) else ""
            remedy = hint or "The server's log says more: `kgrag db logs`."
            raise DatabaseError(f"Neo4j failed: {error}", remedy) from error


def missing_index(message: str) -> MismatchError | None:
    """Return the error for a missing index, if the server's message is about one."""
    if (missing := _NO_INDEX.search(message)) is None:
        return None
    if (own := _OWN_INDEX.fullmatch(missing[1])) is None:
        remedy = "`kgrag cypher indexes` lists those that there are."
    else:
        remedy = f"It comes with the first {own[1]} of a collection. Where there is one, make it again: kgrag db repair"
    return MismatchError(f"The index {missing[1]} is missing.", remedy)


def unreadable_words(message: str) -> InputError | None:
    """Return the error for words that Lucene cannot parse, if the server's message is about them."""
    if "org.apache.lucene.queryparser" not in message:
        return None
    return InputError(
        "The words to be looked for cannot be read as a query of the full-text index.",
        'Leave out signs such as / : ( ) [ ] " ~ ^ *, or put a backslash before each.',
    )


def _interrupted(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
