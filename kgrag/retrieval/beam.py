"""Diverse triple beam search: expand chains of triples from initial ones towards the question.

GEAR, section 4.2, Algorithm 1. The score of a chain is the cosine of the question with the chain's triples as one
text. It is approximated by the mean of the triples' own unit vectors, so that the server needs only cosines: the sum of
a chain's vectors matters only by its product with the question (`dot`) and its squared length (`square`).
The matching statements are `cypher/retrieve/beam_*.cypher`; a search takes one round trip per step.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from pydantic import Field

from kgrag.retrieval.base import FusionOptions, Query, Retriever, Scored
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count
from kgrag.values.results import Step

_OVER_FETCH = 8  # the index confuses near equals, and misses outliers if only a few results are requested


@dataclass(frozen=True, slots=True)
class Link:
    """A triple of a chain; `entity`: the name shared with the previous triple; `cosine`: of the chain so far."""

    id: str
    text: str
    passage: str
    title: str
    cosine: float
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Beam:
    """A chain of triples; `score` adds up the cosines of its steps, weighted for diversity at each step."""

    links: tuple[Link, ...]
    score: float
    dot: float
    square: float


class Diversity(Protocol):
    """The number of beams to keep, and the discount for lower-ranked children of one beam."""

    @property
    def beams(self) -> int: ...  # noqa: D102
    @property
    def gamma(self) -> float | None: ...  # noqa: D102
    @property
    def diverse(self) -> bool: ...  # noqa: D102


class ChainOptions(FusionOptions):
    """Options of a diverse beam search over chains of triples in any source (GEAR, section 4.2, appendix C)."""

    beams: int = Field(10, ge=1, le=1_000, description="b: chains kept at each step (GEAR, appendix C)")
    length: int = Field(2, ge=1, le=8, description="l: triples of a chain (GEAR, appendix C)")
    neighbours: int = Field(100, ge=1, le=500, description="triples that a chain tries next (GEAR, appendix C)")
    diverse: bool = Field(True, description="whether a beam's lesser children count less; false: standard beam search")
    gamma: float | None = Field(
        None, gt=0, le=1_000, description="of the n-th child exp(-min(n, gamma) / gamma); none: 2 beams"
    )
    exact: bool = Field(False, description="embed each chain's text, instead of the mean of its triples' vectors")


class BeamOptions(ChainOptions):
    """Options of the diverse triple beam search (GEAR, section 4.2 and appendix C)."""

    fuse: Literal["wanted", "read"] = Field(
        "wanted",
        description="base passages that are fused: as many as are wanted, or `passages` alone (GEAR, appendix B.2)",
    )
    hub: int = Field(
        100,
        ge=0,
        le=100_000_000,
        description="an entity of more triples is a hub: it gives only near ones; GEAR has no hubs: 100000000",
    )
    same_as: bool = Field(True, description="whether other names of an entity lead on, too")
    hub_triples: Count = Field(50, description="the question's nearest triples; a hub gives only these")


def base_ranking(base: Retriever, query: Query, n: int) -> list[Scored]:
    """Return the best `n` passages of the base retriever, with their ranks in their trails."""
    ranking = []
    for rank, scored in enumerate(base.context.current(lambda: base.rank(query, n)), 1):
        step = Step(f"{base.name} rank {rank}", "Passage", "", scored.score)
        ranking.append(scored if step in scored.why else replace(scored, why=(*scored.why, step)))
    return ranking


def expand(
    context: SearchContext,
    query: Query,
    base: Sequence[Scored],
    settings: BeamOptions,
    *,
    passages: Sequence[str] = (),
    triples: Sequence[str] = (),
) -> list[Scored]:
    """Return a ranking fused with the source passages of the best chains (GEAR, section 4.2, equation 3).

    The chains begin as in `beam_search`. Without a chain, the ranking stays as it is.
    """
    ranking = source_passages(beam_search(context, query, settings, passages=passages, triples=triples))
    if query.filter and ranking:
        allowed = context.reader.matching_filter([x.id for x in ranking], query.filter)
        ranking = [x for x in ranking if x.id in allowed]
    return reciprocal_rank_fusion([base, ranking], settings.rrf) if ranking else list(base)


def beam_search(
    context: SearchContext,
    query: Query,
    settings: BeamOptions,
    *,
    passages: Sequence[str] = (),
    triples: Sequence[str] = (),
) -> list[Beam]:
    """Return the best chains that begin with a triple of `passages` or of `triples` (ids); ties by ids.

    All are equally long: `settings.length` triples, or fewer if no chain can be extended.
    """
    vector = query.vector(context.embedder)
    rows = context.row(
        "retrieve/beam_start",
        passages=list(passages),
        triples=list(triples),
        embedding=context.reader.collection.embedding,
        vector=vector,
        beams=settings.beams,
    )["triples"]
    beams = [Beam((_link(row, row["cosine"]),), row["cosine"], row["cosine"], 1.0) for row in rows]
    for _ in range(settings.length - 1):
        longer = _step(context, vector, beams, settings) if beams else []
        if not longer:
            break
        beams = longer
    return beams


def source_passages(beams: Sequence[Beam]) -> list[Scored]:
    """Return the passages that state the chains' triples, breadth-first: all first triples, all second ones, etc."""
    passages: dict[str, Scored] = {}
    for position in range(max((len(beam.links) for beam in beams), default=0)):
        for beam in beams:
            link = beam.links[position]
            passages.setdefault(link.passage, Scored(link.passage, link.cosine, _trail(beam.links[: position + 1])))
    return list(passages.values())


def best(branches: Sequence[Sequence[Beam]], settings: Diversity) -> list[Beam]:
    """Return the best beams of all branches, where a branch holds the successors of one beam.

    Algorithm 1, lines 15 to 20.

    The n-th best of a branch, from 0, has its score multiplied by exp(-min(n, gamma) / gamma), unless `diverse` is off.
    """
    gamma = settings.gamma or 2 * settings.beams
    pool = []
    for branch in branches:
        for n, beam in enumerate(sorted(branch, key=_order)):
            weight = math.exp(-min(n, gamma) / gamma) if settings.diverse else 1.0
            pool.append(replace(beam, score=beam.score * weight))
    return sorted(pool, key=_order)[: settings.beams]


def _step(context: SearchContext, vector: list[float], beams: Sequence[Beam], s: BeamOptions) -> list[Beam]:
    """Return the best successors of the beams with one more triple (Algorithm 1, lines 7 to 20)."""
    collection = context.reader.collection

    def neighbours(keep: int) -> tuple[list[Mapping[str, Any]], list[Beam], list[float]]:
        rows = context.row(
            "retrieve/beam_step",
            index=collection.vector_index("Triple"),
            embedding=collection.embedding,
            beams=[{"triples": [x.id for x in b.links], "dot": b.dot, "square": b.square} for b in beams],
            vector=vector,
            neighbours=s.neighbours,
            keep=keep,
            hub=s.hub,
            hub_triples=s.hub_triples,
            candidates=_OVER_FETCH * s.hub_triples,
            same_as=s.same_as,
        )["neighbours"]
        grown = [_grow(beams[row["beam"]], row) for row in rows]
        return rows, grown, [beam.dot / math.sqrt(max(beam.square, 1e-9)) for beam in grown]

    rows, grown, cosines = neighbours(s.neighbours if s.exact else s.beams)
    if s.exact and grown:
        texts = [" ".join(x.text for x in beam.links) for beam in grown]
        each = list(dict.fromkeys(texts))  # a matrix product may give equal rows different cosines
        near = dict(zip(each, (context.embedder.embed(each) @ np.asarray(vector, np.float32)).tolist(), strict=True))
        cosines = [near[text] for text in texts]
    elif s.diverse and any(beam.score + cosine <= 0 for beam, cosine in zip(grown, cosines, strict=True)):
        # a weight below 1 raises a negative score, so more than `beams` children of one may be among the best
        rows, grown, cosines = neighbours(s.neighbours)
    branches: list[list[Beam]] = [[] for _ in beams]
    for row, beam, cosine in zip(rows, grown, cosines, strict=True):
        last = replace(beam.links[-1], cosine=cosine)
        branches[row["beam"]].append(replace(beam, links=(*beam.links[:-1], last), score=beam.score + cosine))
    return best(branches, s)


def _grow(beam: Beam, row: Mapping[str, Any]) -> Beam:
    """Return the beam with a further triple and its score unchanged."""
    return Beam(
        (*beam.links, _link(row, 0.0)), beam.score, beam.dot + row["cosine"], beam.square + 1 + 2 * row["cross"]
    )


def _link(row: Mapping[str, Any], cosine: float) -> Link:
    return Link(row["id"], row["text"], row["passage"], row["title"], cosine, row.get("entity", ""))


def _order(beam: Beam) -> tuple[float, list[str]]:
    return -beam.score, [x.id for x in beam.links]


def _trail(links: Sequence[Link]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for link in links:
        if link.entity:
            steps.append(Step("names", "Entity", link.entity))
        steps.append(Step("named in" if link.entity else "resembles", "Triple", link.text, link.cosine))
    return (*steps, follow("STATES", "Passage", links[-1].title))
