"""An HTTP client of `kgrag serve`: it returns replies as JSON, streams events, and raises the server's errors."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kgrag.runtime import limits
from kgrag.values.errors import (
    BusyError,
    ConfigurationError,
    DeadlineError,
    KgragError,
    ServerError,
    error_of,
    tls_hint,
    without_login,
)
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]

_CONNECT = 15.0  # seconds to establish a connection
_REPLY = 600.0  # seconds to wait for a reply; the server has its own deadline


class Http:
    """Connections to one server, shared between threads. `url`: its address, without a login."""

    def __init__(self, url: str, key: str | None) -> None:
        """Make the client; nothing is sent yet.

        Raises ConfigurationError without httpx, or for an invalid address.
        """
        with require_extra("remote", "A server is reached by httpx, which is not installed."):
            import httpx
        url = url.rstrip("/")
        self.url = without_login(url)
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{self.url!r} is no address of a server.", "Write http://HOST:8000.")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx.Timeout(_REPLY, connect=_CONNECT)
        self._client = httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=timeout)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Json:
        """Send a request under /api/v1, with a JSON `body` or `options` of httpx, and return the reply.

        Raises the error that the server reports, ServerError if it cannot be reached, DeadlineError if it is too slow.
        """
        with _translated(self.url):
            response = self._client.request(method, path, json=body, **options)
        if response.is_success:
            form: Json = response.json()
            return form
        raise _error(response.status_code, response.content, response.headers)

    def events(self, method: str, path: str, body: Any = None) -> Iterator[tuple[str, Json]]:
        """Yield the events that the server sends, with their names, as they arrive. Raises as `request` does."""
        accept = {"Accept": "text/event-stream"}
        with _translated(self.url), self._client.stream(method, path, json=body, headers=accept) as response:
            if not response.is_success:
                raise _error(response.status_code, response.read(), response.headers)
            name = ""
            for line in response.iter_lines():
                limits.remaining()  # checks the deadline at keep-alive lines, too
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    form = json.loads(value)
                    if name == "error":
                        raise _error_of(form)
                    yield name, form


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Raise errors of the connection as kgrag's own."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise DeadlineError(f"The server at {url} did not answer in time.", "Is it overloaded? Try again.") from error
    except httpx.HTTPError as error:
        raise ServerError(
            f"The server at {url} cannot be reached: {type(error).__name__}.",
            tls_hint(url, error) or "Is it running, and its address right?",
        ) from error


def _error(status: int, body: bytes, headers: "httpx.Headers") -> KgragError:
    """Return the error that a response reports."""
    try:
        error = _error_of(json.loads(body))
    except (ValueError, KeyError, TypeError):
        return ServerError(f"The server replied with status {status}.", "Is this the address of `kgrag serve`?")
    if isinstance(error, BusyError) and headers.get("retry-after", "").isdecimal():
        error.seconds = float(headers["retry-after"])
    return error


def _error_of(form: Mapping[str, Any]) -> KgragError:
    """Return the error of a JSON form."""
    return error_of(str(form["kind"]), str(form["error"]), str(form["remedy"]))
