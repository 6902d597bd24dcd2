"""The graph for personalised PageRank: entities and, in most systems, passages.

Triples (weight 1 each) and similar names (weight: cosine) join entities (HippoRAG, section 2.2). Passages are joined to
the entities that they name (HippoRAG 2, section 3.2), or are not nodes (HippoRAG).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Self

import numpy as np
import rustworkx
from numpy.typing import NDArray

from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.trail import follow
from kgrag.values.results import Step

_MENTIONS, _TITLED, _TRIPLE, _SIMILAR = "MENTIONS", "ABOUT", "", "SIMILAR"
"""The types of edges; a triple is an edge between its two entities."""
_PRECISION, _ROUNDS = 1e-9, 1000  # limits of the PageRank iteration


@dataclass(slots=True, eq=False, weakref_slot=True)
class EntityGraph:
    """Entities and passages as a weighted graph. Each connection is two edges.

    `sources` and `weights` [edges]: the start of each edge, and its weight. `kinds`: the type, by the two nodes.
    `node`: element id in the database -> node. `passages`: id -> node, or another number if passages are not nodes.
    `named` [n, 3]: passage, entity, number of mentions.
    """

    graph: Any
    node: Mapping[str, int]
    passages: Mapping[str, int]
    sources: NDArray[np.int64]
    weights: NDArray[np.float64]
    kinds: Mapping[tuple[int, int], str]
    named: NDArray[np.int64]

    @classmethod
    def of(
        cls, passages: Iterable[Sequence[Any]], similar: Iterable[Sequence[Any]] = (), *, over_passages: bool = True
    ) -> Self:
        """Make the graph from passages and pairs of similar names.

        Passages: [id, element id, named, titled, subjects, objects].
        """
        edges: dict[tuple[int, int], float] = {}
        kinds: dict[tuple[int, int], str] = {}
        named: Counter[tuple[int, int]] = Counter()
        node: defaultdict[str, int] = defaultdict(count().__next__)
        numbers: dict[str, int] = {}
        for id, element, mentioned, titled, subjects, objects in passages:
            p = numbers[id] = node[element] if over_passages else len(numbers)
            named.update((p, node[e]) for e in mentioned)
            if over_passages:
                edges.update(((p, node[e]), 1.0) for e in mentioned)
                for e in titled:
                    pair = (p, node[e])
                    edges[pair] = edges.get(pair, 0.0) + 1.0
                    kinds[pair] = _TITLED
            for subject, object in zip(subjects, objects, strict=True):
                a, b = node[subject], node[object]
                if a != b:
                    pair = (a, b) if a < b else (b, a)
                    edges[pair] = edges.get(pair, 0.0) + 1.0
                    kinds[pair] = _TRIPLE
        for one, other, score in similar:
            if one in node and other in node:
                a, b = node[one], node[other]
                pair = (a, b) if a < b else (b, a)
                if kinds.get(pair) != _TRIPLE:
                    edges[pair] = max(edges.get(pair, 0.0), 2 * score - 1)
                    kinds[pair] = _SIMILAR
        ties = np.array(list(edges), np.int64).reshape(-1, 2)
        sources, targets = ties.ravel(), ties[:, ::-1].ravel()
        graph: Any = rustworkx.PyDiGraph()
        graph.add_nodes_from(range(len(node)))
        graph.add_edges_from(list(zip(sources.tolist(), targets.tolist(), range(len(targets)), strict=True)))
        counted = np.array([(p, e, n) for (p, e), n in named.items()], np.int64).reshape(-1, 3)
        weights = np.repeat(np.fromiter(edges.values(), np.float64, len(edges)), 2)
        return cls(graph, dict(node), numbers, sources, weights, kinds, counted)

    def shares(self, reset: Mapping[int, float], damping: float) -> NDArray[np.float64]:
        """Return the probabilities [nodes] of a walk that restarts at the nodes of `reset`. They sum to 1."""
        weights: list[float] = self.weights.tolist()
        ranks = rustworkx.pagerank(
            self.graph,
            alpha=damping,
            personalization=dict(reset),
            weight_fn=weights.__getitem__,
            tol=_PRECISION,
            max_iter=_ROUNDS,
        )
        return np.array([ranks[i] for i in range(len(self.node))])

    def paths(self, reset: Mapping[int, float], damping: float, targets: Sequence[int]) -> list[list[int]]:
        """Return the most probable path from a restart to each target, or an empty list.

        The probability of a path is the product of its restart and its steps.
        """
        leaving = np.bincount(self.sources, self.weights)
        costs: list[float] = (-np.log(damping * self.weights / leaving[self.sources])).tolist()
        graph, total = self.graph.copy(), sum(reset.values())
        start = graph.add_node(None)
        graph.add_edges_from([(start, i, len(costs) + j) for j, i in enumerate(reset)])
        costs += np.abs(np.log(np.array(list(reset.values())) / total)).tolist()  # never -0.0
        routes = rustworkx.dijkstra_shortest_paths(graph, start, weight_fn=costs.__getitem__)
        return [list(routes[target])[1:] if target in routes else [] for target in targets]

    def trails(
        self,
        context: SearchContext,
        paths: Sequence[Sequence[int]],
        starts: Mapping[int, tuple[Step, ...]],
        cosines: Mapping[int, float],
    ) -> list[tuple[Step, ...]]:
        """Return the steps of paths. Each begins with the steps of its first node, or at a passage with its cosine."""
        element = {i: element for element, i in self.node.items()}
        elements = sorted({element[i] for path in paths for i in path})
        names = dict(context.row("retrieve/ppr_names", elements=elements)["names"])
        passages = set(self.passages.values()) if cosines else set()
        trails: list[tuple[Step, ...]] = []
        for path in paths:
            if not path:
                trails.append(())
                continue
            first = names[element[path[0]]]
            nearest = Step("resembles the question", "Passage", first, cosines.get(path[0]))
            steps = [nearest] if path[0] in passages else list(starts[path[0]])
            for one, other in pairwise(path):
                kind = self.kinds.get((one, other), self.kinds.get((other, one), _MENTIONS))
                name, label = names[element[other]], "Passage" if other in passages else "Entity"
                steps.append(follow(kind, label, name) if kind else Step("in a triple with", label, name))
            trails.append(tuple(steps))
        return trails


class WholeGraph:
    """The graph of a whole collection, read at the first question and shared by retrievers.

    With `named`, passages are joined to the entities of their mentions and titles, else to the ends of their triples.
    """

    def __init__(
        self, context: SearchContext, *, same_as: bool = True, named: bool = True, over_passages: bool = True
    ) -> None:
        self._context, self._same_as = context, same_as
        self._named, self._over_passages = named, over_passages
        self._graph: EntityGraph | None = None

    def __call__(self) -> EntityGraph:
        """Return the graph, read at the first call."""
        if self._graph is None:
            key = (EntityGraph, self._same_as, self._named, self._over_passages)
            self._graph = self._context.shared(key, self._read)
        return self._graph

    def _read(self) -> EntityGraph:
        reader = self._context.reader
        name = reader.collection.name
        passages = reader.stream("retrieve/ppr_passages", collection=name, named=self._named)
        similar = reader.stream("retrieve/ppr_similar", collection=name, same_as=self._same_as)
        return EntityGraph.of(passages, similar, over_passages=self._over_passages)


def best(context: SearchContext, query: Query, scores: Mapping[str, float], n: int) -> list[tuple[str, float]]:
    """Return the best `n` passages that pass the question's filter, with their scores above 0."""
    ranked = sorted((x for x in scores if scores[x] > 0), key=lambda x: (-scores[x], x))
    if query.filter:
        allowed = context.reader.matching_filter(ranked, query.filter)
        ranked = [x for x in ranked if x in allowed]
    return [(x, scores[x]) for x in ranked[:n]]
