"""One retrieval with the question itself, and the closed-book baseline without any retrieval."""

from collections.abc import Sequence

from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.retrieval.base import Evidence, Query, Scored


class _Single(Episode):
    """Retrieves once. If the retriever returns paths or summaries, the reader sees those instead of passages."""

    ranking: Sequence[Scored] = ()
    paths: Sequence[Evidence] | None = None

    def next_queries(self) -> Sequence[str]:
        """See Episode."""
        return [self.inquiry.question.text]

    def retrieve(self, query: Query) -> list[Scored]:
        """See Episode."""
        ranking = super().retrieve(query)
        self.paths = self.inquiry.retriever.evidence(query)
        return ranking

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode."""
        self.ranking = ranking

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return list(self.ranking)

    def conclude(self) -> Outcome:
        """See Episode."""
        return Outcome(self.ranking, self.paths and self.paths[: self.settings.evidence])


class Single(Strategy):
    """Retrieves once.

    Example:
        >>> system = Single(PathRank(collection.context))
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "single"
    summary = "retrieves once"
    over = "pathrank"

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _Single(inquiry, self.settings)


class _ClosedBook(_Single):
    """Retrieves nothing."""

    def next_queries(self) -> Sequence[str]:
        """See Episode."""
        return []


class ClosedBook(Strategy):
    """Answers without retrieval.

    Source: GEAR, appendix J.3; KGP, section 5.1.

    Example:
        >>> print(ClosedBook(collection.context).ask("Where was the designer of the Fram born?").text)
    """

    name = "closed-book"
    summary = "retrieves nothing: what the model knows by itself, as a baseline"
    paper = "GEAR, appendix J.3; KGP, section 5.1"
    over = "bm25"
    retrieves = False

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _ClosedBook(inquiry, self.settings)
