"""Millions of GEAR-s: GEAR over passages without extracted facts, using the facts of a knowledge graph.

Section 4. Each step retrieves passages, and a model reads facts from them into a memory (equation 2). From the second
step on, the facts are linked to a collection of kind knowledge, expanded there by diverse beams, and mapped back to
passages (equations 3, 4). One call decides whether the facts suffice, or what to ask next (5). In the end a model drops
unhelpful passages (6), and the question is answered from the others and the facts (7).
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, Strategy
from kgrag.models.facts import key, lines, read
from kgrag.models.prompted import numbered
from kgrag.retrieval.base import Query, Scored
from kgrag.retrieval.beam import Link, base_ranking
from kgrag.retrieval.bridges import Knowledge, KnowledgeOptions, named, passages_of
from kgrag.retrieval.compose import concatenate, reciprocal_rank_fusion
from kgrag.runtime.options import Count
from kgrag.values.documents import Triple
from kgrag.values.events import Filtered, Judged, Linked, Read, Remembered, Rewritten

_VERDICT = re.compile(
    r"[\s{*\"'.]*(yes|no)\b[\s}*\"'.:,;-]*(?:next (?:question|query)\s*:)?[\s{\"]*([^{}]*)", re.IGNORECASE
)
_KEPT = re.compile(r"\[(\d+)\]")


class GearsOptions(AnswerOptions, KnowledgeOptions):
    """Options of Millions of GEAR-s."""

    steps: int = Field(2, ge=1, le=20, description="steps at most (section 5)")
    passages: Count = Field(10, description="base passages that the model reads in each step; not in the paper")
    graph_from: Count = Field(2, description="the step from which facts are linked and expanded (section 5)")
    order: Literal["fused", "appended"] = Field(
        "fused", description="the passages of all steps: fused, or those of each step behind those before (section 4.1)"
    )
    filter: bool = Field(True, description="have a model drop passages that do not help (section 4.3, equation 6)")
    window: Count = Field(20, description="passages that it is shown at once; not in the paper")


class Gears(Strategy):
    """Reads facts from passages, and expands them in a knowledge graph that was not extracted from the passages.

    Source: Millions of GEAR-s, section 4.

    Example:
        >>> Gears.check({"steps": 2, "knowledge": ("wikidata",)}).steps
        2
    """

    name = "gears"
    summary = "reads facts, expands them in a knowledge graph such as Wikidata, filters passages; Millions of GEAR-s"
    paper = "Millions of GEAR-s, section 4"
    needs_one_graph = True
    options = GearsOptions
    calls = (4, 1)
    uses_knowledge = True
    settings: GearsOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy. Raises ConfigurationError if no collection of facts is named."""
        return _Gears(inquiry, self.settings)


class _Gears(Episode):
    """The agent of one question. `facts`: G; `rankings`: the passages of each step, which make up P."""

    settings: GearsOptions

    def __init__(self, inquiry: QuestionContext, settings: GearsOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = settings.steps
        names = settings.knowledge or inquiry.question.knowledge
        self.graphs = tuple(named(names)) if settings.steps >= settings.graph_from else ()
        self.context = inquiry.retriever.context
        self.facts: dict[tuple[str, ...], Triple] = {}
        self.queries: list[str] = []
        self.rankings: list[list[Scored]] = []
        self._next = inquiry.question.text

    def next_queries(self) -> Sequence[str]:
        """See Episode. The query is the question, then its rewritten form."""
        self.queries.append(self._next)
        return [self._next]

    def retrieve(self, query: Query) -> list[Scored]:
        """Return the passages of a query and the passages that facts of the graph lead to (equations 1 to 4)."""
        base = base_ranking(self.inquiry.retriever, query, self.settings.passages)
        self.rankings.append(base)
        triples = read(self.inquiry.llm, query.wording, self.inquiry.passages(base))
        self.emit(Read(query=query.text, triples=triples))
        new = {key(fact): fact for fact in triples if key(fact) not in self.facts}
        self.facts |= new
        if new:
            self.emit(Remembered(triples=tuple(new.values())))
        if len(self.rankings) >= self.settings.graph_from and triples:
            expanded = [self.context.current(partial(self._expanded, name, query, triples)) for name in self.graphs]
            self.rankings[-1] = reciprocal_rank_fusion([*(r for r in expanded if r), base], self.settings.rrf)
        return self.rankings[-1]

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """Judge the facts, or rewrite the question (equation 5), unless this was the last step."""
        self._next = ""
        if len(self.rankings) == self.steps:
            return
        reply = self.inquiry.llm.text(
            "rewrite-or-stop",
            question=self.inquiry.question.wording,
            rewrites="\n".join(f"{n}. {text}" for n, text in enumerate(self.queries[1:], 1)) or "(none yet)",
            facts=lines(self.facts.values()),
        )
        match = _VERDICT.match(reply)
        answerable = match is not None and match[1].lower() == "yes"
        if match is not None and not answerable:
            self._next = " ".join(match[2].split()).strip("\"'")
        if self._next.casefold() in {earlier.casefold() for earlier in self.queries}:
            self._next = ""  # the query was asked before
        why = "" if match is not None else "The reply says neither yes nor no."
        self.emit(Judged(answerable=answerable, why=why))
        if self._next:
            self.emit(Rewritten(query=self._next))

    def done(self) -> bool:
        """See Episode; also true if the reply was unreadable or repeated an earlier query."""
        return not self._next

    def finalise(self) -> list[Scored]:
        """Return the passages of all steps."""
        if self.settings.order == "fused":
            return reciprocal_rank_fusion(self.rankings, self.settings.rrf)
        return concatenate(self.rankings)

    def conclude(self) -> Outcome:
        """See Episode; the answer is read from the passages that the filter keeps, and from all facts."""
        ranking = self.finalise()
        facts = tuple(self.facts.values())
        if not self.settings.filter or not ranking:
            return Outcome(ranking, facts=facts)
        selection = self._filtered(ranking)
        left = {x.id for x in selection}
        dropped = [x for x in ranking if x.id not in left]
        self.emit(Filtered(kept=tuple(x.id for x in selection), dropped=tuple(x.id for x in dropped)))
        return Outcome([*selection, *dropped], evidence=[[x.id] for x in selection], facts=facts)

    def _filtered(self, ranking: Sequence[Scored]) -> list[Scored]:
        """Return the passages that the model selects, best first, window by window (equation 6).

        If the reply for a window cannot be read, all its passages are kept.
        """
        selection: list[Scored] = []
        for start in range(0, len(ranking), self.settings.window):
            window = ranking[start : start + self.settings.window]
            reply = self.inquiry.llm.text(
                "filter",
                question=self.inquiry.question.wording,
                facts=lines(self.facts.values()),
                passages=numbered(self.inquiry.passages(window)),
            )
            numbers = dict.fromkeys(int(n) for n in _KEPT.findall(reply) if 1 <= int(n) <= len(window))
            if numbers:
                selection += [window[n - 1] for n in numbers]
            elif "none" not in reply.lower():
                selection += window
        return selection

    def _expanded(self, name: str, query: Query, facts: Sequence[Triple]) -> list[Scored]:
        graph = Knowledge.of(self.context, name)
        linked = graph.link(facts, self.settings)
        for x in linked:
            self.emit(Linked(fact=x.fact, id=x.id, text=x.text, score=(1 + x.score) / 2))
        beams = graph.beams(query, [Link(x.id, x.text, "", "", 0.0) for x in linked], self.settings)
        return passages_of(self.context, name, beams, query.filter)
