"""Personalised PageRank over passages and entities, like HippoRAG 2, without a language model.

The walk restarts at the entities of the triples nearest to the question, at the entities that it names, and a little at
the passages nearest to it. Passages rank by their share of the walk. All edges are undirected: they connect a passage
with the entities that it mentions or has as title, the two entities of a triple, and similar names. Sources: HippoRAG,
section 2.2; HippoRAG 2, section 3 (as published: `hipporag`). The matching statements are
`cypher/retrieve/ppr*.cypher`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from kgrag.graph.reader import FEW
from kgrag.retrieval.base import BRIDGE_CAP, Query, Retriever, Scored
from kgrag.retrieval.context import Searchable
from kgrag.retrieval.entity_graph import EntityGraph, WholeGraph, best
from kgrag.retrieval.linking import link_question
from kgrag.runtime.options import Count, Options
from kgrag.values.results import Step

_Places = Mapping[str, tuple[int, int]]
"""Id of a seed entity -> its node, and the number of passages that mention it."""


_TRUST = 3
"""If few passages state triples, the nearest one is mostly wrong; the weight of triples falls with this power."""


@dataclass(slots=True)
class _Seeds:
    """The restart of the walk: weights of entities and passages by id, and the trail to each entity.

    `stated`: the share of the nearest passages that state triples.
    """

    stated: float
    entities: dict[str, float] = field(default_factory=dict)
    passages: dict[str, float] = field(default_factory=dict)
    steps: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entities or self.passages)


class PprOptions(Options):
    """Options of personalised PageRank (HippoRAG 2, section 3.3 and appendix)."""

    damping: float = Field(0.5, gt=0, lt=1, description="share of the walk that goes on at each step")
    triples: int = Field(5, ge=0, le=10_000, description="nearest triples whose entities the walk restarts at")
    link: float = Field(2.0, ge=0, le=1_000, description="weight of an entity that the question names")
    passages: Count = Field(30, description="nearest passages that the walk restarts at")
    candidates: Count = Field(100, description="vector index candidates for both, scored again exactly")
    passage_weight: float = Field(0.05, ge=0, le=1_000, description="weight of the nearest of them")
    exact: bool = Field(False, description="walk over the whole collection, not what surrounds the seeds alone")
    cap: Count = Field(BRIDGE_CAP, description="passages or triples that an entity may have to lead on")
    titled: int = Field(5, ge=1, le=1_000, description="passages of a long document that its title reaches")
    same_as: bool = Field(True, description="whether the names of one entity are tied")
    most: int = Field(150, ge=0, le=10_000, description="passages that share names with the seeds, without triples")
    most_stated: int = Field(0, ge=0, le=10_000, description="the same where the nearest triples lead there")
    near: Count = Field(50, description="entities that lead to passages: seeds, and what a few triples tie to them")
    surrounding: Count = Field(100, description="passages that these lead to: the ones that the walk reaches most")


class Ppr(Retriever):
    """Personalised PageRank from the question's triples, names and nearest passages.

    With `exact` the whole collection is read at the first question and shared by its retrievers.

    Source: HippoRAG 2, section 3, without its model.

    Example:
        >>> ranking = Ppr(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "ppr"
    summary = "personalised PageRank from the nearest triples, named entities and nearest passages; HippoRAG 2"
    paper = "HippoRAG 2, section 3, without its model"
    uses = ("triples", "names", "vectors")
    options = PprOptions
    scale = "share"
    settings: PprOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        super().__init__(*on, **options)
        self._whole = WholeGraph(self.context, same_as=self.settings.same_as)

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are shares of the walk, which sum to 1 over all nodes."""
        s = self.settings
        seeds = self._seeds(query, s)
        if not seeds:
            return []
        graph, places = self._graph(seeds, s)
        reset = _reset(graph, places, seeds)
        if not reset:
            return []
        share = graph.shares(reset, s.damping)
        ranked = best(self.context, query, {x: float(share[i]) for x, i in graph.passages.items()}, n)
        paths = graph.paths(reset, s.damping, [graph.passages[x] for x, _ in ranked])
        starts = {i: seeds.steps[e] for e, (i, _) in places.items()}
        cosines = {graph.passages[x]: c for x, c in seeds.cosines.items() if x in graph.passages}
        trails = graph.trails(self.context, paths, starts, cosines)
        return [Scored(x, score, why) for (x, score), why in zip(ranked, trails, strict=True)]

    def _seeds(self, query: Query, s: PprOptions) -> _Seeds:
        """Return the seeds of the walk (HippoRAG 2, section 3.3); an entity's weight is the mean over its triples."""
        vector = query.vector(self.context.embedder)
        collection = self.context.reader.collection
        row = self.context.row(
            "retrieve/ppr_seeds",
            triple_index=collection.vector_index("Triple"),
            passage_index=collection.vector_index("Passage"),
            collection=collection.name,
            embedding=collection.embedding,
            vector=vector,
            candidates=max(s.candidates, s.triples, s.passages),
            few=FEW,
            triples=s.triples,
            passages=s.passages,
        )
        stated = [p["stated"] for p in row["passages"]]
        seeds = _Seeds(stated=sum(stated) / max(1, len(stated)) if row["triples"] else 0.0)
        occurrences: dict[str, list[float]] = {}
        best = max((2 * t["score"] - 1 for t in row["triples"]), default=0.0)
        for triple in row["triples"] if seeds.stated else ():
            cosine = 2 * triple["score"] - 1
            for entity in {e["id"]: e for e in triple["entities"]}.values():
                occurrences.setdefault(entity["id"], []).append(max(cosine, 0.0) / best if best > 0 else 0.0)
                near = Step("resembles the question", "Triple", triple["text"], triple["score"])
                seeds.steps.setdefault(entity["id"], (near, Step("is about", "Entity", entity["name"])))
        for id, weights in occurrences.items():
            seeds.entities[id] = seeds.stated**_TRUST * sum(weights) / len(weights)
        links = link_question(self.context, query.text, s.same_as).links
        for link in links:
            weight = s.link * link.weight
            if weight > seeds.entities.get(link.entity, 0.0):
                seeds.steps[link.entity] = (Step("names", "Entity", link.name, link.weight),)
            seeds.entities[link.entity] = seeds.entities.get(link.entity, 0.0) + weight
        seeds.cosines = {p["id"]: p["score"] for p in row["passages"]}
        low, high = min(seeds.cosines.values(), default=0.0), max(seeds.cosines.values(), default=0.0)
        if high > low:
            seeds.passages = {x: s.passage_weight * (c - low) / (high - low) for x, c in seeds.cosines.items()}
        else:
            seeds.passages = dict.fromkeys(seeds.cosines, s.passage_weight)
        if any(link.bearers > s.surrounding for link in links):  # the other words decide which bearer is meant
            worded = self.context.reader.fulltext(query.text, s.passages)
            for x, score in worded:
                share = s.passage_weight * score / worded[0][1]
                seeds.passages[x] = max(share, seeds.passages.get(x, 0.0))
        return seeds

    def _graph(self, seeds: _Seeds, s: PprOptions) -> tuple[EntityGraph, _Places]:
        entities = sorted(seeds.entities)
        if s.exact:
            graph = self._whole()
            elements = (list(row.values()) for row in self.context.rows("retrieve/ppr_elements", ids=entities))
            return graph, _places(elements, graph)
        most = round(seeds.stated * s.most_stated + (1 - seeds.stated) * s.most)
        rows = self.context.rows(
            "retrieve/ppr",
            entities=entities,
            passages=sorted(seeds.passages),
            cap=s.cap,
            titled=s.titled,
            near=s.near,
            surrounding=s.surrounding,
            most=most,
            same_as=s.same_as,
        )
        if not rows:
            return EntityGraph.of(()), {}
        graph = EntityGraph.of(rows[0]["passages"], rows[0]["similar"])
        return graph, _places(rows[0]["seeds"], graph)


def _places(seeds: Iterable[Sequence[Any]], graph: EntityGraph) -> _Places:
    return {id: (graph.node[element], df) for id, element, df in seeds if element in graph.node}


def _reset(graph: EntityGraph, places: _Places, seeds: _Seeds) -> dict[int, float]:
    """Return node -> weight; entities mentioned by many passages weigh less (HippoRAG: node specificity)."""
    reset = {}
    for id, (i, df) in places.items():
        if seeds.entities[id] > 0:
            reset[i] = seeds.entities[id] / max(1, df)
    reset |= {graph.passages[p]: w for p, w in seeds.passages.items() if p in graph.passages and w > 0}
    return reset
