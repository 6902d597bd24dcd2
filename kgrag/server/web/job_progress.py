"""Jobs on a page: how far they are, what went wrong with its remedy, and to stop them or go on."""

from datetime import datetime
from typing import Any

from nicegui import ui

from kgrag.server.jobs import Job
from kgrag.server.web.addresses import address
from kgrag.server.web.frame import heading
from kgrag.server.web.session import Session
from kgrag.values.errors import KgragError

_LOOK = 1.0  # seconds between looks
_COLOURS = {"running": "primary", "done": "positive", "failed": "negative"}
_PROBLEMS = 20  # of a job's files that are listed


class JobList:
    """The newest jobs, of a collection or of all; it follows them."""

    def __init__(self, session: Session, collection: str = "") -> None:
        self._session, self._collection = session, collection
        self._seen: list[Job] | None = None
        heading("Jobs")
        self._panel = ui.column().classes("w-full gap-2").props("aria-live=polite")
        self._timer = ui.timer(_LOOK, self.look)

    async def look(self) -> None:
        """Show them as they are now; an error ends it."""
        try:
            jobs = await self._session.jobs(self._collection)
        except KgragError:
            self._timer.cancel()
            raise
        if jobs == self._seen:
            return
        self._seen = jobs
        self._panel.clear()
        with self._panel:
            if not jobs:
                ui.label("Nothing was asked for yet.").classes("quiet")
            for job in jobs:
                self._show(job)

    def _show(self, job: Job) -> None:
        with ui.element("article").classes("panel flex flex-col gap-1"):
            with ui.row().classes("w-full items-center gap-3"):
                ui.badge(job.state, color=_COLOURS.get(job.state, "grey-8"))
                ui.label(job.kind).classes("font-semibold")
                ui.link(job.collection, address("collections", job.collection))
                ui.label(_when(job.created)).classes("quiet text-sm")
                ui.label(job.owner).classes("quiet text-sm")
                ui.space()
                if self._session.access.may("write"):
                    self._button(job)
            if job.state == "running":
                share = job.done / job.total if job.total else 0
                stage = f"{job.stage}: {job.done:,}" + (f" of {job.total:,}" if job.total else "")
                ui.label(stage if job.stage else "beginning").classes("text-sm")
                bar = ui.linear_progress(share, show_value=False).props(f"aria-label='{job.kind}'")
                bar.props["indeterminate"] = not job.total
            if job.error:
                ui.label(job.error).classes("text text-negative")
                ui.label(job.remedy).classes("text")
            _result(job.result)

    def _button(self, job: Job) -> None:
        async def act() -> None:
            await (self._session.retry(job) if job.over else self._session.cancel(job))
            await self.look()

        if job.state in ("queued", "running"):
            ui.button("Cancel", icon="stop", on_click=act).props("flat dense no-caps")
        elif job.state in ("failed", "cancelled"):
            ui.button("Retry", icon="replay", on_click=act).props("flat dense no-caps")


def _result(result: Any) -> None:
    """What came of a job: its numbers, and what could not be read."""
    numbers = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in result.items() if _counts(value))
    if numbers:
        ui.label(numbers).classes("quiet text-sm text")
    problems = result.get("problems") or []
    for found in problems[:_PROBLEMS]:
        ui.label(f"{found['place']}: {found['message']}").classes("text text-sm")
    if len(problems) > _PROBLEMS:
        ui.label(f"and {len(problems) - _PROBLEMS} more").classes("quiet text-sm")


def _counts(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _when(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}" if moment else ""
