"""Errors of a language model's server with their remedies, and the parts of the protocol that it accepts."""

import json
import logging
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kgrag.values.errors import ModelError, TooLongError, UnavailableError, tls_hint

if TYPE_CHECKING:
    import openai


_LOG = logging.getLogger(__name__)

LIMITS = ("max_tokens", "max_completion_tokens")
_FORMATS = ("json_schema", "json_object")
_FORMAT = re.compile(r"response.?format|json|schema|structured|guided|grammar", re.IGNORECASE)
_FORMAT_NAME = re.compile(r"response_format|json_schema|json_object")
_ROLES = re.compile(
    r"system.{0,20}(role|message|prompt|instruction)|roles?\b.{0,40}(system|alternat|user)", re.IGNORECASE
)
_LONG = re.compile(
    r"context.{0,20}(length|window|size)|too (long|large|big|many tokens)|(at most|maximum).{0,30}\btokens",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"n_ctx\W+(\d+)|context (?:length|window|size)(?: is| of)?\D{0,3}(\d+)", re.IGNORECASE)
_TO_READ = re.compile(
    r"n_prompt_tokens\W+(\d+)|(\d+)(?: tokens)? in (?:the|your) (?:messages|prompt|input)|(\d+) input tokens"
    r"|requested tokens \((\d+)\)|at least (\d+) input tokens",
    re.IGNORECASE,
)
"""The length of a context and of a request, in the words of llama.cpp, llama-cpp-python, vLLM and OpenAI."""
_FIXED = ("model", "messages")
_OWN = (*LIMITS, *_FORMATS, "schema", "temperature", "stream", "stream_options", "roles")
_LEAST = 128
"""Minimum tokens of a reply to request if the context is short."""
_ROOM = 512
"""Tokens that are kept free for a reply when passages are omitted."""


class Dialect:
    """The parameters that a model of a server refuses. Safe to share between threads."""

    def __init__(self) -> None:
        self._refused: set[str] = set()
        self._broken = 0

    def form(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request in the server's dialect."""
        form = dict(request)
        if "roles" in self._refused:
            form["messages"] = _alternating(request["messages"])
        mode = (form.get("response_format") or {}).get("type")
        if mode == "json_schema" and mode in self._refused:
            schema, mode = request["response_format"]["json_schema"]["schema"], "json_object"
            beside = {} if "schema" in self._refused else {"schema": schema}  # llama-cpp-python, Together, Fireworks
            form["response_format"] = {"type": mode, **beside}
        if mode in self._refused:
            del form["response_format"]
        for name, other in (LIMITS, LIMITS[::-1]):
            if name in self._refused and name in form:
                value = form.pop(name)
                if other not in self._refused:
                    form[other] = value
        if "stream" in self._refused:
            form.pop("stream_options", None)
        return {name: value for name, value in form.items() if name in LIMITS or name not in self._refused}

    def learn(self, body: str, request: Mapping[str, Any], *, limited: bool, sure: bool = True) -> bool:
        """Return whether a refusal names a part that requests can omit; later requests then omit it.

        `body`: the text of the refusal; `request`: the request as sent; `limited`: requests must keep a limit of the
        reply, under one name or the other, since a budget depends on it. If it is not `sure` that the error is a
        refusal, the text must contain the name of the parameter.
        """
        name = _named(body, request, sure)
        if name is None or (name in LIMITS and _LONG.search(body)):
            return False
        if limited and {name, *self._refused}.issuperset(LIMITS):
            return False
        if name not in self._refused:
            level = logging.INFO if name in _OWN else logging.WARNING  # warn if the user set the parameter
            _LOG.log(level, "%s does not take %s; it is left out or renamed from now on", request["model"], name)
        self._refused.add(name)
        return True

    def json_form(self, mode: str) -> str:
        """Return the parameters that request a reply in JSON; `mode`: the preferred mode."""
        if mode == "json_schema" and mode in self._refused:
            mode = "json_object" if "schema" in self._refused else "json_object and a schema"
        return "the prompt alone" if mode == "none" or mode.split()[0] in self._refused else mode

    def streamed(self, *, whole: bool) -> None:
        """Record the end of a stream; after two interrupted ones in a row, replies are not streamed any more."""
        self._broken = 0 if whole else self._broken + 1
        if self._broken > 1:
            self._refused.add("stream")


def shorter(body: str, request: Mapping[str, Any]) -> int | None:
    """Return a smaller limit of the reply after a refusal of a long request; None if that cannot help."""
    limit = next((request[name] for name in LIMITS if name in request), 0)
    if not _LONG.search(body):
        return None
    context, to_read = _number(_CONTEXT, body), _number(_TO_READ, body)
    fewer = context - to_read if context and to_read else limit // 2
    return fewer if _LEAST <= fewer < limit else None


def share_that_fits(body: str) -> tuple[float, int] | None:
    """Return the share of a too long request that fits, with room for a reply, and the tokens of the context.

    Returns None for any other refusal. The tokens are 0 if the server does not say.
    """
    if not _LONG.search(body):
        return None
    context, to_read = _number(_CONTEXT, body), _number(_TO_READ, body)
    return (max(0.0, context - _ROOM) / to_read if context and to_read else 0.5), context


def _number(pattern: re.Pattern[str], body: str) -> int:
    match = pattern.search(body)
    return int(next(filter(None, match.groups()))) if match else 0


def _named(body: str, request: Mapping[str, Any], sure: bool) -> str | None:
    """Return the parameter that a refusal names: in its own field, or else the first in its text."""
    fixed, form = (_FIXED, _FORMAT) if sure else ((*_FIXED, "stream"), _FORMAT_NAME)
    for text in (*_places(body), body):
        places: list[tuple[int, str]] = []
        for name in request:
            if name not in fixed and name != "response_format" and (at := re.search(rf"\b{re.escape(name)}\b", text)):
                places.append((at.start(), name))
        if "response_format" in request and (at := form.search(text)):
            beside = "schema" in request["response_format"]
            places.append((at.start(), "schema" if beside else request["response_format"]["type"]))
        if "stream" in request and (at := re.search(r"\bstreaming\b", text, re.IGNORECASE)):
            places.append((at.start(), "stream"))
        if _alternating(request["messages"]) != request["messages"] and (at := _ROLES.search(text)):
            places.append((at.start(), "roles"))
        if places:
            return min(places)[1]
    return None


def _places(body: str) -> list[str]:
    """Return the parameters that an error's own fields name: `param` (OpenAI), `loc` of each `detail` (FastAPI)."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    places = []
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict) and isinstance(error.get("param"), str):
        places.append(error["param"])
    details = value.get("detail") if isinstance(value, dict) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("loc"), list):
            places.append(" ".join(map(str, detail["loc"])))
    return places


def _alternating(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages without a system role, and with alternating roles."""
    roles = ({**m, "role": "user" if m["role"] == "system" else m["role"]} for m in messages)
    return [
        {"role": role, "content": _together([m["content"] for m in together])}
        for role, together in groupby(roles, key=lambda m: m["role"])
    ]


def _together(contents: Sequence[Any]) -> Any:
    """Join the contents of several messages; some may have pictures."""
    if all(isinstance(content, str) for content in contents):
        return "\n\n".join(contents)
    return [
        part
        for content in contents
        for part in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]


_OTHER_REASONS = (401, 402, 403, 404, 405, 408, 409, 425, 429, 502, 503, 504)
"""Statuses that are not about the form of a request."""
_LONGEST = 300
"""Maximum characters of a server's text in a message."""
_LONGEST_PAUSE = 600.0
"""Maximum seconds of a pause that a server requests; a longer one counts as a failure."""
_USED_UP = re.compile(r"quota|billing|credit|balance|payment|plan\b", re.IGNORECASE)
_FOR_NOW = re.compile(
    r"per.?(second|minute)|\b[rt]pm\b|(retry|again) (in|after)|requests? limit|too many", re.IGNORECASE
)
TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|too (long|large)|(at most|maximum|too many).{0,30}\btokens", re.IGNORECASE
)
"""Says that a text exceeds the context of a model."""
NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,80}(not found|not exist|not available|unknown)|(unknown|invalid|no such) model",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Server:
    """The origin of an error: a `model` at an `address`, the `group` of its settings, and the number of attempts."""

    model: str
    address: str
    timeout: float
    retries: int
    group: str = "CHAT"
    limit: str = ""

    @property
    def where(self) -> str:
        """The setting of the address."""
        if self.group == "RERANKER":
            return "The address is KGRAG_RERANKER__BASE_URL; it mostly ends with /v1, but the address of TEI does not."
        return f"The address is KGRAG_{self.group}__BASE_URL (or OPENAI_BASE_URL); it mostly ends with /v1."

    @property
    def other(self) -> str:
        """The setting of the model."""
        return "Name another model after openai:" if self.group == "EMBEDDING" else f"Set KGRAG_{self.group}__MODEL"

    @property
    def load(self) -> str:
        """The setting of the number of parallel calls."""
        return "KGRAG_CHAT__CONCURRENCY" if self.group == "CHAT" else f"KGRAG_{self.group}__BATCH"

    @property
    def tries(self) -> str:
        """The number of attempts in words."""
        return f"after {self.retries + 1} tries" if self.retries else "at the first try"


class LostReply(Exception):
    """The server sent an incomplete reply; `slow`: it took too long.

    `body`: the body of an error that was sent as a reply; `written`: the received part of a reply.
    """

    def __init__(self, message: str, slow: bool = False, body: str = "") -> None:
        super().__init__(message)
        self.slow, self.body, self.written = slow, body, ""


class WithheldError(LostReply):
    """The server withholds the reply because of its content; another attempt will not help."""


def server_error(error: Exception, server: Server) -> ModelError:
    """Convert an error of the openai client to a ModelError or LostReply, whose remedy names the setting to change."""
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
        if type(cause).__name__ == "ConnectError":  # from httpx or httpx2, whichever the client uses
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
    """Return the seconds before the next attempt after `tried` ones, by Retry-After; None: a retry does not help."""
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
    """Return the text of the server unchanged."""
    return error.response.text


def refusal(error: Exception) -> tuple[int, str]:
    """Return the status and body of an error that is likely a refusal of the form of a request, or 0 and ""."""
    import openai

    if isinstance(error, openai.APIStatusError) and error.status_code not in _OTHER_REASONS:
        return error.status_code, body_of(error)
    return (500, error.body) if isinstance(error, LostReply) and error.body else (0, "")


def reason_of(body: str) -> str:
    """Return the text of a server's error from any form: a nested object, HTML or plain text."""
    try:
        reason = _message_of(json.loads(body))
    except (ValueError, RecursionError):
        reason = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", body, flags=re.DOTALL | re.IGNORECASE)
    line = " ".join(reason.split())[:_LONGEST].rstrip(".")
    return f"{line}." if line else "it does not say why."


def _message_of(value: Any) -> str:
    """Return the text of an error object from the first of the usual fields."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message_of, value)))
    if isinstance(value, dict):
        for name in ("error", "message", "msg", "detail", "reason", "error_description", "title", "errors"):
            if value.get(name) and (message := _message_of(value[name])):
                where = value.get("loc") if name == "msg" else None
                return f"{'.'.join(map(str, where))}: {message}" if isinstance(where, list) else message
        return json.dumps(value, ensure_ascii=False) if value else ""
    return "" if value is None else str(value)


def _backoff(tried: int, first: float, most: float) -> float:
    return min(most, first * 2.0 ** (tried - 1)) * random.uniform(0.75, 1)


def _retry_after(headers: Any) -> float | None:
    """Return the pause that a server requests in seconds; it may be given in milliseconds or as a date."""
    header = str(headers.get("retry-after", ""))
    for number, scale in ((headers.get("retry-after-ms"), 1000), (header, 1)):
        try:
            return max(0.0, float(str(number)) / scale)
        except ValueError:
            continue
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    seconds: float = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds)


def _is_used_up(error: "openai.APIStatusError") -> bool:
    """Return whether a 429 means that no credit is left, not that there are too many requests a minute."""
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
    reason, status, address = reason_of(body_of(error)), error.status_code, server.address
    if "HTTPS" in reason and (hint := tls_hint(address, error)):
        return UnavailableError(f"{address} refuses the request: {reason}", f"{hint} {server.where}")
    if status == 402 or _is_used_up(error):
        return UnavailableError(
            f"The account's quota at {address} is used up: {reason}", "Add to it, or use another key."
        )
    if status in (401, 403):
        return UnavailableError(
            f"{address} refuses the key: {reason}",
            f"Set {'' if server.group == 'RERANKER' else 'OPENAI_API_KEY or '}KGRAG_{server.group}__API_KEY to a key "
            f"that may use {server.model!r}.",
        )
    if status in (404, 405) or (status in (400, 422) and NO_MODEL.search(body_of(error))):
        return UnavailableError(
            f"There is no model {server.model!r} at {address}: {reason}", f"{server.other}. {server.where}"
        )
    again = f"KGRAG_{server.group}__RETRIES"
    if status == 429:
        pace = "set KGRAG_CHAT__REQUESTS_PER_MINUTE and KGRAG_CHAT__TOKENS_PER_MINUTE to its limits"
        return ModelError(
            f"{address} takes no more requests, {server.tries}: {reason}",
            f"Lower {server.load}, or {pace if server.group == 'CHAT' else f'raise {again}'}.",
        )
    if status >= 500:
        effects = {
            "CHAT": "replies so far are kept",
            "EMBEDDING": f"written vectors stay. Or raise {again}",
            "RERANKER": f"or raise {again}",
        }
        return ModelError(f"{address} fails, {server.tries}: {reason}", f"Try again later; {effects[server.group]}.")
    message, remedy = f"{address} refuses the request to {server.model!r}: {reason}", _remedy(reason, server)
    fits = share_that_fits(body_of(error)) if server.group == "CHAT" else None
    if fits is None:
        return ModelError(message, remedy)
    too_long = TooLongError(message, remedy)
    too_long.share, too_long.context = fits
    return too_long


def _remedy(reason: str, server: Server) -> str:
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
        if re.search(sign, reason, re.IGNORECASE):
            return remedy
    return f"Try another model: KGRAG_{server.group}__MODEL."


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST].rstrip(".") + "."
