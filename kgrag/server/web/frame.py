"""What all pages have around them: the way to the others, light and dark, errors with their remedies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from nicegui import ui

from kgrag.server.failures import told
from kgrag.server.keys import LOCAL
from kgrag.server.route_context import Serving
from kgrag.server.web.session import Session
from kgrag.values.errors import KgragError

PAGES = (
    ("/", "Collections", "folder"),
    ("/ask", "Ask", "question_answer"),
    ("/upload", "Upload", "upload_file"),
    ("/explore", "Explore", "travel_explore"),
    ("/graph", "Graph", "hub"),
    ("/queries", "Queries", "table_view"),
    ("/compare", "Compare", "compare"),
    ("/runs", "Kept runs", "history"),
    ("/evaluations", "Evaluations", "leaderboard"),
    ("/names", "Names", "join_inner"),
)
"""Address, title and icon of the pages that are reached from everywhere."""

_WIDE = 1024  # pixels from which the way to other pages stands beside the page

_STYLE = """
:root { --line: #d5dbe3; --quiet: #525d6b; --mark: #ffe08a; --surface: #ffffff }
.body--dark { --line: #3a4350; --quiet: #aab4c2; --mark: #7a5b00; --surface: #1d232b }
body { background: #f6f8fa } .body--dark body, body.body--dark { background: #12161b }
h1, h2 { margin: 0; font-weight: 600; line-height: 1.3 } h1 { font-size: 1.5rem } h2 { font-size: 1.15rem }
input[type=file] { border: 1px solid var(--line); border-radius: .4rem; padding: .4rem }
.page { width: 100%; max-width: 76rem; margin: 0 auto; padding: 1rem; display: flex; flex-direction: column; gap: 1rem }
.nicegui-content { padding: 0 }
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem;
  width: 100%; min-width: 0 }
.quiet { color: var(--quiet) } .text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext }
.text .inline { unicode-bidi: normal } .nicegui-link { overflow-wrap: anywhere }
.said { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: .1rem .6rem; width: 100% }
mark { background: var(--mark); color: inherit; padding: 0 .1em; border-radius: .15em }
.page-picture { position: relative; width: 100%; max-width: 52rem; border: 1px solid var(--line); background: #fff }
.page-picture img { display: block; width: 100% }
.page-picture mark { position: absolute; background: #ffd54a; mix-blend-mode: multiply; padding: 0; border-radius: 0 }
.body--dark canvas { filter: invert(1) hue-rotate(180deg) }
a.here { font-weight: 600 } a:focus-visible, button:focus-visible { outline: 2px solid #3f85cf; outline-offset: 2px }
.q-table td { white-space: normal; overflow-wrap: anywhere; min-width: 6rem } .q-table td.text-right { min-width: 0 }
.nicegui-link { color: #1f5fa8 } .body--dark .nicegui-link { color: #8ebdf3 }
/* what is important in an earlier layer wins: Quasar's colours are in the last */
@layer overrides {
  .body--dark .text-primary { color: #8ebdf3 !important } .body--dark .text-negative { color: #ff9a91 !important }
  .q-notification .q-btn { color: #ffffff !important }
}
.body--dark .q-field { --q-primary: #8ebdf3 }
"""
_THEME = """
<script>
(() => {
  const chosen = localStorage.getItem("kgrag-dark");
  window.kgragDark = (dark) => { localStorage.setItem("kgrag-dark", dark); Quasar.Dark.set(dark); };
  if (chosen !== null) addEventListener("load", () => Quasar.Dark.set(chosen === "true"));
})();
</script>
"""


@asynccontextmanager
async def frame(serving: Serving, request: Request, title: str) -> AsyncIterator[Session]:
    """The page around what the `with` block makes, which begins when the browser is there; errors are shown in it."""
    session = Session(serving, request)
    ui.page_title(f"{title} · kgrag")
    ui.add_css(_STYLE)
    ui.add_head_html(_THEME)
    ui.colors(primary="#1f5fa8", positive="#1b7a34", warning="#8a5a00")  # white can be read on each
    ui.on_exception(tell)
    drawer = ui.left_drawer(
        value=False, bordered=True
    )  # without a value it would ask the browser, for a second at most
    drawer.props(f"show-if-above breakpoint={_WIDE} width=210")
    with drawer, ui.element("nav").props("aria-label=Pages"):
        for place, name, icon in PAGES:
            with ui.row().classes("items-center gap-3 py-1 no-wrap"):
                ui.icon(icon).props("aria-hidden=true").classes("quiet text-xl")
                link = ui.link(name, place).classes("no-underline")
                if place == request.url.path:
                    link.classes("here").props("aria-current=page")
    with ui.header(bordered=True).classes("items-center gap-2 py-1").style("background: #17324f"):
        ui.button(icon="menu", on_click=drawer.toggle).props("flat dense round color=white aria-label='Show all pages'")
        ui.link("kgrag", "/").classes("text-white no-underline text-lg font-semibold").style("color: #fff !important")
        ui.space()
        ui.button(icon="contrast").props("flat dense round color=white aria-label='Light or dark'").on(
            "click", js_handler="() => kgragDark(!Quasar.Dark.isActive)"
        )
        if session.access is not LOCAL:
            with ui.element("form").props("method=post action=/logout"):
                ui.button("Log out").props("flat dense no-caps color=white type=submit")
    with ui.element("div").classes("page") as main, ui.row().classes("items-center gap-3"):
        heading(title, 1)
        waiting = ui.spinner().props("aria-label=Loading")
    ui.skip_link(target=main)
    page = asyncio.current_task()
    assert page is not None
    ui.context.client.on_delete(page.cancel)  # nobody waits for it any more
    await ui.context.client.connected()
    with main:
        try:
            yield session
        except Exception as error:
            problem(told(error))
        finally:
            if not waiting.is_deleted:
                waiting.delete()


def heading(text: str, level: int = 2) -> None:
    """A heading, for the eye and for whoever jumps from one to the next."""
    with ui.element(f"h{level}"):
        ui.label(text)


def problem(error: KgragError) -> None:
    """An error where the page would be, with what to do about it."""
    with ui.element("section").classes("panel").props("role=alert"):
        with ui.row().classes("items-center gap-2 no-wrap"):
            ui.icon("error_outline", color="negative").props("aria-hidden=true")
            ui.label(error.message).classes("font-semibold text")
        if error.remedy:
            ui.label(error.remedy).classes("text")


def tell(error: Exception) -> None:
    """An error of something that the visitor did, at the edge of the page; unexpected ones are logged, and not told."""
    known = told(error)
    ui.notify(known.in_full, type="negative", multi_line=True, timeout=12_000, close_button="Close")
