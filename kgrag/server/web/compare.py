"""The page that asks two systems the same, side by side."""

import asyncio

from fastapi import Request
from nicegui import ui

from kgrag.retrieval.registry import DEFAULT_RETRIEVER
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.choices import SEARCH, collection_choice, default_system, system_choice
from kgrag.server.web.frame import frame
from kgrag.server.web.live_answer import Asking


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/compare")
    async def compare(request: Request, collection: str = "", q: str = "", one: str = "", other: str = "") -> None:
        async with frame(serving, request, "Compare") as session:
            name, names = await session.choose(collection)
            plain = f"{SEARCH}bm25" if not session.has_model else f"single+{DEFAULT_RETRIEVER}"
            with ui.element("form").classes("panel flex flex-col gap-2") as form:
                question = ui.input("Question", value=q).props("autofocus outlined").classes("w-full")
                with ui.row().classes("w-full items-center gap-3"):
                    collection_choice(
                        name, names, lambda chosen: address("compare", collection=chosen, q=question.value)
                    )
                    ui.button("Ask both", icon="send").props("type=submit no-caps")
            with ui.element("div").classes("grid gap-4 grid-cols-1 md:grid-cols-2 w-full"):
                sides = []
                for label, system in (("One", one or default_system(session.has_model)), ("Other", other or plain)):
                    with ui.element("section").classes("flex flex-col gap-3 min-w-0").props(f"aria-label={label}"):
                        how = system_choice(system, label).classes("w-full")
                        sides.append((how, Asking(session)))

            async def ask() -> None:
                text = question.value.strip()
                if text:
                    systems = {"one": sides[0][0].value, "other": sides[1][0].value}
                    ui.navigate.history.replace(address("compare", collection=name, q=text, **systems))
                    await asyncio.gather(*(asking.ask(text, name, how.value) for how, asking in sides))

            form.on("submit.prevent", ask)
            if q:
                await ask()
