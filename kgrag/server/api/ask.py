"""The route that asks: an answer with its citations, whole or step by step."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEPTH
from kgrag.client.collection import Collection
from kgrag.client.federation import Federation
from kgrag.retrieval.base import Query
from kgrag.server.allowed_parts import check_asked_system
from kgrag.server.api.forms import CollectionNames, Expression, Question, RequestForm
from kgrag.server.api.shapes import Responses, replies
from kgrag.server.events import MEDIA_TYPE, Events, EventStream
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller, Named
from kgrag.values.events import Answer, Answered, Event
from kgrag.values.results import Filter
from kgrag.wire import to_json, written_since

router = APIRouter(tags=["ask"])


class AskRequest(RequestForm):
    """A question. `short`: a few words without citations; `choices`: the answer is one of these.

    `save`: keep it as a run (role write).
    """

    question: Question
    system: Expression | None = Field(None, description="gear+pathrank, or of several collections single+pathrank")
    short: bool = False
    k: Annotated[int, Field(ge=1, le=200, description="how many passages of the ranking")] = DEPTH
    filter: Filter = Filter()
    choices: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    knowledge: Annotated[tuple[str, ...], Field(max_length=8, description="collections of facts that may lead on")] = ()
    save: bool = False


class AskCollectionsRequest(AskRequest):
    """A question to several collections as one; of these no run is kept."""

    collections: CollectionNames
    save: Literal[False] = False


_EVENTS = {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}
_RESPONSES: Responses = {200: replies(Answer, may={"run": str})[200] | _EVENTS}
_AMONG: Responses = {200: replies(Answer)[200] | _EVENTS}


@router.post("/collections/{collection}/ask", responses=_RESPONSES)
async def ask(caller: Called, request: Request, collection: Named, asked: AskRequest) -> Response:
    """Return an answer that the server's language model writes from passages that it cites.

    With `Accept: text/event-stream` each step is an event as it happens, named by its type, and the last is the answer,
    named `Answer`, or an `error`. Of a text that is being written, `Answered` whose `whole` is false, `text` is what is
    new: it stands `after` so many characters of what came before. Closing the connection ends the work.
    """

    def strategy() -> Strategy:
        return _strategy(caller, caller.collection(collection, "write" if asked.save else "read"), asked)

    return await _answered(caller, request, asked, await caller.work(strategy), collection)


@router.post("/ask", responses=_AMONG)
async def ask_collections(caller: Called, request: Request, asked: AskCollectionsRequest) -> Response:
    """Return an answer from the passages of several collections; each passage has its `collection`."""
    strategy = await caller.work(lambda: _strategy(caller, caller.select(asked.collections), asked))
    return await _answered(caller, request, asked, strategy)


async def _answered(
    caller: Caller, request: Request, asked: AskRequest, strategy: Strategy, collection: str | None = None
) -> Response:
    """Return the answer, streamed to those who accept it so; saved in the collection, if that is requested."""

    def answer(hear: Callable[[Event], None] | None) -> dict[str, Any]:
        query = Query(asked.question, asked.filter, knowledge=asked.knowledge)
        found = strategy.ask(
            query, short=asked.short, depth=asked.k, stream=hear is not None, listener=hear, choices=asked.choices
        )
        kept = {"run": caller.kg[collection].save(found)} if asked.save and collection is not None else {}
        return to_json(found, **kept)

    if MEDIA_TYPE in request.headers.get("accept", ""):
        return EventStream(_named(await caller.serving.asks.stream(answer)))
    return Reply(await caller.work(lambda: answer(None), workers=caller.serving.asks))


def _strategy(caller: Caller, chosen: Collection | Federation, asked: AskRequest) -> Strategy:
    """Return the system over existing collections, once all options are checked."""
    if asked.system is not None:
        check_asked_system(asked.system)
    caller.seen(asked.knowledge)
    return chosen.system(asked.system)


async def _named(heard: AsyncGenerator[Any]) -> Events:
    """Yield the events of an answer by their types, and the answer."""
    written = ""
    async with aclosing(heard):
        async for told in heard:
            if isinstance(told, Answered) and not told.whole:
                yield "Answered", written_since(told, written)
                written = told.text
            else:
                yield (type(told).__name__, to_json(told)) if isinstance(told, Event) else ("Answer", told)
