"""Read the reply of a server leniently: whole or as events, with its number of tokens."""

import json
import logging
import math
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from kgrag.models.budget import FEWEST
from kgrag.models.chat import CachedReply
from kgrag.models.chat_errors import LostReply, WithheldError, reason_of

_END = re.compile(r"[.!?,;\]}\n]")
_WINDOW = 600
"""Characters (some 170 tokens) at the end of a text that must be pure repetition."""
_NEAR = 700
"""Characters (some 200 tokens) at the end of a text that repeats except for a word or number."""
_LITTLE = 0.15
STEP = 50
"""Characters that a text grows by between two checks."""


def repeats_from(text: str) -> int | None:
    """Return where a text begins to repeat itself up to its end, or None.

    A repetition is a piece of at most 300 characters that fills the last 600. If the last 700 repeat except for a word
    or number that changes, returns the end of the text, since no part of it is superfluous.
    """
    end = text[-_WINDOW:]
    half = _WINDOW // 2
    if len(end) < _WINDOW or not end.strip():
        return None
    before = end.rfind(end[half:], 0, -1)
    period = half - before
    if before < 0 or end[period:] != end[:-period]:
        return len(text) if _nearly(text) else None
    start = len(text) - _WINDOW
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    said_once = start + period  # or a few letters earlier, since the text before may end alike
    whole = len(text[:said_once].rstrip())
    end_of_part = _END.search(text, whole - 1)
    return end_of_part.end() if end_of_part and end_of_part.end() < said_once + period else said_once


def _nearly(text: str) -> bool:
    """Return whether the end of a text says hardly anything new: it compresses to a small part.

    None of 4,086 lists of given triples compressed below .16; sentences that only count up reach .15 and less.
    """
    end = text[-_NEAR:]
    return len(end) == _NEAR and len(zlib.compress(end.encode(), 9)) < _LITTLE * len(end.encode())


_LOG = logging.getLogger(__name__)
Piece = TypeVar("Piece")

_WITHHELD = frozenset(
    ("content_filter", "safety", "sensitive", "recitation", "blocklist", "prohibited_content", "spii")
)
"""Finish reasons of content filters in lower case: OpenAI's, Google's, Zhipu's."""
_CUT = frozenset(("length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "max_length"))
_FAILED = frozenset(("error", "network_error", "insufficient_system_resource", "abort", "aborted"))
UNSAID = "unsaid"  # a whole reply without a reason
_READ = ("prompt_tokens", "input_tokens")
_WRITTEN = ("completion_tokens", "output_tokens")


def read_reply(
    kind: str, pieces: Iterable[bytes], until: float, on_text: Callable[[str], None] | None
) -> tuple[CachedReply, str]:
    """Return a reply and its finish reason, "" if it was interrupted; tokens are -1 if the server does not count.

    `kind`: its content type; `until`: its deadline by time.monotonic(). Stops reading a stream that repeats itself, and
    cuts it there. Raises LostReply for an incomplete or invalid reply, and errors of `on_text`.
    """
    coming = in_time(pieces, until)
    if "event-stream" in kind:
        return _streamed(coming, on_text)
    value = _object(b"".join(coming))
    text, ended, usage = _content(value)
    _check_given(ended)
    if on_text is not None and text:
        on_text(text)
    return _reply(text, ended, usage, value), ended or UNSAID


def _streamed(pieces: Iterable[bytes], on_text: Callable[[str], None] | None) -> tuple[CachedReply, str]:
    text, ended, usage, looked_at = "", "", None, 0
    event: Mapping[str, Any] = {}
    try:
        for data in _events(pieces):
            if data == b"[DONE]":
                break
            event = _object(data)
            piece, reason, counted = _content(event)
            ended, usage = reason or ended, counted or usage
            if not piece:
                continue
            text += piece
            if on_text is not None:
                on_text(text)
            if len(text) >= looked_at + STEP:
                looked_at = len(text)
                if (end := repeats_from(text)) is not None:
                    _LOG.info("A reply that repeated itself was ended after %d characters", len(text))
                    return CachedReply(text[:end], -1, tokens_of(text), True, True, _model(event)), "length"
        _check_given(ended)
    except LostReply as error:
        error.written = text
        raise
    return _reply(text, ended, usage, event), ended


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text that no server counted, rather too high."""
    return math.ceil(len(text.encode("utf-8", "replace")) / FEWEST)


def _check_given(ended: str) -> None:
    """Raise WithheldError if a filter of the server ended the reply, LostReply if the server failed."""
    if ended in _WITHHELD:
        raise WithheldError(f"its filter of contents ended it ({ended}).")
    if ended in _FAILED:
        raise LostReply(f"it was interrupted ({ended})")


def in_time(pieces: Iterable[Piece], until: float) -> Iterator[Piece]:
    """Yield the pieces as they arrive, up to the time `until` by time.monotonic().

    Raises LostReply if the connection fails or times out.
    """
    coming = iter(pieces)
    while True:
        try:
            piece = next(coming, None)
        except Exception as error:  # errors of the HTTP library that the client uses
            raise LostReply(
                f"it was interrupted: {error or type(error).__name__}", "Timeout" in type(error).__name__
            ) from error
        if piece is None:
            return
        if time.monotonic() > until:
            raise LostReply("it took too long", slow=True)
        yield piece


def _events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events; these servers write each on one line."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if rest.startswith(b"data:"):
        yield rest[5:].strip()


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LostReply(f"it cannot be read: {body[:80].decode(errors='replace')!r}") from error
    if not isinstance(value, dict):
        raise LostReply(f"it cannot be read: {body[:80].decode(errors='replace')!r}")
    if value.get("error"):
        text = body.decode(errors="replace")
        raise LostReply(f"it is an error: {reason_of(text)}", body=text)
    return value


def _content(value: Mapping[str, Any]) -> tuple[str, str, Any]:
    """Return text, finish reason and usage of a reply or a part of one. Raises LostReply for any other form."""
    choices = value.get("choices")
    if not choices and value.get("usage"):
        return "", "", value["usage"]  # the last event of a stream
    if choices is None or (choices == [] and value.get("object") == "chat.completion"):
        raise LostReply(f"it cannot be read: {str(dict(value))[:80]!r}")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choice, dict):
        raise LostReply(f"it cannot be read: {str(dict(value))[:80]!r}")
    message = choice.get("message") or choice.get("delta") or {}
    content = message.get("content") if isinstance(message, dict) else message
    if not content and isinstance(message, dict) and (refused := message.get("refusal")):
        raise WithheldError(f"the model refuses: {' '.join(str(refused).split())[:300]}")
    if content is None:
        content = choice.get("text")
    ended = choice.get("finish_reason") or choice.get("done_reason") or value.get("done_reason") or ""
    return _text(content), str(ended).lower(), value.get("usage")


def _text(content: Any) -> str:
    """Return the text of a message, a string or parts, without its reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_text, content))
    if isinstance(content, dict) and content.get("type") in (None, "text", "output_text"):
        return _text(content.get("text") or content.get("content"))
    return ""


def _reply(text: str, ended: str, usage: Any, last: Mapping[str, Any]) -> CachedReply:
    counts = usage if isinstance(usage, dict) else {}
    return CachedReply(text, _count(counts, _READ), _count(counts, _WRITTEN), ended in _CUT, model=_model(last))


def _model(value: Mapping[str, Any]) -> str:
    """Return the server's name of the model; empty without one."""
    return str(value.get("model") or "")


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return a number of tokens of any type; -1 without one."""
    for name in names:
        try:
            return max(int(float(usage[name])), -1)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
    return -1
