"""The pages of saved queries: all of them, and one with a form for its parameters."""

from fastapi import Request
from nicegui import ui

from kgrag.graph.queries import Query
from kgrag.graph.saved import find_query, from_text, saved_queries
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.choices import collection_choice
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.tables import picture, table

_FILLED = ("collection", "vector")
"""Parameters that are not asked for: the one is chosen above, the other made of words."""


def add(serving: Serving) -> None:
    """Serve the pages."""

    @ui.page("/queries")
    async def queries(request: Request, collection: str = "") -> None:
        async with frame(serving, request, "Queries") as session:
            chosen, names = await session.choose(collection)
            collection_choice(chosen, names, lambda other: address("queries", collection=other))
            with ui.element("div").classes("grid gap-2 grid-cols-1 md:grid-cols-2 w-full"):
                for name, query in saved_queries().items():
                    if not any(p.name == "vector" for p in query.parameters):
                        _entry(name, query, chosen)

    @ui.page("/queries/{name}")
    async def query(request: Request, name: str, collection: str = "", run: str = "") -> None:
        async with frame(serving, request, find_query(name).title or name) as session:
            asked = find_query(name)
            chosen, names = await session.choose(collection)
            of_one = any(p.name == "collection" for p in asked.parameters)
            ui.label(asked.purpose).classes("text")
            if of_one:
                collection_choice(chosen, names, lambda other: address("queries", name, collection=other))
            with ui.element("form").classes("panel flex flex-col gap-2") as form:
                fields: dict[str, ui.input] = {}
                for p in asked.parameters:
                    if p.name in _FILLED:
                        continue
                    given = request.query_params.get(f"p_{p.name}", _default(p.default))
                    fields[p.name] = ui.input(f"{p.name} ({p.type.lower()})", value=given).classes("w-full")
                    ui.label(p.meaning).classes("quiet text-sm")
                ui.button("Run", icon="play_arrow").props("type=submit no-caps").classes("self-start")
            panel = ui.column().classes("w-full")

            async def show() -> None:
                arguments = from_text(asked, [(its, field.value) for its, field in fields.items()])
                rows = await session.saved_query(name, arguments, chosen if of_one else "")
                filled = {f"p_{its}": field.value for its, field in fields.items()}
                ui.navigate.history.replace(address("queries", name, collection=chosen, run="1", **filled))
                panel.clear()
                with panel:
                    heading(f"{len(rows):,} rows in {rows.seconds * 1000:.0f} ms")
                    table(rows)
                    picture(rows, session, chosen)

            form.on("submit.prevent", show)
            if run:
                await show()


def _entry(name: str, query: Query, collection: str) -> None:
    with ui.element("article").classes("panel"):
        ui.link(query.title or name, address("queries", name, collection=collection)).classes("font-medium")
        ui.label(query.purpose).classes("quiet text-sm text")


def _default(text: str | None) -> str:
    """A default as it is typed: texts without their quotes."""
    return "" if text is None else text.strip("'").replace("\\'", "'").replace("\\\\", "\\")
