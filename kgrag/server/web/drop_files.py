"""A place on a page that files and folders are dropped on: they go to the REST routes, with the same key and limits."""

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from kgrag.server.web.addresses import address
from kgrag.server.web.session import Session
from kgrag.values.errors import KgragError

_SCRIPT = files("kgrag.server.web").joinpath("upload.js").read_text(encoding="utf-8")


class Dropping:
    """The place. `sent` is called with the collection once files are held and a job reads them."""

    def __init__(self, session: Session, collection: str, sent: Callable[[str], Awaitable[None]]) -> None:
        self._session, self._sent = session, sent
        ui.run_javascript(_SCRIPT)
        with ui.element("div").classes("drop panel flex flex-col gap-2").style("border-style: dashed") as self._place:
            ui.label("Drop files or folders here, or choose them.")
            with ui.row().classes("gap-4"):
                for title, kind in (("Files", "multiple"), ("A folder", "webkitdirectory")):
                    with ui.element("label").classes("flex flex-col gap-1 text-sm"):
                        ui.label(title)
                        field = ui.element("input").props(f"type=file {kind}").classes("max-w-full")
                        field.on("change", js_handler="(event) => kgragChosen(event)")
            ui.element("progress").props("hidden max=1 value=0 aria-label='How much is sent'").classes("w-full")
        self._place.on("dragover.prevent", js_handler="() => {}")
        self._place.on("drop.prevent", js_handler="(event) => kgragDropped(event)")
        self.go_to(collection)
        ui.on("kgrag-sent", self._ended)

    def go_to(self, collection: str) -> None:
        """Send what comes to that collection from now on; without a name nothing can be sent."""
        self._collection = collection
        self._place.visible = bool(collection)
        self._place.props["data-address"] = address("api", "v1", "collections", collection, "documents")
        self._place.props["data-files"], self._place.props["data-bytes"] = self._session.at_once
        self._place.update()

    async def _ended(self, event: GenericEventArguments) -> None:
        told = event.args
        if told["status"] // 100 == 2:
            ui.notify(f"{told['files']} {'file is' if told['files'] == 1 else 'files are'} sent.")
            await self._sent(self._collection)
            return
        raise _failure(told)


def _failure(told: dict[str, Any]) -> KgragError:
    """What the server said to it; what a browser sends here is data."""
    try:
        said = json.loads(told["text"])
        return KgragError(str(said["error"]), str(said["remedy"]))
    except (ValueError, KeyError, TypeError):
        return KgragError("The files did not arrive.", "Send them again, in smaller parts if they are large.")
