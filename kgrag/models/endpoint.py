"""The address of a server that speaks OpenAI's protocol, its connection, and the limits of its requests."""

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
    """A running call: whether it was the only one; `wave`: how often the limit had been halved when it began."""

    alone = True
    wave = 0


class Slots:
    """Running calls, bounded by the observed capacity of the server. Safe to share between threads.

    A server that aborts a reply when another request arrives gets one request at a time. If replies are late, the limit
    is halved; it grows by one after as many good replies as the limit.
    """

    def __init__(self, most: int) -> None:
        self._most = self._limit = most
        self._good = self._wave = 0
        self._places: set[Place] = set()
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator["Place"]:
        """Wait for a free slot, and hold it."""
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
        """The current limit of running calls."""
        return self._limit

    def one_at_a_time(self) -> None:
        """Send one request at a time from now on: the server aborts a reply when another request arrives."""
        with self._changed:
            self._most = self._limit = 1

    def late(self, place: "Place") -> None:
        """Record a call that was not answered in time."""
        with self._changed:
            if place.wave == self._wave:  # parallel calls count once
                self._wave, self._limit, self._good = self._wave + 1, max(1, self._limit // 2), 0

    def good(self) -> None:
        """Record a call that was answered."""
        with self._changed:
            self._good += 1
            if self._good >= self._limit and self._limit < self._most:
                self._limit, self._good = self._limit + 1, 0
                self._changed.notify_all()


_WINDOW = 61.0
"""Seconds of a minute, and one more, since intervals at the server differ from those of the client."""


@dataclass(slots=True)
class Turn:
    """A running request. `tokens`: an estimate, later the actual number."""

    at: float
    tokens: int


class Pace:
    """Limits the requests and the tokens of each minute."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        """Set the limits of a minute; None: no limit."""
        self._requests, self._tokens = requests, tokens
        self._turns: deque[Turn] = deque()
        self._not_before = 0.0
        self._changed = threading.Condition()

    def turn(self, tokens: int) -> Turn:
        """Wait for room for a request of so many tokens; one beyond the limit gets a minute of its own.

        Raises DeadlineError or CancelledError if the limits of the caller end the wait.
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
                self._changed.wait(
                    min(wait, 1.0, left if left is not None else wait)
                )  # a second, since it may be cancelled

    def settle(self, turn: Turn, tokens: int) -> None:
        """Record the actual tokens of a request."""
        with self._changed:
            turn.tokens = tokens
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Hold all requests for a pause that the server requested."""
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
"""Seconds within which a connection must be made."""
_SECRET = 8
"""Minimum letters of a secret key; shorter ones are placeholders for local servers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server: its full address, and its credentials, which are never shown."""

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
        """The address for messages: without user, password and parameters."""
        return _without_login(self.base_url)

    def attributes(self, model: str) -> dict[str, str | int]:
        """Return the attributes of the server for the span of a call, by OpenTelemetry's conventions."""
        url = urlsplit(self.base_url)
        values: dict[str, str | int] = {"server.address": url.hostname or "", "server.port": _port(url)}
        return values | ({"gen_ai.request.model": model} if model else {})

    def connect(self, timeout: float, server: Server) -> "openai.OpenAI":
        """Return a client without retries. Raises UnavailableError if a local server is not running."""
        self._check_running(server)
        import openai

        url = urlsplit(self.base_url)
        return openai.OpenAI(
            base_url=url._replace(query="").geturl(),
            default_query=dict(parse_qsl(url.query, keep_blank_values=True)),  # Azure's ?api-version=...
            api_key=self.key or "none",  # the client requires one
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(_CONNECT, timeout)),
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [_read_refusal]}),
        )

    def extra_headers(self) -> dict[str, Any]:
        """Return the additional headers of each request; no key if a header replaces it."""
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
        """Raise at once if a local server is not running, instead of after all retries."""
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
    """Read the reason of a refusal here: if reading fails within a hook, the client raises another error."""
    if response.is_error:
        response.read()


def _without_login(url: str) -> str:
    parts = urlsplit(without_login(url))  # without the login, since / or # in a password would end the host
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
