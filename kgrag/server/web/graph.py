"""The page that draws a part of the graph: the trail of a question, or what stands around a passage or a name."""

from fastapi import Request
from nicegui import ui

from kgrag.drawing import drawing
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.chart import Chart, around_entity
from kgrag.server.web.choices import collection_choice
from kgrag.server.web.frame import frame


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/graph")
    async def graph(request: Request, collection: str = "", q: str = "", name: str = "", passage: str = "") -> None:
        async with frame(serving, request, "Graph") as session:
            chosen, names = await session.choose(collection)
            with ui.row().classes("w-full items-center gap-3 panel"):
                collection_choice(chosen, names, lambda other: address("graph", collection=other, q=q, name=name))
                for what, value in (("name", name), ("q", q)):
                    label = "Around a name" if what == "name" else "Trail of a question"
                    _entry(label, value, what, chosen)
            if not (q or name or passage):
                ui.label("Give a name, or a question whose passages are searched for.").classes("quiet")
                return
            if passage:
                found = await session.around(passage, chosen)
            elif name:
                found = await around_entity(session, chosen, name)
            else:
                found = drawing(await session.search(q, chosen))
            Chart(session, chosen).add(found)


def _entry(label: str, value: str, what: str, collection: str) -> None:
    """A field whose text is drawn when Enter is pressed."""
    field = ui.input(label, value=value).props("dense").classes("grow min-w-48")
    field.on("keydown.enter", lambda: ui.navigate.to(address("graph", **{"collection": collection, what: field.value})))
