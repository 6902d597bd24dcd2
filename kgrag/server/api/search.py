"""Routes that search passages, and that look up a page, a table or a section named by the question."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field, create_model

from kgrag.agents.lookup import Lookup
from kgrag.client.collection import Collection
from kgrag.client.federation import Federation
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.server.allowed_parts import check_asked_retriever
from kgrag.server.api.forms import CollectionNames, Expression, Question, RequestForm, Seconds, versioned
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller, Named
from kgrag.values.results import Filter, Ranking
from kgrag.wire import RankingForm, to_json

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
    """A search of several collections as one; it is not kept as a run."""

    collections: CollectionNames
    save: Literal[False] = False


class LookUpRequest(RequestForm):
    """A question that names a page, a table or a section."""

    question: Question
    filter: Filter = Filter()


@router.post(
    "/collections/{collection}/search", response_model=versioned(RankingForm, "SavedRankingReply", run=str | None)
)
async def search(caller: Called, collection: Named, body: SearchRequest) -> Reply:
    """Return the best passages for a question, each with its trail."""

    def rank() -> Reply:
        target = caller.collection(collection, "write" if body.save else "read")
        ranking = _ranking(caller, target, body)
        return Reply(to_json(ranking, run=target.save(ranking) if body.save else None))

    return await caller.work(rank, deadline=body.deadline)


@router.post("/search", response_model=versioned(RankingForm, "RankingReply"))
async def search_collections(caller: Called, body: SearchCollectionsRequest) -> Reply:
    """Return the best passages of several collections for a question; each has its `collection`."""
    return await caller.work(
        lambda: Reply(to_json(_ranking(caller, caller.select(body.collections), body))), deadline=body.deadline
    )


def _ranking(caller: Caller, target: Collection | Federation, body: SearchRequest) -> Ranking:
    return target.search(
        body.question,
        k=body.k,
        retriever=check_asked_retriever(body.retriever),
        filter=body.filter,
        knowledge=caller.seen(body.knowledge),
    )


@router.post("/collections/{collection}/look-up", response_model=create_model("LookUpReply", lookup=Lookup | None))
async def look_up(caller: Called, collection: Named, body: LookUpRequest) -> Reply:
    """Return a page, a table or a section; `lookup` is null if the question names none."""
    lookup = await caller.work(lambda: caller.collection(collection).look_up(body.question, filter=body.filter))
    return Reply({"lookup": lookup})
