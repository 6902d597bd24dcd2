"""The graph of triples with their relations, as a network reads it that knows relations by their texts (GFM-RAG)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.entity_graph import EntityGraph

SAME = "equivalent"
"""The relation of names that resemble each other (GFM-RAG, section 3.1; its official code calls it so)."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class RelationGraph:
    """Entities, and facts about them, each once.

    `ties`: the same as an EntityGraph, whose `node` numbers the entities; `edges` [m, 3]: head, relation, tail;
    `relations`: their texts.
    """

    ties: EntityGraph
    edges: NDArray[np.int64]
    relations: tuple[str, ...]

    @classmethod
    def of(cls, triples: Iterable[Sequence[str]], similar: Iterable[Sequence[Any]] = ()) -> Self:
        """From triples (element ids about a predicate) and pairs of resembling names ([entity, entity, score])."""
        facts = list(dict.fromkeys((s, p, o) for s, p, o in triples))
        alike = list(similar)
        subjects, objects = [s for s, _, _ in facts], [o for _, _, o in facts]
        ties = EntityGraph.of([("", "", (), (), subjects, objects)], alike, over_passages=False)
        node = ties.node
        facts += [(a, SAME, b) for a, b, _ in alike if a in node and b in node]
        number: dict[str, int] = {}
        edges = [(node[s], number.setdefault(p, len(number)), node[o]) for s, p, o in dict.fromkeys(facts)]
        return cls(ties, np.array(edges, np.int64).reshape(-1, 3), tuple(number))


class WholeRelationGraph:
    """The triples of a whole collection, read at the first question, once for all retrievers of it that live then."""

    def __init__(self, context: SearchContext, *, same_as: bool) -> None:
        self._context, self._same_as = context, same_as
        self._graph: RelationGraph | None = None

    def __call__(self) -> RelationGraph:
        """The graph, as it was when it was first asked for."""
        if self._graph is None:
            self._graph = self._context.shared((RelationGraph, self._same_as), self._read)
        return self._graph

    def _read(self) -> RelationGraph:
        reader = self._context.reader
        name = reader.collection.name
        similar = reader.stream("retrieve/ppr_similar", collection=name, same_as=self._same_as)
        return RelationGraph.of(reader.stream("retrieve/gfm_triples", collection=name), similar)
