"""One hierarchy of errors; each says what happened and what to do about it."""

import re
from typing import Self


class KgragError(Exception):
    """Base of every error that kgrag raises on purpose.

    `message` says what happened, `remedy` what to do next; `exit_code` is what the command line ends with.
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
        """What happened and what to do about it, in one paragraph."""
        return " ".join(filter(None, (self.message, self.remedy)))


class ConfigurationError(KgragError):
    """A setting is missing or invalid, or an optional package is not installed."""

    exit_code = 2


class DatabaseError(KgragError):
    """Neo4j cannot be reached, refuses the login, or failed while answering."""

    exit_code = 3


class UnreachableError(DatabaseError):
    """Neo4j does not answer, or does not let kgrag in."""


class StatementError(DatabaseError):
    """Neo4j does not take a statement of the caller's, or ended it for what it took: it is to be corrected."""


class DeadlineError(DatabaseError):
    """A call took longer than it was given."""


class CancelledError(KgragError):
    """The call was cancelled by its caller."""

    exit_code = 130


class LocalServerError(DatabaseError):
    """The local Neo4j cannot be set up, started or stopped."""


class NotFoundError(KgragError):
    """A collection, document, passage or retriever of that name does not exist."""

    exit_code = 4


class InputError(KgragError):
    """What the user gave to read cannot be read."""

    exit_code = 5


class MismatchError(KgragError):
    """A collection was made with another embedder, dimension, schema version or chunking."""

    exit_code = 6


class ModelError(KgragError):
    """A language model, or TAGME, cannot be reached, refuses, or answers nothing that can be used.

    `lost`: tokens that were read and written without a reply in the end, and their cost, None where it is unknown.
    """

    exit_code = 7
    lost: tuple[int, int, float | None] = (0, 0, 0.0)


class TooLongError(ModelError):
    """A model's context is too short for what it is to read; `share`: how much of that it can read, about.

    `context`: how many tokens it has, 0 where that is not known.
    """

    share: float = 0.5
    context: int = 0


class UnavailableError(ModelError):
    """The server of a model, or TAGME, cannot be reached, or refuses every call: retrying will not help."""


class BudgetError(ModelError):
    """A call could cross the budget, so it was not made."""


class RefusedError(KgragError):
    """A Cypher statement that the read-only gateway does not run: the message names the rule that it breaks."""

    exit_code = 8


class EngineError(KgragError):
    """The workers of an engine cannot be reached, or are lost again and again."""

    exit_code = 11

    @classmethod
    def lost(cls, times: int) -> Self:
        """The error for work whose workers were lost so many times."""
        return cls(
            f"{times} workers ended at the same work: it needs too much memory, or they were killed.",
            "Give them more memory, or less at once: fewer workers, KGRAG_BATCH_PASSAGES=128. What was written stays.",
        )


class AccessError(KgragError):
    """A server does not let a caller in: no key, an unknown one, or one that does not allow it."""

    exit_code = 9


class ServerError(KgragError):
    """A server of kgrag cannot be reached, or fails in a way that it does not explain."""

    exit_code = 10


class TooLargeError(InputError):
    """A request is larger than a server takes."""


class FullError(KgragError):
    """A server holds as many uploads as it may."""


class BusyError(KgragError):
    """A server has too much to do, or a key asks too often; `seconds`: after how long to try again."""

    def __init__(self, message: str, remedy: str = "", seconds: float = 1.0) -> None:
        super().__init__(message, remedy)
        self.seconds = seconds


def error_of(kind: str, message: str, remedy: str) -> KgragError:
    """The error of the class of that name; ServerError for a name that is none, as of a newer server's class."""
    named = globals().get(kind)
    if isinstance(named, type) and issubclass(named, KgragError):
        return named(message, remedy)
    return ServerError(message, remedy)


def tls_hint(address: str, error: BaseException | None) -> str:
    """What to do where one side of a failed connection speaks TLS and the other does not; empty where both may."""
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__
    said = " ".join(f"{type(cause).__name__} {cause}" for cause in causes)
    scheme = address.partition("://")[0]
    if scheme.endswith(("https", "+s", "+ssc")):
        plain = scheme.partition("+")[0].replace("https", "http")
        wrong = re.search(r"WRONG_VERSION|UNKNOWN_PROTOCOL|record layer|BoltSecurityError", said, re.IGNORECASE)
        return f"It does not speak TLS there: write {plain}://." if wrong else ""
    if re.search(
        r"illegal (status|request) line|handshake response|reset by peer|disconnected without|support communication"
        r"|HTTPS (server|port)",
        said,
    ):
        return f"It may take TLS alone there: try {'https' if scheme == 'http' else f'{scheme}+s'}://."
    return ""


def without_login(text: str) -> str:
    """A text in which addresses show no name and password: bolt://***@host."""
    return re.sub(r"((?:\w|\+)+://)?[^\s'\"/@]*:[^\s'\"]*@", r"\1***@", text)
