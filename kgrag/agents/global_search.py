"""Global search: extract points from the reports on all communities of a level, and answer from the best points.

Source: GraphRAG (Edge et al., 2024), section 3.1.6. Reports are split over as many calls as their tokens need (map).
Each call extracts points and rates them, and the reader writes the answer from the best (reduce). It cites the passages
behind the reports.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.indexing.group_texts import numbered_text
from kgrag.models.budget import LOW
from kgrag.models.parallel import in_parallel
from kgrag.retrieval.base import Scored, Topic
from kgrag.values.errors import ModelError
from kgrag.values.events import Failed, Noted, Retrieved
from kgrag.values.results import Step

_LEAVES = 3  # passages cited per report


class GlobalOptions(AnswerOptions):
    """Options of the global search."""

    tokens: int | None = Field(8000, ge=1, le=1_000_000, description="tokens of points that are read (GraphRAG, code)")
    level: int = Field(2, ge=0, le=100, description="level of the reports, 0 for the coarsest (GraphRAG, its code: 2)")
    batch: int = Field(8000, ge=100, le=1_000_000, description="tokens of reports in a call (GraphRAG, section 3.2)")
    reports: int | None = Field(None, ge=1, le=10_000, description="tokens of the nearest reports; unset: all reports")
    threads: int = Field(8, ge=1, le=64, description="calls side by side")


class Point(BaseModel):
    """A point of an answer. `score` is its importance, 0 to 100; `reports` has the numbers of its reports."""

    text: str
    score: float
    reports: list[int] = Field(default_factory=list)


class Points(BaseModel):
    """A reply."""

    points: list[Point]


class GlobalSearch(Strategy):
    """Reads the reports on all communities.

    Source: GraphRAG (Edge et al., 2024), section 3.1.6.

    Example:
        >>> system = GlobalSearch(collection.context)
        >>> print(system.ask("What do the voyages have in common?").text)
    """

    name = "global"
    summary = (
        "reads the reports on all communities (kgrag enrich communities) for points, and answers from the best of them"
    )
    paper = "GraphRAG, section 3.1.6"
    needs_one_graph = True
    over = "communities"
    retrieves = False
    options = GlobalOptions
    calls = (0, 0)
    requires = frozenset({"communities"})
    settings: GlobalOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _GlobalSearch(inquiry, self.settings)


class _GlobalSearch(Episode):
    """One question in progress: the points extracted from reports."""

    settings: GlobalOptions

    def next_queries(self) -> Sequence[str]:
        """See Episode."""
        return []

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode."""

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return []

    def conclude(self) -> Outcome:
        """See Episode. Raises ModelError if all calls fail."""
        inquiry = self.inquiry
        points: list[tuple[Point, Sequence[Mapping[str, Any]]]] = []
        problems: list[ModelError] = []
        batches = _batches(self.inquiry.retriever.context.current(self._reports), self.settings.batch)
        for batch, reply in in_parallel(self._note, batches, self.settings.threads):
            if isinstance(reply, ModelError):
                problems.append(reply)
                self.emit(Failed(problem=reply.in_full, error=type(reply).__name__))
            elif isinstance(reply, Exception):
                raise reply
            else:
                useful = [point for point in reply.points if point.score > 0 and point.text.strip()]
                self.emit(Noted(reports=len(batch), points=tuple((p.text, p.score) for p in useful)))
                points += [(point, _of(point, batch)) for point in useful]
        if problems and not points:
            raise problems[0]
        points.sort(key=lambda x: (-x[0].score, x[0].text))
        topics, leaves = [], dict[str, Scored]()
        for point, reports in points:
            title = "; ".join(report["title"] for report in reports)
            leaves_of_point = sorted(
                (-leaf["score"], leaf["id"], report["title"]) for report in reports for leaf in report["leaves"]
            )
            topics.append(Topic(title, point.text, tuple(dict.fromkeys(id for _, id, _ in leaves_of_point[:_LEAVES]))))
            for _, id, name in leaves_of_point[:_LEAVES]:
                leaves.setdefault(id, Scored(id, point.score / 100, (Step("in the community", "Community", name),)))
        ranking = list(leaves.values())
        self.emit(Retrieved(query=inquiry.question.text, hits=inquiry.hits(ranking[: inquiry.depth])))
        return Outcome(ranking, topics)

    def notes(self) -> tuple[str, ...]:
        """See Episode."""
        return ()

    def _reports(self) -> list[Mapping[str, Any]]:
        """Return reports, the nearest to the question first.

        A filter removes reports without a matching source document.
        """
        context, query = self.inquiry.retriever.context, self.inquiry.question
        collection = context.reader.collection
        reports: list[Mapping[str, Any]] = context.row(
            "retrieve/reports",
            collection=collection.name,
            level=self.settings.level,
            embedding=collection.embedding,
            vector=query.vector(context.embedder),
            leaves=_LEAVES,
        )["rows"]
        if query.filter:
            allowed = context.reader.matching_filter(
                [leaf["id"] for r in reports for leaf in r["leaves"]], query.filter
            )
            reports = [r for r in reports if any(leaf["id"] in allowed for leaf in r["leaves"])]
        if self.settings.reports is not None:
            reports = next(iter(_batches(reports, self.settings.reports)), [])
        return reports

    def _note(self, batch: Sequence[Mapping[str, Any]]) -> Points:
        text = "\n".join(numbered_text(number, report) for number, report in enumerate(batch, 1))
        return self.inquiry.llm.structured("note", Points, reports=text, question=self.inquiry.question.wording)


def _of(point: Point, batch: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the reports that a point names, or all reports of the call if it names no existing one."""
    return [batch[n - 1] for n in dict.fromkeys(point.reports) if 1 <= n <= len(batch)] or batch


def _batches(reports: Sequence[Mapping[str, Any]], tokens: int) -> list[list[Mapping[str, Any]]]:
    """Return the reports in batches that each fit into a number of tokens."""
    batches: list[list[Mapping[str, Any]]] = []
    left = 0.0
    for report in reports:
        size = len(numbered_text(1, report).encode()) / LOW
        if not batches or left < size:
            batches.append([])
            left = float(tokens)
        batches[-1].append(report)
        left -= size
    return batches
