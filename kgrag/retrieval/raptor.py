"""RAPTOR's collapsed tree: passages and summaries of all levels are searched together.

Source: RAPTOR (Sarthi et al., 2024), section 4. The reader sees summaries like passages. Only passages are ranked and
cited, so a summary passes its score to the passages under it that are nearest to the question.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from kgrag.retrieval.base import Evidence, Layer, Query, Retriever, Scored, SummaryOptions, Topic
from kgrag.runtime.options import Count
from kgrag.values.results import Step


class RaptorOptions(SummaryOptions):
    """Options of the search in a tree of summaries."""

    candidates: Count = Field(120, description="vector index candidates of either kind, scored again exactly")
    summaries: int = Field(10, ge=0, le=10_000, description="summaries that lift passages; 0: dense retrieval")
    leaves: Count = Field(10, description="passages of each, the nearest to the question")
    most: Count = Field(200, description="members that a summary may have to do so, those of its members included")
    share: float = Field(0.25, ge=0, le=1, description="weight of the best summary's cosine beside the passage's own")


class Raptor(Retriever):
    """Passages that are near the question, or under summaries that are.

    Source: RAPTOR (Sarthi et al., 2024), section 4.

    Example:
        >>> ranking = Raptor(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "raptor"
    summary = "nearest passages and summaries of a tree (kgrag enrich tree); a summary lifts the passages under it"
    paper = "RAPTOR, section 4"
    uses = ("vectors",)
    options = RaptorOptions
    scale = "cosine"
    needs = "tree"
    settings: RaptorOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are (1 + cosine) / 2."""
        s, reader = self.settings, self.context.reader
        rows: list[dict[str, Any]] = self.context.row(
            "retrieve/raptor",
            passage_index=reader.collection.vector_index("Passage"),
            summary_index=reader.collection.vector_index("Summary"),
            collection=reader.collection.name,
            embedding=reader.collection.embedding,
            vector=query.vector(self.context.embedder),
            candidates=max(s.candidates, n),
            passages=max(s.candidates, n),
            summaries=s.summaries,
            leaves=s.leaves,
            most=s.most,
        )["rows"]
        scored = []
        for row in rows:
            above = max(row["above"], key=lambda a: (a["score"], a["name"]), default=None)
            lifted = above is not None and above["score"] > row["score"]
            score = row["score"] + (s.share * (above["score"] - row["score"]) if above is not None and lifted else 0.0)
            way = (Step("in the topic", "Summary", above["name"], above["score"]),) if above is not None else ()
            scored.append(Scored(row["id"], score, (*way, Step("resembles the question", "Passage", "", row["score"]))))
        scored.sort(key=lambda x: (-x.score, x.id))
        if query.filter:
            allowed = reader.matching_filter([x.id for x in scored], query.filter)
            scored = [x for x in scored if x.id in allowed]
            rows = [row for row in rows if row["id"] in allowed]
        if s.shown == "summaries":
            query.memory[self] = _collapsed(rows, s.sources)
        return scored[:n]

    def evidence(self, query: Query) -> Sequence[Evidence] | None:
        """See Retriever: passages and summaries by their own cosines, as in RAPTOR, unless only leaves are shown."""
        memory: Sequence[Evidence] | None = query.memory.get(self)
        return memory

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"tree"})


def _collapsed(rows: Sequence[Mapping[str, Any]], sources: int) -> list[Evidence]:
    """Return passages and summaries, nearest first; each summary has its nearest passages."""
    scored: list[tuple[float, str, Evidence]] = [(-row["score"], row["id"], (row["id"],)) for row in rows]
    summaries = {above["id"]: above for row in rows for above in row["above"]}
    leaves: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        for above in row["above"]:
            leaves.setdefault(above["id"], []).append((-row["score"], row["id"]))
    for id, summary in summaries.items():
        near = tuple(leaf for _, leaf in sorted(leaves[id])[:sources])
        scored.append((-summary["score"], id, Topic(summary["title"], summary["text"], near)))
    return [evidence for *_, evidence in sorted(scored, key=lambda x: x[:2])]
