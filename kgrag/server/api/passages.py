"""Routes of passages: a passage with its context, and its page as a picture."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import create_model

from kgrag.indexing.figure_files import FigureFiles
from kgrag.server import pictures
from kgrag.server.api.documents import BYTES
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Named
from kgrag.values.documents import SHOWN
from kgrag.values.results import Passage
from kgrag.wire import to_json

router = APIRouter(tags=["passages"])

_PNG = "image/png"
_BOXES = list[pictures.Box]
_PAGE = create_model("Page", png=str, boxes=_BOXES, dark=_BOXES, pages=int, number=int, confidence=float | None)
_FIGURE: dict[int | str, dict[str, Any]] = {
    200: {"content": dict.fromkeys(("application/octet-stream", *SHOWN), BYTES)}
}
"""Client generators recognise bytes by the first of these types only."""
Id = Annotated[str, Query(min_length=1, max_length=2000, description="id of a passage, or key or title of a document")]


@router.get(
    "/collections/{collection}/passage",
    response_model=create_model("PassageReply", version=int, passage=Passage, edges=list[dict[str, Any]]),
)
async def passage(caller: Called, collection: Named, id: Id, edges: Annotated[int, Query(ge=0, le=100)] = 10) -> Reply:
    """Return a passage, and the edges around it, at most so many of each kind."""

    def load() -> dict[str, Any]:
        passage = caller.collection(collection).passage(id)
        return {"passage": passage, "edges": caller.kg.neighbourhood(passage.id, edges)}

    return Reply(to_json(await caller.work(load)))


@router.get("/collections/{collection}/figures/{id}", response_class=FileResponse, responses=_FIGURE)
async def figure(caller: Called, collection: Named, id: Annotated[str, Path(max_length=64)]) -> Response:
    """Return the stored picture of a figure: PNG, JPEG, GIF or WebP."""

    def load() -> tuple[Any, str]:
        caller.collection(collection)
        return FigureFiles(caller.kg.settings.home, collection).find(caller.kg.graph, id)

    path, media_type = await caller.work(load)
    return FileResponse(path, media_type=media_type)


@router.get("/collections/{collection}/page", response_model=_PAGE, responses={200: {"content": {_PNG: {}}}})
async def page(
    caller: Called,
    request: Request,
    collection: Named,
    passage: Id,
    number: Annotated[int | None, Query(ge=1, le=100_000, description="a page other than its first")] = None,
    start: Annotated[int, Query(ge=0, le=10_000_000, description="start of the part that is marked darker")] = 0,
    end: Annotated[int, Query(ge=0, le=10_000_000, description="end of that part; 0: no part")] = 0,
) -> Response:
    """Return the page with a passage, if its PDF is stored.

    With `Accept: application/json` the picture is base64, with the boxes of the words of the passage, and `dark` has
    the boxes of the part. Boxes are shares of width and height from the top left corner. The default page is the first
    one with the part.
    """

    def draw() -> tuple[Passage, pictures.Picture, int, str]:
        item = caller.collection(collection).passage(passage)
        path = pictures.file_of(caller.kg, collection, item.document)
        part = item.text[start:end]
        first = item.page or 1
        picture = caller.serving.pictures.draw(path, number or first)
        if number is None and part and item.last_page and not picture.places(part):
            for following in range(first + 1, item.last_page + 1):
                other = caller.serving.pictures.draw(path, following)
                if other.places(part):
                    return item, other, following, part
        return item, picture, number or first, part

    item, picture, shown_number, part = await caller.work(draw)
    if "application/json" not in request.headers.get("accept", ""):
        return Response(picture.png, media_type=_PNG)
    form = {
        "png": base64.b64encode(picture.png).decode(),
        "pages": picture.pages,
        "number": shown_number,
        "confidence": picture.confidence,
    }
    boxes = (
        picture.boxes(item.text)
        if item.page is None or item.page <= shown_number <= (item.last_page or item.page)
        else []
    )
    return Reply({**form, "boxes": boxes, "dark": picture.boxes(part) if part and boxes else []})
