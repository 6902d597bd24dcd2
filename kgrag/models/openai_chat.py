"""Language models behind any server that speaks OpenAI's chat protocol."""

import logging
import math
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgrag.models.budget import FEWEST, HIGH, Budget
from kgrag.models.chat import CachedReply, Message, Reply, ReplyCache, no_model
from kgrag.models.chat_errors import (
    LIMITS,
    Dialect,
    LostReply,
    Server,
    pause_before_retry,
    refusal,
    server_error,
    shorter,
)
from kgrag.models.chat_reply import UNSAID, read_reply, tokens_of
from kgrag.models.endpoint import Endpoint, Pace, Place, Slots
from kgrag.runtime import limits
from kgrag.runtime.spans import Value, span
from kgrag.settings import ChatSettings, Settings
from kgrag.values.errors import ModelError
from kgrag.values.results import Usage

if TYPE_CHECKING:
    import openai

_LOG = logging.getLogger(__name__)

OnText = Callable[[str], None]

_OVERHEAD = 16
"""Maximum tokens of a message besides its text."""
_SEEN = 1_500  # tokens of a picture as wide as a page, in the count of most servers
_MOST_SEEN = 40_000  # as gpt-4o-mini counts a picture of many tiles


class OpenAIChat:
    """A ChatModel that asks a server through the `openai` client.

    Retries failures with growing pauses, or by Retry-After: no connection, a busy or failing server, interrupted or
    unreadable replies. Omits the parts of the protocol that the server refuses (`kgrag.models.chat_errors`).
    """

    def __init__(self, settings: ChatSettings, cache: Path | None = None) -> None:
        """Make the client; nothing is sent yet.

        `cache`: folder of cached replies.

        Raises ConfigurationError without a model, if a key or a price is missing, or the address or folder cannot be
        used.
        """
        if not settings.model:
            raise no_model()
        self._endpoint = Endpoint.of(
            "CHAT", settings.model, settings.base_url, settings.api_key, settings.extra_headers
        )
        self._settings, self._model = settings, settings.model
        self._budget = Budget(settings.prices, settings.budget, {settings.model, *settings.models.values()})
        self._slots = Slots(settings.concurrency)
        self._pace = Pace(settings.requests_per_minute, settings.tokens_per_minute)
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._dialects: dict[str, Dialect] = {}
        self._client: openai.OpenAI | None = None
        self._cache = ReplyCache(cache) if cache is not None else None

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r} at {self._endpoint.address})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and the cache."""
        if self._client is not None:
            self._client.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def spent(self) -> float:
        """The cost of the calls so far; calls without a known price cost nothing."""
        return self._budget.spent

    def name(self, task: str) -> str:
        """See ChatModel."""
        return self._settings.models.get(task, self._model)

    def json_form(self, task: str) -> str:
        """Return the parameters that request replies in JSON, as far as the server has accepted them."""
        return self._dialect(self.name(task)).json_form(self._settings.json_mode)

    def _dialect(self, model: str) -> Dialect:
        with self._lock:
            return self._dialects.setdefault(model, Dialect())

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: Mapping[str, Any] | None = None,
        on_text: OnText | None = None,
        fresh: bool = False,
    ) -> Reply:
        """See ChatModel."""
        started = time.perf_counter()
        request = self.request(messages, task, json)
        with span(f"chat {request['model']}", client=True, task=task) as noted:
            noted |= self._asked_for(request)
            reply = self._reply(request, on_text, fresh)
            noted |= _replied(reply)
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
        """Return the cached reply, or else the reply of the server."""
        if self._cache is None:
            return self._paid(request, on_text)
        key = self._cache.key(self._endpoint.base_url, request)
        with self._alone(key):
            cached = None if fresh else self._cache.get(key)
            if cached is None:
                return self._paid(request, on_text, key)
        if on_text is not None:
            on_text(cached.text)
        usage = Usage(1, 1, cached.prompt_tokens, cached.completion_tokens, 0.0)
        return Reply(cached.text, request["model"], usage, cached.cut, cached.model)

    def request(self, messages: Sequence[Message], task: str, json: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the preferred request, the key of cached replies; the server may accept only another form."""
        settings = self._settings
        request: dict[str, Any] = {
            "model": self.name(task),
            "messages": [{"role": m.role, "content": _content(m)} for m in messages],
            settings.limit: min(settings.task_tokens.get(task, settings.max_tokens), settings.max_tokens),
        }
        if settings.temperature is not None:
            request["temperature"] = settings.temperature
        if json is not None and settings.json_mode == "json_object":
            request["response_format"] = {"type": "json_object"}
        elif json is not None and settings.json_mode == "json_schema":
            schema = {"name": task, "schema": dict(json), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        return request | settings.extra_body

    def _asked_for(self, request: Mapping[str, Any]) -> dict[str, Value]:
        """Return the attributes of the request for a span, by OpenTelemetry's conventions."""
        values: dict[str, Value] = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
        values |= {"gen_ai.request.max_tokens": request[self._settings.limit]}
        if self._settings.temperature is not None:
            values["gen_ai.request.temperature"] = self._settings.temperature
        values["gen_ai.output.type"] = "json" if "response_format" in request else "text"
        return values | self._endpoint.attributes(request["model"])

    def most(self, request: Mapping[str, Any]) -> float | None:
        """Return the highest possible cost of a request; None without a price."""
        most_read = sum(_size(m["content"], _MOST_SEEN) + _OVERHEAD for m in request["messages"])
        longest = next((request[name] for name in LIMITS if name in request), self._settings.max_tokens)
        return self._budget.cost(request["model"], most_read, longest)

    def cost(self, model: str, reply: CachedReply) -> float | None:
        """Return the cost of a reply; None without a price."""
        return self._budget.cost(model, reply.prompt_tokens, reply.completion_tokens)

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Send one of several equal requests first; the others read its reply from the cache."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        try:
            with lock:
                yield
        finally:
            with self._lock:
                self._locks.pop(key, None)

    def _paid(self, request: dict[str, Any], on_text: OnText | None, key: str = "") -> Reply:
        """Return a reply of the server, and cache it. If the limit of the task cuts it, request a longer one."""
        reply, cost = self._bought(request, on_text)
        limit, calls = self._settings.limit, 1
        if reply.cut and not reply.repeats and request.get(limit, math.inf) < self._settings.max_tokens:
            more, paid = self._bought(request | {limit: self._settings.max_tokens}, on_text)
            read, completion = (
                reply.prompt_tokens + more.prompt_tokens,
                reply.completion_tokens + more.completion_tokens,
            )
            reply = replace(more, prompt_tokens=read, completion_tokens=completion)
            cost, calls = (None if cost is None or paid is None else cost + paid), 2
        if self._cache is not None and reply.text.strip():
            self._cache.put(key, reply)
        usage = Usage(calls, 0, reply.prompt_tokens, reply.completion_tokens, cost)
        return Reply(reply.text, request["model"], usage, reply.cut, reply.model)

    def _bought(self, request: dict[str, Any], on_text: OnText | None) -> tuple[CachedReply, float | None]:
        """Return a reply and its cost, lost attempts included, within the budget."""
        lost: list[CachedReply] = []
        with self._budget.set_aside(self.most(request)) as spending:
            try:
                reply = self._ask(request, on_text, lost)
                reply = replace(
                    reply,
                    prompt_tokens=reply.prompt_tokens + sum(part.prompt_tokens for part in lost),
                    completion_tokens=reply.completion_tokens + sum(part.completion_tokens for part in lost),
                )
                cost = self.cost(request["model"], reply)
                spending.cost = cost or 0.0
            except ModelError as error:
                costs = [self.cost(request["model"], part) for part in lost]
                spending.cost = sum(filter(None, costs))
                read, completion = (
                    sum(part.prompt_tokens for part in lost),
                    sum(part.completion_tokens for part in lost),
                )
                error.lost = (read, completion, None if None in costs else spending.cost)
                raise
        return reply, cost

    def _ask(self, request: dict[str, Any], on_text: OnText | None, lost: list[CachedReply]) -> CachedReply:
        """Return a complete reply; the tokens of incomplete ones are added to `lost`.

        Always streams, so that a reply can be ended early, and the received part of a lost one is known. Raises
        ModelError if all retries fail, or retries cannot help.
        """
        import openai

        dialect = self._dialect(request["model"])
        request = {"stream": True, "stream_options": {"include_usage": True}, **request}
        server, tried, broken = self._server(request["model"]), 0, False
        client = self._connected(server)
        while True:
            form = dialect.form({name: value for name, value in request.items() if not (broken and "stream" in name)})
            place = Place()
            try:
                with self._slots.one() as place:
                    reply, ended = self._once(client, form, on_text)
                if ended:
                    if broken and ended == UNSAID:  # an unstreamed reply does not say that it is whole
                        reply = replace(reply, cut=True)
                    else:
                        dialect.streamed(whole=not broken)
                    self._slots.good()
                    return _counted(reply, form)
                if reply.text:
                    lost.append(_counted(reply, form))
                if place.alone:
                    broken = True  # an unstreamed reply shows errors that a stream may hide
                else:
                    self._slots.one_at_a_time()
                raise LostReply("it was interrupted")
            except (openai.OpenAIError, LostReply) as error:
                status, body = refusal(error)
                if body:
                    fewer = shorter(body, form)
                    if fewer is not None:
                        request = {name: fewer if name in LIMITS else value for name, value in request.items()}
                        continue
                    limited = self._settings.budget is not None
                    if dialect.learn(body, form, limited=limited, sure=status < 500):
                        continue
                limits.remaining()  # the wait may have used up the time of the caller
                if isinstance(error, LostReply) and error.written:
                    lost.append(_counted(CachedReply(error.written, -1, -1, True), form))
                if isinstance(error, openai.APITimeoutError) or (isinstance(error, LostReply) and error.slow):
                    self._slots.late(place)
                tried += 1
                pause = pause_before_retry(error, tried)
                if pause is None or tried > server.retries:
                    raise self._endpoint.hidden(server_error(error, replace(server, retries=tried - 1))) from None
                limits.report_retry(tried)
                if isinstance(error, openai.RateLimitError):
                    self._pace.pause(pause)
                else:
                    left = limits.remaining()
                    time.sleep(pause if left is None else min(pause, left))

    def _once(self, client: "openai.OpenAI", form: dict[str, Any], on_text: OnText | None) -> tuple[CachedReply, str]:
        """Send a request when the pace allows it, and return the reply and its finish reason within the time limit."""
        from openai import Timeout

        longest = next((form[name] for name in LIMITS if name in form), 0)
        turn = self._pace.turn(_estimate(form, HIGH) + longest)
        left, seconds = limits.remaining(), self._settings.timeout
        seconds = seconds if left is None else min(seconds, left)
        until = time.monotonic() + seconds
        with client.chat.completions.with_streaming_response.create(
            model=form["model"],
            messages=form["messages"],
            extra_headers=self._endpoint.extra_headers(),
            extra_body={name: value for name, value in form.items() if name not in ("model", "messages")},
            timeout=Timeout(seconds, connect=min(10.0, seconds)),
        ) as response:
            kind = response.headers.get("content-type", "")
            with limits.ending(lambda: _hang_up(response.http_response)):
                reply, ended = read_reply(kind, _while_wanted(response.iter_bytes()), until, on_text)
        if reply.prompt_tokens > 0 and reply.completion_tokens >= 0:
            self._pace.settle(turn, reply.prompt_tokens + reply.completion_tokens)
        return reply, ended

    def _server(self, model: str) -> Server:
        settings = self._settings
        return Server(model, self._endpoint.address, settings.timeout, settings.retries, limit=settings.limit)

    def _connected(self, server: Server) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self._client = self._endpoint.connect(self._settings.timeout, server)
            return self._client


def load_chat(settings: Settings) -> OpenAIChat:
    """Return the language models of the settings, with the cache of replies.

    Raises ConfigurationError: see OpenAIChat.
    """
    return OpenAIChat(settings.chat, settings.cache / "chat" if settings.chat.cache else None)


def _replied(reply: Reply) -> dict[str, Value]:
    """Return the attributes of the reply for a span; a cached one used no tokens."""
    values: dict[str, Value] = {"kept": reply.usage.cached, "gen_ai.response.model": reply.served or reply.model}
    values["gen_ai.response.finish_reasons"] = ("length" if reply.cut else "stop",)
    if not reply.usage.cached:
        values["gen_ai.usage.input_tokens"] = reply.usage.prompt_tokens
        values["gen_ai.usage.output_tokens"] = reply.usage.completion_tokens
    return values


def _while_wanted(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a reply until the deadline or the cancellation of the caller."""
    for piece in pieces:
        limits.remaining()
        yield piece


def _hang_up(response: Any) -> None:
    """Abort a reply that another thread waits for, so that the server is free for the next."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def _counted(reply: CachedReply, form: Mapping[str, Any]) -> CachedReply:
    """Return the reply with estimated tokens, rather too high, if the server counted none."""
    read, completion = reply.prompt_tokens, reply.completion_tokens
    if read <= 0:
        read = _estimate(form, FEWEST)
    if completion < 0 or (completion == 0 and reply.text):
        completion = tokens_of(reply.text)
    return replace(reply, prompt_tokens=read, completion_tokens=completion)


def _estimate(form: Mapping[str, Any], bytes_of_token: float) -> int:
    """Return the tokens of a request's messages."""
    size = sum(_size(m["content"], round(_SEEN * bytes_of_token)) for m in form["messages"])
    return math.ceil(size / bytes_of_token)


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Return the text and picture of a message in the form of the request."""
    if not message.picture:
        return message.content
    return [{"type": "text", "text": message.content}, {"type": "image_url", "image_url": {"url": message.picture}}]


def _size(content: str | list[dict[str, Any]], picture: int) -> int:
    """Return the bytes of a message; a picture counts as a fixed number."""
    parts = [{"text": content}] if isinstance(content, str) else content
    return sum(len(part["text"].encode("utf-8", "replace")) if "text" in part else picture for part in parts)
