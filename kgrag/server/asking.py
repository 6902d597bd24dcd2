"""Answer the questions of conversations, each in its own task, which continues when its page is closed.

The events stay in memory until the answer is stored, so that every page that opens meanwhile sees all of them.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from kgrag.agents.replies import ModelAnswer, cited, says_not_found
from kgrag.client.searching import Searching
from kgrag.models.chat import Message
from kgrag.models.prompted import PromptedModel
from kgrag.retrieval.clauses import sentences
from kgrag.retrieval.support import Doubts, doubts_of
from kgrag.runtime.limits import retries_heard
from kgrag.server.answer_forms import markdown, sources_form, step_form
from kgrag.server.conversation import understood
from kgrag.server.conversations import Conversations, Turn
from kgrag.server.failures import error_for_caller, form_of
from kgrag.server.request_queue import Workers
from kgrag.values.errors import CancelledError
from kgrag.values.events import Answer, Answered, AnswerSources, Called, Citation, Event, Retrieved, Rewritten
from kgrag.values.results import Ranking, Usage

_LOST = {"error": "The server ended while this was answered.", "remedy": "Ask again.", "kind": "CancelledError"}
_ENDED = ("done", "stopped", "failed")
_FIRST = 5  # passages shown while an answer is made
_FINISHED = re.compile(r"[.!?。！？](?:\s*\[\d+\]|[^\w\s])*\s*\Z")
_PAUSE = 0.1  # seconds between polls of a growing text
_SAVED = 3.0  # seconds between two saves of an unfinished answer


@dataclass(slots=True)
class _Live:
    """A turn in progress. `events`: the events so far in the form of the pages; `trace`: the same events of the system.

    `text`: the answer so far, which may cite `citations`; `whole`: whether no call is writing it.
    """

    turn: Turn
    task: "asyncio.Task[None] | None" = None
    events: list[tuple[str, Any]] = field(default_factory=list)
    trace: list[Event] = field(default_factory=list)
    text: str = ""
    whole: bool = True
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    began: float = field(default_factory=time.monotonic)
    over: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, name: str, form: Any) -> None:
        self.events.append((name, form))
        self.wake()

    def wake(self) -> None:
        """Wake all followers."""
        self.changed.set()
        self.changed = asyncio.Event()


class Asking:
    """The questions that a server is answering. Belongs to one event loop."""

    def __init__(self, conversations: Conversations, answers: Workers, searches: Workers) -> None:
        self.conversations = conversations
        self._answers, self._searches = answers, searches
        self._live: dict[str, _Live] = {}

    def begin(self, turn: Turn, target: Searching, llm: PromptedModel | None, before: Sequence[Message]) -> None:
        """Start to answer a turn from the chosen collections; `before`: the conversation so far."""
        live = self._live[turn.id] = _Live(turn)
        live.task = asyncio.get_running_loop().create_task(self._work(live, target, llm, before))

    def now(self, turn: Turn) -> Turn:
        """Return the current state of a turn. A turn in progress in a server that ended counts as stopped."""
        if turn.state in _ENDED or turn.id in self._live:
            return turn
        return self.conversations.change(turn.id, state="stopped", error=_LOST)

    def stop(self, id: str) -> None:
        """Cancel a turn at its next step; a finished turn stays as it is."""
        live = self._live.get(id)
        if live is not None and live.task is not None:
            live.task.cancel()

    async def follow(self, id: str) -> AsyncGenerator[tuple[str, Any]]:
        """Yield the past and coming events of a turn until it ends, then its final state."""
        live = self._live.get(id)
        if live is not None:
            seen, text = 0, ""
            while True:
                changed = live.changed
                fresh = live.events[seen:]  # more may come while these are sent
                for name, form in fresh:
                    yield name, form
                seen += len(fresh)
                if live.text != text:
                    text = live.text
                    yield "text", {"html": markdown(text, live.citations, whole=False)}
                if live.over and seen == len(live.events):
                    break
                await changed.wait()
                await asyncio.sleep(_PAUSE if live.text != text else 0)
        turn = await asyncio.to_thread(self.conversations.turn, id)
        yield "end", {"state": turn.state}

    async def close(self) -> None:
        """Cancel all turns in progress."""
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, live: _Live, target: Searching, llm: PromptedModel | None, before: Sequence[Message]) -> None:
        id, ended = live.turn.id, dict[str, Any](state="done")
        result: Answer | Ranking | None = None
        try:
            result = await self._answered(live, target, llm, before)
            if isinstance(result, Answer):
                usage = {"calls": result.usage.calls, "tokens": result.usage.tokens, "cost": result.usage.cost}
                failed = {"error": result.problem, "remedy": "", "kind": "ModelError"} if result.problem else None
                ended |= {**usage, "error": failed}
                if failed and not result.text and live.text:
                    result, ended["state"] = _so_far(live), "failed"
        except (asyncio.CancelledError, CancelledError):
            result, ended = _so_far(live), {"state": "stopped"}
        except Exception as error:
            result, ended = _so_far(live), {"state": "failed", "error": form_of(error_for_caller(error))}
        ended["read"] = tuple(dict.fromkeys(citation.passage.id for citation in live.citations))
        try:
            await asyncio.shield(asyncio.to_thread(self.conversations.change, id, result, **ended))
        except Exception as error:  # it was deleted meanwhile, or the disk is full
            live.tell("error", form_of(error_for_caller(error)))
        finally:
            live.over = True
            live.wake()
            del self._live[id]

    async def _answered(
        self, live: _Live, target: Searching, llm: PromptedModel | None, before: Sequence[Message]
    ) -> Answer | Ranking:
        turn = live.turn

        def work(hear: Callable[[Any], None]) -> Answer | Ranking:
            with retries_heard(hear):
                return answer(hear)

        def answer(hear: Callable[[Any], None]) -> Answer | Ranking:
            question = turn.question
            if before and llm is not None:
                question = understood(llm.with_listener(hear), before, question)
                if question != turn.question:
                    hear(Rewritten(query=question))
            if not turn.system:
                return target.search(question, retriever=turn.retriever)
            return target.ask_stream(question, system=turn.system).tell(hear)

        saved = time.monotonic()
        workers = self._answers if turn.system or before else self._searches
        result: Answer | Ranking | None = None
        async with aclosing(
            await workers.stream(work, waiting=lambda number: live.tell("waiting", {"before": number}))
        ) as heard:
            live.tell("begun", {})
            await asyncio.to_thread(self.conversations.change, turn.id, state="running", error=None)
            async for news in heard:
                if isinstance(news, Answer | Ranking):
                    result = news
                elif isinstance(news, Answered):
                    live.text, live.whole = news.text, news.whole
                    live.wake()
                    if time.monotonic() > saved + _SAVED:  # a killed server loses no more than this
                        await asyncio.to_thread(self.conversations.change, turn.id, _so_far(live))
                        saved = time.monotonic()
                elif isinstance(news, AnswerSources):
                    live.citations = news.citations
                    hits = next((event.hits for event in reversed(live.trace) if isinstance(event, Retrieved)), ())
                    forms = sources_form(hits, news.citations, turn.question)
                    live.tell("sources", {"sources": forms})
                elif isinstance(news, int):
                    live.tell("again", {"tries": news})
                elif isinstance(news, Rewritten) and news.step == 0:
                    await asyncio.to_thread(self.conversations.change, turn.id, asked=news.query)
                    live.tell("asked", {"question": news.query})
                elif isinstance(news, Called):
                    live.usage += news.usage
                    live.tell("spent", {"usage": live.usage.text()})
                elif isinstance(news, Event):
                    live.trace.append(news)
                    if isinstance(news, Retrieved):
                        forms = sources_form(news.hits[:_FIRST], (), news.query)
                        live.tell("found", {"sources": forms})
                    if form := step_form(news):
                        live.tell("step", form)
        assert result is not None
        return result


def _so_far(live: _Live) -> Answer | None:
    """Return the part of a stopped or failed answer that exists, or None.

    Its finished sentences are checked for support; the usage of the interrupted call counts.
    """
    hits = next((event.hits for event in reversed(live.trace) if isinstance(event, Retrieved)), ())
    if not live.text and not hits:
        return None
    by_number = groupby(live.citations, key=lambda citation: citation.number)
    items = [[citation.passage for citation in group] for _, group in by_number]
    question = live.turn.asked or live.turn.question
    reply = cited(live.text, items) if items else ModelAnswer(live.text, True)
    doubts = doubts_of(finished_sentences(reply.text), items, question, short=False) if items else Doubts()
    return Answer(
        question=question,
        text=reply.text,
        found=not says_not_found(reply.text),
        system=live.turn.system,
        ranking=Ranking(question, live.turn.system, hits),
        citations=tuple(one for one in live.citations if one.number in {entry.number for entry in reply.citations}),
        trace=tuple(live.trace),
        usage=live.usage if live.whole else live.usage + Usage(calls=1, cost=None),
        seconds=time.monotonic() - live.began,
        unsupported=doubts.unsupported,
        unchecked=doubts.unchecked,
    )


def finished_sentences(text: str) -> str:
    """Return a text without its last sentence if that is incomplete."""
    *before, last = [(0, 0), *sentences(text)]
    return text[: last[1] if _FINISHED.search(text) else before[-1][1] if before else 0]
