"""RGNN-Ret's loop: ask and answer sub-questions until a critique accepts the answers.

RGNN-Ret, section 3.3 and appendix I.6. The recurrence itself is in the retriever: `rgnn+gnn-ret(beta=0.9)`. Any
strategy over that retriever has it (table 8), and this loop also works over other retrievers.
"""

import re
from collections.abc import Sequence

from pydantic import BaseModel

from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.agents.sub_questions import SubQuestionOptions, SubQuestions
from kgrag.retrieval.base import Scored
from kgrag.values.events import Judged

_LABEL = re.compile(r"^\W*(?:next |sub-?)?question:\s*", re.IGNORECASE)


class Critique(BaseModel):
    """A reply that says whether the answers so far are enough."""

    analysis: str = ""
    enough: bool


class RgnnOptions(SubQuestionOptions):
    """Options of RGNN-Ret's loop."""


class Rgnn(Strategy):
    """The model asks sub-questions until a critique accepts their answers.

    Source: RGNN-Ret, section 3.3 and appendix I.6.

    Example:
        >>> system = Rgnn(PathRank(collection.context))
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "rgnn"
    summary = "asks and answers single questions until a critique of the answers is content; RGNN-Ret"
    paper = "RGNN-Ret, section 3.3"
    options = RgnnOptions
    calls = (3, 1)
    over = "gnn-ret(beta=0.9)"
    settings: RgnnOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _Rgnn(inquiry, self.settings)


class _Rgnn(SubQuestions):
    """One question in progress: its sub-questions, and whether their answers are enough."""

    _enough = False

    def next_queries(self) -> Sequence[str]:
        """See Episode; the next sub-question."""
        question = self.inquiry.question.wording
        reply = self.inquiry.llm.text("sub-question", question=question, answered=self._answers() or "(none yet)")
        return [_LABEL.sub("", reply.strip().splitlines()[0])]

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode; the sub-question is answered, and the answers so far are judged."""
        super().absorb(query, ranking)
        if len(self.answered) < self.steps:
            answers = "\n".join(answer for _, answer in self.answered)
            reply = self.inquiry.llm.structured(
                "critique", Critique, question=self.inquiry.question.wording, answers=answers
            )
            self._enough = reply.enough
            self.emit(Judged(answerable=reply.enough, why=reply.analysis))

    def done(self) -> bool:
        """See Episode."""
        return self._enough

    def conclude(self) -> Outcome:
        """See Episode; the answer is composed from the answers to the sub-questions."""
        if self.settings.answer == "reader":
            return Outcome(self.finalise())
        question = self.inquiry.question.wording
        text = self.inquiry.llm.text("final-answer", question=question, answered=self._answers())
        return Outcome(self.finalise(), text=text.splitlines()[0])

    def _answers(self) -> str:
        return "\n".join(f"Single question: {question}\nIts answer: {answer}" for question, answer in self.answered)
