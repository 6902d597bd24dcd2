"""A question being answered on a page: each step as it happens, the text while it is written, then the evidence."""

import asyncio
import time
from datetime import datetime

from nicegui import ui

from kgrag.drawing import Drawing, drawing
from kgrag.narration import ONCE, lines, topic, usage_text
from kgrag.retrieval.snippet import crop
from kgrag.server.failures import told
from kgrag.server.web.chart import Chart
from kgrag.server.web.choices import SEARCH
from kgrag.server.web.evidence import answer_text, citations, hits
from kgrag.server.web.frame import problem
from kgrag.server.web.passage import opener
from kgrag.server.web.session import Session
from kgrag.values.errors import CancelledError
from kgrag.values.events import Answer, Answered, Called, Event
from kgrag.values.results import Ranking, Usage

_LINE = 300  # characters of a line of a step


class Asking:
    """The place on a page where a question is answered; a second one ends the first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.busy = False
        self._panel = ui.element("section").classes("w-full min-w-0 flex flex-col gap-3").props("aria-live=polite")
        self._task: asyncio.Task[None] | None = None
        ui.context.client.on_delete(self.stop)

    def stop(self) -> None:
        """End what is under way at its next step."""
        if self._task is not None:
            self._task.cancel()

    async def ask(self, question: str, collection: str, system: str, *, fresh: bool = False) -> None:
        """Answer a question, or with a system that begins with SEARCH, find passages for it.

        What was answered before is shown again, unless a `fresh` answer is wanted. An error is told where the answer
        would be.
        """
        self.stop()
        self._panel.clear()
        if system.startswith(SEARCH):
            work = self._search(question, collection, system.removeprefix(SEARCH))
        else:
            work = self._answer(question, collection, system, fresh)
        self._task = task = asyncio.create_task(work)
        self.busy = True
        try:
            await task
        except (asyncio.CancelledError, CancelledError):
            if not self._panel.is_deleted:
                with self._panel:
                    ui.label("Stopped.").classes("quiet")
        except Exception as error:
            known = told(error)
            if not self._panel.is_deleted:
                with self._panel:
                    problem(known)
        finally:
            self.busy = self._task is not task

    async def _search(self, question: str, collection: str, retriever: str) -> None:
        with self._panel:
            waiting = ui.spinner()
        try:
            ranking = await self._session.search(question, collection, retriever)
        finally:
            waiting.delete()
        with self._panel:
            self._found(ranking, collection)
            self._draw(drawing(ranking), collection)

    async def _answer(self, question: str, collection: str, system: str, fresh: bool) -> None:
        kept = None if fresh else await self._session.answered(question, collection, system)
        if kept is not None:
            self._again(*kept, collection, system)
            return
        with self._panel:
            written = ui.label().classes("text panel text-base")
            written.visible = False
            steps = _Steps()
        events = self._session.ask(question, collection, system)
        try:
            async for event in events:
                if isinstance(event, Answered):
                    written.visible = True
                    written.text = event.text
                elif isinstance(event, Answer):
                    written.delete()
                    self._answered(event, collection)
                else:
                    steps.hear(event)
        finally:
            steps.end()
            await events.aclose()

    def _again(self, answer: Answer, when: datetime, collection: str, system: str) -> None:
        """An answer that is kept, with what led to it, and the way to another one."""
        with self._panel:
            with ui.row().classes("items-center gap-3"):
                ui.label(f"Answered {when.astimezone():%Y-%m-%d %H:%M}.").classes("quiet")
                again = ui.button("Ask again", icon="refresh").props("flat dense no-caps")
            again.on_click(lambda: self.ask(answer.question, collection, system, fresh=True))
            steps = _Steps(open=False)
        for event in answer.trace:
            steps.hear(event)
        steps.end()
        self._answered(answer, collection)

    def _answered(self, answer: Answer, collection: str) -> None:
        opened = opener(self._session, collection)
        with self._panel:
            with ui.element("section").classes("panel") as panel:
                answer_text(answer, collection, opened)
                if answer.problem:
                    ui.label(f"Problem: {answer.problem}").classes("text").props("role=alert")
                elif not answer.found:
                    ui.label("The evidence does not hold the answer.").classes("quiet")
                elif answer.doubt:
                    ui.label(answer.doubt).classes("text").props("role=note")
                ui.label(f"{answer.system}: {usage_text(answer.usage, cost=True)}, {answer.seconds:.1f} s").classes(
                    "quiet text-sm"
                )
                if self._session.access.may("write"):
                    self._keep(answer, collection)
            panel.move(target_index=0)
            citations(answer, collection, opened)
            with ui.expansion("Everything that was found").classes("w-full panel"):
                self._found(answer.ranking, collection)
            self._draw(drawing(answer), collection)

    def _keep(self, answer: Answer, collection: str) -> None:
        async def keep() -> None:
            id = await self._session.collection(collection, "write").save(answer)
            button.delete()
            ui.notify("Kept.")
            ui.navigate.to(f"/runs/{id}")

        button = ui.button("Keep it with its steps", icon="bookmark_add", on_click=keep).props("flat dense no-caps")

    def _found(self, ranking: Ranking, collection: str) -> None:
        if not ranking.hits:
            ui.label("Nothing was found.")
        hits(ranking, ranking.query, collection, opener(self._session, collection))
        for note in ranking.notes:
            ui.label(note).classes("quiet text-sm text")

    def _draw(self, drawn: Drawing, collection: str) -> None:
        """The trail, once somebody wants to see it."""
        with ui.expansion("The trail, drawn").classes("w-full panel") as place:
            pass

        def draw() -> None:
            if place.value and not place.default_slot.children:
                with place:
                    Chart(self._session, collection).add(drawn)

        place.on_value_change(draw)


class _Steps:
    """What the agent does, step by step."""

    def __init__(self, *, open: bool = True) -> None:
        self._usage, self._began = Usage(), time.monotonic()
        self._step, self._said = 0, set[str]()
        with ui.expansion("Steps", value=open).classes("w-full panel") as self._panel:
            with ui.row().classes("items-center gap-2") as self._waiting:
                ui.spinner()
                self._spent = ui.label("thinking").classes("quiet text-sm")
            self._lines = ui.column().classes("w-full gap-1")

    def hear(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Called):
            self._usage += event.usage
            self._spent.text = f"{usage_text(self._usage)}, {time.monotonic() - self._began:.0f} s"
        with self._lines:
            if text := crop(topic(event), _LINE):
                self._head(event.step, text)
            for label, said in lines(event):
                if label not in ONCE or said not in self._said:
                    self._said.add(said)
                    self._line(label, said)

    def end(self) -> None:
        """Nothing more will come."""
        if not self._panel.is_deleted:
            self._waiting.delete()

    def _head(self, step: int, text: str) -> None:
        if step > self._step:
            self._step, self._said = step, {text}
            ui.label(f"{step}. {text}").classes("font-semibold text mt-1")
        elif text not in self._said:
            self._said.add(text)
            self._line("query", text)

    def _line(self, label: str, text: str) -> None:
        with ui.element("div").classes("said"):
            ui.label(label).classes("quiet text-sm")
            ui.label(crop(text, _LINE)).classes("text-sm text")
