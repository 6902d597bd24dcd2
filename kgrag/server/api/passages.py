"""Routes of passages: one of them with what stands around it, and its page as a picture."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from kgrag.server import pictures
from kgrag.server.api.shapes import Responses, holds
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Named
from kgrag.values.results import Passage
from kgrag.wire import to_json

router = APIRouter(tags=["passages"])

_PNG = "image/png"
_PAGE: Responses = {200: {**holds("Page", png=str, boxes=list[pictures.Box], pages=int)[200], "content": {_PNG: {}}}}
Id = Annotated[str, Query(min_length=1, max_length=2000, description="id of a passage, or key or title of a document")]


@router.get(
    "/collections/{collection}/passage",
    responses=holds("PassageReply", version=int, passage=Passage, edges=list[dict[str, Any]]),
)
async def passage(caller: Called, collection: Named, id: Id, edges: Annotated[int, Query(ge=0, le=100)] = 10) -> Reply:
    """A passage, and the edges around it, at most so many of each kind."""

    def found() -> dict[str, Any]:
        its = caller.collection(collection).passage(id)
        return {"passage": its, "edges": caller.kg.neighbourhood(its.id, edges)}

    return Reply(to_json(await caller.work(found)))


@router.get("/collections/{collection}/page", responses=_PAGE)
async def page(
    caller: Called,
    request: Request,
    collection: Named,
    passage: Id,
    number: Annotated[int | None, Query(ge=1, le=100_000, description="another page than its first")] = None,
) -> Response:
    """The page that a passage stands on, if its PDF is held.

    With `Accept: application/json` the picture comes in base64, with the boxes of the passage's words, as shares of the
    page's width and height from its top left corner.
    """

    def drawn() -> tuple[pictures.Picture, list[pictures.Box]]:
        its = caller.collection(collection).passage(passage)
        path = pictures.file_of(caller.kg, collection, its.document)
        picture = caller.serving.pictures.draw(path, number or its.page or 1)
        return picture, picture.boxes(its.text)

    picture, boxes = await caller.work(drawn)
    if "application/json" not in request.headers.get("accept", ""):
        return Response(picture.png, media_type=_PNG)
    return Reply({"png": base64.b64encode(picture.png).decode(), "boxes": boxes, "pages": picture.pages})
