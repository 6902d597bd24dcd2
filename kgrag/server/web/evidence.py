"""Passages on a page: found ones with their trail, an answer with what it cites. Their texts are data, never HTML."""

import re
from collections.abc import Awaitable, Callable, Iterable

from nicegui import ui

from kgrag.retrieval.snippet import snippet
from kgrag.retrieval.trail import trail
from kgrag.server.web.addresses import address
from kgrag.values.events import Answer
from kgrag.values.results import Hit, Passage

Open = Callable[[Passage, str], Awaitable[None]]
"""What happens when a passage is chosen, for the sake of a text: a question and perhaps its answer."""

_CITED = re.compile(r"\[(\d+)\]")
LONG = 420
"""Characters of a passage that are shown before it is opened."""


def answer_text(answer: Answer, collection: str, open: Open) -> None:
    """The text of an answer, whose [numbers] open what they cite."""
    cited = {citation.number: citation.passage for citation in reversed(answer.citations)}
    with ui.element("p").classes("text text-base"):
        for place, part in enumerate(_CITED.split(answer.text)):
            if place % 2 and int(part) in cited:
                _link(f"[{part}]", cited[int(part)], _said(answer), collection, open)
            elif part:
                ui.label(f"[{part}]" if place % 2 else part).classes("inline")


def citations(answer: Answer, collection: str, open: Open) -> None:
    """What an answer cites, each with the part that says most about the question."""
    with ui.element("ol").classes("flex flex-col gap-2 w-full"):
        for citation in answer.citations:
            with ui.element("li").classes("panel"):
                heading = f"[{citation.number}] {citation.passage.heading}"
                _link(heading, citation.passage, _said(answer), collection, open)
                _excerpt(citation.passage, _said(answer))


def hits(found: Iterable[Hit], question: str, collection: str, open: Open) -> None:
    """Found passages, best first, each with the path that led to it."""
    with ui.element("ol").classes("flex flex-col gap-2 w-full"):
        for rank, hit in enumerate(found, 1):
            with ui.element("li").classes("panel"):
                _link(f"{rank}. {hit.passage.heading}", hit.passage, question, collection, open)
                _excerpt(hit.passage, question)
                ui.label(trail(hit)).classes("quiet text-sm text")
                if hit.copies:
                    ui.label(hit.also_in).classes("quiet text-sm text")


def _said(answer: Answer) -> str:
    """The question and the answer, whose words the best part of a passage shares."""
    return f"{answer.question} {answer.text}"


def _link(text: str, passage: Passage, sought: str, collection: str, open: Open) -> None:
    """A link to a passage that opens it over the page; it can be copied, and opened beside it."""
    link = ui.link(text, address("passage", collection, passage.id)).classes("font-medium")
    link.on("click.prevent", lambda: open(passage, sought))


def _excerpt(passage: Passage, question: str) -> None:
    part = snippet(passage.text, question, LONG)
    with ui.element("p").classes("text"):
        end = 0
        for start, stop in part.marks:
            ui.label(part.text[end:start]).classes("inline")
            with ui.element("mark"):
                ui.label(part.text[start:stop]).classes("inline")
            end = stop
        ui.label(part.text[end:]).classes("inline")
