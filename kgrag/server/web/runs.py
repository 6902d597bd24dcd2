"""The pages of kept answers: all of them, and one with its steps, drawn."""

from fastapi import Request
from nicegui import ui

from kgrag.graph.runs import Run, named
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.tables import picture

_DIGITS = 8  # of an id


def add(serving: Serving) -> None:
    """Serve the pages."""

    @ui.page("/runs")
    async def runs(request: Request) -> None:
        async with frame(serving, request, "Kept runs") as session:
            kept = await session.runs()
            if not kept:
                ui.label("None is kept yet. Below an answer there is a button that keeps it.").classes("quiet")
            for run in kept:
                with ui.element("article").classes("panel flex flex-col gap-1"):
                    ui.link(run.question, address("runs", run.id)).classes("font-medium text")
                    _said(run)

    @ui.page("/runs/{id}")
    async def run(request: Request, id: str) -> None:
        async with frame(serving, request, "Kept run") as session:
            its = named(await session.runs(), [id])[0]
            with ui.element("section").classes("panel flex flex-col gap-1"):
                heading(its.question)
                _said(its)
                ui.link("Ask it again", address("ask", collection=its.collection, q=its.question, fresh=1))
            heading("How it came about")
            picture(await session.saved_query("run", {"run": its.id}, its.collection), session, its.collection)


def _said(run: Run) -> None:
    ui.label(run.answer or "A search: there is no answer.").classes("text")
    if run.problem:
        ui.label(f"Problem: {run.problem}").classes("text")
    when = f"{run.created.astimezone():%Y-%m-%d %H:%M}"
    said = f"{run.id[:_DIGITS]}, {when}, {run.collection}, {run.system}, {run.steps} steps, {run.tokens:,} tokens"
    ui.label(said).classes("quiet text-sm text")
