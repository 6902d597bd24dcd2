"""TAGME: a server that says which Wikipedia articles a text speaks of, and how sure it is of each.

P. Ferragina and U. Scaiella, "TAGME: on-the-fly annotation of short text fragments (by Wikipedia entities)", CIKM 2010.
The `tagme` package asks once, without a time limit, and takes a refusal for an empty reply; so the same API is spoken
here through urllib3, which tries again.
"""

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

import urllib3
from pydantic import BaseModel, Field, ValidationError
from urllib3.exceptions import (
    HTTPError,
    MaxRetryError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
    TimeoutError,
)

from kgrag.models.chat_cache import Kept, ReplyCache
from kgrag.settings import Settings, TagmeSettings
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError

TITLES = "titles"
"""The address that stands for no server: the titles of the collection's own documents."""
_LONG_TEXT = "3"
"""How texts of more than a few words are taken; the value of the official client."""
_BUSY = (429, 500, 502, 503, 504)
_CONNECT = 10.0
"""Seconds in which a connection must stand."""
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Annotation:
    """An article that a text speaks of, from its letter `start` to before `end`; `rho`: how sure TAGME is, 0 to 1."""

    title: str
    rho: float
    start: int
    end: int


class _Found(BaseModel):
    title: str | None = None  # it lacks one where the article is gone
    rho: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class _Reply(BaseModel):
    annotations: list[_Found]


class Tagme:
    """A client of one TAGME server; safe to share between threads.

    When there is no connection, or the server is busy or fails, it is asked again, with growing pauses and as its
    Retry-After says. Whole replies are kept on disk: they hold all annotations, whatever the threshold.
    """

    def __init__(self, settings: TagmeSettings, cache: Path | None = None) -> None:
        """`cache`: folder where replies are kept. Nothing is sent yet.

        Raises ConfigurationError when the token is missing, or the address or the folder cannot be used.
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
                allowed_methods=None,  # asking changes nothing, although it is by POST
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
        """All that TAGME finds in a text, without regard to the threshold.

        Raises UnavailableError when it cannot be reached or refuses the token, ModelError for any other failure.
        """
        request = {"text": text, "lang": self._settings.lang, "long_text": _LONG_TEXT}
        key = ReplyCache.key(self._settings.endpoint, request)
        kept = self._cache.get(key) if self._cache is not None else None
        if kept is not None:
            return _annotations(text, _Reply.model_validate_json(kept.text))
        body = self._ask(request)
        try:
            reply = _Reply.model_validate_json(body)
        except ValidationError as error:
            raise ModelError(
                f"{self._address} replied nothing that can be used: {error.errors()[0]['msg']}.",
                "Is this a TAGME server? Its address is KGRAG_TAGME__ENDPOINT; it mostly ends with /tag.",
            ) from error
        if self._cache is not None:
            self._cache.put(key, Kept(reply.model_dump_json(), 0, 0, False))
        return _annotations(text, reply)

    def _ask(self, request: dict[str, str]) -> bytes:
        token = {"gcube-token": self._token} if self._token else {}
        try:
            reply = self._pool.request("POST", self._settings.endpoint, fields=request | token, encode_multipart=False)
        except (HTTPError, ValueError) as error:  # urllib3 raises some of both for what it cannot send
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

    def _refusal(self, status: int, said: str) -> ModelError:
        text = self._without_token(said)
        said = f"HTTP {status}" + (f", {text}" if text else "")
        match status:
            case 401 | 403:
                return UnavailableError(
                    f"{self._address} refuses the token ({said}).", "Set KGRAG_TAGME__TOKEN to one that is valid."
                )
            case 404 | 301 | 302 | 307 | 308:
                return UnavailableError(f"There is no TAGME at {self._address} ({said}).", "Set KGRAG_TAGME__ENDPOINT.")
            case 429:
                return ModelError(
                    f"{self._address} takes no more requests, after {self._settings.retries + 1} tries ({said}).",
                    "Ask for less at once: kgrag enrich tag --threads 1.",
                )
            case _ if status >= 500:
                return ModelError(
                    f"{self._address} fails, after {self._settings.retries + 1} tries ({said}).",
                    "Try again later; replies so far are kept.",
                )
            case _:
                return ModelError(
                    f"{self._address} refuses the request ({said}).", "Is its language KGRAG_TAGME__LANG?"
                )

    def _without_token(self, text: str) -> str:
        line = (text.strip().splitlines() or [""])[0]
        return (line.replace(self._token, "***") if self._token else line)[:_LONGEST].rstrip(".")


def load_tagme(settings: Settings) -> Tagme:
    """The TAGME server that the settings name, with the cache of its replies. Raises ConfigurationError: see Tagme."""
    return Tagme(settings.tagme, settings.cache / "tagme" if settings.tagme.cache else None)


def check_tagme(settings: Settings) -> None:
    """Raises ConfigurationError when the settings name no server that can be asked; nothing is sent."""
    if settings.tagme.endpoint != TITLES:
        load_tagme(settings).close()


def can_tag(settings: Settings) -> bool:
    """Whether passages can be tagged, as far as the settings say."""
    try:
        check_tagme(settings)
    except ConfigurationError:
        return False
    return True


def address(settings: TagmeSettings) -> str:
    """The address of the server as it may be shown: without name, password and query."""
    parts = urlsplit(settings.endpoint)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _annotations(text: str, reply: _Reply) -> list[Annotation]:
    found = []
    for item in reply.annotations:
        title = " ".join(html.unescape(item.title or "").replace("_", " ").split())
        if title:
            found.append(Annotation(title, min(item.rho, 1.0), *_letters(text, item.start, item.end)))
    return found


def _letters(text: str, *places: int) -> list[int]:
    """Places in a text as Java counts them, in units of UTF-16, as numbers of letters."""
    if text.isascii():
        return [min(place, len(text)) for place in places]
    units = text.encode("utf-16-le")
    return [len(units[: 2 * place].decode("utf-16-le", "ignore")) for place in places]
