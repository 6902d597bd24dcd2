"""The page that begins at a name: what it is called, what is stated of it, which passages mention it."""

from fastapi import Request
from nicegui import ui

from kgrag.graph.lucene import escape
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.chart import Chart, around_entity
from kgrag.server.web.choices import collection_choice
from kgrag.server.web.evidence import hits
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.passage import opener
from kgrag.server.web.session import Session
from kgrag.server.web.tables import table


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/explore")
    async def explore(request: Request, collection: str = "", name: str = "") -> None:
        async with frame(serving, request, name or "Explore") as session:
            chosen, names = await session.choose(collection)
            with ui.element("form").classes("panel flex flex-wrap items-center gap-3") as form:
                collection_choice(chosen, names, lambda other: address("explore", collection=other, name=field.value))
                field = ui.input("A name, or a word of it", value=name).props("autofocus").classes("grow min-w-48")
                ui.button("Explore", icon="search").props("type=submit no-caps")
            form.on(
                "submit.prevent",
                lambda: ui.navigate.to(address("explore", collection=chosen, name=field.value.strip())),
            )
            if name:
                await _show(session, chosen, name)


async def _show(session: Session, collection: str, name: str) -> None:
    found = await session.saved_query("names", {"name": escape(name)}, collection)
    known = [str(row["name"]) for row in found]
    if not known:
        ui.label("No name of the collection is like that.")
        return
    best = next((one for one in known if one.casefold() == name.casefold()), known[0])
    with ui.row().classes("gap-x-4 gap-y-1 items-baseline"):
        ui.label("Names like that:").classes("quiet")
        for one in known:
            link = ui.link(one, address("explore", collection=collection, name=one))
            if one == best:
                link.classes("here").props("aria-current=true")
    heading(f"Around {best}")
    Chart(session, collection).add(await around_entity(session, collection, best))
    facts = await session.saved_query("facts", {"entity": best}, collection)
    if len(facts):
        heading("What is stated of it")
        table(facts)
    heading("Passages")
    ranking = await session.search(best, collection)
    hits(ranking, best, collection, opener(session, collection))
