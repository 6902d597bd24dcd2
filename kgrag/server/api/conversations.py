"""Routes of conversations: ask a question, follow its answer, and read it again later."""

import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, create_model

from kgrag.client.federation import Federation
from kgrag.client.graph import KnowledgeGraph
from kgrag.client.searching import LocalSearching
from kgrag.drawing import drawing
from kgrag.graph.collections import no_documents
from kgrag.graph.questions import follow_ups
from kgrag.models.chat import Message
from kgrag.models.prompted import PromptedModel
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.retrieval.quoted_trail import Hop
from kgrag.server.allowed_parts import check_asked_retriever, check_asked_system
from kgrag.server.answer_forms import cited_hits, result_form
from kgrag.server.api.drawings import DRAWING, drawing_form
from kgrag.server.api.forms import CollectionNames, Expression, Question, RequestForm
from kgrag.server.conversation import TURNS
from kgrag.server.conversations import Heading, Turn
from kgrag.server.events import EventStream
from kgrag.server.failures import Reply, logger, words_for
from kgrag.server.route_context import Called, Caller
from kgrag.values.errors import AccessError, DatabaseError, InputError, NotFoundError
from kgrag.values.events import Answer, Event, Retrieved
from kgrag.values.forms import plain
from kgrag.values.results import Hit, Passage, Ranking
from kgrag.wire import to_json

Shown = tuple[Answer | Ranking | None, frozenset[str]]
"""A result to show, and the ids of its passages that changed or are gone, whose texts are omitted."""


def still_held(
    kg: KnowledgeGraph, collections: Iterable[str], results: Sequence[Answer | Ranking | None]
) -> list[Shown]:
    """Return results without the texts of passages that changed or are gone; makes one query a collection."""
    ids = list({passage.id for result in results if result for passage in _passages(result)})
    now: dict[str, Passage] = {}
    for name in set(collections):
        with suppress(NotFoundError):  # the whole collection is gone
            now |= kg[name].context.reader.passages(ids)
    forms: list[Shown] = []
    for result in results:
        passages = _passages(result) if result else ()
        missing = frozenset(item.id for item in passages if item.id not in now or now[item.id].text != item.text)
        forms.append((_without(result, missing) if result and missing else result, missing))
    return forms


def _passages(result: Answer | Ranking) -> Iterable[Passage]:
    ranking = result if isinstance(result, Ranking) else result.ranking
    yield from (hit.passage for hit in ranking)
    if isinstance(result, Answer):
        yield from (citation.passage for citation in result.citations)
        yield from (hit.passage for event in result.trace if isinstance(event, Retrieved) for hit in event.hits)


def _without(result: Answer | Ranking, missing: frozenset[str]) -> Answer | Ranking:
    def passage(item: Passage) -> Passage:
        return replace(item, text="") if item.id in missing else item

    def hits(item: Iterable[Hit]) -> tuple[Hit, ...]:
        return tuple(replace(hit, passage=passage(hit.passage), copies=()) for hit in item)

    def event(item: Event) -> Event:
        return replace(item, hits=hits(item.hits)) if isinstance(item, Retrieved) else item

    if isinstance(result, Ranking):
        return replace(result, hits=hits(result.hits))
    return replace(
        result,
        ranking=replace(result.ranking, hits=hits(result.ranking.hits)),
        citations=tuple(replace(item, passage=passage(item.passage)) for item in result.citations),
        trace=tuple(map(event, result.trace)),
    )


_DRAWN = 3  # hits shown for an answer without citations
router = APIRouter(tags=["conversations"])

Id = Annotated[str, Path(min_length=1, max_length=64, description="id of a conversation, or of a turn")]
_OWN = {name: kind for name, kind in get_type_hints(Turn).items() if name != "owner"}
_TURN: Any = create_model("TurnReply", **_OWN)
_SHOWN: Any = create_model(
    "ShownTurn", turn=_TURN, mine=bool, versions=list[str], answer=dict[str, Any] | None, steps=list[dict[str, Any]],
    sources=list[dict[str, Any]], notes=list[str], hops=list[Hop],
    follow_ups=Annotated[list[str], Field(description="suggested next questions, for the last question shown")],
)  # fmt: skip
_SPENT: Any = create_model("Spent", name=str, questions=int, tokens=int, cost=float | None)


class TurnRequest(RequestForm):
    """A question to collections: `system` answers it, or `retriever` searches for it; both have defaults.

    `conversation`: the conversation to continue. `instead`: a turn of which the question becomes another version.
    """

    collections: CollectionNames
    question: Question
    system: Expression | None = None
    retriever: Expression | None = None
    conversation: Annotated[str | None, Field(min_length=1, max_length=64)] = None
    instead: Annotated[str, Field(max_length=64)] = ""


class TitleRequest(RequestForm):
    """The title of a conversation in its owner's list; empty to show its first question."""

    title: Annotated[str, Field(max_length=200)]


class OpinionRequest(RequestForm):
    """Whether an answer is good, and why; null withdraws the rating."""

    good: bool | None
    remark: Annotated[str, Field(max_length=2000)] = ""


@router.post("/turns", status_code=202, response_model=_TURN)
async def ask_turn(caller: Called, body: TurnRequest) -> Reply:
    """Ask a question. Returns at once, with the id under which to follow and find the answer."""
    question = body.question.strip()
    if not question:
        raise InputError("The question is empty.", "Ask something.")
    if body.system is not None:
        check_asked_system(body.system)
    if body.retriever is not None:
        check_asked_retriever(body.retriever)
    serving = caller.serving

    def begin() -> tuple[Turn, LocalSearching, PromptedModel | None, list[Message]]:
        collections = [caller.collection(name) for name in body.collections]
        holding = [each for each in collections if each.info().counts.get("Passage")]
        if not holding:
            raise no_documents(", ".join(body.collections))
        target: LocalSearching = holding[0] if len(collections) == 1 else Federation(holding)
        llm = caller.kg.models.llm()
        answers = body.retriever is None and (body.system is not None or llm is not None)
        system = (body.system or target.usual) if answers else ""
        if system:
            caller.kg.language_model()
            target.system(system)
        before: list[Message] = []
        if body.conversation is not None:
            turns = list(takewhile(lambda earlier: earlier.id != body.instead, _own(caller, body.conversation)))
            before = [message for earlier in turns[-TURNS:] for message in _messages(caller, earlier)]
        turn = Turn(
            id=uuid.uuid4().hex,
            conversation=body.conversation or uuid.uuid4().hex,
            owner=caller.access.key,
            collections=body.collections,
            question=question,
            system=system,
            retriever="" if system else body.retriever or DEFAULT_RETRIEVER,
            created=datetime.now(UTC).isoformat(),
        )
        serving.conversations.add(turn, body.instead)
        return turn, target, llm, before

    turn, target, llm, before = await caller.work(begin)
    serving.asking.begin(turn, target, llm, before)
    return Reply(_form(turn), 202)


@router.get(
    "/conversations", response_model=create_model("ConversationList", conversations=list[Heading], before=str | None)
)
async def conversations(
    caller: Called,
    limit: Annotated[int, Query(ge=1, le=2000)] = 100,
    search: Annotated[str, Query(max_length=500, description="words of a question, its answer or the title")] = "",
    before: Annotated[str, Query(max_length=64, description="where the next page begins")] = "",
) -> Reply:
    """Return the conversations of the caller, newest first, and the `before` of the next page, null on the last one."""
    headings = await caller.work(
        lambda: caller.serving.conversations.headings(caller.access.key, limit, search, before)
    )
    seen = [heading for heading in headings if _seen(caller, heading.collections)]
    return Reply({"conversations": seen, "before": headings[-1].last if len(headings) == limit else None})


@router.get(
    "/conversations/{id}",
    response_model=create_model("Conversation", id=str, mine=bool, collections=list[str], turns=list[_SHOWN]),
)
async def conversation(caller: Called, id: Id, turn: Annotated[str, Query(max_length=64)] = "") -> Reply:
    """Return a conversation with its answers, to callers who know its id and may see its collections.

    `turn`: a turn to show, even if another version has replaced it.
    """

    def load() -> dict[str, Any]:
        turns = [caller.serving.asking.now(each) for each in caller.serving.conversations.turns(id, turn)]
        if not all(_seen(caller, turn.collections) for turn in turns):
            raise NotFoundError("There is no such conversation.", "It may be about collections that you may not see.")
        mine = turns[0].owner == caller.access.key
        return {"id": id, "mine": mine, "collections": turns[-1].collections, "turns": _rows_of(caller, turns)}

    return Reply(await caller.work(load))


@router.patch("/conversations/{id}", response_model=create_model("RenamedConversation", id=str, title=str))
async def rename_conversation(caller: Called, id: Id, body: TitleRequest) -> Reply:
    """Rename a conversation of the caller."""
    title = " ".join(body.title.split())

    def renamed() -> dict[str, str]:
        _own(caller, id)
        caller.serving.conversations.rename(id, caller.access.key, title)
        return {"id": id, "title": title}

    return Reply(await caller.work(renamed))


@router.delete("/conversations/{id}", response_model=create_model("RemovedConversation", id=str))
async def delete_conversation(caller: Called, id: Id) -> Reply:
    """Delete a conversation of the caller."""

    def removed() -> dict[str, str]:
        _own(caller, id)
        caller.serving.conversations.remove(id, caller.access.key)
        return {"id": id}

    return Reply(await caller.work(removed))


@router.get("/turns/{id}", response_model=_SHOWN)
async def turn(caller: Called, id: Id) -> Reply:
    """Return a question and its result: the answer, its steps and its sources."""
    return Reply(await caller.work(lambda: _rows_of(caller, [_turn(caller, id)])[0]))


@router.get("/turns/{id}/events", responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}})
async def turn_events(caller: Called, id: Id) -> Response:
    """Stream the past and coming events of a turn, as server-sent events, until it has ended.

    The events are `waiting`, `begun`, `asked`, `step`, `spent`, `text` with the answer so far, and finally `end`.
    """
    await caller.work(lambda: _turn(caller, id))
    return EventStream(caller.serving.asking.follow(id))


@router.get("/turns/{id}/result", response_model=create_model("TurnResult", turn=_TURN, result=dict[str, Any] | None))
async def turn_result(caller: Called, id: Id) -> Reply:
    """Return the answer, or the ranking, with all its stored evidence."""

    def load() -> dict[str, Any]:
        turn = _turn(caller, id)
        ((result, _),) = _results(caller, [turn])
        return {"turn": _form(turn), "result": None if result is None else to_json(result)}

    return Reply(await caller.work(load))


@router.get("/turns/{id}/drawing", response_model=DRAWING)
async def draw_turn(caller: Called, id: Id) -> Reply:
    """Return a drawing of the trails from the question to the citations of an answer, or to the hits of a search."""

    def draw() -> Reply:
        ((result, _),) = _results(caller, [_turn(caller, id)])
        if result is None:
            raise NotFoundError("There is no answer to draw.", "Ask again.")
        if isinstance(result, Answer):
            hits = tuple(cited_hits(result)) or result.ranking.hits[:_DRAWN]
            result = replace(result.ranking, query=result.question, hits=hits)
        return drawing_form(drawing(result))

    return await caller.work(draw)


@router.post("/turns/{id}/stop", response_model=_TURN)
async def stop_turn(caller: Called, id: Id) -> Reply:
    """Cancel the work on a question of the caller at its next step."""
    turn = await caller.work(lambda: _turn(caller, id, own=True))
    caller.serving.asking.stop(id)
    return Reply(_form(turn))


@router.post("/turns/{id}/show", response_model=_TURN)
async def show_turn(caller: Called, id: Id) -> Reply:
    """Show a version of a question of the caller, with its later turns, instead of another version."""

    def shown() -> Turn:
        turn = _turn(caller, id, own=True)
        caller.serving.conversations.show(turn)
        return turn

    return Reply(_form(await caller.work(shown)))


@router.post("/turns/{id}/opinion", response_model=_TURN)
async def opinion(caller: Called, id: Id, body: OpinionRequest) -> Reply:
    """Rate an answer, and save it in the graph as a run for the maintainers of the collection."""

    def rate() -> Turn:
        turn = _turn(caller, id, own=True)
        result = caller.serving.conversations.result(id)
        if not isinstance(result, Answer):
            raise InputError("There is no answer yet.", "Say it once there is one.")
        run = _rated(caller, turn, result, body) if len(turn.collections) == 1 else ""
        return caller.serving.conversations.change(id, good=body.good, remark=body.remark, run=run)

    return Reply(_form(await caller.work(rate)))


@router.get("/opinions", response_model=create_model("Opinions", opinions=list[_TURN]))
async def opinions(caller: Called, limit: Annotated[int, Query(ge=1, le=1000)] = 200) -> Reply:
    """Return the feedback on answers, newest first (role admin, all collections)."""
    _check_operator(caller)
    turns = await caller.work(lambda: caller.serving.conversations.rated(limit))
    return Reply({"opinions": list(map(_form, turns))})


@router.get("/spending", response_model=create_model("Spending", spending=list[_SPENT]))
async def spending(caller: Called) -> Reply:
    """Return the usage of the stored answers, by key (role admin, of all collections)."""
    _check_operator(caller)

    def spent() -> list[dict[str, Any]]:
        names = {key.sha256: key.name for key in caller.serving.keys.all()}
        return [
            {"name": names.get(owner, "a removed key" if owner else "local"), "questions": n, "tokens": t, "cost": cost}
            for owner, n, t, cost in caller.serving.conversations.spent()
        ]

    return Reply({"spending": await caller.work(spent)})


def _check_operator(caller: Caller) -> None:
    caller.access.check("admin")
    caller.access.check_all()


def _rows_of(caller: Caller, turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return turns with their results, and omit turns that cannot be shown."""
    say = words_for(caller.access)
    rows, versions = [], caller.serving.conversations.versions(turns[0].conversation)
    for turn, (result, missing) in zip(turns, _results(caller, turns), strict=True):
        row: dict[str, Any] = {"answer": None, "steps": [], "sources": [], "notes": [], "hops": [], "follow_ups": []}
        try:
            row |= result_form(result, missing, say, turn.read) if result is not None else {}
            if turn is turns[-1] and result is not None:
                row["follow_ups"] = _follow_ups(caller, turn, result)
        except Exception as error:
            logger.exception("turn %s cannot be shown", turn.id, exc_info=error)
            row["notes"] = ["This answer cannot be shown here. Its text can be downloaded as JSON."]
        problem = turn.error and {**turn.error, **{key: say(turn.error[key]) for key in ("error", "remedy")}}
        row |= {"mine": turn.owner == caller.access.key, "versions": versions.get(turn.id, [turn.id])}
        rows.append({"turn": _form(replace(turn, error=problem)), **row})
    return rows


def _follow_ups(caller: Caller, turn: Turn, result: Answer | Ranking) -> list[str]:
    """Return questions that follow from a result and that its conversation has not asked."""
    if isinstance(result, Answer):
        spoken, hits = f"{result.question} {result.text}", cited_hits(result)
    else:
        spoken, hits = result.query, list(result.hits[:_DRAWN])
    questions = [
        text
        for earlier in caller.serving.conversations.turns(turn.conversation)
        for text in (earlier.question, earlier.asked)
    ]
    try:
        return follow_ups(caller.kg.graph, [hit.passage.id for hit in hits], spoken, questions)
    except DatabaseError:  # show the answer without them
        return []


def _results(caller: Caller, turns: Sequence[Turn]) -> list[Shown]:
    """Return the results of turns, without the texts of changed passages, and the ids of these."""
    names = [name for turn in turns for name in turn.collections]
    return still_held(caller.kg, names, [caller.serving.conversations.result(turn.id) for turn in turns])


def _rated(caller: Caller, turn: Turn, answer: Answer, body: OpinionRequest) -> str:
    """Return the id of the run that stores the answer with its rating."""
    target = caller.kg[turn.collections[0]]
    if turn.run:
        with suppress(NotFoundError):  # it was deleted: save a new one
            target.rate(turn.run, good=body.good, remark=body.remark)
            return turn.run
    run = target.save(answer)
    target.rate(run, good=body.good, remark=body.remark)
    return run


def _turn(caller: Caller, id: str, *, own: bool = False) -> Turn:
    """Return a turn that the caller may see.

    Raises NotFoundError, and with `own` AccessError for a turn of another caller.
    """
    turn = caller.serving.asking.now(caller.serving.conversations.turn(id))
    if not _seen(caller, turn.collections):
        raise NotFoundError(f"There is no question {id!r}.", "It may be about collections that you may not see.")
    if own and turn.owner != caller.access.key:
        raise AccessError("This was asked by somebody else.", "Ask it yourself.")
    return turn


def _own(caller: Caller, conversation: str) -> list[Turn]:
    """Return the turns of a conversation of the caller. Raises AccessError for one of another caller."""
    turns = caller.serving.conversations.turns(conversation)
    if turns[0].owner != caller.access.key:
        raise AccessError("This conversation is somebody else's.", "Begin one of your own.")
    return turns


def _seen(caller: Caller, collections: tuple[str, ...]) -> bool:
    return all(map(caller.access.sees, collections))


def _messages(caller: Caller, turn: Turn) -> list[Message]:
    """Return a turn as messages, the context of the next turn."""
    result = caller.serving.conversations.result(turn.id)
    text = result.text if isinstance(result, Answer) else ""
    return [Message("user", turn.question), *([Message("assistant", text)] if text else [])]


def _form(turn: Turn) -> dict[str, Any]:
    return {key: value for key, value in plain(turn).items() if key != "owner"}
