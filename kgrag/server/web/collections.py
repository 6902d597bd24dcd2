"""The pages of collections: all of them, and one with its health and what can be done about it."""

from fastapi import Request
from nicegui import ui

from kgrag.graph.collections import KNOWLEDGE
from kgrag.inspection.result import Finding, Inspection
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.drop_files import Dropping
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.job_progress import JobList
from kgrag.server.web.session import Session
from kgrag.values.results import CollectionInfo

_COUNTS = ("Document", "Passage", "Entity", "Triple", "Page", "Table")
_LEVELS = {"error": "negative", "warning": "warning", "note": "grey-8"}
_WORK = (
    ("extract", "Extract facts", "A language model reads the passages and lists what they state."),
    ("resolve", "Tie names", "Duplicate entities are tied, by rules."),
    ("tree", "Build topics", "Summaries of passages that are alike."),
    ("communities", "Find communities", "Groups of names that stand together."),
)


def add(serving: Serving) -> None:
    """Serve the pages."""

    @ui.page("/")
    async def collections(request: Request) -> None:
        async with frame(serving, request, "Collections") as session:
            found = sorted(await session.collections(), key=lambda info: (info.kind == KNOWLEDGE, info.name))
            if not found:
                ui.label("There is no collection yet. Give one a name and drop files on it.")
            with ui.element("div").classes("grid gap-3 grid-cols-1 sm:grid-cols-2 lg:grid-cols-3 w-full"):
                for info in found:
                    _card(info)
            if session.access.may("write"):
                _create(session)

    @ui.page("/collections/{name}")
    async def collection(request: Request, name: str) -> None:
        async with frame(serving, request, name) as session:
            info = await session.collection(name).info()
            _counts(info)
            if session.access.may("write") and info.kind != KNOWLEDGE:
                await _work(session, name)
            heading("Health")
            _health(await session.collection(name).inspect())


def _card(info: CollectionInfo) -> None:
    with ui.element("article").classes("panel flex flex-col gap-1"):
        ui.link(info.name, address("collections", info.name)).classes("text-lg font-semibold text")
        shown = f"documents: {info.counts.get('Document', 0):,}, passages: {info.counts.get('Passage', 0):,}"
        ui.label("facts alone" if info.kind == KNOWLEDGE else shown).classes("quiet")
        if not info.finished:
            ui.label("An ingest of it was interrupted; ingest again to finish it.").classes("text-sm")
        if info.kind != KNOWLEDGE:
            with ui.row().classes("gap-4"):
                ui.link("Ask", address("ask", collection=info.name))
                ui.link("Upload", address("upload", collection=info.name))


def _create(session: Session) -> None:
    async def sent(collection: str) -> None:
        ui.navigate.to(address("upload", collection=collection))

    with ui.element("section").classes("panel flex flex-col gap-2"):
        heading("A new collection")
        name = ui.input("Its name").props("maxlength=100").classes("w-full")
        drop = Dropping(session, "", sent)
        name.on_value_change(lambda: drop.go_to(name.value.strip()))


def _counts(info: CollectionInfo) -> None:
    with ui.row().classes("panel gap-6"):
        for label in _COUNTS:
            with ui.column().classes("gap-0"):
                ui.label(f"{info.counts.get(label, 0):,}").classes("text-xl font-semibold")
                ui.label("Entities" if label == "Entity" else f"{label}s").classes("quiet text-sm")
        with ui.column().classes("gap-0"):
            ui.label(info.embedder).classes("text-xl")
            ui.label(f"embedder, {info.dimension} numbers").classes("quiet text-sm")
    with ui.row().classes("gap-4"):
        for title, page in (("Ask", "ask"), ("Explore", "explore"), ("Queries", "queries"), ("Upload", "upload")):
            ui.link(title, address(page, collection=info.name))


async def _work(session: Session, name: str) -> None:
    with ui.element("section").classes("panel flex flex-col gap-2"):
        heading("What can be done")
        with ui.row().classes("gap-2"):
            for kind, title, meaning in _WORK:
                button = ui.button(title, on_click=lambda kind=kind: begin(kind)).props("outline no-caps")
                button.tooltip(meaning)
                button.set_enabled(kind != "extract" or session.has_model)
            if session.access.may("admin"):
                ui.button("Delete", icon="delete", on_click=lambda: delete()).props("outline no-caps color=negative")
    jobs = JobList(session, name)
    await jobs.look()

    async def start(kind: str, **parameters: object) -> None:
        await session.submit(kind, name, **parameters)
        await jobs.look()

    async def begin(kind: str) -> None:
        """Start it; what calls a language model once that is agreed to."""
        if kind != "extract":
            await start(kind)
            return
        lines = (await session.collection(name, "write").estimate_extraction()).lines()
        with ui.dialog() as dialog, ui.card():
            for line in lines:
                ui.label(line).classes("text")
            with ui.row():
                ui.button("Not now", on_click=lambda: dialog.submit(False)).props("flat no-caps")
                ui.button("Start", on_click=lambda: dialog.submit(True)).props("no-caps")
        if await dialog:
            await start(kind)

    async def delete() -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label(f"Delete {name} with all its documents?").classes("text")
            with ui.row():
                ui.button("Keep it", on_click=lambda: dialog.submit(False)).props("flat no-caps")
                ui.button("Delete", on_click=lambda: dialog.submit(True)).props("no-caps color=negative")
        if await dialog:
            await start("delete")


def _health(inspection: Inspection) -> None:
    if inspection.healthy:
        ui.label("Nothing is broken and no work is left.")
    for finding in inspection.findings:
        _finding(finding)
    with ui.element("section").classes("panel flex flex-col gap-1"):
        heading("Coverage")
        for part in inspection.coverage:
            if part.share is not None:
                ui.label(f"{part.name}: {part.having:,} of {part.number:,} ({part.share:.0%})").classes("text-sm")


def _finding(finding: Finding) -> None:
    with ui.element("article").classes("panel flex flex-col gap-1"):
        with ui.row().classes("items-center gap-2"):
            ui.badge(finding.level, color=_LEVELS[finding.level])
            ui.label(finding.name).classes("font-semibold")
        ui.label(finding.message).classes("text")
        ui.label(finding.remedy).classes("text quiet")
        if finding.examples:
            ui.label("; ".join(finding.examples)).classes("text text-sm quiet")
