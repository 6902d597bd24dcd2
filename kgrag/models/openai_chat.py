"""Language models behind any server that speaks OpenAI's chat protocol."""

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from kgrag.errors import ConfigurationError, ModelError
from kgrag.models.budget import Budget
from kgrag.models.chat import Message, Reply, no_model
from kgrag.models.chat_cache import Kept, ReplyCache
from kgrag.models.chat_errors import LostReply, lost_reply, no_connection, server_error
from kgrag.settings import ChatSettings, Settings
from kgrag.types import Usage

if TYPE_CHECKING:
    import openai

_LOG = logging.getLogger(__name__)

OnText = Callable[[str], None]

_OPENAI = "https://api.openai.com/v1"
_CONNECT = 10.0
"""Seconds in which a connection must stand."""
_OVERHEAD = 16
"""Tokens at most that a message takes beside its text."""
_SECRET = 8
"""Letters from which a key is one, and not a word that a local server is given."""
_LETTERS = 4
"""Letters of a token, where the server does not count them."""


class OpenAIChat:
    """A ChatModel that asks a server through the `openai` client.

    The client tries again by itself, with growing pauses and as the server's Retry-After says, when there is no
    connection or the server is busy or fails; replies that break off or cannot be read are asked for again here.
    """

    def __init__(self, settings: ChatSettings, cache: Path | None = None) -> None:
        """`cache`: folder where replies are kept. Nothing is sent yet.

        Raises ConfigurationError when no model is set, a key or a price is missing, or the address or the folder cannot
        be used.
        """
        if not settings.model:
            raise no_model()
        address = settings.base_url or os.environ.get("OPENAI_BASE_URL")
        given = settings.api_key.get_secret_value() if settings.api_key else ""
        self._key = given or os.environ.get("OPENAI_API_KEY", "")
        if not self._key and not address:
            raise ConfigurationError(
                f"The model {settings.model!r} of {_OPENAI} needs a key.",
                "Set OPENAI_API_KEY, or KGRAG_CHAT__BASE_URL to the address of a server of your own.",
            )
        if address and not address.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"{_without_login(address)!r} is no address of a server.",
                "Write KGRAG_CHAT__BASE_URL (or OPENAI_BASE_URL) as http://HOST:PORT/v1 or https://HOST/v1.",
            )
        self._settings, self._model = settings, settings.model
        self._base_url = (address or _OPENAI).rstrip("/")
        self._address = _without_login(self._base_url)
        self._budget = Budget(settings.prices, settings.budget, {settings.model, *settings.models.values()})
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._lock = threading.Lock()
        self._asked: dict[str, threading.Lock] = {}
        self._client: openai.OpenAI | None = None
        self._limiter = _limiter(settings.requests_per_minute)
        self._cache = ReplyCache(cache) if cache is not None else None

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r} at {self._address})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and the cache."""
        if self._client is not None:
            self._client.close()
        if self._limiter is not None:
            self._limiter.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def spent(self) -> float:
        """What the calls so far cost; those whose price is not known count nothing."""
        return self._budget.spent

    def name(self, task: str) -> str:
        """See ChatModel."""
        return self._settings.models.get(task, self._model)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: bool = False,
        on_text: OnText | None = None,
        fresh: bool = False,
    ) -> Reply:
        """See ChatModel."""
        started = time.perf_counter()
        reply = self._reply(self._request(messages, self.name(task), json), on_text, fresh)
        _LOG.info(
            "%s: %s read %d tokens and wrote %d in %.1f s%s",
            task,
            reply.model,
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            time.perf_counter() - started,
            " (kept)" if reply.usage.cached else "",
        )
        return reply

    def _reply(self, request: dict[str, Any], on_text: OnText | None, fresh: bool) -> Reply:
        """The reply that is kept, else the server's."""
        if self._cache is None:
            return self._paid(request, on_text)
        key = self._cache.key(self._base_url, request)
        with self._alone(key):
            kept = None if fresh else self._cache.get(key)
            if kept is None:
                return self._paid(request, on_text, key)
        if on_text is not None:
            on_text(kept.text)
        usage = Usage(1, 1, kept.prompt_tokens, kept.completion_tokens, 0.0)
        return Reply(kept.text, request["model"], usage, kept.cut)

    def _request(self, messages: Sequence[Message], model: str, json: bool) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            self._settings.limit: self._settings.max_tokens,
        }
        if self._settings.temperature is not None:
            request["temperature"] = self._settings.temperature
        if json and self._settings.json_mode != "none":
            request["response_format"] = {"type": self._settings.json_mode}
        return request

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Whoever asks the same at the same time waits for the first, and finds its reply in the cache."""
        with self._lock:
            asked = self._asked.setdefault(key, threading.Lock())
        try:
            with asked:
                yield
        finally:
            with self._lock:
                self._asked.pop(key, None)

    def _paid(self, request: dict[str, Any], on_text: OnText | None, key: str = "") -> Reply:
        """A reply of the server, kept as soon as it is there."""
        model, contents = request["model"], [m["content"] for m in request["messages"]]
        most_read = sum(len(c.encode("utf-8", "replace")) + _OVERHEAD for c in contents)
        most = self._budget.cost(model, most_read, self._settings.max_tokens)
        with self._budget.set_aside(most) as spending:
            with self._slots:
                reply = self._ask(request, on_text)
            if self._cache is not None and reply.text.strip():
                self._cache.put(key, reply)
            cost = self._budget.cost(model, reply.prompt_tokens, reply.completion_tokens)
            spending.cost = cost or 0.0
        return Reply(reply.text, model, Usage(1, 0, reply.prompt_tokens, reply.completion_tokens, cost), reply.cut)

    def _ask(self, request: dict[str, Any], on_text: OnText | None) -> Kept:
        client, model, left = self._connected(), request["model"], self._settings.retries
        streaming: dict[str, Any] = {}
        if on_text is not None:
            streaming = {"stream": True, "stream_options": {"include_usage": True}}
        import openai

        while True:
            if self._limiter is not None:
                self._limiter.try_acquire("chat")
            # the client's own retries and those of lost replies together stay within the setting
            asking = client if left == self._settings.retries else client.with_options(max_retries=left)
            try:
                raw = asking.chat.completions.with_raw_response.create(**request, **streaming)
                left -= raw.retries_taken
                reply = _whole(raw) if on_text is None else _streamed(raw, on_text)
            except openai.OpenAIError as error:
                raise self._without_key(server_error(error, model, self._address, self._settings)) from None
            except LostReply as error:
                if left <= 0:
                    failure = lost_reply(error, model, self._address, self._settings.retries)
                    raise self._without_key(failure) from None
                left -= 1
                time.sleep(min(8.0, 0.5 * 2 ** (self._settings.retries - left - 1)) * random.uniform(0.75, 1))
            else:
                return _counted(reply, request)

    def _connected(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                _check_running(self._base_url, self._address)
                import openai

                self._client = openai.OpenAI(
                    base_url=self._base_url,
                    api_key=self._key or "none",  # the client insists on one
                    max_retries=self._settings.retries,
                    timeout=openai.Timeout(self._settings.timeout, connect=min(_CONNECT, self._settings.timeout)),
                )
            return self._client

    def _without_key(self, error: ModelError) -> ModelError:
        if len(self._key) < _SECRET:
            return error
        return type(error)(error.message.replace(self._key, "***"), error.remedy)


def load_chat(settings: Settings) -> OpenAIChat:
    """The language models that the settings name, with the cache of replies.

    Raises ConfigurationError: see OpenAIChat.
    """
    return OpenAIChat(settings.chat, settings.cache / "chat" if settings.chat.cache else None)


def _whole(raw: Any) -> Kept:
    """The reply in one piece. Raises LostReply when there is none in what the server sent."""
    try:
        completion = raw.parse()
        choice = completion.choices[0]
        text = choice.message.content or ""
    except (ValueError, AttributeError, TypeError, LookupError) as error:
        raise LostReply(f"it cannot be read: {raw.text[:80]!r}") from error
    usage = completion.usage
    read, written = (usage.prompt_tokens, usage.completion_tokens) if usage is not None else (0, 0)
    return Kept(text, read or 0, written or 0, choice.finish_reason == "length")


def _streamed(raw: Any, on_text: OnText) -> Kept:
    """The reply piece by piece. Raises LostReply when it is interrupted."""
    text, ended, read, written = "", "", 0, 0
    for piece, reason, usage in _pieces(raw):
        ended = reason or ended
        if usage is not None:
            read, written = usage.prompt_tokens or 0, usage.completion_tokens or 0
        if piece:
            text += piece
            on_text(text)
    if not ended:
        raise LostReply("it was interrupted")
    return Kept(text, read, written, ended == "length")


def _pieces(raw: Any) -> Iterator[tuple[str, str, Any]]:
    """What the stream brings: text, reason of the end, usage. Raises LostReply for all that is wrong with it."""
    with raw.parse() as stream:
        chunks = iter(stream)
        while True:
            try:
                chunk = next(chunks, None)
                if chunk is None:
                    return
                choice = chunk.choices[0] if chunk.choices else None
                text = (choice.delta.content or "") if choice is not None and choice.delta is not None else ""
                piece = text, (choice.finish_reason or "") if choice is not None else "", chunk.usage
            except Exception as error:  # of the client, of what it stands on, or of a chunk in no known form
                raise LostReply(f"it was interrupted: {error}") from error
            yield piece


def _counted(reply: Kept, request: dict[str, Any]) -> Kept:
    """The reply with its tokens estimated where the server counted none."""
    if reply.prompt_tokens or reply.completion_tokens:
        return reply
    letters = sum(len(m["content"]) for m in request["messages"])
    return Kept(reply.text, -(-letters // _LETTERS), -(-len(reply.text) // _LETTERS), reply.cut)


def _limiter(per_minute: int | None) -> Any:
    if per_minute is None:
        return None
    from pyrate_limiter import Duration, Limiter, Rate

    return Limiter(Rate(per_minute, Duration.MINUTE))


def _check_running(base_url: str, address: str) -> None:
    """Tell at once that no server runs on this machine, where the client would try again and again first."""
    url = urlsplit(base_url)
    if url.hostname not in ("localhost", "127.0.0.1", "::1"):
        return
    try:
        socket.create_connection((url.hostname, url.port or (443 if url.scheme == "https" else 80)), _CONNECT).close()
    except OSError as error:
        raise no_connection(address, error) from None


def _without_login(url: str) -> str:
    """An address as it may be shown: without name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
