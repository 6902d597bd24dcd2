"""One hierarchy of errors; each says what happened and what to do about it."""

import re
from typing import Self


class KgragError(Exception):
    """Base of every error that kgrag raises on purpose; the command line ends with its `exit_code`.

    Args:
        message: what happened.
        remedy: what to do next, empty where nothing is known to help.

    Example:
        >>> try:
        ...     kg["nothing-here"].search("Who designed the Fram?")
        ... except KgragError as error:
        ...     print(type(error).__name__, error.exit_code)
        NotFoundError 4
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message

    @property
    def in_full(self) -> str:
        """The message and the remedy in one paragraph."""
        return " ".join(filter(None, (self.message, self.remedy)))


class ConfigurationError(KgragError):
    """A setting is missing or invalid, or an optional package is not installed.

    Example:
        >>> try:
        ...     Bm25(collection.context, steps=3)
        ... except ConfigurationError as error:
        ...     print(error.remedy)
    """

    exit_code = 2


class DatabaseError(KgragError):
    """Neo4j cannot be reached, refuses the login, or failed while answering.

    Example:
        >>> try:
        ...     KnowledgeGraph.connect("bolt://localhost:1", "neo4j", "secret")
        ... except DatabaseError as error:
        ...     print(error.exit_code)
        3
    """

    exit_code = 3


class UnreachableError(DatabaseError):
    """Neo4j does not answer, or refuses the login.

    Example:
        >>> try:
        ...     KnowledgeGraph.connect("bolt://localhost:1", "neo4j", "secret")
        ... except UnreachableError as error:
        ...     print(error.remedy)
    """


class StatementError(DatabaseError):
    """Neo4j refuses a statement of the caller, or ended it for its time or memory.

    Example:
        >>> try:
        ...     kg.cypher("MATCH (n) RETURN m")
        ... except StatementError as error:
        ...     print(error.message)
    """


class DeadlineError(DatabaseError):
    """A call exceeded its deadline.

    Example:
        >>> try:
        ...     collection.search("Where was the designer of the Fram born?", deadline=1e-6)
        ... except DeadlineError as error:
        ...     print(error.message)
    """


class CancelledError(KgragError):
    """The caller cancelled the call.

    Example:
        >>> try:
        ...     raise CancelledError("The job was cancelled.", "Retry it to resume it.")
        ... except CancelledError as error:
        ...     print(error.exit_code)
        130
    """

    exit_code = 130


class LocalServerError(DatabaseError):
    """The local Neo4j cannot be set up, started or stopped.

    Example:
        >>> try:
        ...     raise LocalServerError("Neo4j does not start.", "Read `kgrag db logs`.")
        ... except LocalServerError as error:
        ...     print(error.remedy)
        Read `kgrag db logs`.
    """


class NotFoundError(KgragError):
    """A collection, document, passage or retriever of that name does not exist.

    Example:
        >>> try:
        ...     collection.document("no such key")
        ... except NotFoundError as error:
        ...     print(error.exit_code)
        4
    """

    exit_code = 4


class InputError(KgragError):
    """The input cannot be read.

    Example:
        >>> try:
        ...     collection.ingest("no/such/folder")
        ... except InputError as error:
        ...     print(error.exit_code)
        5
    """

    exit_code = 5


class MismatchError(KgragError):
    """A collection was made with another embedder, dimension, schema version or chunking.

    Example:
        >>> try:
        ...     collection.ingest([], language="de")
        ... except MismatchError as error:
        ...     print(error.exit_code)
        6
    """

    exit_code = 6


class ModelError(KgragError):
    """A language model, or TAGME, cannot be reached, refuses, or gives no valid reply.

    `lost`: the tokens read and written without a valid reply, and their cost, None where it is unknown.

    Example:
        >>> answer = collection.ask("Who designed the Fram?")
        >>> if answer.problem:  # a failed call does not raise here
        ...     print(answer.problem)
    """

    exit_code = 7
    lost: tuple[int, int, float | None] = (0, 0, 0.0)


class TooLongError(ModelError):
    """A prompt exceeds a model's context.

    `share`: about how much of the prompt fits, 0 to 1. `context`: the size of the context in tokens, 0 where it is
    unknown.

    Example:
        >>> try:
        ...     raise TooLongError("The context has 4,096 tokens.", "Read fewer passages.")
        ... except TooLongError as error:
        ...     print(error.share)
        0.5
    """

    share: float = 0.5
    context: int = 0


class UnavailableError(ModelError):
    """The server of a model, or TAGME, cannot be reached, or refuses every call; a retry does not help.

    Example:
        >>> try:
        ...     raise UnavailableError("No server answers.", "Start it.")
        ... except ModelError as error:
        ...     print(error.in_full)
        No server answers. Start it.
    """


class BudgetError(ModelError):
    """A call could exceed the budget, so it was not made.

    Example:
        >>> try:
        ...     raise BudgetError("The budget of 1.00 is spent.", "Raise it.")
        ... except ModelError as error:
        ...     print(error.message)
        The budget of 1.00 is spent.
    """


class RefusedError(KgragError):
    """The read-only gateway refuses a Cypher statement; the message names the violated rule.

    Example:
        >>> try:
        ...     kg.cypher("CREATE (:Passage)")
        ... except RefusedError as error:
        ...     print(error.exit_code)
        8
    """

    exit_code = 8


class EngineError(KgragError):
    """The workers of an engine cannot be reached, or died again and again.

    Example:
        >>> print(EngineError.lost(3).remedy)
    """

    exit_code = 11

    @classmethod
    def lost(cls, times: int) -> Self:
        """Return the error for work whose workers died.

        Args:
            times: how often they died.

        Returns:
            The error with its remedy.
        """
        return cls(
            f"{times} workers ended at the same work: it needs too much memory, or they were killed.",
            "Give them more memory, or less at once: fewer workers, KGRAG_BATCH_PASSAGES=128. A script that has "
            'workers does its own work under `if __name__ == "__main__":`, since each worker reads it, too.',
        )


class AccessError(KgragError):
    """A server rejects a caller without a key, with an unknown one, or with one that lacks the right.

    Example:
        >>> try:
        ...     raise AccessError("The key is unknown.", "Ask for another.")
        ... except AccessError as error:
        ...     print(error.exit_code)
        9
    """

    exit_code = 9


class ServerError(KgragError):
    """A server of kgrag cannot be reached, or fails without an explanation.

    Example:
        >>> try:
        ...     RemoteKnowledgeGraph("http://localhost:1").collections()
        ... except ServerError as error:
        ...     print(error.exit_code)
        10
    """

    exit_code = 10


class TooLargeError(InputError):
    """A request is larger than a server accepts.

    Example:
        >>> try:
        ...     raise TooLargeError("The file has 300 MB; at most 200 are accepted.", "Split it.")
        ... except InputError as error:
        ...     print(error.remedy)
        Split it.
    """


class FullError(KgragError):
    """A server holds as many uploads as it may.

    Example:
        >>> try:
        ...     raise FullError("No space is left for uploads.", "Delete some.")
        ... except FullError as error:
        ...     print(error.remedy)
        Delete some.
    """


class BusyError(KgragError):
    """A server is overloaded, or a key sends requests too often.

    Args:
        message: what happened.
        remedy: what to do next.
        seconds: the time until a retry.

    Example:
        >>> try:
        ...     raise BusyError("Too many requests.", seconds=2.0)
        ... except BusyError as error:
        ...     time.sleep(error.seconds)
    """

    def __init__(self, message: str, remedy: str = "", seconds: float = 1.0) -> None:
        super().__init__(message, remedy)
        self.seconds = seconds


def error_of(kind: str, message: str, remedy: str) -> KgragError:
    """Return an error of the named class, or a ServerError if the class is unknown, such as one of a newer server."""
    named = globals().get(kind)
    if isinstance(named, type) and issubclass(named, KgragError):
        return named(message, remedy)
    return ServerError(message, remedy)


def tls_hint(address: str, error: BaseException | None) -> str:
    """Return the remedy where one side of a failed connection speaks TLS and the other does not.

    Empty where both may.
    """
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__
    names = " ".join(f"{type(cause).__name__} {cause}" for cause in causes)
    scheme = address.partition("://")[0]
    if scheme.endswith(("https", "+s", "+ssc")):
        plain = scheme.partition("+")[0].replace("https", "http")
        wrong = re.search(r"WRONG_VERSION|UNKNOWN_PROTOCOL|record layer|BoltSecurityError", names, re.IGNORECASE)
        return f"It does not speak TLS there: write {plain}://." if wrong else ""
    if re.search(
        r"illegal (status|request) line|handshake response|reset by peer|disconnected without|support communication"
        r"|HTTPS (server|port)",
        names,
    ):
        return f"It may take TLS alone there: try {'https' if scheme == 'http' else f'{scheme}+s'}://."
    return ""


def without_login(text: str) -> str:
    """Return a text with the names and passwords in addresses hidden: bolt://***@host."""
    return re.sub(r"((?:\w|\+)+://)?[^\s'\"/@]*:[^\s'\"]*@", r"\1***@", text)
