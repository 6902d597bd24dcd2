"""Routes of drawings: a passage with its neighbours, the paths of a saved query."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import create_model

from kgrag.client.graph import KnowledgeGraph
from kgrag.drawing import Drawing, DrawnEdge, DrawnNode, drawing
from kgrag.retrieval.quoted_trail import Tie, told_connection
from kgrag.server.allowed_parts import saved_rows
from kgrag.server.api.cypher import QueryName, SavedQueryRequest
from kgrag.server.api.passages import Id
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Named
from kgrag.values.results import Passage

router = APIRouter(tags=["drawings"])

DRAWING = create_model("Drawing", nodes=list[DrawnNode], edges=list[DrawnEdge])


@router.get("/collections/{collection}/drawings/passage", response_model=DRAWING)
async def draw_passage(
    caller: Called, collection: Named, id: Id, edges: Annotated[int, Query(ge=1, le=100)] = 10
) -> Reply:
    """Return a passage and its neighbours, with a limit on the edges of each kind."""
    return drawing_form(await caller.work(lambda: around(caller.kg, caller.collection(collection).passage(id), edges)))


@router.post("/collections/{collection}/drawings/queries/{name}", response_model=DRAWING)
async def draw_query(caller: Called, collection: Named, name: QueryName, body: SavedQueryRequest) -> Reply:
    """Return the nodes and edges of a saved query: `around` an entity, a `run`, a `document`, ..."""

    def draw() -> Drawing:
        return drawing(saved_rows(caller.kg, name, body.parameters, caller.collection(collection).name))

    return drawing_form(await caller.work(draw))


@router.get(
    "/collections/{collection}/drawings/connection",
    response_model=create_model("Connection", nodes=list[DrawnNode], edges=list[DrawnEdge], ways=int, ties=list[Tie]),
)
async def draw_connection(
    caller: Called,
    collection: Named,
    name: Annotated[str, Query(min_length=1, max_length=2000)],
    other: Annotated[str, Query(min_length=1, max_length=2000)],
) -> Reply:
    """Return the shortest paths between two entities, and one of them in sentences; empty without a path."""

    def draw() -> Reply:
        target = caller.collection(collection)
        rows = saved_rows(caller.kg, "connection", {"entity": name, "other": other}, target.name)
        if not rows:
            return Reply({"nodes": [], "edges": [], "ways": 0, "ties": []})
        ties = told_connection(
            map(_way, rows), target.context.reader.passages(list({id for row in rows for id in row["passages"] if id}))
        )
        picture = drawing(rows)
        nodes, edges = list(picture.nodes.values()), list(picture.edges.values())
        return Reply({"nodes": nodes, "edges": edges, "ways": len(rows), "ties": ties})

    return await caller.work(draw)


def _way(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a path in the form that `told_connection` reads."""
    return [
        {
            "entity": "Entity" in node.kinds,
            "name": node.properties.get("name", ""),
            "text": node.properties.get("text", ""),
            "passage": passage,
        }
        for node, passage in zip(row["path"].nodes, row["passages"], strict=True)
    ]


def around(kg: KnowledgeGraph, passage: Passage, edges: int) -> Drawing:
    """Return a passage and its neighbours."""
    picture = Drawing()
    middle = picture.node(passage.id, "Passage", passage.title or passage.text, {"text": passage.text})
    for edge in kg.neighbourhood(passage.id, edges):
        other = picture.node(edge["id"], edge["label"], edge["name"] or edge["label"])
        ends = (middle, other) if edge["outgoing"] else (other, middle)
        picture.edge(*ends, edge["type"], properties=edge["properties"])
    return picture


def drawing_form(picture: Drawing) -> Reply:
    """Return a drawing in the form of a reply."""
    return Reply({"nodes": list(picture.nodes.values()), "edges": list(picture.edges.values())})
