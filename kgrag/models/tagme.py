"""TAGME: a server that finds the Wikipedia articles that a text mentions, each with a confidence.

P. Ferragina and U. Scaiella, "TAGME: on-the-fly annotation of short text fragments (by Wikipedia entities)", CIKM 2010.
The types of the `tagme` package parse the replies. urllib3 sends the requests, because it retries: the package sends
each once, without a time limit, and takes a refusal for an empty reply.
"""

import html
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError, ReadTimeoutError, SSLError, TimeoutError

from kgrag.models.chat import CachedReply, ReplyCache
from kgrag.settings import Settings, TagmeSettings
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError
from kgrag.values.installing import require_extra

TITLES = "titles"
"""The address that means no server: the titles of the collection's own documents."""
_LONG_TEXT = "3"
"""The parameter for texts of more than a few words, as in the official client."""
_BUSY = (429, 500, 502, 503, 504)
_CONNECT = 10.0
"""Seconds within which a connection must be made."""
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Annotation:
    """An article that a text mentions in the span from `start` to before `end`; `rho`: confidence, 0 to 1."""

    title: str
    rho: float
    start: int
    end: int


class Tagme:
    """A client of one TAGME server; safe to share between threads. Needs the extra `tagme`.

    Retries if there is no connection, or the server is busy or fails, with growing pauses and by Retry-After. Caches
    whole replies on disk: they hold all annotations, below the threshold as well.
    """

    def __init__(self, settings: TagmeSettings, cache: Path | None = None) -> None:
        """Make the client; nothing is sent yet.

        `cache`: folder of cached replies.

        Raises ConfigurationError if the token or package is missing, or the address or folder cannot be used.
        """
        self._token = settings.token.get_secret_value() if settings.token else ""
        official = settings.endpoint == TagmeSettings.model_fields["endpoint"].default
        if official and not self._token:
            raise ConfigurationError(
                "The public TAGME server needs a token.",
                "Set KGRAG_TAGME__TOKEN (one comes with a D4Science account), or KGRAG_TAGME__ENDPOINT to the address "
                "of another server; without any, titles of the collection's own documents are taken: `kgrag enrich tag "
                "--local`, KGRAG_TAGME__ENDPOINT=titles.",
            )
        if not settings.endpoint.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"{address(settings)!r} is no address of a server.",
                "Write KGRAG_TAGME__ENDPOINT as https://HOST/tagme/tag.",
            )
        problem = "TAGME's replies are read by the package tagme, which is not installed."
        with require_extra("tagme", problem, "Install it: {}; or do without a server: kgrag enrich tag --local."):
            import tagme
        self._package: Any = tagme
        self._settings = settings
        self._address = address(settings)
        self._cache = ReplyCache(cache, "KGRAG_TAGME__CACHE=false") if cache is not None else None
        self._pool = urllib3.PoolManager(
            maxsize=64,
            timeout=urllib3.Timeout(connect=min(_CONNECT, settings.timeout), read=settings.timeout),
            retries=urllib3.Retry(
                total=settings.retries,
                connect=min(2, settings.retries),
                redirect=False,
                status_forcelist=_BUSY,
                allowed_methods=None,  # safe to retry: the POST changes nothing
                backoff_factor=0.5,
                backoff_max=30,
                backoff_jitter=0.5,
                raise_on_status=False,
                retry_after_max=120,
            ),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Tagme({self._address})"

    def close(self) -> None:
        """Close connections and the cache."""
        self._pool.clear()
        if self._cache is not None:
            self._cache.close()

    def annotate(self, text: str) -> list[Annotation]:
        """Return all annotations of a text, below the threshold as well; caches only valid replies.

        Raises UnavailableError if the server cannot be reached or refuses the token, ModelError for other failures.
        """
        request = {"text": text, "lang": self._settings.lang, "long_text": _LONG_TEXT}
        key = ReplyCache.key(self._settings.endpoint, {**request, "reply": "whole"})
        cached = self._cache.get(key) if self._cache is not None else None
        if cached is not None:
            return self._read(text, cached.text)
        body = self._ask(request)
        try:
            annotations = self._read(text, body)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ModelError(
                f"{self._address} replied nothing that can be used: {error!r}.",
                "Is this a TAGME server? Its address is KGRAG_TAGME__ENDPOINT; it mostly ends with /tag.",
            ) from error
        if self._cache is not None:
            self._cache.put(key, CachedReply(body.decode(), 0, 0, False))
        return annotations

    def _read(self, text: str, body: str | bytes) -> list[Annotation]:
        annotations = self._package.AnnotateResponse(json.loads(body)).annotations
        if not all(math.isfinite(a.score) and a.score >= 0 <= a.begin for a in annotations):
            raise ValueError("a rho or a place is out of range")
        titles = [" ".join(html.unescape(a.entity_title or "").replace("_", " ").split()) for a in annotations]
        return [
            Annotation(title, min(a.score, 1.0), *_letters(text, a.begin, a.end))
            for title, a in zip(titles, annotations, strict=True)
            if title
        ]

    def _ask(self, request: dict[str, str]) -> bytes:
        fields = request | {"gcube-token": self._token} if self._token else request
        try:
            reply = self._pool.request("POST", self._settings.endpoint, fields=fields, encode_multipart=False)
        except (HTTPError, ValueError) as error:  # urllib3 raises both kinds for texts that it cannot send
            raise self._failure(error) from None
        if reply.status == 200:
            return reply.data
        raise self._refusal(reply.status, reply.data.decode("utf-8", "replace"))

    def _failure(self, error: Exception) -> ModelError:
        cause = (error.reason or error) if isinstance(error, MaxRetryError) else error
        tries = f"after {self._settings.retries + 1} tries" if self._settings.retries else "at the first try"
        if isinstance(cause, ReadTimeoutError):
            return ModelError(
                f"{self._address} did not answer within {self._settings.timeout:g} seconds, {tries}.",
                "Raise KGRAG_TAGME__TIMEOUT, or ask for less at once: kgrag enrich tag --threads 1.",
            )
        if isinstance(cause, NewConnectionError | SSLError | TimeoutError):
            return UnavailableError(
                f"No connection to {self._address}: {self._without_token(str(cause))}",
                "Is the server running? The address is KGRAG_TAGME__ENDPOINT.",
            )
        return ModelError(
            f"No whole reply came from {self._address}, {tries}: {self._without_token(str(cause))}",
            "Run the same command again.",
        )

    def _refusal(self, status: int, reason: str) -> ModelError:
        text = self._without_token(reason)
        reason = f"HTTP {status}" + (f", {text}" if text else "")
        match status:
            case 401 | 403:
                return UnavailableError(
                    f"{self._address} refuses the token ({reason}).", "Set KGRAG_TAGME__TOKEN to one that is valid."
                )
            case 404 | 301 | 302 | 307 | 308:
                return UnavailableError(
                    f"There is no TAGME at {self._address} ({reason}).", "Set KGRAG_TAGME__ENDPOINT."
                )
            case 429:
                return ModelError(
                    f"{self._address} takes no more requests, after {self._settings.retries + 1} tries ({reason}).",
                    "Ask for less at once: kgrag enrich tag --threads 1.",
                )
            case _ if status >= 500:
                return ModelError(
                    f"{self._address} fails, after {self._settings.retries + 1} tries ({reason}).",
                    "Try again later; replies so far are kept.",
                )
            case _:
                return ModelError(
                    f"{self._address} refuses the request ({reason}).", "Is its language KGRAG_TAGME__LANG?"
                )

    def _without_token(self, text: str) -> str:
        line = (text.strip().splitlines() or [""])[0]
        return (line.replace(self._token, "***") if self._token else line)[:_LONGEST].rstrip(".")


def load_tagme(settings: Settings) -> Tagme:
    """Return the TAGME server of the settings, with the cache of its replies. Raises as Tagme does."""
    return Tagme(settings.tagme, settings.cache / "tagme" if settings.tagme.cache else None)


def check_tagme(settings: Settings) -> None:
    """Check the settings without a call. Raises ConfigurationError if they name no usable server."""
    if settings.tagme.endpoint != TITLES:
        load_tagme(settings).close()


def can_tag(settings: Settings) -> bool:
    """Return whether the settings allow tagging of passages."""
    try:
        check_tagme(settings)
    except ConfigurationError:
        return False
    return True


def address(settings: TagmeSettings) -> str:
    """Return the address of the server for messages: without name, password and query."""
    parts = urlsplit(settings.endpoint)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _letters(text: str, *places: int) -> list[int]:
    """Convert positions in UTF-16 units, as in Java, to positions in characters."""
    if text.isascii():
        return [min(place, len(text)) for place in places]
    units = text.encode("utf-16-le")
    return [len(units[: 2 * place].decode("utf-16-le", "ignore")) for place in places]
