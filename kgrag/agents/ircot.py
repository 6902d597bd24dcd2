"""IRCoT: retrieval interleaved with a chain of thought, in which each sentence is the next query.

As GEAR, section 6.1 and appendix B.1, and HippoRAG compare with: over any retriever. A passage's score is the best
that any query gave it.
"""

from collections.abc import Sequence

from kgrag.agents.strategy import Context, Strategy
from kgrag.events import Thought
from kgrag.models.facts import numbered
from kgrag.retrieval.base import Scored

_END = "answer is"


class Ircot(Strategy):
    """Thinks a sentence after each retrieval, until one gives the answer."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = context.settings.ircot.steps
        self.thoughts: list[str] = []
        self.found: dict[str, Scored] = {}
        self._begun = False

    def next_queries(self) -> Sequence[str]:
        """See Strategy; the question itself, then the sentence that the model thinks next."""
        if not self._begun:
            self._begun = True
            return [self.context.question.text]
        shown = self.context.passages(self.finalise()[: self.context.settings.ircot.read])
        thought = self.context.tasks.text(
            "think",
            passages=numbered(shown),
            question=self.context.question.text,
            thoughts=" ".join(self.thoughts) or "(none)",
        )
        self.thoughts.append(" ".join(thought.split()))
        self.emit(Thought(text=self.thoughts[-1]))
        return [] if _END in thought.casefold() else [self.thoughts[-1]]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Strategy."""
        for scored in found[: self.context.settings.ircot.passages]:
            known = self.found.get(scored.id)
            if known is None or scored.score > known.score:
                self.found[scored.id] = scored

    def finalise(self) -> list[Scored]:
        """See Strategy."""
        return sorted(self.found.values(), key=lambda x: (-x.score, x.id))
