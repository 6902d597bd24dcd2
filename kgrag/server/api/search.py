"""Routes that search: passages for a question, and what stands on a page, in a table or a section that it names."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from kgrag.agents.lookup import Lookup
from kgrag.client.collection import Collection
from kgrag.client.federation import Federation
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.server.allowed_parts import check_asked_retriever
from kgrag.server.api.forms import CollectionNames, Expression, Question, RequestForm, Seconds
from kgrag.server.api.shapes import holds, replies
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller, Named
from kgrag.values.results import Filter, Ranking
from kgrag.wire import to_json

router = APIRouter(tags=["search"])


class SearchRequest(RequestForm):
    """A search. `save`: keep it as a run (role write)."""

    question: Question
    k: Annotated[int, Field(ge=1, le=200, description="how many passages")] = 8
    retriever: Expression = DEFAULT_RETRIEVER
    filter: Filter = Filter()
    knowledge: Annotated[tuple[str, ...], Field(max_length=8, description="collections of facts that may lead on")] = ()
    deadline: Seconds | None = None
    save: bool = False


class SearchCollectionsRequest(SearchRequest):
    """A search of several collections as one; of these no run is kept."""

    collections: CollectionNames
    save: Literal[False] = False


class LookUpRequest(RequestForm):
    """A question that names a page, a table or a section."""

    question: Question
    filter: Filter = Filter()


@router.post("/collections/{collection}/search", responses=replies(Ranking, may={"run": str}))
async def search(caller: Called, collection: Named, asked: SearchRequest) -> Reply:
    """Return the passages that answer a question best, each with the trail that led to it."""

    def found() -> Reply:
        chosen = caller.collection(collection, "write" if asked.save else "read")
        ranking = _ranking(caller, chosen, asked)
        return Reply(to_json(ranking, **({"run": chosen.save(ranking)} if asked.save else {})))

    return await caller.work(found, deadline=asked.deadline)


@router.post("/search", responses=replies(Ranking))
async def search_collections(caller: Called, asked: SearchCollectionsRequest) -> Reply:
    """Return the passages of several collections that answer a question best; each has its `collection`."""
    return await caller.work(
        lambda: Reply(to_json(_ranking(caller, caller.select(asked.collections), asked))), deadline=asked.deadline
    )


def _ranking(caller: Caller, chosen: Collection | Federation, asked: SearchRequest) -> Ranking:
    return chosen.search(
        asked.question,
        k=asked.k,
        retriever=check_asked_retriever(asked.retriever),
        filter=asked.filter,
        knowledge=caller.seen(asked.knowledge),
    )


@router.post("/collections/{collection}/look-up", responses=holds("LookUpReply", lookup=Lookup | None))
async def look_up(caller: Called, collection: Named, asked: LookUpRequest) -> Reply:
    """Return a page, a table or a section; `lookup` is null where the question names none of these."""
    found = await caller.work(lambda: caller.collection(collection).look_up(asked.question, filter=asked.filter))
    return Reply({"lookup": found})
