"""The page that answers a question."""

from fastapi import Request
from nicegui import ui

from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.choices import collection_choice, default_system, system_choice
from kgrag.server.web.frame import frame
from kgrag.server.web.live_answer import Asking


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/ask")
    async def ask(request: Request, collection: str = "", q: str = "", system: str = "", fresh: bool = False) -> None:
        async with frame(serving, request, "Ask") as session:
            name, names = await session.choose(collection)
            with ui.element("form").classes("panel flex flex-col gap-2") as form:
                question = ui.input("Question", value=q).props("autofocus outlined").classes("w-full")
                with ui.row().classes("w-full items-center gap-3"):
                    collection_choice(name, names, lambda other: address("ask", collection=other, q=question.value))
                    how = system_choice(system or default_system(session.has_model)).classes("grow min-w-40")
                    ui.button("Ask", icon="send").props("type=submit no-caps")
                    stop = ui.button("Stop", icon="stop").props("flat no-caps")
            asking = Asking(session)
            stop.on_click(asking.stop).bind_visibility_from(asking, "busy")

            async def answer(*, fresh: bool = False) -> None:
                text = question.value.strip()
                if not text:
                    return
                shown = address("ask", collection=name, q=text, system=how.value)
                ui.navigate.history.replace(shown)
                await asking.ask(text, name, how.value, fresh=fresh)

            form.on("submit.prevent", answer)
            if q:
                await answer(fresh=fresh)
