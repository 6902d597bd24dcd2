"""The routes that answer a question with citations, at once or as a stream."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from kgrag.agents.system import DEPTH
from kgrag.client.searching import LocalSearching, Stream
from kgrag.server.allowed_parts import check_asked_system
from kgrag.server.api.forms import CollectionNames, Expression, Question, RequestForm, Seconds, versioned
from kgrag.server.events import MEDIA_TYPE, Events, EventStream
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller, Named
from kgrag.values.events import Answer, Answered, Event
from kgrag.values.results import Filter
from kgrag.wire import AnswerForm, to_json, written_since

router = APIRouter(tags=["ask"])


class AskRequest(RequestForm):
    """A question. `short`: a few words without citations; `choices`: the answer is one of these.

    `save`: keep it as a run (role write).
    """

    question: Question
    system: Expression | None = Field(None, description="gear+pathrank, or single+pathrank for several collections")
    short: bool = False
    k: Annotated[int, Field(ge=1, le=200, description="how many passages of the ranking")] = DEPTH
    filter: Filter = Filter()
    deadline: Seconds | None = None
    budget: Annotated[float | None, Field(ge=0, le=1_000_000, description="limit of the cost of models")] = None
    choices: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    knowledge: Annotated[tuple[str, ...], Field(max_length=8, description="collections of facts that may lead on")] = ()
    save: bool = False


class AskCollectionsRequest(AskRequest):
    """A question to several collections as one; it is not kept as a run."""

    collections: CollectionNames
    save: Literal[False] = False


_ASKED = AskRequest.model_fields.keys() - {"save"}
_EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}}
_SAVED, _AMONG = versioned(AnswerForm, "SavedAnswerReply", run=str | None), versioned(AnswerForm, "AnswerReply")


@router.post("/collections/{collection}/ask", response_model=_SAVED, responses=_EVENTS)
async def ask(caller: Called, request: Request, collection: Named, body: AskRequest) -> Response:
    """Return an answer that the server's language model writes from passages that it cites.

    With `Accept: text/event-stream` each step is an event named by its type. The last event is the answer, `Answer`, or
    an `error`. While the answer streams, `Answered` events have `whole=false`; `text` holds the new characters, to be
    inserted at offset `after`. Closing the connection cancels the work.
    """
    stream = await caller.work(
        lambda: _begun(caller, caller.collection(collection, "write" if body.save else "read"), body)
    )
    return await _answered(
        caller, request, stream, lambda result: {"run": caller.kg[collection].save(result) if body.save else None}
    )


@router.post("/ask", response_model=_AMONG, responses=_EVENTS)
async def ask_collections(caller: Called, request: Request, body: AskCollectionsRequest) -> Response:
    """Return an answer from the passages of several collections; each passage has its `collection`."""
    stream = await caller.work(lambda: _begun(caller, caller.select(body.collections), body))
    return await _answered(caller, request, stream)


async def _answered(
    caller: Caller, request: Request, stream: Stream, keep: Callable[[Answer], dict[str, Any]] = lambda result: {}
) -> Response:
    """Return the answer, or stream it to a client that accepts events; `keep` keeps it and returns its run."""

    def answer(hear: Callable[[Event], None] | None) -> dict[str, Any]:
        result = stream.tell(hear)
        return to_json(result, **keep(result))

    if MEDIA_TYPE in request.headers.get("accept", ""):
        return EventStream(_named(await caller.serving.asks.stream(answer)))
    return Reply(await caller.work(lambda: answer(None), workers=caller.serving.asks))


def _begun(caller: Caller, target: LocalSearching, body: AskRequest) -> Stream:
    """Check the request, and return the answer to be made."""
    if body.system is not None:
        check_asked_system(body.system)
    caller.seen(body.knowledge)
    return target.ask_stream(**{name: getattr(body, name) for name in _ASKED})


async def _named(heard: AsyncGenerator[Any]) -> Events:
    """Yield the events of an answer with their types, then the answer."""
    text = ""
    async with aclosing(heard):
        async for item in heard:
            if isinstance(item, Answered) and not item.whole:
                yield "Answered", written_since(item, text)
                text = item.text
            else:
                yield (type(item).__name__, to_json(item)) if isinstance(item, Event) else ("Answer", item)
