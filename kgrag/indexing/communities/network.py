"""The network that communities are found in: entities, tied by the passages that name both and by their facts.

A passage that names m entities ties each two of them by 1 / (m - 1) (Newman, 2001, of co-authors), a fact its subject
and object by 1 (GraphRAG, section 3.1.3, counts them). Names that are one entity's are one node.
"""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

_NAMES = 40  # of a passage that tie, the rarest: a list of all members of a club ties nobody
_WHOLE = 27_720  # the weight of a tie of 1; with whole numbers, sums do not depend on their order


@dataclass(frozen=True, slots=True)
class Network:
    """Entities [n] in the order of their normal forms, passages [p] and nodes [g]: entities that are one.

    `node` [n]: the node of an entity; `ties` [g, g]: weights; `by_node` [p, g], by columns: the passages that name one;
    `facts`: pairs of nodes [f, 2], one a fact; `community`: the id of each entity's own community, as it stands in the
    graph, empty where it has none.
    """

    entities: list[str]
    names: list[str]
    community: list[str]
    node: NDArray[np.int64]
    passages: list[str]
    by_node: Any
    facts: NDArray[np.int64]
    ties: Any

    def members(self, nodes: NDArray[np.int64]) -> list[int]:
        """The entities of some nodes."""
        return np.flatnonzero(np.isin(self.node, nodes)).tolist()


def read_network(graph: Graph, collection: Collection) -> Network:
    """The entities that a title or a fact names, or several passages. Raises ConfigurationError without scipy."""
    sparse = _scipy("sparse")
    place: dict[str, int] = {}
    rows = list(graph.stream("stages/community_entities", collection=collection.name))
    for i, row in enumerate(rows):
        place[row["element"]] = i
    df = np.array([row["df"] for row in rows], np.int64)
    node = _joined([(i, place[same]) for i, row in enumerate(rows) for same in row["same"] if same in place], len(rows))
    count = int(node.max(initial=-1)) + 1
    passages: list[str] = []
    held: list[list[int]] = []
    facts: list[tuple[int, int]] = []
    for row in graph.stream("retrieve/ppr_passages", collection=collection.name, named=True):
        passages.append(row["id"])
        ends = zip(row["subjects"], row["objects"], strict=True)
        facts += [(int(node[place[s]]), int(node[place[o]])) for s, o in ends if s in place and o in place]
        named = {place[e] for key in ("mentions", "titles", "subjects", "objects") for e in row[key] if e in place}
        held.append(list(dict.fromkeys(int(node[i]) for i in sorted(named, key=lambda i: (df[i], i)))))
    pairs = np.array(facts, np.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    by_node = _incidence(held, count).tocsc()
    tying = _incidence([its[:_NAMES] for its in held], count)
    sizes = np.asarray(tying.sum(axis=1)).ravel()
    shares = np.where(sizes > 1, np.round(_WHOLE / np.maximum(sizes - 1, 1)), 0).astype(np.int64)
    ties = tying.T.tocsr() @ sparse.diags(shares, dtype=np.int64).tocsr() @ tying
    weights = np.full(2 * len(pairs), _WHOLE, np.int64)
    both = (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]]))
    ties = (ties + sparse.csr_matrix((weights, both), shape=(count, count))).tocsr()
    ties.setdiag(0)
    ties.eliminate_zeros()
    ties.sort_indices()
    return Network(
        [row["id"] for row in rows],
        [row["name"] for row in rows],
        [row["community"] or "" for row in rows],
        node,
        passages,
        by_node,
        pairs,
        ties.astype(np.float64) / _WHOLE,
    )


def _joined(same: list[tuple[int, int]], count: int) -> NDArray[np.int64]:
    """[count]: nodes, numbered by their first members; the two of a pair are one."""
    sparse = _scipy("sparse")
    ends = np.array(same, np.int64).reshape(-1, 2)
    tied = sparse.csr_matrix((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, labels = _scipy("sparse.csgraph").connected_components(tied, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(order[inverse], np.int64)


def _incidence(held: list[list[int]], count: int) -> Any:
    """[len(held), count]: 1 where a row holds a number."""
    columns = np.array([i for its in held for i in its], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(its) for its in held])]).astype(np.int64)
    shape = (len(held), count)
    return _scipy("sparse").csr_matrix((np.ones(len(columns), np.int64), columns, starts), shape=shape)


def _scipy(module: str) -> Any:
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        raise ConfigurationError(
            "Communities are found with scipy, which is not installed.", f"Install it: {install_hint('communities')}"
        ) from error
