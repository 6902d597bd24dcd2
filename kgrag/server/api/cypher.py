"""Routes of Cypher: read-only statements of the caller, and the saved queries."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue, create_model

from kgrag.graph.queries import Parameter
from kgrag.graph.saved import saved_queries
from kgrag.server.allowed_parts import is_of_a_collection, saved_rows
from kgrag.server.api.forms import RequestForm, versioned
from kgrag.server.failures import Reply
from kgrag.server.replies import open_parameters
from kgrag.server.route_context import Called, Caller, Named
from kgrag.values.rows import RowsForm
from kgrag.wire import to_json

router = APIRouter(tags=["cypher"])

Parameters = Annotated[dict[str, JsonValue], Field(max_length=100, description="name -> value")]
_ROWS = versioned(RowsForm, "RowsReply")
_QUERY: Any = create_model("SavedQuery", name=str, purpose=str, parameters=list[Parameter], of_a_collection=bool)
QueryName = Annotated[str, Path(description="name of a saved query", min_length=1, max_length=100)]


class CypherRequest(RequestForm):
    """A read-only statement; `collection` becomes $collection if the statement has it."""

    statement: Annotated[str, Field(min_length=1)]
    parameters: Parameters = Field(default_factory=dict)
    collection: str | None = None


class SavedQueryRequest(RequestForm):
    """The parameters of a saved query; omitted ones take their defaults."""

    parameters: Parameters = Field(default_factory=dict)


@router.post("/cypher", response_model=_ROWS)
async def cypher(caller: Called, body: CypherRequest) -> Reply:
    """Run a read-only statement as a guest (role analyst, a key of all collections)."""
    caller.access.check("analyst")
    caller.access.check_all()
    named = {} if body.collection is None else {"collection": body.collection}
    rows = await caller.work(
        lambda: caller.kg.cypher(body.statement, {**named, **body.parameters}, trust="guest"),
        workers=caller.serving.statements,
    )
    return Reply(to_json(rows))


@router.get("/queries", response_model=create_model("Queries", queries=list[_QUERY]))
async def queries(caller: Called) -> Reply:
    """Return the saved queries that the key may run, with their parameters."""
    all_of_them = not caller.access.collections
    rows = [
        {
            "name": name,
            "purpose": query.purpose,
            "parameters": open_parameters(query),
            "of_a_collection": is_of_a_collection(name),
        }
        for name, query in saved_queries().items()
        if all_of_them or is_of_a_collection(name)
    ]
    return Reply({"queries": rows})


@router.post("/queries/{name}", response_model=_ROWS)
async def saved_query(caller: Called, name: QueryName, body: SavedQueryRequest) -> Reply:
    """Run a saved query on the whole database (a key of all collections)."""
    caller.access.check_all()
    return await _rows(caller, name, body, None)


@router.post("/collections/{collection}/queries/{name}", response_model=_ROWS)
async def collection_query(caller: Called, collection: Named, name: QueryName, body: SavedQueryRequest) -> Reply:
    """Run a saved query on a collection."""
    return await _rows(caller, name, body, collection)


async def _rows(caller: Caller, name: str, body: SavedQueryRequest, collection: str | None) -> Reply:
    def rows() -> Reply:
        target = None if collection is None else caller.collection(collection).name
        return Reply(to_json(saved_rows(caller.kg, name, body.parameters, target)))

    return await caller.work(rows, workers=caller.serving.statements)
