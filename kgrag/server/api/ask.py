"""The route that asks: an answer with its citations, whole or step by step."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from kgrag.agents.system import DEFAULT_SYSTEM, DEPTH
from kgrag.client.collection import Collection
from kgrag.events import Answer, Event
from kgrag.retrieval.base import Query
from kgrag.server.api.forms import Expression, Form, Question
from kgrag.server.asking import check_asked_system
from kgrag.server.events import MEDIA_TYPE, Events, EventStream
from kgrag.server.failures import Reply
from kgrag.server.serving import Called, Caller, Named
from kgrag.types import Filter
from kgrag.wire import to_json

router = APIRouter(tags=["ask"])


class Asking(Form):
    """A question. `short`: a few words without citations; `choices`: the answer is one of these.

    `save`: keep it as a run (role write).
    """

    question: Question
    system: Expression = DEFAULT_SYSTEM
    short: bool = False
    k: Annotated[int, Field(ge=1, le=200, description="how many passages of the ranking")] = DEPTH
    filter: Filter = Filter()
    choices: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    knowledge: Annotated[tuple[str, ...], Field(max_length=8, description="collections of facts that may lead on")] = ()
    save: bool = False


@router.post(
    "/collections/{collection}/ask",
    responses={200: {"content": {"application/json": {}, MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def ask(caller: Called, request: Request, collection: Named, asked: Asking) -> Response:
    """An answer that the server's language model writes from passages that it cites.

    With `Accept: text/event-stream` each step is an event as it happens, named by its type, and the last is the answer,
    named `Answer`, or an `error`. Closing the connection ends the work.
    """
    chosen = await caller.work(lambda: _checked(caller, collection, asked))

    def answer(hear: Callable[[Event], None] | None) -> dict[str, Any]:
        query = Query(asked.question, asked.filter, knowledge=asked.knowledge)
        found: Answer = chosen.system(asked.system).ask(
            query, short=asked.short, depth=asked.k, stream=hear is not None, listener=hear, choices=asked.choices
        )
        return to_json(found, **({"run": chosen.save(found)} if asked.save else {}))

    if MEDIA_TYPE in request.headers.get("accept", ""):
        return EventStream(_named(caller, answer))
    return Reply(await caller.work(lambda: answer(None)))


def _checked(caller: Caller, collection: str, asked: Asking) -> Collection:
    """The collection, which is there, once all that is asked for may be."""
    check_asked_system(asked.system)
    caller.seen(asked.knowledge)
    chosen = caller.collection(collection, "write" if asked.save else "read")
    _ = chosen.context
    return chosen


def _named(caller: Caller, answer: Callable[[Callable[[Event], None] | None], dict[str, Any]]) -> Events:
    """The events by their types, and the answer; the work begins at once."""
    heard = caller.serving.workers.stream(answer)

    async def events() -> Events:
        try:
            async for told in heard:
                yield (type(told).__name__, to_json(told)) if isinstance(told, Event) else ("Answer", told)
        finally:
            await heard.aclose()

    return events()
