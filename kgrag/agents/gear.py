"""GEAR: synchronised graph expansion step by step, with a gist memory of the facts that were read.

GEAR, section 5. Each step retrieves by SyncGE (`retrieval.sync_ge`) over the base retriever, reads facts from the hits
into the memory (5.1), and decides whether the memory answers the question (5.2). If not, the question is rewritten
(5.3). In the end the facts of the memory are linked to passages, which are fused with the hits of all steps (5.4).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.models.facts import key, lines, read
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.beam import base_ranking
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.sync_ge import SyncGe, fused_triples
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count
from kgrag.values.documents import Triple
from kgrag.values.events import Judged, Read, Remembered, Rewritten
from kgrag.values.results import Step

_DEPTH = 100
"""Triples that each ranking contributes to a fused one, equal to the number of passages (`rrf`)."""


class Verdict(BaseModel):
    """A reply that says whether the facts answer the question."""

    answerable: bool
    answer: str = ""
    why: str = Field("", description="the missing information")

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: part for name, part in value.items() if part is not None}
        return value


class GearOptions(AnswerOptions):
    """Options of GEAR."""

    steps: int = Field(4, ge=1, le=20, description="steps at most; 2 for questions of two hops (appendix B.1)")
    passages: Count = Field(10, description="base passages that the model reads in each step (appendix B.2)")
    gist: int = Field(
        15,
        ge=0,
        le=10_000,
        description="expanded passages that it reads into the memory from the second step on; 0: all (section 5.1)",
    )
    first_read: Literal["base", "expanded"] = Field(
        "base", description="what the first step remembers: facts of the base passages, or of the expanded ones, too"
    )
    reread: bool = Field(False, description="read passages of the gist again (section 5.1); false: only the others")
    fusion: Literal["balanced", "all"] = Field(
        "balanced", description="the final ranking: facts and steps count alike, or all their lists do (equation 9)"
    )
    link: int = Field(5, ge=1, le=100, description="passages that each fact of the gist memory is linked to (5.4)")


class Gear(Strategy):
    """Synchronised graph expansion with a gist memory, step by step.

    Source: GEAR, section 5.

    Example:
        >>> system = Gear(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "gear"
    summary = "reads facts into a memory, expands them in the graph, asks on until they answer the question; GEAR"
    paper = "GEAR, section 5"
    needs_one_graph = True
    calls = (4, -2)
    options = GearOptions
    requires = frozenset({"triples"})
    settings: GearOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy. Raises ConfigurationError when no language model is configured."""
        return _Gear(inquiry, self.settings)


def balanced(links: Sequence[Sequence[Scored]], steps: Sequence[Sequence[Scored]], constant: float) -> list[Scored]:
    """Return the passages of facts (`links`) and of steps, both halves weighted equally.

    Equation 9 sums over all lists, so passages in the middle of many facts' lists overtake the first hits of a step.
    Here the facts' lists are fused separately, and then fused with the ranking by the best rank in any step.
    """
    fused = reciprocal_rank_fusion([*links, *steps], constant)
    best: dict[str, int] = {}
    for ranking in steps:
        for rank, x in enumerate(ranking, 1):
            best[x.id] = min(rank, best.get(x.id, rank))
    by_step = sorted((x for x in fused if x.id in best), key=lambda x: best[x.id])  # ties as in equation 9
    halves = reciprocal_rank_fusion([reciprocal_rank_fusion(links, constant), by_step], constant)
    trails = {x.id: x.why for x in fused}
    return [replace(x, why=trails[x.id]) for x in halves]


class _Gear(Episode):
    """The agent of one question. `memory`: the facts read so far, without repetition."""

    settings: GearOptions

    def __init__(self, inquiry: QuestionContext, settings: GearOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        self.sync = SyncGe(inquiry.retriever)
        self.sync.name = "gear"
        self.memory: dict[tuple[str, ...], Triple] = {}
        self.rankings: list[list[Scored]] = []
        self._facts: tuple[Triple, ...] = ()  # facts read from the base passages of this step
        self._read: set[str] = set()
        self._links: dict[tuple[str, ...], list[Scored]] = {}
        self._verdict: Verdict | None = None

    def next_queries(self) -> Sequence[str]:
        """See Episode. The query is the question, then its rewritten form (section 5.3, equation 7)."""
        if not self.rankings:
            return [self.inquiry.question.text]
        reply = self.inquiry.llm.text(
            "rewrite",
            question=self.inquiry.question.wording,
            facts=lines(self.memory.values()),
            why=(self._verdict.why if self._verdict else "") or "It is not known yet.",
        )
        query = next(filter(None, map(str.strip, reply.splitlines())))
        self.emit(Rewritten(query=query))
        return [query]

    def retrieve(self, query: Query) -> list[Scored]:
        """Rank by SyncGE over the base retriever (section 4), by the base alone if the model fails."""
        base = base_ranking(self.inquiry.retriever, query, self.settings.passages)
        self.rankings.append(base)
        self._facts = self._facts_in(query.wording, base)
        self.emit(Read(query=query.text, triples=self._facts))
        self.rankings[-1] = self.sync.context.current(lambda: self.sync.expand(query, base, self._facts))
        return self.rankings[-1]

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """Read into the memory (section 5.1, equation 4), and judge it (section 5.2, equation 6).

        Facts that the step already read from the base passages are kept, and only the other expanded passages are read
        for the question. With `reread`, as in the paper, all passages are read and the step's own facts are dropped.
        """
        first, again = len(self.rankings) == 1, self.settings.reread
        self._remember(self._facts if first or not again else ())
        if not first or self.settings.first_read == "expanded":
            gist = ranking[: self.settings.gist or None]
            fresh = gist if again else [x for x in gist if x.id not in self._read]
            self._remember(self._facts_in(self.inquiry.question.wording, fresh, list(self.memory.values())))
        if len(self.rankings) < self.steps:
            self._verdict = self._judge()

    def done(self) -> bool:
        """See Episode."""
        return self._verdict is not None and self._verdict.answerable

    def finalise(self) -> list[Scored]:
        """Return the passages of the remembered facts and of all steps (section 5.4, equation 9)."""
        constant, links = self.sync.settings.rrf, self._link_passages()
        if self.settings.fusion == "all" or not links:
            return reciprocal_rank_fusion([*links, *self.rankings], constant)
        return balanced(links, self.rankings, constant)

    def conclude(self) -> Outcome:
        """See Episode; the memory also serves as evidence."""
        return Outcome(self.finalise(), facts=tuple(self.memory.values()))

    def notes(self) -> tuple[str, ...]:
        """See Episode."""
        return self.sync.notes([])

    def _facts_in(self, question: str, ranking: Sequence[Scored], memory: Sequence[Triple] = ()) -> tuple[Triple, ...]:
        """Return the facts that the model extracts from passages for a question. Raises ModelError."""
        self._read.update(x.id for x in ranking)
        return read(self.inquiry.llm, question, self.inquiry.passages(ranking), memory)

    def _remember(self, facts: Sequence[Triple]) -> None:
        new = {key(fact): fact for fact in facts if key(fact) not in self.memory}
        self.memory |= new
        if new:
            self.emit(Remembered(triples=tuple(new.values())))

    def _judge(self) -> Verdict:
        verdict = Verdict(answerable=False, why="Nothing that helps was found yet.")
        if self.memory:
            verdict = self.inquiry.llm.structured(
                "reason", Verdict, facts=lines(self.memory.values()), question=self.inquiry.question.wording
            )
        self.emit(Judged(answerable=verdict.answerable, answer=verdict.answer, why=verdict.why))
        return verdict

    def _link_passages(self) -> list[list[Scored]]:
        """Return the passages of each fact of the memory, computed once: passageLink.

        Section 5.4, equation 8; appendix B.2, equation 10.
        """
        open_ = [fact for id, fact in self.memory.items() if id not in self._links]
        if open_:
            self._links |= zip(map(key, open_), self._linked(open_), strict=True)
        return [self._links[id] for id in self.memory]

    def _linked(self, facts: Sequence[Triple]) -> list[list[Scored]]:
        """Return the best `link` passages of each fact by h_base over passages and triples.

        Appendix B.2, equation 10.
        """
        constant, only, k = self.sync.settings.rrf, self.inquiry.question.filter, self.settings.link
        texts = [" ".join(fact.text.split()) for fact in facts]
        linked = []
        for text, stated in zip(texts, self.sync.context.current(lambda: self._stating(texts, k)), strict=True):
            base = base_ranking(self.inquiry.retriever, Query(text, only, self.emit), k)
            step = Step("remembers", "Fact", text)
            fused = reciprocal_rank_fusion([base, stated], constant)[:k]
            linked.append([replace(x, why=(step, *x.why)) for x in fused])
        return linked

    def _stating(self, texts: Sequence[str], k: int) -> list[list[Scored]]:
        """Return the passages with the k triples most like each text: h_base over T, as the base searches passages."""
        context, uses = self.sync.context, _uses(self.inquiry.retriever)
        words = "words" in uses
        near, worded = context.reader.similar_triples(
            context.embedder.embed(texts).tolist(),
            texts if words else [""] * len(texts),
            _DEPTH,
            self.sync.settings.over_fetch,
        )
        rankings = [near] * ("vectors" in uses or not words) + [worded] * words
        if only := self.inquiry.question.filter:
            ids = sorted({row["passage"] for ranking in rankings for rows in ranking for row in rows})
            allowed = context.reader.matching_filter(ids, only)
            rankings = [[[row for row in rows if row["passage"] in allowed] for rows in one] for one in rankings]
        return [_sources(fused_triples(each, self.sync.settings.rrf)[:k]) for each in zip(*rankings, strict=True)]


def _uses(retriever: Retriever) -> set[str]:
    """Return the kinds of search that a retriever and its parts use."""
    return set(type(retriever).uses).union(*map(_uses, retriever.parts))


def _sources(rows: Sequence[dict[str, Any]]) -> list[Scored]:
    """Return the passages of ranked triples, each once."""
    passages: dict[str, Scored] = {}
    for row in rows:
        why = (Step("resembles", "Triple", row["text"], row["score"]), follow("STATES", "Passage", row["title"]))
        passages.setdefault(row["passage"], Scored(row["passage"], row["score"], why))
    return list(passages.values())
