"""Routes of the server's keys, for keys of role admin on all collections."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field, create_model

from kgrag.server.api.forms import RequestForm
from kgrag.server.failures import Reply
from kgrag.server.keys import Keys, Role
from kgrag.server.route_context import Called, Caller
from kgrag.values.errors import InputError

router = APIRouter(tags=["keys"])

_KEY: Any = create_model("ListedKey", name=str, role=Role, collections=list[str], created=datetime)
_MADE = create_model("MadeKey", name=str, token=str)
KeyName = Annotated[str, Path(min_length=1, max_length=64, description="name of a key")]


class KeyRequest(RequestForm):
    """A key to create. `collections`: the visible ones; empty for all."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    role: Role
    collections: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=1000)] = ()


@router.get("/keys", response_model=create_model("Keys", keys=list[_KEY]))
async def keys(caller: Called) -> Reply:
    """Return the keys of the server, by name, without their secrets (role admin, all collections)."""
    store = _keys(caller)
    stored = await caller.work(store.all)
    return Reply({"keys": [{name: getattr(key, name) for name in _KEY.model_fields} for key in stored]})


@router.post("/keys", status_code=201, response_model=_MADE)
async def add_key(caller: Called, body: KeyRequest) -> Reply:
    """Create a key (role admin, all collections); its token is shown only once.

    The first key locks the server: from then on each request requires a key.
    """
    store = _keys(caller)
    token = await caller.work(lambda: store.add(body.name, body.role, body.collections))
    return Reply({"name": body.name, "token": token}, 201)


@router.delete("/keys/{name:path}", response_model=create_model("RemovedKey", name=str))
async def remove_key(caller: Called, name: KeyName) -> Reply:
    """Delete a key (role admin, all collections), but not the key of this request."""
    store = _keys(caller)
    if caller.access.key and caller.access.name == name:
        raise InputError(f"{name!r} is the key that you use.", "Use another admin key or `kgrag keys remove`.")
    return Reply({"name": (await caller.work(lambda: store.remove(name))).name})


def _keys(caller: Caller) -> Keys:
    caller.access.check("admin")
    caller.access.check_all()
    return caller.serving.keys
