"""One retrieval with the question itself; and none at all, the baseline that answers from what the model knows."""

from collections.abc import Sequence

from kgrag.agents.strategy import Context, Strategy
from kgrag.retrieval.base import Scored


class Single(Strategy):
    """Retrieves once."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.found: list[Scored] = []

    def next_queries(self) -> Sequence[str]:
        """See Strategy."""
        return [self.context.question.text]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Strategy."""
        self.found = list(found)

    def finalise(self) -> list[Scored]:
        """See Strategy."""
        return self.found


class ClosedBook(Single):
    """Retrieves nothing (GEAR, appendix J.3, without passages)."""

    def next_queries(self) -> Sequence[str]:
        """See Strategy."""
        return []
