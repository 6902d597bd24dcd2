"""The address of a server of OpenAI's protocol, the connection to it, and the limit of its requests."""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import SecretStr

from kgrag.models.chat_errors import Server, no_connection
from kgrag.runtime import limits
from kgrag.values.errors import ConfigurationError, ModelError, without_login

if TYPE_CHECKING:
    import openai


class Place:
    """A call under way: whether no other was meanwhile; `wave`: how often the limit had been halved when it began."""

    alone = True
    wave = 0


class Slots:
    """Calls under way, bounded by the observed capacity of the server. Safe to share between threads.

    A server that ends a reply when another request comes is sent one at a time; one that lets calls wait until they are
    late is sent half as many, and one more again after as many good replies as are under way at once.
    """

    def __init__(self, most: int) -> None:
        self._most = self._limit = most
        self._good = self._wave = 0
        self._places: set[Place] = set()
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator["Place"]:
        """Wait for a place, and hold it."""
        place = Place()
        with self._changed:
            self._changed.wait_for(lambda: len(self._places) < self._limit)
            place.wave = self._wave
            self._places.add(place)
            if len(self._places) > 1:
                for other in self._places:
                    other.alone = False
        try:
            yield place
        finally:
            with self._changed:
                self._places.remove(place)
                self._changed.notify_all()

    @property
    def limit(self) -> int:
        """How many there may be now."""
        return self._limit

    def one_at_a_time(self) -> None:
        """Send one request at a time from now on: the server ends a reply when another request comes."""
        with self._changed:
            self._most = self._limit = 1

    def late(self, place: "Place") -> None:
        """Record a call that was not answered in time."""
        with self._changed:
            if place.wave == self._wave:  # calls that were under way together count once
                self._wave, self._limit, self._good = self._wave + 1, max(1, self._limit // 2), 0

    def good(self) -> None:
        """Record a call that was answered."""
        with self._changed:
            self._good += 1
            if self._good >= self._limit and self._limit < self._most:
                self._limit, self._good = self._limit + 1, 0
                self._changed.notify_all()


_WINDOW = 61.0
"""Seconds of a minute, and one more: requests do not arrive exactly as far apart as they were sent."""


@dataclass(slots=True)
class Turn:
    """A request under way. `tokens` is its estimate, later its actual number."""

    at: float
    tokens: int


class Pace:
    """Lets requests through so that no minute has more of them, or of their tokens, than it may."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        """Set the most calls of a minute; None: any number."""
        self._requests, self._tokens = requests, tokens
        self._turns: deque[Turn] = deque()
        self._not_before = 0.0
        self._changed = threading.Condition()

    def turn(self, tokens: int) -> Turn:
        """Wait for room for a request of so many tokens; one of more than a minute may have gets a minute of its own.

        Raises DeadlineError or CancelledError when the caller's limits end the wait.
        """
        with self._changed:
            while True:
                left = limits.remaining()
                wait = self._wait(tokens)
                if wait <= 0:
                    turn = Turn(time.monotonic(), tokens)
                    if self._requests is not None or self._tokens is not None:
                        self._turns.append(turn)
                    return turn
                self._changed.wait(min(wait, 1.0, left if left is not None else wait))  # a second: it may be cancelled

    def settle(self, turn: Turn, tokens: int) -> None:
        """Tell what a request took in the end."""
        with self._changed:
            turn.tokens = tokens
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the server asked for it."""
        with self._changed:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _wait(self, tokens: int) -> float:
        """Return seconds until there may be room."""
        now = time.monotonic()
        while self._turns and self._turns[0].at <= now - _WINDOW:
            self._turns.popleft()
        wait = self._not_before - now
        used = sum(turn.tokens for turn in self._turns)
        many = self._requests is not None and len(self._turns) >= self._requests
        much = self._tokens is not None and bool(self._turns) and used + tokens > self._tokens
        if many or much:
            wait = max(wait, self._turns[0].at + _WINDOW - now)
        return wait


OPENAI = "https://api.openai.com/v1"
_CONNECT = 10.0
"""Seconds in which a connection must stand."""
_SECRET = 8
"""Letters from which a key is one, and not a word that a local server is given."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server: its whole address, and its credentials, which are never shown."""

    base_url: str
    key: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(
        cls, group: str, model: str, base_url: str | None, api_key: SecretStr | None, headers: Mapping[str, SecretStr]
    ) -> "Endpoint":
        """Return the endpoint by settings of `group` (CHAT, EMBEDDING) and the client's own variables; settings win.

        Raises ConfigurationError for an invalid address, and for OpenAI's without a key.
        """
        address = base_url or os.environ.get("OPENAI_BASE_URL")
        key = (api_key.get_secret_value() if api_key else "") or os.environ.get("OPENAI_API_KEY", "")
        if not key and not address:
            raise ConfigurationError(
                f"The model {model!r} of {OPENAI} needs a key.",
                f"Set OPENAI_API_KEY, or KGRAG_{group}__BASE_URL to the address of a server of your own.",
            )
        if address and not address.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"{_without_login(address)!r} is no address of a server.",
                f"Write KGRAG_{group}__BASE_URL (or OPENAI_BASE_URL) as http://HOST:PORT/v1 or https://HOST/v1.",
            )
        return cls((address or OPENAI).rstrip("/"), key, {name: v.get_secret_value() for name, v in headers.items()})

    @property
    def address(self) -> str:
        """The address as it may be shown: without name, password and parameters."""
        return _without_login(self.base_url)

    def attributes(self, model: str) -> dict[str, str | int]:
        """Return the server's part of a span of a call, by the names of OpenTelemetry's conventions."""
        url = urlsplit(self.base_url)
        values: dict[str, str | int] = {"server.address": url.hostname or "", "server.port": _port(url)}
        return values | ({"gen_ai.request.model": model} if model else {})

    def connect(self, timeout: float, server: Server) -> "openai.OpenAI":
        """Return a client, which does not retry by itself. Raises UnavailableError when none runs on this machine."""
        self._check_running(server)
        import openai

        url = urlsplit(self.base_url)
        return openai.OpenAI(
            base_url=url._replace(query="").geturl(),
            default_query=dict(parse_qsl(url.query, keep_blank_values=True)),  # Azure's ?api-version=...
            api_key=self.key or "none",  # the client insists on one
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(_CONNECT, timeout)),
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [_read_refusal]}),
        )

    def extra_headers(self) -> dict[str, Any]:
        """Return the headers of each request beside those of the client: no key where a header replaces it."""
        import openai

        no_key = {"Authorization": openai.Omit()} if self.headers and not self.key else {}
        return {**no_key, **self.headers}

    def hidden(self, error: ModelError) -> ModelError:
        """Return the error without secrets."""
        message = error.message
        for secret in (self.key, *self.headers.values()):
            if len(secret) >= _SECRET:
                message = message.replace(secret, "***")
        if message != error.message:
            error = copy(error)
            error.message, error.args = message, (message,)
        return error

    def _check_running(self, server: Server) -> None:
        """Tell at once that no server runs on this machine, where it would be tried again and again first."""
        url = urlsplit(self.base_url)
        if url.hostname not in ("localhost", "127.0.0.1", "::1"):
            return
        try:
            socket.create_connection((url.hostname, _port(url)), _CONNECT).close()
        except OSError as error:
            raise no_connection(server, error) from None


def _port(url: SplitResult) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _read_refusal(response: Any) -> None:
    """Read why a request was refused: if that is interrupted within a hook, the client raises an error of its own."""
    if response.is_error:
        response.read()


def _without_login(url: str) -> str:
    parts = urlsplit(without_login(url))  # without the login, since / or # in a password would end the host
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
