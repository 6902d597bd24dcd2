"""Routes of runs: the answers and searches that are kept."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import create_model

from kgrag.graph.runs import Run, named
from kgrag.server.api.forms import versioned
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller, Named
from kgrag.wire import to_json

router = APIRouter(tags=["runs"])

Id = Annotated[str, Path(min_length=6, max_length=64, description="(the first 6 or more digits of) a run's id")]


@router.get("/collections/{collection}/runs", response_model=create_model("Runs", runs=list[Run]))
async def runs(caller: Called, collection: Named) -> Reply:
    """Return the runs of a collection, newest first."""
    return Reply({"runs": await caller.work(lambda: caller.collection(collection).runs())})


@router.get("/collections/{collection}/runs/{id}", response_model=versioned(Run))
async def run(caller: Called, collection: Named, id: Id) -> Reply:
    """Return one run; the saved query `run` draws it."""
    return Reply(to_json(await caller.work(lambda: _run(caller, collection, id))))


@router.delete("/collections/{collection}/runs/{id}", response_model=versioned(Run))
async def delete_run(caller: Called, collection: Named, id: Id) -> Reply:
    """Delete a run (role write)."""

    def deleted() -> Run:
        caller.access.check("write", collection)
        return caller.kg.delete_runs([_run(caller, collection, id).id])[0]

    return Reply(to_json(await caller.work(deleted)))


def _run(caller: Caller, collection: str, id: str) -> Run:
    return named(caller.collection(collection).runs(), [id])[0]
