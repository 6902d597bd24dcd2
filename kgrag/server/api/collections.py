"""Routes that list, describe and delete collections."""

from fastapi import APIRouter
from pydantic import create_model

from kgrag.inspection.result import Inspection
from kgrag.server.api.forms import versioned
from kgrag.server.api.jobs import JOB, submitted
from kgrag.server.failures import Reply
from kgrag.server.keys import Access
from kgrag.server.route_context import Called, Named
from kgrag.values.results import CollectionInfo
from kgrag.wire import to_json

router = APIRouter(tags=["collections"])


@router.get("/me", response_model=versioned(Access))
async def me(caller: Called) -> Reply:
    """Return the rights of the key that the request sends."""
    return Reply(to_json(caller.access))


@router.get("/collections", response_model=create_model("Collections", collections=list[CollectionInfo]))
async def collections(caller: Called) -> Reply:
    """Return the collections that the key may see, with their counts."""
    infos = await caller.work(caller.kg.collections)
    return Reply({"collections": [info for info in infos if caller.access.sees(info.name)]})


@router.get("/collections/{collection}", response_model=versioned(CollectionInfo))
async def collection(caller: Called, collection: Named) -> Reply:
    """Return one collection: its embedder and its counts."""
    return Reply(to_json(await caller.work(lambda: caller.collection(collection).info())))


@router.delete("/collections/{collection}", status_code=202, response_model=JOB)
async def delete_collection(caller: Called, collection: Named) -> Reply:
    """Start a job that deletes a collection, its content and its uploaded files (role admin)."""

    def submit() -> Reply:
        caller.collection(collection, "admin").info()  # raises at once if it is missing
        return submitted(caller, collection, "delete", {})

    return await caller.work(submit)


@router.get("/collections/{collection}/examples", response_model=create_model("Examples", questions=list[str]))
async def example_questions(caller: Called, collection: Named) -> Reply:
    """Return at most three example questions made of its facts and names."""
    return Reply({"questions": await caller.work(lambda: caller.collection(collection).example_questions())})


@router.get("/collections/{collection}/inspect", response_model=versioned(Inspection))
async def inspect(caller: Called, collection: Named) -> Reply:
    """Return a collection's counts, distributions, coverage, and findings with their remedies."""
    return Reply(to_json(await caller.work(lambda: caller.collection(collection).inspect())))
