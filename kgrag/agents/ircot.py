"""IRCoT: retrieval interleaved with a chain of thought, in which each sentence is the next query.

As GEAR, section 6.1 and appendix B.1, and HippoRAG compare with: over any retriever. A passage's score is the best
that any query gave it.
"""

from collections.abc import Sequence

from pydantic import Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.strategy import Episode, Inquiry, Strategy
from kgrag.events import Thought
from kgrag.models.facts import numbered
from kgrag.retrieval.base import Scored

_END = "answer is"


class IrcotOptions(AnswerOptions):
    """Options of IRCoT."""

    steps: int = Field(4, ge=1, le=20, description="sentences of reasoning at most (GEAR, appendix B.1)")
    passages: int = Field(10, ge=1, description="passages retrieved for each (GEAR, appendix B.2)")
    read: int = Field(15, ge=1, description="passages found so far that the model is shown at most")


class Ircot(Strategy):
    """Thinks a sentence after each retrieval, until one gives the answer."""

    name = "ircot"
    summary = "thinks sentence by sentence; each is the next query; IRCoT"
    options = IrcotOptions
    settings: IrcotOptions

    def begin(self, inquiry: Inquiry) -> Episode:
        """See Strategy."""
        return _Ircot(inquiry, self.settings)


class _Ircot(Episode):
    """A chain of thought under way."""

    settings: IrcotOptions

    def __init__(self, inquiry: Inquiry, settings: IrcotOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.thoughts: list[str] = []
        self.found: dict[str, Scored] = {}
        self._begun = False

    def next_queries(self) -> Sequence[str]:
        """See Episode; the question itself, then the sentence that the model thinks next."""
        if not self._begun:
            self._begun = True
            return [self.inquiry.question.text]
        shown = self.inquiry.passages(self.finalise()[: self.settings.read])
        thought = self.inquiry.tasks.text(
            "think",
            passages=numbered(shown),
            question=self.inquiry.question.text,
            thoughts=" ".join(self.thoughts) or "(none)",
        )
        self.thoughts.append(" ".join(thought.split()))
        self.emit(Thought(text=self.thoughts[-1]))
        return [] if _END in thought.casefold() else [self.thoughts[-1]]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Episode."""
        for scored in found[: self.settings.passages]:
            known = self.found.get(scored.id)
            if known is None or scored.score > known.score:
                self.found[scored.id] = scored

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return sorted(self.found.values(), key=lambda x: (-x.score, x.id))
