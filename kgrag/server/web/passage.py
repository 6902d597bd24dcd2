"""A passage in its document: the page that it stands on with its words marked, its text, what stands around it."""

from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from fastapi import Request
from nicegui import ui

from kgrag.retrieval.snippet import crop, snippet
from kgrag.server.pictures import Box, Picture
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.evidence import LONG, Open
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.session import Session
from kgrag.values.errors import InputError, NotFoundError
from kgrag.values.results import Passage

_NAME = 120  # characters of a neighbour's name


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/passage/{collection}/{id}")
    async def passage(request: Request, collection: str, id: str) -> None:
        async with frame(serving, request, "Passage") as session:
            await show(session, collection, await session.collection(collection).passage(id))


def opener(session: Session, collection: str) -> Open:
    """What opens a passage over the page."""

    async def open(passage: Passage, sought: str) -> None:
        with ui.dialog().props("full-width position=top") as dialog, ui.card().classes("w-full max-w-5xl"):
            with ui.row().classes("w-full items-start no-wrap justify-between"):
                heading(passage.heading)
                ui.button(icon="close", on_click=dialog.close).props("flat round dense aria-label=Close")
            dialog.props["aria-label"] = passage.heading
            dialog.on("hide", dialog.delete)
            dialog.open()
            await show(session, collection, passage, sought)

    return open


async def show(session: Session, collection: str, passage: Passage, sought: str = "") -> None:
    """The passage, and what stands around it; of its pages first the one that says most about what is sought."""
    with ui.row().classes("gap-4 items-center"):
        ui.label(passage.heading).classes("font-semibold text")
        ui.link("Its page", address("passage", collection, passage.id))
        ui.link("Its neighbourhood, drawn", address("graph", collection=collection, passage=passage.id))
    if passage.source:
        ui.label(passage.source).classes("quiet text-sm text")
    if passage.page is not None:
        await _Pages(session, collection, passage).begin(passage.page, passage.last_page or passage.page, sought)
    with ui.element("section").classes("panel"):
        heading("Its text")
        ui.label(passage.text).classes("text")
    _neighbours(await session.neighbours(passage, collection), collection)


class _Pages:
    """The pages of a passage's document, one at a time, as pictures; nothing where these cannot be drawn."""

    def __init__(self, session: Session, collection: str, passage: Passage) -> None:
        self._session, self._collection, self._passage = session, collection, passage
        self._panel = ui.element("section").classes("w-full flex flex-col gap-2")

    async def begin(self, first: int, last: int, sought: str) -> None:
        """Show that one of some pages on which the part of the passage stands that says most about what is sought."""
        part, most, found = snippet(self._passage.text, sought, LONG).core, 0, first
        if last > first:
            for number in range(first, last + 1):
                with suppress(InputError, NotFoundError):
                    words = len((await self._picture(number)).places(part))
                    found, most = (number, words) if words > most else (found, most)
        await self.turn(found)

    async def _picture(self, number: int) -> Picture:
        return await self._session.picture(self._collection, self._passage.document, number)

    async def turn(self, number: int) -> None:
        """Show the page with that number."""
        try:
            picture = await self._picture(number)
        except (InputError, NotFoundError) as error:
            with self._panel:
                ui.label(error.in_full).classes("quiet text")
            return
        self._panel.clear()
        with self._panel:
            with ui.row().classes("items-center gap-2"):
                back = ui.button(icon="chevron_left", on_click=lambda: self.turn(number - 1))
                back.props("flat round dense aria-label='Page before'").set_enabled(number > 1)
                ui.label(f"Page {number} of {picture.pages}")
                on = ui.button(icon="chevron_right", on_click=lambda: self.turn(number + 1))
                on.props("flat round dense aria-label='Next page'").set_enabled(number < picture.pages)
            _draw(picture, self._passage, number)


def _draw(picture: Picture, passage: Passage, number: int) -> None:
    boxes = picture.boxes(passage.text)
    with ui.element("div").classes("page-picture"):
        image = ui.element("img")
        image.props["src"] = f"data:image/png;base64,{b64encode(picture.png).decode()}"
        image.props["alt"] = f"Page {number} of {passage.title}, the passage's words marked"
        marks = [ui.element("mark").props("aria-hidden=true").style(_place(box)) for box in boxes]
    if marks:
        ui.run_javascript(f"getHtmlElement({marks[0].id}).scrollIntoView({{block: 'center'}})")
    else:
        ui.label("The passage does not stand on this page.").classes("quiet")


def _place(box: Box) -> str:
    """Where a box stands on its page."""
    return f"left: {box.x0:.2%}; top: {box.y0:.2%}; width: {box.x1 - box.x0:.2%}; height: {box.y1 - box.y0:.2%}"


def _neighbours(edges: Sequence[dict[str, Any]], collection: str) -> None:
    """What edges lead to, by their kind."""
    with ui.element("section").classes("panel"):
        heading("What stands around it")
        for (kind, leaves), group in groupby(edges, key=lambda edge: (edge["type"], edge["outgoing"])):
            its = list(group)
            shown = f"{kind} {'to' if leaves else 'from'} {its[0]['label']}"
            ui.label(f"{shown}: {its[0]['total']:,}").classes("quiet text-sm mt-2")
            with ui.row().classes("gap-x-4 gap-y-1"):
                for edge in its:
                    _neighbour(edge, collection)


def _neighbour(edge: dict[str, Any], collection: str) -> None:
    name = crop(str(edge["name"]), _NAME)
    if edge["label"] == "Passage":
        ui.link(name, address("passage", collection, edge["id"]))
    elif edge["label"] == "Entity":
        ui.link(name, address("explore", collection=collection, name=edge["name"]))
    else:
        ui.label(name)
