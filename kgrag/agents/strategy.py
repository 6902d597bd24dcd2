"""The contract of agents: a Strategy over a retriever answers questions; each question is a separate Episode.

An episode runs in one loop (`loop.run`): next queries -> retrieve -> absorb -> stop? -> conclude.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from kgrag.agents.answering import AnswerOptions, answer, answer_closed, effort_options, own_answer
from kgrag.agents.episode import Episode, Outcome, QuestionContext, StepQuery
from kgrag.agents.lookup import Lookup, look_up
from kgrag.agents.loop import run
from kgrag.agents.replies import ModelAnswer, citations_of
from kgrag.agents.trace import Trace
from kgrag.models.chat import no_model
from kgrag.models.prompted import LONGER, Listener, PromptedModel
from kgrag.retrieval.base import Layer, Query, Retriever, make_retriever
from kgrag.retrieval.bridges import with_bridges
from kgrag.retrieval.claims import disagreements
from kgrag.retrieval.context import Searchable, SearchContext, unknown_keys
from kgrag.retrieval.expression import Expression
from kgrag.retrieval.held import held_facts
from kgrag.runtime.options import resolve
from kgrag.text.dates import checked_date
from kgrag.values.documents import Triple
from kgrag.values.errors import ConfigurationError, ModelError
from kgrag.values.events import Answer, Answered, AnswerSources, Called, Failed, StructureLookup
from kgrag.values.results import Hit, Item, Ranking, Usage

__all__ = ["DEPTH", "Episode", "Outcome", "QuestionContext", "StepQuery", "Strategy"]

DEPTH = 15
"""Number of passages that a system ranks by default."""
_COMPARED = 5  # passages that are checked for disagreements
_PROMPT, _PASSAGE = 500, 200
"""Estimated tokens of a prompt and of a passage."""
_CUT = f"The answer is not whole: the model reached its limit, or repeated itself. {LONGER}"


class Strategy(ABC):
    """A strategy that answers questions over a retriever; threads may share it.

    A strategy is a class with a `name`, a `summary`, its `options` and the method `begin`, registered by an entry point
    of the group `kgrag.strategies`.

    Args:
        on: a retriever, or a collection's context for the default retriever.
        options: the options of the class.

    Attributes:
        over: the default retriever.
        retrieves: whether it uses the retriever at all.
        uses_knowledge: whether it searches collections of kind knowledge itself.
        needs_one_graph: whether it also walks the graph of one collection.
        requires: the layers of the graph that it needs.
        paper: its source.
        calls: the maximum number of calls of a language model, in each step and outside the steps.

    Raises:
        ConfigurationError: an option does not exist or is out of range, or it `needs_one_graph` and there are several
            collections.

    Example:
        >>> system = Gear(PathRank(collection.context), steps=2)
        >>> system.name
        'gear(steps=2)+pathrank'
        >>> answer = system.ask("Where was the designer of the Fram born?", short=True)
    """

    name: str
    summary: ClassVar[str]
    options: ClassVar[type[AnswerOptions]] = AnswerOptions
    over: ClassVar[str] = "hybrid"
    retrieves: ClassVar[bool] = True
    uses_knowledge: ClassVar[bool] = False
    needs_one_graph: ClassVar[bool] = False
    paper: ClassVar[str] = ""
    requires: ClassVar[frozenset[Layer]] = frozenset()
    calls: ClassVar[tuple[int, int]] = (0, 1)

    settings: AnswerOptions
    """The options in force."""

    def __init__(self, on: Searchable, **options: Any) -> None:
        """Make the strategy over a retriever, or over a collection by its default retriever."""
        kind = type(self)
        self.context: SearchContext = on.context
        self.retriever = on if isinstance(on, Retriever) else make_retriever(kind.over, self.context)
        if kind.needs_one_graph and len(self.retriever.contexts) > 1:
            raise ConfigurationError(
                f"{kind.name} walks the graph of one collection, and several are asked.",
                f"Ask one of them, or ask all by another system: single+{self.retriever.name}, "
                f"ircot+{self.retriever.name}.",
            )
        self.settings = kind.check(options, self.context.agents)
        self.name = kind.spelt(Expression(kind.name, (), tuple(options.items())), self.retriever.name)

    @classmethod
    def check(cls, options: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> AnswerOptions:
        """Return the options in force.

        Args:
            options: name -> value.
            defaults: part -> options, as in a SearchContext's agents.

        Returns:
            The options, defaults included.

        Raises:
            ConfigurationError: an option does not exist or is out of range.
        """
        defaults = defaults or {}
        own, shared = defaults.get(cls.name.replace("-", "_"), {}), defaults.get("answer", {})
        effort = next((source["effort"] for source in (options, own, shared) if "effort" in source), None)
        return resolve(cls.options, cls.name, options, own, effort_options(cls.options, effort) | shared)

    @classmethod
    def spelt(cls, expression: Expression, retriever: str) -> str:
        """Return the name of the system.

        Args:
            expression: the strategy with its options.
            retriever: the name of the retriever.

        Returns:
            STRATEGY+RETRIEVER; STRATEGY alone if it does not retrieve.
        """
        return f"{expression}+{retriever}" if cls.retrieves else str(expression)

    def at_most(self) -> tuple[int, int]:
        """Return the maximum number of model calls for a question, and their tokens.

        A passage counts as 200 tokens, a prompt as 500.

        Returns:
            (calls, tokens), searches included; (0, 0) if they depend on the collection.
        """
        steps = next((getattr(self.settings, name) for name in ("steps", "rounds") if hasattr(self.settings, name)), 0)
        a_step, besides = type(self).calls
        read = max(getattr(self.settings, name, 0) for name in ("evidence", "read", "passages"))
        searches = self.retriever.max_model_calls() * (1 + steps) if self.retrieves else 0
        calls = a_step * steps + besides + (searches if a_step * steps + besides else 0)
        return calls, calls * (_PROMPT + read * _PASSAGE)

    def missing_layers(self) -> frozenset[Layer]:
        """Return the layers that the strategy or its retriever requires and the collection lacks.

        Returns:
            Layers.
        """
        own = self.requires - self.context.reader.layers(self.requires)
        return own | self.retriever.missing_layers() if self.retrieves else own

    @abstractmethod
    def begin(self, inquiry: QuestionContext) -> Episode:
        """Begin the episode of a question.

        Args:
            inquiry: the question and the resources of the strategy.

        Returns:
            The episode.
        """

    def look_up(self, query: Query, llm: PromptedModel | None = None, depth: int = DEPTH) -> Lookup | None:
        """Return the part of a document's structure that the question names.

        Args:
            query: the question.
            llm: the language model for unusual wordings; None: rules only.
            depth: the maximum number of passages.

        Returns:
            The part; None for questions about content.
        """
        if not self.settings.structure or not self.retrieves:
            return None
        matches = (look_up(context, query, llm, depth) for context in self.retriever.contexts)
        return next(filter(None, matches), None)

    def ask(
        self,
        question: str | Query,
        *,
        short: bool = False,
        depth: int = DEPTH,
        stream: bool = False,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """Answer a question.

        A page, table or section named in the question is looked up first. Its count is the answer, or the answer is
        read only from its text.

        Args:
            question: the question.
            short: whether the answer is a few words without citations.
            depth: the number of passages in the answer's ranking.
            stream: whether the listener also receives the answer as it is written.
            listener: receives each event as it happens.
            choices: the answer is one of these; empty: any.

        Returns:
            The answer; failures of a model are reported in its `problem`.

        Raises:
            ConfigurationError: no language model is configured and one is needed.
            DatabaseError: the database is unreachable or fails.
        """
        started = time.perf_counter()
        request = question if isinstance(question, Query) else Query(question)
        as_of = checked_date(request.filter.as_of)
        wording = request.wording
        trace = Trace(listener)
        query = Query(request.text, request.filter, trace.add, knowledge=request.knowledge)
        retriever = self.retriever if self.uses_knowledge else with_bridges(self.retriever, request.knowledge)
        llm = None if self.context.llm is None else self.context.llm.with_listener(trace.add)
        place = self.look_up(query, llm, depth)
        if llm is None and (place is None or place.content):
            raise no_model()
        problem = ""
        notes: tuple[str, ...] = ()
        hits: tuple[Hit, ...] = ()
        reply = ModelAnswer("", False)
        on_text = _telling(trace) if stream and not short else None

        def read(items: Sequence[Item], facts: Sequence[Triple] = ()) -> ModelAnswer:
            assert llm is not None
            if on_text is not None:
                trace.add(AnswerSources(citations=citations_of(items)))
            return answer(
                llm, wording, items, self.settings, short=short, on_text=on_text, facts=facts, choices=choices
            )

        def try_to_answer(conclusion: Outcome) -> ModelAnswer | None:
            if choices or llm is None:  # with choices, the model chooses one in any case
                return None
            items, willing = self._evidence(inquiry, conclusion), self.settings.model_copy(update={"abstain": True})
            reply = answer(llm, wording, items, willing, short=short)
            return reply if reply.found else None

        try:
            if place is None:
                deep = max(depth, self.settings.evidence)  # the reader may see more passages than the caller wants
                inquiry = QuestionContext(query, retriever, deep, trace.add, llm, try_to_answer)
                episode = self.begin(inquiry)
                conclusion, problem = run(episode, trace)
                hits = inquiry.hits(conclusion.ranking[:depth])
                notes = (*episode.notes(), *(() if hits else unknown_keys(retriever.contexts, request.filter)))
                assert llm is not None
                if conclusion.reply is not None:
                    reply = conclusion.reply
                elif conclusion.text is not None:
                    reply = own_answer(conclusion.text, choices)
                elif not self.retrieves and conclusion.evidence is None:
                    reply = answer_closed(llm, wording, self.settings, short=short, on_text=on_text, choices=choices)
                elif (items := self._evidence(inquiry, conclusion)) or conclusion.facts or not problem:
                    reply = read(items, conclusion.facts)
            else:
                hits = place.hits
                for kind, name, text in place.places:
                    trace.add(StructureLookup(kind=kind, name=name, text=text))
                if not place.content:
                    reply = ModelAnswer(place.text, place.found)
                else:
                    reply = read([[hit.passage] for hit in hits])
            trace.add(Answered(text=reply.text))
        except ModelError as error:
            problem = problem or error.in_full
            trace.add(Failed(problem=error.in_full, error=type(error).__name__))
        problem = problem or next((event.problem for event in trace.events if isinstance(event, Failed)), "")
        calls = [event for event in trace.events if isinstance(event, Called)]
        cut = bool(calls) and calls[-1].cut and bool(reply.text) and (place is None or place.content)
        problem = " ".join(filter(None, (_CUT if cut else "", problem)))  # the last call wrote the answer
        usage = trace.by_task()
        if reply.found:
            rests_on = [c.passage.id for c in reply.citations] or [hit.passage.id for hit in hits]
            for context in self.retriever.contexts:
                notes += held_facts(context.reader, rests_on, (request.text, reply.text), as_of)
            pairs = disagreements([hit.passage for hit in hits[:_COMPARED]], f"{request.text} {reply.text}")
            notes += tuple(f"These passages disagree: “{one}” “{other}”" for one, other in pairs)
        return Answer(
            question=request.text,
            text=reply.text,
            found=reply.found,
            system=self.name,
            ranking=Ranking(request.text, self.name, hits, notes),
            citations=reply.citations,
            trace=tuple(trace.events),
            usage=sum(usage.values(), Usage()),
            by_task=usage,
            seconds=time.perf_counter() - started,
            problem=problem,
            unsupported=reply.unsupported,
            unchecked=reply.unchecked,
            cut=cut,
        )

    def _evidence(self, inquiry: QuestionContext, conclusion: Outcome) -> list[Item]:
        """Return the evidence for the answer: the strategy's own items, else passages of the ranking."""
        items = conclusion.evidence
        if items is None or isinstance(items, int):
            count = self.settings.evidence if items is None else items
            items = [[x.id] for x in conclusion.ranking[:count]]
        return inquiry.items(items)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _telling(trace: Trace) -> Callable[[str], None]:
    def hear(so_far: str) -> None:
        trace.add(Answered(text=so_far, whole=False))

    return hear
