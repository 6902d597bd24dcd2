"""RGNN-Ret's loop: single questions one after the other, each answered, until a critique of the answers is content.

RGNN-Ret, section 3.3 and appendix I.6. The recurrence itself is in the retriever: `rgnn+gnn-ret(beta=0.9)`; any
strategy over that retriever has it (table 8), and this loop works over any other, too.
"""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from kgrag.agents.answering import AnswerOptions, within
from kgrag.agents.pool import Pool
from kgrag.agents.strategy import Conclusion, Episode, Inquiry, Strategy
from kgrag.events import Judged, SubAnswered
from kgrag.models.facts import numbered
from kgrag.retrieval.base import Scored

_LABEL = re.compile(r"^\W*(?:next |sub-?)?question:\s*", re.IGNORECASE)


class Critique(BaseModel):
    """A reply that says whether the answers so far are enough."""

    analysis: str = ""
    enough: bool


class RgnnOptions(AnswerOptions):
    """Options of RGNN-Ret's loop."""

    steps: int = Field(5, ge=1, le=20, description="single questions at most")
    passages: int = Field(10, ge=1, description="passages of each retrieval that are kept and read")
    tokens: int | None = Field(3500, ge=1, description="tokens of what is read (section 4.1)")
    answer: Literal["own", "reader"] = Field(
        "own", description="who answers: the model from the single answers, or the reader that all strategies share"
    )


class Rgnn(Strategy):
    """Asks single questions until a critique of their answers is content."""

    name = "rgnn"
    summary = "asks and answers single questions until a critique of the answers is content; RGNN-Ret"
    options = RgnnOptions
    over = "gnn-ret(beta=0.9)"
    settings: RgnnOptions

    def begin(self, inquiry: Inquiry) -> Episode:
        """See Strategy."""
        return _Rgnn(inquiry, self.settings)


class _Rgnn(Episode):
    """Single questions under way; `told`: each with its answer."""

    settings: RgnnOptions

    def __init__(self, inquiry: Inquiry, settings: RgnnOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.found = Pool(inquiry.retriever.scale)
        self.told: list[tuple[str, str]] = []
        self._enough = False

    def next_queries(self) -> Sequence[str]:
        """See Episode; the next single question."""
        question = self.inquiry.question.text
        said = self.inquiry.tasks.text("sub-question", question=question, told=self._told() or "(none yet)")
        return [_LABEL.sub("", said.strip().splitlines()[0])]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Episode; the single question is answered, and the answers so far are judged."""
        kept = found[: self.settings.passages]
        self.found.add(kept)
        read = within([[passage] for passage in self.inquiry.passages(kept)], self.settings.tokens)
        shown = numbered(read) or "(nothing was found)"
        again = f"Question: {query}\n\n" if self.settings.repeat else ""
        answer = self.inquiry.tasks.text("sub-answer", passages=again + shown, question=query)
        self.told.append((query, " ".join(answer.split())))
        self.emit(SubAnswered(question=query, answer=self.told[-1][1]))
        if len(self.told) < self.steps:
            answers = "\n".join(answer for _, answer in self.told)
            reply = self.inquiry.tasks.structured(
                "critique", Critique, question=self.inquiry.question.text, answers=answers
            )
            self._enough = reply.enough
            self.emit(Judged(answerable=reply.enough, why=reply.analysis))

    def done(self) -> bool:
        """See Episode."""
        return self._enough

    def finalise(self) -> list[Scored]:
        """See Episode; what the question itself finds where nothing else was searched for."""
        return self.found.ranking() or self.retrieve(self.inquiry.query(self.inquiry.question.text))

    def conclude(self) -> Conclusion:
        """See Episode; the answer is made from the single ones."""
        if self.settings.answer == "reader":
            return Conclusion(self.finalise())
        question = self.inquiry.question.text
        text = self.inquiry.tasks.text("final-answer", question=question, told=self._told())
        return Conclusion(self.finalise(), text=text.splitlines()[0])

    def _told(self) -> str:
        return "\n".join(f"Single question: {question}\nIts answer: {answer}" for question, answer in self.told)
