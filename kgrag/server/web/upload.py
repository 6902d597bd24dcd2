"""The page that takes files in and follows the jobs that read them."""

from fastapi import Request
from nicegui import ui

from kgrag.server.route_context import Serving
from kgrag.server.web.drop_files import Dropping
from kgrag.server.web.frame import frame
from kgrag.server.web.job_progress import JobList


def add(serving: Serving) -> None:
    """Serve the page."""

    @ui.page("/upload")
    async def upload(request: Request, collection: str = "") -> None:
        async with frame(serving, request, "Upload") as session:
            names = sorted(found.name for found in await session.records())
            shown = list(dict.fromkeys([*filter(None, [collection]), *names]))

            async def sent(_: str) -> None:
                await jobs.look()

            if session.access.may("write"):
                named = ui.select(
                    shown, value=shown[0] if shown else None, with_input=True, label="Into the collection"
                )
                named.props("new-value-mode=add-unique").classes("w-full panel")
                drop = Dropping(session, named.value or "", sent)
                named.on_value_change(lambda: drop.go_to(named.value or ""))
            else:
                ui.label("Your key may read; it takes a key of role write to upload.").classes("quiet")
            jobs = JobList(session)
            await jobs.look()
