"""Local search by communities: passages on the names in a question and on the communities of these names.

Source: GraphRAG (Edge et al., 2024) combines reports with the passages of entities that are near the question; it does
not specify how passages are scored. Here the names are found in the words of the question, and reports lead to their
source passages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from kgrag.retrieval.base import Evidence, FusionOptions, Layer, Query, Retriever, Scored, SummaryOptions, Topic
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.linking import link_question
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count
from kgrag.values.results import Step


class CommunitiesOptions(FusionOptions, SummaryOptions):
    """Options of the local search by communities."""

    score: Literal["ranks", "sum"] = Field(
        "ranks",
        description="what a passage's score is: a sum of reciprocal ranks, or, so that those of several queries can be "
        "compared (BDTR, equations 4 and 6), the mean of three relevances from 0 to 1: its own nearness, that of the "
        "nearest report on it, and the share of the question's names that it has",
    )
    reports: int = Field(2, ge=0, le=10_000, description="reports that a reader is shown before passages")
    communities: Count = Field(8, description="communities that are followed, those whose reports are nearest")
    own: Count = Field(200, description="passages of a name that are looked at")
    candidates: Count = Field(60, description="reports looked up by their vectors where a question names nothing")
    depth: Count = Field(100, description="how many passages each of the fused rankings contributes")


class Communities(Retriever):
    """Passages that share names with the question, are sources of reports on their communities, or are near it.

    Source: GraphRAG (Edge et al., 2024), local search.

    Example:
        >>> ranking = Communities(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "communities"
    summary = (
        "passages of the names in the question, of their communities (kgrag enrich communities), and near it, fused"
    )
    paper = "GraphRAG, local search"
    uses = ("names", "vectors")
    needs = "communities"
    options = CommunitiesOptions
    settings: CommunitiesOptions

    def __init__(self, *on: Any, **options: Any) -> None:
        super().__init__(*on, **options)
        self._dense = Dense(self.context)
        self.scale = "rank" if self.settings.score == "ranks" else "cosine"

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the option `score` determines the scores."""
        s, reader = self.settings, self.context.reader
        depth = max(n, s.depth)
        links = link_question(self.context, query.text).links
        row = self.context.row(
            "retrieve/communities",
            links=[{"entity": link.entity, "weight": link.weight} for link in links],
            index=reader.collection.vector_index("Community"),
            collection=reader.collection.name,
            embedding=reader.collection.embedding,
            vector=query.vector(self.context.embedder),
            candidates=s.candidates,
            own=s.own,
            communities=s.communities,
        )
        named, joined = _named(row["named"]), _joined(row["joined"])
        if query.filter:
            allowed = reader.matching_filter([x.id for x in (*named, *joined)], query.filter)
            named, joined = ([x for x in ranks if x.id in allowed] for ranks in (named, joined))
        rankings = (named[:depth], joined[:depth], self._dense.rank(query, depth))
        ranking = reciprocal_rank_fusion(rankings, s.rrf)
        if s.score == "sum":
            whole = sum(link.weight for link in links) or 1.0
            shares = {r["id"]: r["weight"] / whole for r in row["named"]}
            ranking = _summed(ranking, rankings, shares, row["joined"])
        ranking = ranking[:n]
        if s.shown == "summaries":
            ids = {x.id for x in joined}
            topics = _topics([r for r in row["joined"] if r["id"] in ids], s.sources)
            query.memory[self] = [*topics[: s.reports], *((x.id,) for x in ranking)]
        return ranking

    def evidence(self, query: Query) -> Sequence[Evidence] | None:
        """See Retriever: the nearest reports, then the passages, unless only leaves are shown."""
        evidence: Sequence[Evidence] | None = query.memory.get(self)
        return evidence

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"communities"})


def _named(rows: Sequence[Mapping[str, Any]]) -> list[Scored]:
    """Return the passages ordered by the number of names, then by nearness."""
    order = sorted(rows, key=lambda r: (-r["weight"], -r["score"], r["id"]))
    return [
        Scored(r["id"], r["score"], (Step("names", "Entity", r["name"]), follow("MENTIONS", "Passage", "")))
        for r in order
    ]


def _joined(rows: Sequence[Mapping[str, Any]]) -> list[Scored]:
    """Return the nearest passages, each with its nearest community."""
    best: dict[str, Mapping[str, Any]] = {}
    for r in sorted(rows, key=lambda r: (-r["community"]["score"], r["community"]["id"])):
        best.setdefault(r["id"], r)
    order = sorted(best.values(), key=lambda r: (-r["score"], r["id"]))
    return [
        Scored(
            r["id"],
            r["score"],
            (
                Step("in the community", "Community", r["community"]["name"], r["community"]["score"]),
                Step("resembles the question", "Passage", "", r["score"]),
            ),
        )
        for r in order
    ]


def _summed(
    passages: Sequence[Scored],
    rankings: Sequence[Sequence[Scored]],
    shares: Mapping[str, float],
    joined: Sequence[Mapping[str, Any]],
) -> list[Scored]:
    """Rank passages by the mean of three relevances.

    These are the passage's similarity, the similarity of the nearest report on it, and its share of the names.
    """
    own = {x.id: x.score for ranking in rankings for x in ranking}
    reports: dict[str, float] = {}
    for r in joined:
        reports[r["id"]] = max(r["community"]["score"], reports.get(r["id"], 0.0))
    scored = [
        replace(x, score=(own[x.id] + reports.get(x.id, 0.0) + shares.get(x.id, 0.0)) / len(rankings)) for x in passages
    ]
    return sorted(scored, key=lambda x: (-x.score, x.id))


def _topics(rows: Sequence[Mapping[str, Any]], sources: int) -> list[Topic]:
    leaves: dict[str, list[tuple[float, str]]] = {}
    reports: dict[str, Mapping[str, Any]] = {}
    for r in rows:
        reports[r["community"]["id"]] = r["community"]
        leaves.setdefault(r["community"]["id"], []).append((-r["score"], r["id"]))
    return [
        Topic(r["title"], r["text"], tuple(id for _, id in sorted(leaves[r["id"]])[:sources]))
        for r in sorted(reports.values(), key=lambda r: (-r["score"], r["id"]))
    ]
