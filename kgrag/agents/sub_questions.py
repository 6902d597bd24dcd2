"""Sub-questions of a question: each has its own search and is answered from its own passages only."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.episode import Episode, QuestionContext
from kgrag.agents.pool import Pool
from kgrag.retrieval.base import Scored
from kgrag.runtime.options import Count
from kgrag.values.events import SubAnswered


class SubQuestionOptions(AnswerOptions):
    """Options of strategies that ask sub-questions."""

    steps: int = Field(5, ge=1, le=20, description="single questions at most")
    passages: Count = Field(10, description="passages of each retrieval that are kept and read")
    tokens: int | None = Field(3500, ge=1, le=1_000_000, description="tokens of the context (RGNN-Ret, section 4.1)")
    answer: Literal["own", "reader"] = Field(
        "own", description="who answers: the model from the single answers, or the reader that all strategies share"
    )


class SubQuestions(Episode):
    """One question in progress; `answered`: its sub-questions with their answers."""

    settings: SubQuestionOptions

    def __init__(self, inquiry: QuestionContext, settings: SubQuestionOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.candidates = Pool(inquiry.retriever.scale)
        self.answered: list[tuple[str, str]] = []

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode. The sub-question is answered from its own passages."""
        best = ranking[: self.settings.passages]
        self.candidates.add(best)
        passages = self.shown(best, len(best)) or "(nothing was found)"
        question = self.inquiry.query(query).wording
        again = f"Question: {question}\n\n" if self.settings.repeat else ""
        answer = " ".join(self.inquiry.llm.text("sub-answer", passages=again + passages, question=question).split())
        self.answered.append((query, answer))
        self.emit(SubAnswered(question=query, answer=answer))

    def finalise(self) -> list[Scored]:
        """See Episode; without sub-questions, the hits of the question itself."""
        return self.candidates.ranking() or self.retrieve(self.inquiry.query(self.inquiry.question.text))
