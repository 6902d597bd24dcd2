"""The routes of OpenAI's API that chat clients use: collections are the models, and answers cite their passages.

A model is COLLECTION, or COLLECTION:SYSTEM such as notes:gear+pathrank; "notes, letters" is both as one. The routes
ignore the client's sampling parameters: the server decides on its own model and sampling.
"""

import json
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgrag import wire
from kgrag.agents.strategy import Strategy
from kgrag.client.federation import split_names
from kgrag.client.searching import LocalSearching
from kgrag.graph.collections import DOCUMENTS, find_collection
from kgrag.models.chat import Message as Turn
from kgrag.server import conversation
from kgrag.server.allowed_parts import check_asked_system
from kgrag.server.conversation import ConversationReply, Mark
from kgrag.server.events import MEDIA_TYPE, Events, EventStream
from kgrag.server.failures import Reply
from kgrag.server.openai_forms import (
    Annotation,
    AnswerMessage,
    Choice,
    Completion,
    Model,
    Models,
    Refusal,
    Tokens,
    UrlCitation,
    Wrong,
)
from kgrag.server.route_context import Called, Caller
from kgrag.server.web.addresses import address
from kgrag.values.errors import InputError, NotFoundError
from kgrag.values.events import Answered
from kgrag.values.results import Passage, Usage

PREFIX = "/v1"
router = APIRouter(prefix=PREFIX, tags=["openai"])

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CHAT: dict[int | str, dict[str, Any]] = {
    200: {"model": Completion, "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}
}
_LONGEST = 10_000  # characters of a question


class Part(BaseModel):
    """A part of a message; only texts are read."""

    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str | Annotated[list[Part], Field(max_length=1000)] | None, Field(description="its text")] = None

    def turn(self, *, last: bool) -> Turn:
        """Return the message for a model; pictures and files of earlier messages are ignored.

        Raises InputError if the last one has more than text.
        """
        parts = [Part(type="text", text=self.content)] if isinstance(self.content, str) else self.content or []
        if last and (other := next((part.type for part in parts if part.type != "text"), None)):
            raise InputError(f"Questions here are texts, and this one holds {other[:40]!r}.", "Send text alone.")
        parts = [part if part.type == "text" else Part(type="text", text=f"({part.type} left out)") for part in parts]
        role = self.role if self.role in ("user", "assistant") else "system"
        return Turn(role, "\n".join(part.text for part in parts))


class StreamOptions(BaseModel):
    """`include_usage`: the last chunk holds the usage."""

    include_usage: bool = False


class Chat(BaseModel):
    """A conversation to continue; other parameters of OpenAI's are ignored."""

    model: Annotated[
        str, Field(min_length=1, max_length=700, description="COLLECTION, COLLECTION:SYSTEM or COLLECTION, COLLECTION")
    ]
    messages: Annotated[list[ChatMessage], Field(max_length=1000)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None


@router.get("/models", responses={200: {"model": Models}})
async def models(caller: Called) -> Reply:
    """Return the collections of documents that the key may see."""

    def names() -> list[str]:
        return [c.name for c in caller.kg.records() if c.kind == DOCUMENTS and caller.access.sees(c.name)]

    return Reply(Models(data=[Model(id=name) for name in await caller.work(names)]))


@router.get("/models/{model:path}", responses={200: {"model": Model}})
async def model(caller: Called, model: Annotated[str, Path(max_length=700)]) -> Reply:
    """Return one of the models."""
    await caller.work(lambda: _model_of(caller, model))
    return Reply(Model(id=model))


@router.post("/chat/completions", responses=_CHAT)
async def completions(caller: Called, body: Chat) -> Response:
    """Answer the last message, with sources; the messages before it are its context.

    With `stream` the text is sent as it grows. Closing the connection cancels the work.
    """
    turns = [message.turn(last=message is body.messages[-1]) for message in body.messages]
    if turns and len(turns[-1].content) > _LONGEST and not conversation.is_chore(turns):
        raise InputError(f"A question has at most {_LONGEST:,} characters.", "Upload long texts as documents.")
    searched, system, llm = await caller.work(lambda: (*_model_of(caller, body.model), caller.kg.language_model()))
    completion = _Completion(body.model, partial(_link, caller))
    if not body.stream:
        reply = await caller.work(lambda: conversation.reply(searched, system, llm, turns), workers=caller.serving.asks)
        return Reply(completion.whole(reply))
    heard = await caller.serving.asks.stream(lambda hear: conversation.reply(searched, system, llm, turns, hear))
    usage = body.stream_options is not None and body.stream_options.include_usage
    return EventStream(completion.chunks(heard, usage), _data)


@router.api_route("/{path:path}", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def others(path: str) -> None:
    """Refuse the other routes of OpenAI. Raises NotFoundError."""
    raise NotFoundError(f"There is no {PREFIX}/{path} here.", "There are: models, chat/completions.")


class _Completion:
    """An answer in OpenAI's forms. `link`: returns the address of a cited passage."""

    def __init__(self, model: str, link: Callable[[Passage], str]) -> None:
        self._link = link
        self._head: dict[str, Any] = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}

    def whole(self, reply: ConversationReply) -> Any:
        message = AnswerMessage(content=reply.text, annotations=self._annotations(reply.marks))
        return Completion(
            **self._head, choices=[Choice(message=message, finish_reason=_reason(reply))], usage=_usage(reply.usage)
        )

    async def chunks(self, heard: Any, usage: bool) -> Events:
        content = ""
        try:
            yield "", self._chunk({"role": "assistant", "content": ""})
            async for item in heard:
                if isinstance(item, Answered) and not item.whole:
                    now = conversation.steady(item.text)
                    if now.startswith(content) and len(now) > len(content):
                        yield "", self._chunk({"content": now[len(content) :]})
                        content = now
                elif isinstance(item, ConversationReply):
                    left = conversation.rest(item.text, content)
                    yield "", self._chunk({"content": left})
                    marks = conversation.marks_in(content + left, [mark.citation for mark in item.marks])
                    yield "", self._chunk({"annotations": self._annotations(marks)}, _reason(item))
                    if usage:
                        yield "", {**self._chunk({}), "choices": [], "usage": _usage(item.usage)}
            yield "", None
        finally:
            await heard.aclose()

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def _annotations(self, marks: Sequence[Mark]) -> list[Any]:
        return [Annotation(url_citation=self._cited(mark)) for mark in marks]

    def _cited(self, mark: Mark) -> Any:
        passage = mark.citation.passage
        title = passage.title or passage.document
        return UrlCitation(start_index=mark.start, end_index=mark.end, title=title, url=self._link(passage))


class OpenAIErrors:
    """Converts the errors of these routes to OpenAI's form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or not scope["path"].startswith(f"{PREFIX}/"):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def forward(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and message["status"] >= 400:
                start = message
                return
            if start is None:
                await send(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body", False):
                data = _in_openais_form(body, start["status"])
                MutableHeaders(scope=start)["Content-Length"] = str(len(data))
                await send(start)
                await send({"type": "http.response.body", "body": data})

        await self._app(scope, receive, forward)


def _in_openais_form(body: bytes, status: int) -> bytes:
    try:
        form = json.loads(body)
        return wire.dumps(_error(form, status)).encode() if isinstance(form.get("error"), str) else body
    except (ValueError, AttributeError):
        return body


def _error(form: dict[str, Any], status: int) -> Any:
    text = " ".join(filter(None, (form["error"], form.get("remedy", ""))))
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return Refusal(error=Wrong(message=text, type=kind, code=form.get("kind")))


def _data(name: str, form: Any) -> str:
    """Return an event in the form of OpenAI's clients."""
    if name == "error":
        form = _error(form, 500)
    return f"data: {'[DONE]' if form is None else wire.dumps(form)}\n\n"


def _model_of(caller: Caller, model: str) -> tuple[LocalSearching, Strategy]:
    """Return the collections of a model name, and the system over them.

    Raises NotFoundError, RefusedError.
    """
    system, target = None, _named(caller, model)
    if target is None and ":" in model:
        model, _, system = model.rpartition(":")
        target = _named(caller, model)
    target = target or caller.collection(model)
    check_asked_system(system or target.usual)
    return target, target.system(system)  # raises for a missing collection before the answer begins


def _named(caller: Caller, name: str) -> LocalSearching | None:
    """Return a collection that the caller may see, or several comma-separated ones; None if one is missing."""

    def exists(one: str) -> bool:
        return caller.access.sees(one) and find_collection(caller.kg.graph, one) is not None

    several = split_names(name)
    if len(several) < 2 or exists(name):
        return caller.collection(name) if exists(name) else None
    return caller.select(several) if all(map(exists, several)) else None


def _link(caller: Caller, passage: Passage) -> str:
    """Return the address of the page of a passage, or without pages its REST address."""
    if caller.serving.pages:
        place = address("passage", passage.collection, passage.id)
    else:
        place = address("api", "v1", "collections", passage.collection, "passage", id=passage.id)
    return f"{str(caller.request.base_url).rstrip('/')}{place}"


def _reason(reply: ConversationReply) -> Literal["stop", "length"]:
    return "length" if reply.cut else "stop"


def _usage(usage: Usage) -> Any:
    return Tokens(
        prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens, total_tokens=usage.tokens
    )
