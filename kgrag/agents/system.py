"""Systems: a strategy over a retriever, found by name: `gear+pathrank`, `ircot(steps=2)+ppr`, `single+rrf(bm25, ppr)`.

A strategy alone works over its usual retriever, a retriever alone is retrieved from once: `gear`, `pathrank`.
"""

import difflib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from kgrag.agents.answering import Said, answer, answer_closed
from kgrag.agents.gear import Gear
from kgrag.agents.ircot import Ircot
from kgrag.agents.loop import run
from kgrag.agents.single import ClosedBook, Single
from kgrag.agents.strategy import Context, Strategy
from kgrag.agents.structure import Lookup, look_up
from kgrag.agents.trace import Trace
from kgrag.errors import ConfigurationError, ModelError, NotFoundError
from kgrag.events import Answer, Answered, Failed, Looked
from kgrag.models.chat import no_model
from kgrag.models.tasks import Listener, Tasks
from kgrag.retrieval.base import Index, Query, Retriever
from kgrag.retrieval.expression import Expression, parse
from kgrag.retrieval.registry import RETRIEVERS, check_retriever, make_retriever
from kgrag.settings import AgentSettings
from kgrag.types import Passage, Ranking, Usage

DEFAULT_SYSTEM = "gear+pathrank"
DEPTH = 15
"""How many passages a system ranks by default."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How to make a strategy, and what to say of it in a list.

    `settings`: the group of AgentSettings whose fields are its options. `over`: the retriever that it works on when
    none is named.
    """

    make: Callable[[Context], Strategy]
    summary: str
    over: str
    settings: str = ""


STRATEGIES: dict[str, Entry] = {
    "gear": Entry(
        Gear,
        "reads facts into a memory, expands them in the graph, asks on until they answer the question; GEAR",
        over="hybrid",
        settings="gear",
    ),
    "ircot": Entry(
        Ircot, "thinks sentence by sentence; each is the next query; IRCoT", over="hybrid", settings="ircot"
    ),
    "single": Entry(Single, "retrieves once", over="pathrank"),
    "closed-book": Entry(ClosedBook, "retrieves nothing: what the model knows by itself, as a baseline", over="bm25"),
}
"""The strategies by name: adding one is a module and a line here."""


class System:
    """A strategy over a retriever, to be asked many questions; safe to share between threads."""

    def __init__(
        self, name: str, strategy: str, retriever: Retriever, tasks: Tasks | None, settings: AgentSettings
    ) -> None:
        self.name = name
        self.strategy = strategy
        self.retriever = retriever
        self.tasks = tasks
        self.settings = settings

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
        language model cannot do is told in the answer's `problem`. A page, table or section that the question names is
        looked up, and answered with what stands there, or the strategy's answer is read from that alone. Raises
        ConfigurationError when no model is configured and one is needed, and DatabaseError.
        """
        started = time.perf_counter()
        asked = question if isinstance(question, Query) else Query(question)
        trace = Trace(listener)
        query = Query(asked.text, asked.filter, trace.add)
        tasks = None if self.tasks is None else self.tasks.heard_by(trace.add)
        place = self.look_up(query, tasks, depth)
        if tasks is None and (place is None or place.content):
            raise no_model()
        problem, evidence = "", self.settings.answer.evidence
        notes: tuple[str, ...] = ()
        if place is None:
            context = Context(query, self.retriever, self.settings, depth, trace.add, tasks)
            strategy = STRATEGIES[self.strategy].make(context)
            hits, problem = run(strategy, trace)
            notes = strategy.notes()
        else:
            for kind, name, text in place.places:
                trace.add(Looked(kind=kind, name=name, text=text))
            hits, evidence = place.hits, len(place.hits)
        said = Said("", False)
        try:
            if place is not None and not place.content:
                said = Said(place.text, place.found)
            elif tasks is not None:
                passages = [h.passage for h in hits[:evidence]]
                said = self._answer(tasks, asked.text, passages, trace, short=short, stream=stream)
            trace.add(Answered(text=said.text))
        except ModelError as error:
            problem = problem or error.message
            trace.add(Failed(problem=error.message, error=type(error).__name__))
        usage = trace.by_task()
        return Answer(
            question=asked.text,
            text=said.text,
            found=said.found,
            system=self.name,
            ranking=Ranking(asked.text, self.name, hits, notes),
            citations=said.citations,
            trace=tuple(trace.events),
            usage=sum(usage.values(), Usage()),
            by_task=usage,
            seconds=time.perf_counter() - started,
            problem=problem,
        )

    def look_up(self, query: Query, tasks: Tasks | None = None, depth: int = DEPTH) -> Lookup | None:
        """What the question names of the structure of a document; None for questions of content."""
        if not self.settings.answer.structure or self.strategy == "closed-book":
            return None
        return look_up(self.retriever.index, query, tasks, depth)

    def _answer(
        self, tasks: Tasks, question: str, passages: list[Passage], trace: Trace, *, short: bool, stream: bool
    ) -> Said:
        def hear(so_far: str) -> None:
            trace.add(Answered(text=so_far, whole=False))

        on_text = hear if stream and not short else None
        settings = self.settings.answer
        if self.strategy == "closed-book":
            return answer_closed(tasks, question, settings, short=short, on_text=on_text)
        return answer(tasks, question, passages, settings, short=short, on_text=on_text)


def make_system(name: str, index: Index, settings: AgentSettings) -> System:
    """The system of that name. Raises NotFoundError for a name that does not exist, ConfigurationError for bad options.

    `index.tasks` is the language model; without one the system can be made, but not asked.
    """
    strategy, retriever = _split(name)
    made = make_retriever(retriever, index)
    return System(_spelt(strategy, retriever), strategy.name, made, index.tasks, _configured(strategy, settings))


def check_system(name: str) -> str:
    """The name in its standard spelling. Raises as `make_system` does, without a graph."""
    strategy, retriever = _split(name)
    _configured(strategy, AgentSettings())
    return _spelt(strategy, check_retriever(retriever))


def retriever_of(name: str) -> str:
    """The retriever that a system works over. Raises as `make_system` does."""
    return check_retriever(_split(name)[1])


def _split(name: str) -> tuple[Expression, str]:
    """The strategy and the retriever that a name stands for."""
    first, plus, rest = _at_plus(name)
    strategy = parse(first)
    if not plus and strategy.name in RETRIEVERS:
        return Expression("single"), first
    entry = STRATEGIES.get(strategy.name)
    if entry is None:
        near = difflib.get_close_matches(strategy.name, [*STRATEGIES, *RETRIEVERS], n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise NotFoundError(
            f"There is no system {strategy.name!r}.",
            f"{hint}Write STRATEGY+RETRIEVER, as in gear+pathrank. Strategies: {', '.join(STRATEGIES)}; "
            f"retrievers: {', '.join(RETRIEVERS)}.",
        )
    if strategy.parts:
        raise ConfigurationError(
            f"{name!r} does not say what is asked.",
            f"Write the retriever after a plus: {strategy.name}+{strategy.parts[0]}",
        )
    return strategy, rest.strip() or entry.over


def _at_plus(name: str) -> tuple[str, str, str]:
    """The name parted at the first plus that stands in no parentheses."""
    depth = 0
    for place, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if letter == "+" and depth == 0:
            return name[:place], "+", name[place + 1 :]
    return name, "", ""


def _spelt(strategy: Expression, retriever: str) -> str:
    return str(strategy) if strategy.name == "closed-book" else f"{strategy}+{retriever}"


def _configured(strategy: Expression, settings: AgentSettings) -> AgentSettings:
    """The settings with the strategy's options, or those of answering, in place of what they say."""
    own = STRATEGIES[strategy.name].settings
    for key, value in strategy.options:
        for group in filter(None, (own, "answer")):
            model: Any = getattr(settings, group)
            if key in type(model).model_fields:
                settings = settings.model_copy(update={group: _changed(model, strategy.name, key, value)})
                break
        else:
            known = [*(type(getattr(settings, own)).model_fields if own else ()), *type(settings.answer).model_fields]
            raise ConfigurationError(f"{strategy.name!r} has no option {key!r}.", f"It has: {', '.join(known)}.")
    return settings


def _changed(model: BaseModel, name: str, key: str, value: Any) -> BaseModel:
    try:
        return type(model).model_validate({**model.model_dump(), key: value})
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise ConfigurationError(f"{name}: {key}={value!r} will not do: {problem}.", "See kgrag/settings/.") from error
