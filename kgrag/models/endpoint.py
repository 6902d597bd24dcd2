"""Where a server of OpenAI's protocol is, and how it is talked to: address, key, headers."""

import os
import socket
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import SecretStr

from kgrag.models.chat_errors import Server, no_connection
from kgrag.values.errors import ConfigurationError, ModelError, without_login

if TYPE_CHECKING:
    import openai

OPENAI = "https://api.openai.com/v1"
_CONNECT = 10.0
"""Seconds in which a connection must stand."""
_SECRET = 8
"""Letters from which a key is one, and not a word that a local server is given."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server: its whole address, and what is sent to be let in, which is never shown."""

    base_url: str
    key: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(
        cls, group: str, model: str, base_url: str | None, api_key: SecretStr | None, headers: Mapping[str, SecretStr]
    ) -> "Endpoint":
        """Return the endpoint by settings of `group` (CHAT, EMBEDDING) and the client's own variables; settings win.

        Raises ConfigurationError for an address that is none, or when OpenAI's is meant and there is no key.
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
                f"{_shown(address)!r} is no address of a server.",
                f"Write KGRAG_{group}__BASE_URL (or OPENAI_BASE_URL) as http://HOST:PORT/v1 or https://HOST/v1.",
            )
        return cls((address or OPENAI).rstrip("/"), key, {name: v.get_secret_value() for name, v in headers.items()})

    @property
    def address(self) -> str:
        """The address as it may be shown: without name, password and parameters."""
        return _shown(self.base_url)

    def attributes(self, model: str) -> dict[str, str | int]:
        """Return the server's part of a span of a call, by the names of OpenTelemetry's conventions."""
        url = urlsplit(self.base_url)
        found: dict[str, str | int] = {"server.address": url.hostname or "", "server.port": _port(url)}
        return found | ({"gen_ai.request.model": model} if model else {})

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


def _shown(url: str) -> str:
    parts = urlsplit(without_login(url))  # first: a / or # in a password would end the host
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
