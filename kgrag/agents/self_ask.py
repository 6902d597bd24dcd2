"""Self-Ask: the model asks itself follow-up questions, each is answered from what is found for it, until it can answer.

As RGNN-Ret compares with (section 4.1 and appendix I.4).
"""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from kgrag.agents.answering import AnswerOptions, within
from kgrag.agents.pool import Pool
from kgrag.agents.strategy import Conclusion, Episode, Inquiry, Strategy
from kgrag.events import SubAnswered
from kgrag.models.facts import numbered
from kgrag.retrieval.base import Scored

_FINAL = re.compile(r"\W*so the (?:final )?answer is[:\s]*(.+)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"^\W*follow[ -]?up(?: question)?:\s*", re.IGNORECASE)


class SelfAskOptions(AnswerOptions):
    """Options of Self-Ask."""

    steps: int = Field(5, ge=1, le=20, description="follow-up questions at most")
    passages: int = Field(10, ge=1, description="passages of each retrieval that are kept and read")
    tokens: int | None = Field(3500, ge=1, description="tokens of what is read (RGNN-Ret, section 4.1)")
    answer: Literal["own", "reader"] = Field(
        "own", description="who answers: the model that asked, or the reader that all strategies share"
    )


class SelfAsk(Strategy):
    """Asks itself follow-up questions."""

    name = "self-ask"
    summary = "asks itself follow-up questions and answers each from what is found for it; Self-Ask"
    options = SelfAskOptions
    settings: SelfAskOptions

    def begin(self, inquiry: Inquiry) -> Episode:
        """See Strategy."""
        return _SelfAsk(inquiry, self.settings)


class _SelfAsk(Episode):
    """Follow-up questions under way; `told`: each with its answer."""

    settings: SelfAskOptions

    def __init__(self, inquiry: Inquiry, settings: SelfAskOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.found = Pool(inquiry.retriever.scale)
        self.told: list[tuple[str, str]] = []
        self.final: str | None = None

    def next_queries(self) -> Sequence[str]:
        """See Episode; the next follow-up question."""
        said = self._ask()
        final = _FINAL.match(said)
        if final:
            self.final = final[1].splitlines()[0].strip(" .")
            return []
        return [_LABEL.sub("", said.strip().splitlines()[0])]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Episode; the follow-up question is answered."""
        kept = found[: self.settings.passages]
        self.found.add(kept)
        read = within([[passage] for passage in self.inquiry.passages(kept)], self.settings.tokens)
        shown = numbered(read) or "(nothing was found)"
        again = f"Question: {query}\n\n" if self.settings.repeat else ""
        answer = self.inquiry.tasks.text("sub-answer", passages=again + shown, question=query)
        self.told.append((query, " ".join(answer.split())))
        self.emit(SubAnswered(question=query, answer=self.told[-1][1]))

    def finalise(self) -> list[Scored]:
        """See Episode; what the question itself finds where nothing else was searched for."""
        return self.found.ranking() or self.retrieve(self.inquiry.query(self.inquiry.question.text))

    def conclude(self) -> Conclusion:
        """See Episode; where the model still asks after the last step, the reader answers."""
        return Conclusion(self.finalise(), text=self.final if self.settings.answer == "own" else None)

    def _ask(self) -> str:
        told = "\n".join(f"Follow up: {question}\nIntermediate answer: {answer}" for question, answer in self.told)
        return self.inquiry.tasks.text("self-ask", question=self.inquiry.question.text, told=told or "(none yet)")
