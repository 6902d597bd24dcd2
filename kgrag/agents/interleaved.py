"""The loop of IRCoT, ToG and GCoT: after each retrieval the model writes a text, which is the next query.

They differ in their prompts and work over any retriever. The score of a passage is its best over all queries. A reply
that begins "So the answer is" ends the search, and the common reader answers from the best passages.
"""

import re
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from kgrag.agents.answering import AnswerOptions, within
from kgrag.agents.pool import Pool
from kgrag.agents.strategy import Episode, QuestionContext, Strategy
from kgrag.retrieval.base import Scored
from kgrag.runtime.options import Count
from kgrag.values.events import Thought

_END = re.compile(r"\W*so the (?:final )?answer is\b", re.IGNORECASE)


class InterleavedOptions(AnswerOptions):
    """Options of strategies that reason between retrievals."""

    steps: int = Field(3, ge=1, le=20, description="retrievals at most, that for the question included (BDTR: 1 + 2)")
    passages: Count = Field(10, description="passages of each that are kept")
    read: Count = Field(10, description="passages found so far that the model is shown at most")
    fill: bool = Field(
        False,
        description="go on, whatever the model writes, until what was found fills what is read (`evidence`, `tokens`), "
        "each thought adding `passages` that were not there (KGP, appendix A.2.3; GNN-Ret, section 4.1)",
    )


class Interleaved(Strategy):
    """Reasons after each retrieval; the thought is the next query. `task` names its prompt and counts its calls."""

    calls = (1, 1)
    options = InterleavedOptions
    settings: InterleavedOptions
    task: ClassVar[str]

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _Interleaved(inquiry, self.settings, self.task)


class _Interleaved(Episode):
    """One question in progress."""

    settings: InterleavedOptions

    def __init__(self, inquiry: QuestionContext, settings: InterleavedOptions, task: str) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.task = task
        self.thoughts: list[str] = []
        self.candidates = Pool(inquiry.retriever.scale)
        self._is_started = self._more = False

    def next_queries(self) -> Sequence[str]:
        """See Episode; the question itself, then the model's next thoughts."""
        question = self.inquiry.question
        if not self._is_started:
            self._is_started = True
            return [question.text]
        passages = self.shown_again(self.finalise(), self.settings.read)
        so_far = " ".join(self.thoughts) or "(none)"
        thought = self.inquiry.llm.text(self.task, passages=passages, question=question.wording, thoughts=so_far)
        self.thoughts.append(" ".join(thought.split()))
        self.emit(Thought(text=self.thoughts[-1]))
        return [] if _END.match(thought) and not self.settings.fill else [self.thoughts[-1]]

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode."""
        earlier = {x.id for x in self.finalise()} if self.settings.fill else ()
        fresh = [x for x in ranking if x.id not in earlier][: self.settings.passages]
        self._more = bool(fresh)
        self.candidates.add(fresh)

    def done(self) -> bool:
        """See Episode; with `fill`, true once the evidence is full, or nothing new is found."""
        if not self.settings.fill:
            return False
        best = self.finalise()[: self.settings.evidence]
        items = self.inquiry.items([[x.id] for x in best])
        full = len(best) == self.settings.evidence or len(within(items, self.settings.tokens)) < len(items)
        return full or not self._more

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return self.candidates.ranking()


class Gcot(Interleaved):
    """After each retrieval the model names the missing facts, which are the next query.

    Source: BDTR, section 4.1 and figure 12.

    Example:
        >>> system = Gcot(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "gcot"
    summary = "names the missing information, and searches for it; GCoT as a prompt"
    paper = "BDTR, section 4.1 and figure 12"
    task = "gcot"


class Tog(Interleaved):
    """The model judges the passages after each retrieval; the missing facts are the next query.

    Source: BDTR, section 4.1 and figure 11. Unlike the original ToG, it does not walk a graph.

    Example:
        >>> system = Tog(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "tog"
    summary = "judges whether the passages suffice, and searches for what they lack; ToG as a prompt"
    paper = "BDTR, section 4.1 and figure 11"
    task = "tog"
