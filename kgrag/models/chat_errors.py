"""What goes wrong with a language model's server, and what to do about it."""

import json
import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from kgrag.models.dialect import share_that_fits
from kgrag.values.errors import ModelError, TooLongError, UnavailableError, tls_hint

if TYPE_CHECKING:
    import openai


_OTHER_REASONS = (401, 402, 403, 404, 405, 408, 409, 425, 429, 502, 503, 504)
"""Statuses that say nothing of the form of a request."""
_LONGEST = 300
"""Characters of what a server says that are shown."""
_LONGEST_PAUSE = 600.0
"""Seconds: a server that wants a longer one is not waited for."""
_USED_UP = re.compile(r"quota|billing|credit|balance|payment|plan\b", re.IGNORECASE)
_FOR_NOW = re.compile(
    r"per.?(second|minute)|\b[rt]pm\b|(retry|again) (in|after)|requests? limit|too many", re.IGNORECASE
)
TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|too (long|large)|(at most|maximum|too many).{0,30}\btokens",
    re.IGNORECASE,
)
"""That a text is longer than a model reads."""
NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,80}(not found|not exist|not available|unknown)|(unknown|invalid|no such) model",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Server:
    """What is asked, for messages: a `model` at an `address`; `group` of the settings that name it; how often tried."""

    model: str
    address: str
    timeout: float
    retries: int
    group: str = "CHAT"
    limit: str = ""

    @property
    def where(self) -> str:
        """Which setting holds the address."""
        if self.group == "RERANKER":
            return "The address is KGRAG_RERANKER__BASE_URL; it mostly ends with /v1, that of TEI does not."
        return f"The address is KGRAG_{self.group}__BASE_URL (or OPENAI_BASE_URL); it mostly ends with /v1."

    @property
    def other(self) -> str:
        """Which setting names another model."""
        return "Name another model after openai:" if self.group == "EMBEDDING" else f"Set KGRAG_{self.group}__MODEL"

    @property
    def load(self) -> str:
        """Which setting says how much is asked at once."""
        return "KGRAG_CHAT__CONCURRENCY" if self.group == "CHAT" else f"KGRAG_{self.group}__BATCH"

    @property
    def tries(self) -> str:
        """After how many tries."""
        return f"after {self.retries + 1} tries" if self.retries else "at the first try"


class LostReply(Exception):
    """The server answered, but what it sent is no whole reply; `slow`: because it took too long.

    `body`: of an error that it sent as a reply; `written`: what there was of a reply.
    """

    def __init__(self, message: str, slow: bool = False, body: str = "") -> None:
        super().__init__(message)
        self.slow, self.body, self.written = slow, body, ""


class WithheldError(LostReply):
    """The server keeps the reply back, for what it says; asking again will not help."""


def server_error(error: Exception, server: Server) -> ModelError:
    """Return the ModelError for one of the openai client, or a LostReply; its remedy names the setting to change."""
    import openai

    if isinstance(error, WithheldError):
        return ModelError(
            f"The reply of {server.model!r} at {server.address} is withheld: {error}",
            "Ask in other words, have the server filter less, or try another model: KGRAG_CHAT__MODEL.",
        )
    if isinstance(error, openai.APITimeoutError) or (isinstance(error, LostReply) and error.slow):
        return ModelError(
            f"The model {server.model!r} did not answer within {server.timeout:g} seconds, {server.tries}.",
            f"Raise KGRAG_{server.group}__TIMEOUT, or lower {server.load}.",
        )
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        if type(cause).__name__ == "ConnectError":  # of httpx or httpx2, whichever the client stands on
            return no_connection(server, cause)
        return _lost(cause, server)
    if isinstance(error, openai.APIStatusError):
        return _refused(error, server)
    return _lost(error, server)


def no_connection(server: Server, cause: BaseException) -> ModelError:
    """Return the error for an unreachable server."""
    hint = tls_hint(server.address, cause) or "Is the server running?"
    return UnavailableError(f"No connection to {server.address}: {_first_line(cause)}", f"{hint} {server.where}")


def pause_before_retry(error: Exception, tried: int) -> float | None:
    """Return the seconds before the next try after `tried` ones, by Retry-After; None: a retry does not help."""
    import openai

    if isinstance(error, WithheldError):
        return None
    if not isinstance(error, openai.APIStatusError):
        return _backoff(tried, 0.5, 8.0)
    status = error.status_code
    if (status not in (408, 409, 425, 429) and status < 500) or _is_used_up(error):
        return None
    pause = _retry_after(error.response.headers)
    if pause is not None:
        return pause if pause <= _LONGEST_PAUSE else None
    return _backoff(tried, 1.0, 60.0) if status == 429 else _backoff(tried, 0.5, 8.0)


def body_of(error: "openai.APIStatusError") -> str:
    """Return the server's text, unchanged."""
    return error.response.text


def refusal(error: Exception) -> tuple[int, str]:
    """Return the status and the body of a likely refusal of a request's form, whatever its status; else 0, empty."""
    import openai

    if isinstance(error, openai.APIStatusError) and error.status_code not in _OTHER_REASONS:
        return error.status_code, body_of(error)
    return (500, error.body) if isinstance(error, LostReply) and error.body else (0, "")


def reason_of(body: str) -> str:
    """Return the text of a server's error in any form: an object that has it somewhere, HTML, or plain text."""
    try:
        found = _said(json.loads(body))
    except (ValueError, RecursionError):
        found = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", body, flags=re.DOTALL | re.IGNORECASE)
    said = " ".join(found.split())[:_LONGEST].rstrip(".")
    return f"{said}." if said else "it does not say why."


def _said(value: Any) -> str:
    """Return the text of an error's object: that of the first of its usual names."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_said, value)))
    if isinstance(value, dict):
        for name in ("error", "message", "msg", "detail", "reason", "error_description", "title", "errors"):
            if value.get(name) and (said := _said(value[name])):
                where = value.get("loc") if name == "msg" else None
                return f"{'.'.join(map(str, where))}: {said}" if isinstance(where, list) else said
        return json.dumps(value, ensure_ascii=False) if value else ""
    return "" if value is None else str(value)


def _backoff(tried: int, first: float, most: float) -> float:
    return min(most, first * 2.0 ** (tried - 1)) * random.uniform(0.75, 1)


def _retry_after(headers: Any) -> float | None:
    """Return the seconds of a server's request for a pause, given as such, in milliseconds, or as a date."""
    given = str(headers.get("retry-after", ""))
    for number, scale in ((headers.get("retry-after-ms"), 1000), (given, 1)):
        try:
            return max(0.0, float(str(number)) / scale)
        except ValueError:
            continue
    try:
        at = parsedate_to_datetime(given)
    except ValueError:
        return None
    seconds: float = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds)


def _is_used_up(error: "openai.APIStatusError") -> bool:
    """Return whether a 429 means that there is no money left, not that a minute has too many requests."""
    if error.status_code != 429:
        return False
    body = body_of(error)
    if "insufficient_quota" in body:
        return True
    return bool(_USED_UP.search(body)) and not _FOR_NOW.search(body) and _retry_after(error.response.headers) is None


def _lost(error: BaseException, server: Server) -> ModelError:
    """Return the error for a server without a complete reply."""
    return ModelError(
        f"No whole reply of {server.model!r} came from {server.address}, in {server.retries + 1} tries: "
        f"{_first_line(error)}",
        f"{tls_hint(server.address, error) or 'Is this an OpenAI-compatible server?'} {server.where}",
    )


def _refused(error: "openai.APIStatusError", server: Server) -> ModelError:
    said, status, address = reason_of(body_of(error)), error.status_code, server.address
    if "HTTPS" in said and (hint := tls_hint(address, error)):
        return UnavailableError(f"{address} refuses the request: {said}", f"{hint} {server.where}")
    if status == 402 or _is_used_up(error):
        return UnavailableError(
            f"The account's quota at {address} is used up: {said}", "Add to it, or use another key."
        )
    if status in (401, 403):
        return UnavailableError(
            f"{address} refuses the key: {said}",
            f"Set {'' if server.group == 'RERANKER' else 'OPENAI_API_KEY or '}KGRAG_{server.group}__API_KEY to a key "
            f"that may use {server.model!r}.",
        )
    if status in (404, 405) or (status in (400, 422) and NO_MODEL.search(body_of(error))):
        return UnavailableError(
            f"There is no model {server.model!r} at {address}: {said}", f"{server.other}. {server.where}"
        )
    again = f"KGRAG_{server.group}__RETRIES"
    if status == 429:
        pace = "set KGRAG_CHAT__REQUESTS_PER_MINUTE and KGRAG_CHAT__TOKENS_PER_MINUTE to what it allows"
        return ModelError(
            f"{address} takes no more requests, {server.tries}: {said}",
            f"Lower {server.load}, or {pace if server.group == 'CHAT' else f'raise {again}'}.",
        )
    if status >= 500:
        kept = {
            "CHAT": "replies so far are kept",
            "EMBEDDING": f"what is written stays. Or raise {again}",
            "RERANKER": f"or raise {again}",
        }
        return ModelError(f"{address} fails, {server.tries}: {said}", f"Try again later; {kept[server.group]}.")
    message, remedy = f"{address} refuses the request to {server.model!r}: {said}", _remedy(said, server)
    fits = share_that_fits(body_of(error)) if server.group == "CHAT" else None
    if fits is None:
        return ModelError(message, remedy)
    too_long = TooLongError(message, remedy)
    too_long.share, too_long.context = fits
    return too_long


def _remedy(said: str, server: Server) -> str:
    if server.group != "CHAT":
        return f"{server.other}, or another server: KGRAG_{server.group}__BASE_URL."
    other = "max_completion_tokens" if server.limit == "max_tokens" else "max_tokens"
    for sign, remedy in (
        (
            r"context.{0,20}(length|window|size)|too long|too many tokens",
            "Show it less, as by gear(evidence=5), give the server a longer context, or use another model.",
        ),
        (r"max_(completion_)?tokens", f"Set KGRAG_CHAT__LIMIT={other}, or lower KGRAG_CHAT__MAX_TOKENS."),
        (r"temperature", "Set KGRAG_CHAT__TEMPERATURE=none, or to one that the model takes."),
        (r"response_format|json", "Set KGRAG_CHAT__JSON_MODE=none."),
    ):
        if re.search(sign, said, re.IGNORECASE):
            return remedy
    return f"Try another model: KGRAG_{server.group}__MODEL."


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST].rstrip(".") + "."
