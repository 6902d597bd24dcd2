"""ITER-RETGEN: retrieval and generation in turns; each answer with its reasoning is the next query.

The study of iterative retrieval calls it IRGS (BDTR paper, figure 13), with two rounds and a final answer from the
common reader. RGNN-Ret compares with a variant (section 4.1 and appendix I.5) that stops when its answer repeats and
returns its own answer: `iter-retgen(stop=true, answer=own)`. The original joins question and reply: `query=joined`.
"""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.pool import Pool
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.retrieval.base import Scored
from kgrag.runtime.options import Count
from kgrag.values.events import Thought

_ANSWER = re.compile(r".*\banswer is\b[:\s]*(.+)", re.IGNORECASE | re.DOTALL)


class IterRetgenOptions(AnswerOptions):
    """Options of ITER-RETGEN."""

    rounds: int = Field(2, ge=0, le=20, description="replies that are searched for (BDTR paper, section 4.1)")
    passages: Count = Field(10, description="passages of each retrieval that are kept")
    read: Count = Field(5, description="passages found so far that the model is shown at most")
    query: Literal["reply", "joined"] = Field("reply", description="the next query: the reply, or question and reply")
    stop: bool = Field(False, description="end when two replies in a row have the same answer")
    answer: Literal["own", "reader"] = Field(
        "reader", description="who answers: the strategy by one reply more, or the reader that all strategies share"
    )


class IterRetgen(Strategy):
    """The model answers after each retrieval, and its answer is the next query.

    Source: ITER-RETGEN; BDTR, figure 13; RGNN-Ret, appendix I.5.

    Example:
        >>> system = IterRetgen(PathRank(collection.context))
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "iter-retgen"
    summary = "answers, and searches with its answer; ITER-RETGEN (IRGS)"
    paper = "ITER-RETGEN; BDTR, figure 13; RGNN-Ret, appendix I.5"
    calls = (1, 2)
    options = IterRetgenOptions
    settings: IterRetgenOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _IterRetgen(inquiry, self.settings)


class _IterRetgen(Episode):
    """One question in progress."""

    settings: IterRetgenOptions

    def __init__(self, inquiry: QuestionContext, settings: IterRetgenOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = 1 + settings.rounds
        self.candidates = Pool(inquiry.retriever.scale)
        self.answers: list[str] = []
        self._is_started = self._repeated = False

    def next_queries(self) -> Sequence[str]:
        """See Episode; the question itself, then the model's replies."""
        question = self.inquiry.question.text
        if not self._is_started:
            self._is_started = True
            return [question]
        reply = self._reply()
        last = [answer.casefold() for answer in self.answers[-2:]]
        self._repeated = self.settings.stop and len(last) == 2 and last[0] == last[1]
        if self._repeated:
            return []
        return [f"{question} {reply}" if self.settings.query == "joined" else reply]

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode."""
        self.candidates.add(ranking[: self.settings.passages])

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return self.candidates.ranking()

    def conclude(self) -> Outcome:
        """See Episode. With `answer=own`, the answer is one more reply, based on all candidates."""
        if self.settings.answer == "reader":
            return Outcome(self.finalise())
        if not self._repeated:
            self._reply()
        return Outcome(self.finalise(), text=self.answers[-1])

    def _reply(self) -> str:
        """Return brief reasoning that ends in an answer, from the best passages so far. Raises ModelError."""
        passages = self.shown_again(self.finalise(), self.settings.read)
        text = self.inquiry.llm.text("retgen", passages=passages, question=self.inquiry.question.wording)
        reply = " ".join(text.split())
        self.emit(Thought(text=reply))
        answer = _ANSWER.match(text)
        self.answers.append((answer[1] if answer else text.splitlines()[-1]).strip(" \t\n.*\"'"))
        return reply
