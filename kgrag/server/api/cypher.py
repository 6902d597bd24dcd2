"""Routes of Cypher: statements of one's own, which can only read, and the saved queries."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue

from kgrag.graph.saved import saved_queries
from kgrag.server import replies
from kgrag.server.api.forms import Form
from kgrag.server.asking import is_of_a_collection, saved_rows
from kgrag.server.serving import Called, Caller, Named
from kgrag.wire import plain, to_json

router = APIRouter(tags=["cypher"])

Parameters = Annotated[dict[str, JsonValue], Field(max_length=100, description="name -> value")]
QueryName = Annotated[str, Path(description="name of a saved query", min_length=1, max_length=100)]


class Statement(Form):
    """Cypher that reads; `collection` is $collection, where that stands there."""

    statement: Annotated[str, Field(min_length=1)]
    parameters: Parameters = Field(default_factory=dict)
    collection: str | None = None


class Arguments(Form):
    """Arguments of a saved query; those left out take their defaults."""

    parameters: Parameters = Field(default_factory=dict)


@router.post("/cypher")
async def cypher(caller: Called, asked: Statement) -> dict[str, Any]:
    """The rows of a statement, through the gateway that lets nothing write; for keys of all collections."""
    caller.access.check_all()
    named = {} if asked.collection is None else {"collection": asked.collection}
    return to_json(
        await caller.work(
            lambda: caller.kg.cypher(asked.statement, {**named, **asked.parameters}),
            workers=caller.serving.statements,
        )
    )


@router.get("/queries")
async def queries(caller: Called) -> dict[str, Any]:
    """The saved queries that the key may run, with their parameters."""
    all_of_them = not caller.access.collections
    found = [
        {
            "name": name,
            "purpose": query.purpose,
            "parameters": plain(replies.open_parameters(query)),
            "of_a_collection": is_of_a_collection(name),
        }
        for name, query in saved_queries().items()
        if all_of_them or is_of_a_collection(name)
    ]
    return {"queries": found}


@router.post("/queries/{name}")
async def query(caller: Called, name: QueryName, asked: Arguments) -> dict[str, Any]:
    """The rows of a saved query on the whole database; for keys of all collections."""
    caller.access.check_all()
    return await _rows(caller, name, asked, None)


@router.post("/collections/{collection}/queries/{name}")
async def query_of(caller: Called, collection: Named, name: QueryName, asked: Arguments) -> dict[str, Any]:
    """The rows of a saved query on a collection."""
    return await _rows(caller, name, asked, collection)


async def _rows(caller: Caller, name: str, asked: Arguments, collection: str | None) -> dict[str, Any]:
    def rows() -> dict[str, Any]:
        chosen = None if collection is None else caller.collection(collection).name
        return to_json(saved_rows(caller.kg, name, asked.parameters, chosen))

    return await caller.work(rows, workers=caller.serving.statements)
