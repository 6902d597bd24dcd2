"""Routes of collections: which there are, what one holds and looks like, and its removal."""

from typing import Any

from fastapi import APIRouter

from kgrag.server.api.jobs import submitted
from kgrag.server.serving import Called, Named
from kgrag.wire import plain, to_json

router = APIRouter(tags=["collections"])


@router.get("/me")
async def me(caller: Called) -> dict[str, Any]:
    """What the key of this request allows."""
    return to_json(caller.access)


@router.get("/collections")
async def collections(caller: Called) -> dict[str, Any]:
    """The collections that the key may see, with their counts."""
    found = await caller.work(caller.kg.collections)
    return {"collections": [plain(info) for info in found if caller.access.sees(info.name)]}


@router.get("/collections/{collection}")
async def collection(caller: Called, collection: Named) -> dict[str, Any]:
    """One collection: its embedder and its counts."""
    return to_json(await caller.work(lambda: caller.collection(collection).info()))


@router.delete("/collections/{collection}", status_code=202)
async def delete(caller: Called, collection: Named) -> dict[str, Any]:
    """Have a job delete a collection with all it holds, and the files that were uploaded to it (role admin)."""

    def asked() -> dict[str, Any]:
        caller.collection(collection, "admin").info()  # one that does not exist is told now
        return submitted(caller, collection, "delete", {})

    return await caller.work(asked)


@router.get("/collections/{collection}/inspect")
async def inspect(caller: Called, collection: Named) -> dict[str, Any]:
    """What it looks like: counts, distributions, coverage, and findings with their remedies."""
    return to_json(await caller.work(lambda: caller.collection(collection).inspect()))
