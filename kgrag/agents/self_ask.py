"""Self-Ask: the model asks itself follow-up questions, and each is answered from its own passages.

This is the variant with which RGNN-Ret compares (section 4.1 and appendix I.4).
"""

import re
from collections.abc import Sequence

from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.agents.sub_questions import SubQuestionOptions, SubQuestions

_FINAL = re.compile(r"\W*so the (?:final )?answer is[:\s]*(.+)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"^\W*follow[ -]?up(?: question)?:\s*", re.IGNORECASE)


class SelfAskOptions(SubQuestionOptions):
    """Options of Self-Ask."""


class SelfAsk(Strategy):
    """The model asks itself follow-up questions.

    Source: Self-Ask; RGNN-Ret, appendix I.4.

    Example:
        >>> system = SelfAsk(PathRank(collection.context))
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "self-ask"
    summary = "asks itself follow-up questions and answers each from what is found for it; Self-Ask"
    paper = "Self-Ask; RGNN-Ret, appendix I.4"
    calls = (2, 2)
    options = SelfAskOptions
    settings: SelfAskOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _SelfAsk(inquiry, self.settings)


class _SelfAsk(SubQuestions):
    """One question in progress: its follow-up questions, and the answer once the model gives it."""

    final: str | None = None

    def next_queries(self) -> Sequence[str]:
        """See Episode; the next follow-up question."""
        reply = self._ask()
        final = _FINAL.match(reply)
        if final:
            self.final = final[1].splitlines()[0].strip(" .")
            return []
        return [_LABEL.sub("", reply.strip().splitlines()[0])]

    def conclude(self) -> Outcome:
        """See Episode; if the model still asks after the last step, the reader answers."""
        return Outcome(self.finalise(), text=self.final if self.settings.answer == "own" else None)

    def _ask(self) -> str:
        answered = "\n".join(
            f"Follow up: {question}\nIntermediate answer: {answer}" for question, answer in self.answered
        )
        return self.inquiry.llm.text(
            "self-ask", question=self.inquiry.question.wording, answered=answered or "(none yet)"
        )
