"""The connection to Neo4j. It runs queries of the catalogue by name and translates errors of the driver."""

import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    NotALeader,
    ServiceUnavailable,
    SessionExpired,
    WriteServiceUnavailable,
)
from neo4j.exceptions import ConfigurationError as DriverConfigurationError
from pydantic import SecretStr

from kgrag.graph.queries import Query, catalogue, sample
from kgrag.runtime import limits
from kgrag.runtime.spans import span
from kgrag.values.errors import (
    ConfigurationError,
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
    """Translates errors of the driver into DatabaseError or UnreachableError, with a remedy.

    After Ctrl-C in the middle of a message the driver raises other errors while it cleans up. These become
    KeyboardInterrupt again.
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
        remedy = "`kgrag cypher indexes` lists the indexes."
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


T = TypeVar("T")
OnQuery = Callable[[str, Mapping[str, Any]], None]
"""Called with the name and the parameters of each query before it is sent; its errors are those of the query."""

_LOG = logging.getLogger("kgrag.graph")
logging.getLogger("neo4j.notifications").addHandler(logging.NullHandler())  # else Python prints them with statements
_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://[^/]")
_LEASE = 60  # seconds
_LEADERS = 3  # members to try in turn while each is no longer the leader
_RENEWAL = 0.1  # seconds within which an index that replaces an older one is available
_SEARCH = (
    "retrieve/pathrank", "retrieve/pathrank_seeds", "retrieve/pathrank_names", "retrieve/question",
    "retrieve/similar_titles", "look_up/passages", "look_up/collections",
)  # fmt: skip
_FETCH_SIZE = 2000  # records that the server sends at once


class Transaction:
    """A transaction in progress, which runs queries by name."""

    def __init__(self, transaction: neo4j.ManagedTransaction) -> None:
        self._transaction = transaction

    def run(self, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        """Run a query of the catalogue and return its records."""
        query = lookup(name, parameters)
        return list(self._transaction.run(query.text, _unwritten(parameters)))


class Graph:
    """One database of one Neo4j server: a context manager. Threads may share it."""

    def __init__(
        self, uri: str, user: str, password: SecretStr | None, database: str = "neo4j", retry_seconds: float = 30
    ) -> None:
        """Connect and check that the server answers. Raises DatabaseError or ConfigurationError.

        `retry_seconds`: how long a lost transaction is retried.
        """
        self.uri = without_login(uri)
        self.database = database
        self._listeners: tuple[OnQuery, ...] = ()
        if not _ADDRESS.match(uri):
            raise _not_an_address(uri)
        auth = (user, password.get_secret_value()) if password is not None else None
        try:
            self.driver = neo4j.GraphDatabase.driver(
                uri,
                auth=auth,
                user_agent="kgrag",
                connection_timeout=15,
                max_transaction_retry_time=retry_seconds,
                notifications_min_severity="OFF",
                warn_notification_severity="OFF",
            )
        except (DriverConfigurationError, ValueError) as error:
            raise _not_an_address(uri) from error
        # the members of a cluster lag behind each other; bookmarks make each read see earlier writes
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager() if uri.startswith("neo4j") else None
        try:
            with translated(self.uri):
                self.driver.verify_connectivity()
            self.run("inspect/ping")  # also checks that the database exists
        except BaseException:
            self.driver.close()
            raise

    def __repr__(self) -> str:
        return f"Graph({self.uri!r}, database={self.database!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with translated(self.uri):
            self.close()

    def close(self) -> None:
        """Close every connection."""
        self.driver.close()

    def run(self, name: str, /, **parameters: Any) -> list[neo4j.Record]:
        """Run a query by name in the mode of its header, and return its records."""
        query = lookup(name, parameters)
        return self._run(name, query.mode, query.text, parameters)

    def stream(self, name: str, /, **parameters: Any) -> Iterator[neo4j.Record]:
        """Run a read query and yield its records as they arrive."""
        query = lookup(name, parameters)
        limits.remaining()
        with self.reading(_FETCH_SIZE) as session:
            yield from session.run(query.text, _unwritten(parameters))

    @contextmanager
    def reading(
        self, fetch_size: int, seconds: float | None = None, *, warned: bool = False
    ) -> Iterator[neo4j.Session]:
        """Open a read session. Its connection is dropped after `seconds`, which raises DatabaseError.

        `warned`: the server sends warnings about unknown names.
        """
        with translated(self.uri), self._session(fetch_size, neo4j.READ_ACCESS, warned=warned) as session:
            if seconds is None:
                yield session
                return
            with _dropped_after(session, seconds):
                yield session

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one write transaction. It may be repeated after a transient error, so it must be pure."""
        with translated(self.uri), self._session() as session:
            return session.execute_write(lambda tx: work(Transaction(tx)))

    def state(self) -> str:
        """Return a text that changes with each write transaction of any client."""
        with translated(self.uri), self._session(access=neo4j.READ_ACCESS) as session:
            session.run(catalogue()["inspect/ping"].text).consume()
            return " ".join(sorted(session.last_bookmarks().raw_values))

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the lock for creating indexes, since two creators of the same indexes deadlock.

        The lock is a lease on the Schema node, so it expires if its holder is killed. Raises DatabaseError if it is not
        free within two minutes.
        """
        holder = uuid.uuid4().hex
        deadline = time.monotonic() + 2 * _LEASE
        while not self.run("write/lock_schema", holder=holder, seconds=_LEASE)[0]["held"]:
            if time.monotonic() > deadline:
                raise DatabaseError("Somebody else is making indexes in this database.", "Try again in a minute.")
            time.sleep(0.1)
        try:
            yield
        finally:
            self.run("write/unlock_schema", holder=holder)

    def plan_searches(self) -> None:
        """Have Neo4j plan the statements of a search in advance. Stops silently if Neo4j stops."""
        with suppress(DatabaseError):
            for query in map(catalogue().__getitem__, _SEARCH):
                self.explain(query, {p.name: sample(p.type) for p in query.parameters})

    def explain(self, query: Query, parameters: dict[str, Any]) -> tuple[str, list[str]]:
        """Return the type (r, rw, w or s) and the columns of a query by EXPLAIN."""
        with translated(self.uri), self._session() as session:
            result = session.run("EXPLAIN " + query.text, parameters)
            columns = list(result.keys())
            return result.consume().query_type or "", columns

    @contextmanager
    def listening(self, on_query: OnQuery) -> Iterator[None]:
        """Call `on_query` before each query of `run` and `run_schema` within the block, in every thread.

        It can count round trips or make a query fail, since errors of the driver are translated as usual.
        """
        self._listeners += (on_query,)
        try:
            yield
        finally:
            self._listeners = tuple(listener for listener in self._listeners if listener is not on_query)

    def _run(self, name: str, mode: str, text: str, parameters: dict[str, Any]) -> list[neo4j.Record]:
        timeout = limits.remaining()
        start = time.perf_counter()
        with translated(self.uri), span("query", query=name) as noted:
            for listener in self._listeners:
                listener(name, parameters)
            parameters = _unwritten(parameters)
            query, records = neo4j.Query(text, timeout=timeout), None
            if mode == "auto":
                records = self._run_at_leader(text, parameters)
            elif mode == "read":
                records = self._read_at_once(query, parameters)
            if records is None:  # unlike a session's transaction, it begins and sends the query in one message
                records = self.driver.execute_query(
                    query,
                    parameters,
                    routing_=neo4j.RoutingControl.READ if mode == "read" else neo4j.RoutingControl.WRITE,
                    database_=self.database,
                    bookmark_manager_=self._bookmarks,
                ).records
            noted["records"] = len(records)
        _LOG.debug("%s: %.1f ms, %d records", name, 1000 * (time.perf_counter() - start), len(records))
        return records

    def _read_at_once(self, query: neo4j.Query, parameters: dict[str, Any]) -> list[neo4j.Record] | None:
        """Return the records of a read query in one message. A transaction would take a second message to commit.

        Returns None after an error that a retry may fix. For example, while a full-text index replaces an older one,
        there is no index of its name for a few milliseconds.
        """
        try:
            with self._session(fetch_size=-1, access=neo4j.READ_ACCESS) as session:
                return list(session.run(query, parameters))
        except (Neo4jError, DriverError) as error:
            if missing_index(getattr(error, "message", None) or ""):
                time.sleep(_RENEWAL)
            elif not error.is_retryable():
                raise
            return None

    def _run_at_leader(self, text: str, parameters: dict[str, Any]) -> list[neo4j.Record]:
        """Run an auto-commit statement. Retry it if the leader of the cluster changes, as the driver does not.

        A member that is not the leader refuses it before any work.
        """
        tries = _LEADERS
        while True:
            try:
                with self._session() as session:
                    return list(session.run(text, parameters))
            except NotALeader:
                tries -= 1
                if not tries:
                    raise

    def _session(
        self, fetch_size: int = _FETCH_SIZE, access: str = neo4j.WRITE_ACCESS, *, warned: bool = False
    ) -> neo4j.Session:
        return self.driver.session(
            notifications_min_severity="WARNING" if warned else None,
            database=self.database,
            fetch_size=fetch_size,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
        )


class _Unwritten(list[Any]):
    """A list with a short repr.

    The driver formats all parameters for its log, even if nobody logs. For rows with vectors that took as long as the
    write itself. Texts of documents do not belong in a log either.
    """

    def __repr__(self) -> str:
        return f"[{len(self)} values]"


def _unwritten(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _Unwritten(value) if isinstance(value, list) else value for key, value in parameters.items()}


@contextmanager
def _dropped_after(session: neo4j.Session, seconds: float) -> Iterator[None]:
    """Drop the session's connection after `seconds` within the block: its reader ends with an error."""
    dropped = threading.Event()

    def drop() -> None:
        dropped.set()
        if session._connection is not None:  # a session of the driver without asyncio has no cancel()
            session._connection.kill()  # type: ignore[no-untyped-call]

    timer = threading.Timer(seconds, drop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (Neo4jError, DriverError, OSError) as error:
        if dropped.is_set():
            raise DatabaseError(
                f"Neo4j did not answer within {seconds:g} seconds, so its connection was dropped.",
                "It may be working on the statement still: `kgrag db status` tells, `kgrag down` ends a local one.",
            ) from error
        raise
    finally:
        timer.cancel()


def _not_an_address(uri: str) -> ConfigurationError:
    return ConfigurationError(
        f"{without_login(uri)!r} is not an address of a Neo4j server.",
        "Use bolt://HOST:7687, neo4j://HOST:7687 or neo4j+s://HOST in KGRAG_NEO4J_URI.",
    )


def lookup(name: str, parameters: dict[str, Any]) -> Query:
    """Return a query by name after a check of its parameters. Raises KeyError or TypeError.

    `label` and `properties` of a template are passed like parameters, and removed from them. Raises ValueError if the
    template does not take them.
    """
    query = catalogue()[name]
    expected = {p.name for p in query.parameters} | query.placeholders
    if expected != parameters.keys():
        raise TypeError(f"{name} takes {sorted(expected)}, not {sorted(parameters)}")
    return query.filled(**{key: parameters.pop(key) for key in query.placeholders}) if query.placeholders else query
