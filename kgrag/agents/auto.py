"""A cascade of two strategies: one retrieval if its passages contain the answer, otherwise several steps of search.

The reader decides: the second strategy starts only if the reader says that the passages do not contain the answer. If
steps are needed, this costs one more call; if not, it saves all of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.episode import Episode, Outcome, QuestionContext, StepQuery
from kgrag.agents.single import Single
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import STRATEGIES, check_system
from kgrag.retrieval.base import Query, Scored
from kgrag.retrieval.context import Searchable
from kgrag.retrieval.expression import parse
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Judged


class AutoOptions(AnswerOptions):
    """Options of the cascade."""

    then: str = Field("gear", description="strategy where the first passages hold no answer: ircot(steps=2)")


class Auto(Strategy):
    """Answers from one retrieval if its passages contain the answer; otherwise another strategy searches on.

    Example:
        >>> system = Auto(PathRank(collection.context), then="ircot")
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "auto"
    summary = "answers from one retrieval if that holds the answer, else searches on by another strategy"
    options = AutoOptions
    over = "pathrank"
    settings: AutoOptions

    def __init__(self, on: Searchable, **options: Any) -> None:
        """Make the cascade.

        Raises:
            NotFoundError: `then` names no strategy.
            ConfigurationError: an option of `then` does not exist or is out of range.
        """
        super().__init__(on, **options)
        expression = parse(self.settings.then)
        check_system(f"{expression.name}+{self.retriever.name}")
        kind = STRATEGIES[expression.name]
        if kind is Auto or not kind.retrieves or expression.parts:
            raise ConfigurationError(
                f"auto cannot go on with {self.settings.then!r}.",
                "Name a strategy that searches, alone: auto(then='gear(steps=2)').",
            )
        self._first = Single(self.retriever)
        self._then = kind(self.retriever, **dict(expression.options))

    def at_most(self) -> tuple[int, int]:
        """See Strategy: the reader's attempt plus the calls of the other strategy."""
        calls, tokens = super().at_most()
        more, read = self._then.at_most()
        return calls + more, tokens + read

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy. Raises ConfigurationError when no language model is configured."""
        return _Auto(inquiry, self.settings, self._first.begin(inquiry), self._then)


class _Auto(Episode):
    """One question in progress: `first`, and if that was not enough, an episode of the other strategy."""

    def __init__(self, inquiry: QuestionContext, settings: AutoOptions, first: Episode, then: Strategy) -> None:
        super().__init__(inquiry, settings)
        self._now, self._then = first, then.begin(inquiry)
        self.steps = 1 + self._then.steps
        self._conclusion: Outcome | None = None
        self._first_found: list[Scored] = []

    def next_queries(self) -> Sequence[str | StepQuery]:
        """See Episode."""
        return self._now.next_queries()

    def retrieve(self, query: Query) -> list[Scored]:
        """See Episode."""
        return self._now.retrieve(query)

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode."""
        self._now.absorb(query, ranking)

    def done(self) -> bool:
        """See Episode. The reader tries first; a question that it cannot answer goes to the other strategy."""
        if self._now is self._then:
            return self._then.done()
        conclusion = self._now.conclude()
        reply = self.inquiry.try_to_answer(conclusion)
        self.emit(Judged(answerable=reply is not None, answer="" if reply is None else reply.text))
        if reply is not None:
            self._conclusion = replace(conclusion, reply=reply)
            return True
        self._first_found, self._now = self._now.finalise(), self._then
        return False

    def finalise(self) -> list[Scored]:
        """See Episode; the first retrieval's ranking until the other strategy has hits."""
        if self._now is not self._then:
            return self._now.finalise()
        return self._then.finalise() or self._first_found

    def conclude(self) -> Outcome:
        """See Episode."""
        return self._conclusion or self._now.conclude()

    def notes(self) -> tuple[str, ...]:
        """See Episode."""
        return self._now.notes()
