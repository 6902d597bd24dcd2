"""One retrieval with the question itself; and none at all, the baseline that answers from what the model knows."""

from collections.abc import Sequence

from kgrag.agents.strategy import Episode, Inquiry, Strategy
from kgrag.retrieval.base import Scored


class _Single(Episode):
    """Retrieves once."""

    found: Sequence[Scored] = ()

    def next_queries(self) -> Sequence[str]:
        """See Episode."""
        return [self.inquiry.question.text]

    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """See Episode."""
        self.found = found

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return list(self.found)


class Single(Strategy):
    """Retrieves once."""

    name = "single"
    summary = "retrieves once"
    over = "pathrank"

    def begin(self, inquiry: Inquiry) -> Episode:
        """See Strategy."""
        return _Single(inquiry, self.settings)


class _ClosedBook(_Single):
    """Retrieves nothing."""

    def next_queries(self) -> Sequence[str]:
        """See Episode."""
        return []


class ClosedBook(Strategy):
    """Retrieves nothing (GEAR, appendix J.3, without passages)."""

    name = "closed-book"
    summary = "retrieves nothing: what the model knows by itself, as a baseline"
    paper = "GEAR, appendix J.3; KGP, section 5.1"
    over = "bm25"
    retrieves = False

    def begin(self, inquiry: Inquiry) -> Episode:
        """See Strategy."""
        return _ClosedBook(inquiry, self.settings)
