"""Personalised PageRank over passages and entities, as HippoRAG 2 has it, without a language model.

The walk restarts at the entities of the triples nearest to the question, at the entities that it names, and a little at
the passages nearest to it; a passage's rank is its share of the walk. Edges, all undirected: a passage and the entities
that it mentions or whose title it bears, the two entities of a triple, and names that resemble each other. Sources:
HippoRAG, section 2.2; HippoRAG 2, section 3. The twin statements are `cypher/expand/ppr*.cypher`.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import Any

import numpy as np
import rustworkx
from numpy.typing import NDArray
from pydantic import Field

from kgrag.options import Options
from kgrag.retrieval.base import BRIDGE_CAP, Query, Retriever, Scored, Searchable
from kgrag.retrieval.linking import link_question
from kgrag.retrieval.trail import follow
from kgrag.types import Step

_MENTIONS, _TITLED, _TRIPLE, _SIMILAR = "MENTIONS", "ABOUT", "", "SIMILAR"
"""The types of edges; two entities of a triple are tied over it."""


@dataclass(slots=True)
class _Seeds:
    """Where the walk restarts: weights of entities and passages by id, and the steps that lead to an entity.

    `stated`: whether triples were found.
    """

    stated: bool
    entities: dict[str, float] = field(default_factory=dict)
    passages: dict[str, float] = field(default_factory=dict)
    steps: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entities or self.passages)


@dataclass(slots=True)
class _Network:
    """Passages and entities as a weighted graph, in which both directions of a tie are edges.

    `sources` (indices) and `weights` of the edges, in their order; `kinds`: by a tie's indices; `node`: element id in
    the database -> index; `passages`: id -> index; `entities`: id of a seed -> index and how many passages mention it.
    """

    graph: Any = field(default_factory=rustworkx.PyDiGraph)
    node: dict[str, int] = field(default_factory=dict)
    passages: dict[str, int] = field(default_factory=dict)
    entities: dict[str, tuple[int, int]] = field(default_factory=dict)
    sources: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    kinds: dict[tuple[int, int], str] = field(default_factory=dict)


class PprOptions(Options):
    """Options of personalised PageRank (HippoRAG 2, section 3.3 and appendix)."""

    damping: float = Field(0.5, gt=0, lt=1, description="share of the walk that goes on at each step")
    triples: int = Field(5, ge=0, description="nearest triples whose entities the walk restarts at")
    link: float = Field(2.0, ge=0, description="weight of an entity that the question names; the best triple's have 1")
    passages: int = Field(30, ge=1, description="nearest passages that the walk restarts at")
    candidates: int = Field(100, ge=1, description="vector index candidates for both, scored again exactly")
    passage_weight: float = Field(0.05, ge=0, description="weight of the nearest of them")
    exact: bool = Field(False, description="walk over the whole collection, not what surrounds the seeds alone")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages or triples that an entity may have to lead on")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")
    same_as: bool = Field(True, description="whether the names of one entity are tied")
    most: int = Field(150, ge=0, description="passages that share names with the seeds' own, without triples")
    most_stated: int = Field(0, ge=0, description="the same where the nearest triples lead there")
    near: int = Field(50, ge=1, description="entities that lead to passages: seeds, and what a few triples tie to them")
    surrounding: int = Field(100, ge=1, description="passages that these lead to: those that the walk reaches most")


class Ppr(Retriever):
    """Personalised PageRank from the question's triples, names and nearest passages.

    With `exact` the whole collection is read at the first question; a retriever that is made later reads it again.
    """

    name = "ppr"
    summary = "personalised PageRank from the nearest triples, named entities and nearest passages; HippoRAG 2"
    options = PprOptions
    scale = "share"
    settings: PprOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        super().__init__(*on, **options)
        self._lock = threading.Lock()
        self._whole: _Network | None = None

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are shares of the walk, which add up to 1 over all nodes."""
        s = self.settings
        seeds = self._seeds(query, s)
        if not seeds:
            return []
        network = self._network(seeds, s)
        reset = _reset(network, seeds)
        if not reset:
            return []
        share = rustworkx.pagerank(
            network.graph,
            alpha=s.damping,
            personalization=reset,
            weight_fn=network.weights.tolist().__getitem__,
            tol=1e-7,
            max_iter=200,
        )
        scores = {x: share[i] for x, i in network.passages.items()}
        ranked = sorted((x for x in scores if scores[x] > 0), key=lambda x: (-scores[x], x))
        if query.filter:
            allowed = self.context.reader.passing(ranked, query.filter)
            ranked = [x for x in ranked if x in allowed]
        trails = self._trails(network, seeds, reset, ranked[:n])
        return [Scored(x, scores[x], trails.get(x, ())) for x in ranked[:n]]

    def _seeds(self, query: Query, s: PprOptions) -> _Seeds:
        """What the walk restarts at (HippoRAG 2, section 3.3); an entity's weight is the mean over its triples."""
        vector = query.vector(self.context.embedder)
        collection = self.context.reader.collection
        found = self.context.row(
            "expand/ppr_seeds",
            triple_index=collection.vector_index("Triple"),
            passage_index=collection.vector_index("Passage"),
            embedding=collection.embedding,
            vector=vector,
            candidates=max(s.candidates, s.triples, s.passages),
            triples=s.triples,
            passages=s.passages,
        )
        seeds = _Seeds(stated=bool(found["triples"]))
        occurrences: dict[str, list[float]] = {}
        best = max((2 * t["score"] - 1 for t in found["triples"]), default=0.0)
        for triple in found["triples"]:
            cosine = 2 * triple["score"] - 1
            for entity in {e["id"]: e for e in triple["entities"]}.values():
                occurrences.setdefault(entity["id"], []).append(max(cosine, 0.0) / best if best > 0 else 0.0)
                stated = Step("resembles the question", "Triple", triple["text"], triple["score"])
                seeds.steps.setdefault(entity["id"], (stated, Step("is about", "Entity", entity["name"])))
        for id, weights in occurrences.items():
            seeds.entities[id] = sum(weights) / len(weights)
        for link in link_question(self.context, query.text, s.same_as).links:
            weight = s.link * link.weight
            if weight > seeds.entities.get(link.entity, 0.0):
                seeds.steps[link.entity] = (Step("names", "Entity", link.name, link.weight),)
            seeds.entities[link.entity] = seeds.entities.get(link.entity, 0.0) + weight
        seeds.cosines = {p["id"]: p["score"] for p in found["passages"]}
        low, high = min(seeds.cosines.values(), default=0.0), max(seeds.cosines.values(), default=0.0)
        if high > low:
            seeds.passages = {x: s.passage_weight * (c - low) / (high - low) for x, c in seeds.cosines.items()}
        else:
            seeds.passages = dict.fromkeys(seeds.cosines, s.passage_weight)
        return seeds

    def _network(self, seeds: _Seeds, s: PprOptions) -> _Network:
        entities = sorted(seeds.entities)
        if not s.exact:
            most = s.most_stated if seeds.stated else s.most
            rows = self.context.rows(
                "expand/ppr",
                entities=entities,
                passages=sorted(seeds.passages),
                cap=s.cap,
                titled=s.titled,
                near=s.near,
                surrounding=s.surrounding,
                most=most,
                same_as=s.same_as,
            )
            return _network(rows[0]["passages"], rows[0]["similar"], rows[0]["seeds"]) if rows else _network((), (), ())
        reader = self.context.reader
        with self._lock:  # read once, however many threads ask first
            if self._whole is None:
                name = reader.collection.name
                similar = reader.stream("expand/ppr_similar", collection=name, same_as=s.same_as)
                self._whole = _network(reader.stream("expand/ppr_passages", collection=name), similar, ())
        elements = (list(row.values()) for row in self.context.rows("expand/ppr_elements", ids=entities))
        return replace(self._whole, entities=_placed(elements, self._whole.node))

    def _trails(
        self, network: _Network, seeds: _Seeds, reset: Mapping[int, float], ids: Sequence[str]
    ) -> dict[str, tuple[Step, ...]]:
        """The strongest path to each passage: the largest product of a restart's share and those of its steps."""
        paths = _strongest_paths(network, reset, self.settings.damping, [network.passages[x] for x in ids])
        element = {i: element for element, i in network.node.items()}
        names = dict(
            self.context.row("expand/ppr_names", elements=sorted({element[i] for path in paths for i in path}))["names"]
        )
        places = {i: e for e, (i, _) in network.entities.items()}
        is_passage = set(network.passages.values())
        trails = {}
        for x, path in zip(ids, paths, strict=True):
            if not path:
                continue
            start = path[0]
            if start in is_passage:
                nearest = next((c for p, c in seeds.cosines.items() if network.passages.get(p) == start), None)
                steps = [Step("resembles the question", "Passage", names[element[start]], nearest)]
            else:
                steps = list(seeds.steps[places[start]])
            for one, other in pairwise(path):
                kind = network.kinds.get((one, other), network.kinds.get((other, one), _MENTIONS))
                name, label = names[element[other]], "Passage" if other in is_passage else "Entity"
                steps.append(follow(kind, label, name) if kind else Step("in a triple with", label, name))
            trails[x] = tuple(steps)
        return trails


def _network(
    passages: Iterable[Sequence[Any]], similar: Iterable[Sequence[Any]], seeds: Iterable[Sequence[Any]]
) -> _Network:
    """The graph of passages ([id, element id, mentioned, titled, subjects, objects]) and resembling names."""
    net = _Network()
    edges: dict[tuple[int, int], float] = {}
    node: defaultdict[str, int] = defaultdict(count().__next__)
    for id, element, mentioned, titled, subjects, objects in passages:
        p = node[element]
        net.passages[id] = p
        for e in mentioned:
            pair = (p, node[e])
            edges[pair] = 1.0
        for e in titled:
            pair = (p, node[e])
            edges[pair] = edges.get(pair, 0.0) + 1.0
            net.kinds[pair] = _TITLED
        for subject, object in zip(subjects, objects, strict=True):
            a, b = node[subject], node[object]
            if a != b:
                pair = (a, b) if a < b else (b, a)
                edges[pair] = edges.get(pair, 0.0) + 1.0
                net.kinds[pair] = _TRIPLE
    for one, other, score in similar:
        if one in node and other in node:
            a, b = node[one], node[other]
            pair = (a, b) if a < b else (b, a)
            if net.kinds.get(pair) != _TRIPLE:
                edges[pair] = max(edges.get(pair, 0.0), 2 * score - 1)
                net.kinds[pair] = _SIMILAR
    ties = np.array(list(edges), np.int64).reshape(-1, 2)
    net.sources, targets = ties.ravel(), ties[:, ::-1].ravel()
    net.weights = np.repeat(np.fromiter(edges.values(), np.float64, len(edges)), 2)
    net.node = dict(node)
    net.graph.add_nodes_from(range(len(node)))
    net.graph.add_edges_from(list(zip(net.sources.tolist(), targets.tolist(), range(len(targets)), strict=True)))
    net.entities = _placed(seeds, node)
    return net


def _placed(seeds: Iterable[Sequence[Any]], node: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    return {id: (node[element], df) for id, element, df in seeds if element in node}


def _reset(network: _Network, seeds: _Seeds) -> dict[int, float]:
    """Index -> weight; an entity counts the less the more passages mention it (HippoRAG: node specificity)."""
    reset = {}
    for id, (i, df) in network.entities.items():
        if seeds.entities[id] > 0:
            reset[i] = seeds.entities[id] / max(1, df)
    reset |= {network.passages[p]: w for p, w in seeds.passages.items() if p in network.passages and w > 0}
    return reset


def _strongest_paths(
    network: _Network, reset: Mapping[int, float], damping: float, targets: Sequence[int]
) -> list[list[int]]:
    """The most probable way of the walk from a restart to each target: lists of indices, empty where there is none."""
    leaving = np.bincount(network.sources, network.weights)
    costs = (-np.log(damping * network.weights / leaving[network.sources])).tolist()
    graph, total = network.graph.copy(), sum(reset.values())
    start = graph.add_node(None)
    graph.add_edges_from([(start, i, len(costs) + j) for j, i in enumerate(reset)])
    costs += (-np.log(np.array(list(reset.values())) / total)).tolist()
    paths = rustworkx.dijkstra_shortest_paths(graph, start, weight_fn=costs.__getitem__)
    return [list(paths[target])[1:] if target in paths else [] for target in targets]
