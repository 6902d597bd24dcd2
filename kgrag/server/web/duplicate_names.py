"""The page of names that may be one entity's: each is tied to the other, or kept apart, by whoever knows."""

from fastapi import Request
from nicegui import ui

from kgrag.indexing.resolution.resolve import NamePair
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.choices import collection_choice
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.session import Session

_MOST = 100  # pairs of a kind


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/names")
    async def names(request: Request, collection: str = "") -> None:
        async with frame(serving, request, "Names") as session:
            chosen, known = await session.choose(collection)
            collection_choice(chosen, known, lambda other: address("names", collection=other))
            found = await session.collection(chosen).resolve()
            ui.label(f"{found.names:,} names were compared. Nothing is merged: names are tied, and can be untied.")
            for title, pairs in (("Doubtful", found.doubtful), ("Surely one entity's", found.same)):
                heading(f"{title}: {len(pairs):,}")
                for pair in pairs[:_MOST]:
                    _pair(session, chosen, pair)


def _pair(session: Session, collection: str, pair: NamePair) -> None:
    with ui.element("article").classes("panel flex flex-wrap items-center gap-3").props("aria-live=polite"):
        for name in (pair.one, pair.other):
            ui.link(name, address("explore", collection=collection, name=name)).classes("font-medium")
        told = ui.label(f"{pair.score:.2f}, {pair.evidence}").classes("quiet text-sm text grow")
        if not session.access.may("write"):
            return

        async def decide(same: bool) -> None:
            await session.collection(collection, "write").decide(pair, same=same)
            told.text = "Tied." if same else "Kept apart."
            for meaning, button in buttons.items():
                button.set_enabled(meaning != same)

        buttons: dict[bool, ui.button] = {}
        for title, same in (("The same", True), ("Not the same", False)):
            button = ui.button(title, on_click=lambda same=same: decide(same)).props("outline dense no-caps")
            button.props["aria-label"] = f"{title}: {pair.one}, {pair.other}"
            buttons[same] = button
