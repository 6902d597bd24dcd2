"""The contract of agents: a Strategy over a retriever answers questions; each question is an Episode of its own.

An episode goes round one loop (`loop.run`): next queries -> retrieve -> absorb -> stop? -> finalise.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kgrag.agents.answering import AnswerOptions, ModelAnswer, answer
from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.loop import run
from kgrag.agents.trace import Trace
from kgrag.errors import ModelError
from kgrag.events import Answer, Answered, Event, Failed, Looked
from kgrag.models.chat import no_model
from kgrag.models.tasks import Listener, Tasks
from kgrag.options import resolve
from kgrag.retrieval.base import Query, Retriever, Scored, Searchable, SearchContext
from kgrag.retrieval.expression import Expression
from kgrag.retrieval.registry import make_retriever
from kgrag.types import Hit, Passage, Ranking, Usage

DEPTH = 15
"""How many passages a system ranks by default."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a strategy works with for one question. `depth`: how many passages are wanted in the end."""

    question: Query
    retriever: Retriever
    depth: int
    emit: Listener
    model: Tasks | None = None

    @property
    def tasks(self) -> Tasks:
        """The language model. Raises ConfigurationError when none is configured."""
        if self.model is None:
            raise no_model()
        return self.model

    def query(self, text: str) -> Query:
        """A query among the documents that the question may be answered from."""
        return Query(text, self.question.filter, self.emit)

    def passages(self, found: Sequence[Scored]) -> list[Passage]:
        """The passages with their texts, in order."""
        return [hit.passage for hit in self.retriever.hits(found)]


class Episode(ABC):
    """One question under way. Any of its methods may raise ModelError; it can be finalised then all the same."""

    steps: int = 1
    """How many steps it takes at most."""

    def __init__(self, inquiry: Inquiry, settings: Any) -> None:
        self.inquiry = inquiry
        self.settings = settings

    @abstractmethod
    def next_queries(self) -> Sequence[str]:
        """What to search for in the next step; nothing: enough is known."""

    def retrieve(self, query: Query) -> list[Scored]:
        """The passages for a query, best first."""
        return self.inquiry.retriever.rank(query, self.inquiry.depth)

    @abstractmethod
    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """Take in what was found for a query."""

    def done(self) -> bool:
        """Whether the loop ends after this step."""
        return False

    @abstractmethod
    def finalise(self) -> list[Scored]:
        """The passages of all steps as one ranking."""

    def answer(
        self, tasks: Tasks, hits: Sequence[Hit], *, short: bool, on_text: Callable[[str], None] | None
    ) -> ModelAnswer:
        """What a language model answers, from the best of the final ranking. Raises ModelError."""
        passages = [hit.passage for hit in hits[: self.settings.evidence]]
        return answer(tasks, self.inquiry.question.text, passages, self.settings, short=short, on_text=on_text)

    def notes(self) -> tuple[str, ...]:
        """What to know of the final ranking, such as that the collection lacks what the strategy works with."""
        return self.inquiry.retriever.notes([])

    def emit(self, event: Event) -> None:
        """Report what happened."""
        self.inquiry.emit(event)


class Strategy(ABC):
    """A way of answering over a retriever: `Gear(PathRank(c), steps=2).ask("Who ...?")`. Safe to share between threads.

    A strategy is a class with a `name`, a `summary`, its `options` and the method `begin`, found by an entry point of
    the group `kgrag.strategies`. `over`: the retriever that it works over when it is made over a collection;
    `retrieves`: whether it uses it at all.
    """

    name: str
    summary: ClassVar[str]
    options: ClassVar[type[AnswerOptions]] = AnswerOptions
    over: ClassVar[str] = "hybrid"
    retrieves: ClassVar[bool] = True

    settings: AnswerOptions
    """The options in force."""

    def __init__(self, on: Searchable, **options: Any) -> None:
        """Over a retriever, or over a collection by its usual one. Raises ConfigurationError for unknown options."""
        kind = type(self)
        self.context: SearchContext = on.context
        self.retriever = on if isinstance(on, Retriever) else make_retriever(kind.over, self.context)
        self.settings = kind.check(options, self.context.agents)
        self.name = kind.spelt(Expression(kind.name, (), tuple(options.items())), self.retriever.name)

    @classmethod
    def check(cls, options: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> AnswerOptions:
        """The options in force, with `defaults` as of a SearchContext's agents. Raises ConfigurationError."""
        defaults = defaults or {}
        own = defaults.get(cls.name.replace("-", "_"), {})
        return resolve(cls.options, cls.name, options, own, defaults.get("answer", {}))

    @classmethod
    def spelt(cls, expression: Expression, retriever: str) -> str:
        """The name of the system: STRATEGY+RETRIEVER."""
        return f"{expression}+{retriever}" if cls.retrieves else str(expression)

    @abstractmethod
    def begin(self, inquiry: Inquiry) -> Episode:
        """Take up a question."""

    def look_up(self, query: Query, tasks: Tasks | None = None, depth: int = DEPTH) -> Lookup | None:
        """What the question names of the structure of a document; None for questions of content."""
        return look_up(self.context, query, tasks, depth) if self.settings.structure and self.retrieves else None

    def ask(
        self,
        question: str | Query,
        *,
        short: bool = False,
        depth: int = DEPTH,
        stream: bool = False,
        listener: Listener | None = None,
    ) -> Answer:
        """The answer to a question, `short` or with citations, and the `depth` best passages.

        `listener` hears of every event as it happens; with `stream` also of the answer as it is written. What a
        language model cannot do is reported in the answer's `problem`. A page, table or section that the question names
        is looked up, and answered with what stands there, or the strategy's answer is read from that alone. Raises
        ConfigurationError when no model is configured and one is needed, and DatabaseError.
        """
        started = time.perf_counter()
        asked = question if isinstance(question, Query) else Query(question)
        trace = Trace(listener)
        query = Query(asked.text, asked.filter, trace.add)
        tasks = None if self.context.tasks is None else self.context.tasks.with_listener(trace.add)
        place = self.look_up(query, tasks, depth)
        if tasks is None and (place is None or place.content):
            raise no_model()
        problem = ""
        notes: tuple[str, ...] = ()
        hits: tuple[Hit, ...] = ()
        reply = ModelAnswer("", False)
        on_text = _telling(trace) if stream and not short else None
        try:
            if place is None:
                episode = self.begin(Inquiry(query, self.retriever, depth, trace.add, tasks))
                hits, problem = run(episode, trace)
                notes = episode.notes()
                assert tasks is not None
                reply = episode.answer(tasks, hits, short=short, on_text=on_text)
            else:
                hits = place.hits
                for kind, name, text in place.places:
                    trace.add(Looked(kind=kind, name=name, text=text))
                if not place.content:
                    reply = ModelAnswer(place.text, place.found)
                elif tasks is not None:
                    passages = [hit.passage for hit in hits]
                    reply = answer(tasks, asked.text, passages, self.settings, short=short, on_text=on_text)
            trace.add(Answered(text=reply.text))
        except ModelError as error:
            problem = problem or error.in_full
            trace.add(Failed(problem=error.in_full, error=type(error).__name__))
        usage = trace.by_task()
        return Answer(
            question=asked.text,
            text=reply.text,
            found=reply.found,
            system=self.name,
            ranking=Ranking(asked.text, self.name, hits, notes),
            citations=reply.citations,
            trace=tuple(trace.events),
            usage=sum(usage.values(), Usage()),
            by_task=usage,
            seconds=time.perf_counter() - started,
            problem=problem,
        )

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _telling(trace: Trace) -> Callable[[str], None]:
    def hear(so_far: str) -> None:
        trace.add(Answered(text=so_far, whole=False))

    return hear
