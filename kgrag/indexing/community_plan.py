"""Plan the communities: the existing ones with new names added, or all detected again."""

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.values.identity import node_id
from kgrag.values.installing import require_extra

# The network for community detection: entities, connected by the passages that name both and by their facts.
#
# A passage that names m entities connects each pair with weight 1 / (m - 1) (Newman, 2001, for co-authors); a fact
# connects its subject and object with weight 1 (GraphRAG, section 3.1.3, counts facts). Merged names are one node.


_TYING = 40  # names of a passage that are connected, the rarest; a list of all club members connects nobody
_WHOLE = 27_720  # the integer for weight 1; integer sums do not depend on their order


@dataclass(frozen=True, slots=True)
class Network:
    """Entities [n] in the order of their normal forms, passages [p] and nodes [g]: entities that are one.

    `node` [n]: the node of an entity; `ties` [g, g]: weights; `by_node` [p, g], by columns: the passages that name a
    node; `facts`: a pair of nodes per fact [f, 2]; `community`: the id of each entity's own community in the graph, or
    "" if it has none.
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
        """Return the entities of some nodes."""
        return np.flatnonzero(np.isin(self.node, nodes)).tolist()


def read_network(graph: Graph, collection: Collection) -> Network:
    """Read the entities of titles and facts, or of several passages. Raises ConfigurationError without scipy."""
    sparse = _scipy("sparse")
    place: dict[str, int] = {}
    rows = list(graph.stream("stages/community_entities", collection=collection.name))
    for i, row in enumerate(rows):
        place[row["element"]] = i
    df = np.array([row["df"] for row in rows], np.int64)
    node = _joined([(i, place[same]) for i, row in enumerate(rows) for same in row["same"] if same in place], len(rows))
    count = int(node.max(initial=-1)) + 1
    passages: list[str] = []
    names: list[list[int]] = []
    facts: list[tuple[int, int]] = []
    for row in graph.stream("retrieve/ppr_passages", collection=collection.name, named=True):
        passages.append(row["id"])
        ends = zip(row["subjects"], row["objects"], strict=True)
        facts += [(int(node[place[s]]), int(node[place[o]])) for s, o in ends if s in place and o in place]
        named = {place[e] for key in ("mentions", "titles", "subjects", "objects") for e in row[key] if e in place}
        names.append(list(dict.fromkeys(int(node[i]) for i in sorted(named, key=lambda i: (df[i], i)))))
    pairs = np.array(facts, np.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    by_node = _incidence(names, count).tocsc()
    tying = _incidence([nodes[:_TYING] for nodes in names], count)
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
    """Return the merged node of each [count], numbered by first members; each pair in `same` is merged."""
    sparse = _scipy("sparse")
    ends = np.array(same, np.int64).reshape(-1, 2)
    tied = sparse.csr_matrix((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, labels = _scipy("sparse.csgraph").connected_components(tied, directed=False)
    return _numbered(labels)


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels as numbers, in order of first occurrence."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], np.int64)


def _incidence(rows: list[list[int]], count: int) -> Any:
    """Return an incidence matrix [len(rows), count]: 1 if a row contains a number."""
    columns = np.array([i for row in rows for i in row], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    shape = (len(rows), count)
    return _scipy("sparse").csr_matrix((np.ones(len(columns), np.int64), columns, starts), shape=shape)


def _scipy(module: str) -> Any:
    with require_extra("communities", "Communities are found with scipy, which is not installed."):
        return importlib.import_module(f"scipy.{module}")


# Hierarchical Leiden splits a weighted graph into communities, and large communities again.
#
# Source: Traag, Waltman and van Eck (2019) for Leiden; GraphRAG (Edge et al., 2024), section 3.1.4, for the hierarchy.
LEVELS = 6
"""Maximum levels of communities."""


@dataclass(frozen=True, slots=True)
class Part:
    """A community: its nodes in order, its level (0 is the coarsest), and the position of its parent."""

    nodes: NDArray[np.int64]
    level: int
    parent: int | None


def communities(ties: Any, size: int, smallest: int, resolution: float = 1.0, seed: int = 0) -> list[Part]:
    """Return the communities of a graph, parents before their parts.

    `ties`: a symmetric matrix of weights [n, n], a scipy csr_matrix of float64. A community of more than `size` nodes
    is split again. Communities of fewer than `smallest` nodes are dropped; their nodes stay only in a coarser one, if
    any. The same graph gives the same communities. Raises ConfigurationError without graspologic-native.
    """
    parts: list[Part] = []
    waiting: list[tuple[NDArray[np.int64], int | None]] = [(np.arange(ties.shape[0]), None)]
    while waiting:
        nodes, parent = waiting.pop(0)
        level = 0 if parent is None else parts[parent].level + 1
        labels = _leiden(ties if parent is None else ties[nodes][:, nodes], resolution, seed)
        if parent is not None and not labels.any():
            continue  # a leaf
        for number in range(labels.max(initial=-1) + 1):
            members = nodes[labels == number]
            if len(members) < smallest:
                continue
            parts.append(Part(members, level, parent))
            if len(members) > size and level + 1 < LEVELS:
                waiting.append((members, len(parts) - 1))
    return parts


def _leiden(ties: Any, resolution: float, seed: int) -> NDArray[np.int64]:
    """Return the community of each node [n], numbered by their first nodes."""
    count = ties.shape[0]
    if not ties.nnz:
        return np.arange(count)
    with require_extra("communities", "Communities are found by graspologic-native, which is not installed."):
        native: Any = importlib.import_module("graspologic_native")
    _, mapped = native.leiden_csr(
        ties.indptr.astype(np.int64), ties.indices.astype(np.int32), ties.data, count, resolution=resolution, seed=seed
    )
    labels = np.array([mapped[i] for i in range(count)], np.int64)
    return _numbered(labels)


SMALLEST = 3
"""Minimum members of a community."""
AGAIN = 0.2
"""Share of new or removed names from which all communities are detected again."""
_NAMES = 8  # key names of a community
_PASSAGES = 12  # passages used for a report


@dataclass(slots=True)
class Planned:
    """A community: its nodes outside its parts, the positions of its parts, and properties derived from both.

    `names`: the names with most connections inside it; `passages`: (position, weight) of the passages that name most of
    its nodes; `content`: a hash of the inputs of its report, except the reports of its parts.
    """

    id: str
    level: int
    parent: int | None
    own: list[int] = field(default_factory=list)
    nodes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    names: list[str] = field(default_factory=list)
    passages: list[tuple[int, float]] = field(default_factory=list)
    content: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A partition: communities, each after its parent, and their `names`. `again`: it was computed from scratch."""

    communities: list[Planned]
    again: bool
    names: int


def plan(network: Network, there: Sequence[Mapping[str, Any]], laid: int, collection: str, size: int) -> Plan:
    """Return the communities of a network.

    `there`: rows of `cypher/stages/communities.cypher`; `laid`: the number of names when these were detected, or 0 to
    discard them. New names join the community with most connections to them, or form communities of their own. Once
    too many names changed (AGAIN), all communities are detected again from the whole network.
    """
    count = network.ties.shape[0]
    if laid:
        planned, own = _existing(network, there)
        before = int((own >= 0).sum())
        _join(network, planned, own, collection, size)
        joined = int((own >= 0).sum())
        if joined - before <= AGAIN * laid and before >= (1 - AGAIN) * laid:
            return Plan(_filled(network, planned, own), False, joined)
    planned, own = [], np.full(count, -1, np.int64)
    for part in communities(network.ties, size, min(SMALLEST, size)):
        own[part.nodes] = len(planned)
        planned.append(Planned(_id(network, part.nodes, collection), part.level, part.parent))
    _join(network, planned, own, collection, size)
    return Plan(_filled(network, planned, own), True, int((own >= 0).sum()))


def _id(network: Network, nodes: NDArray[np.int64], collection: str) -> str:
    return node_id(collection, "community", *sorted(network.entities[i] for i in network.members(nodes)))


def _existing(network: Network, there: Sequence[Mapping[str, Any]]) -> tuple[list[Planned], NDArray[np.int64]]:
    """Return the communities of the graph, and the community of each node or -1."""
    places = {row["id"]: i for i, row in enumerate(there)}
    planned = [Planned(row["id"], row["level"], places.get(row["parent"])) for row in there]
    own = np.full(network.ties.shape[0], -1, np.int64)
    for i in range(len(network.entities) - 1, -1, -1):  # backwards, so that the first of merged names decides
        if network.community[i] in places:
            own[network.node[i]] = places[network.community[i]]
    return planned, own


def _join(network: Network, planned: list[Planned], own: NDArray[np.int64], collection: str, size: int) -> None:
    """Assign nodes without a community to one, or form new ones from them."""
    ties = network.ties
    while True:
        alone = np.flatnonzero((own < 0) & (np.diff(ties.indptr) > 0))
        if not len(alone):
            return
        changed = False
        for part in communities(ties[alone][:, alone], len(alone), 1):
            nodes = alone[part.nodes]
            outside = ties[nodes]
            targets = own[outside.indices]
            inside = float(outside.data[np.isin(outside.indices, nodes)].sum())
            votes = np.bincount(targets[targets >= 0], outside.data[targets >= 0], minlength=1)
            best = int(votes.argmax())
            if votes[best] > 0 and (votes[best] >= inside or len(nodes) < SMALLEST):
                own[nodes] = best
                changed = True
            elif len(nodes) >= SMALLEST:
                for piece in communities(ties[nodes][:, nodes], size, min(SMALLEST, size)):
                    members = nodes[piece.nodes]
                    own[members] = len(planned)
                    planned.append(Planned(_id(network, members, collection), 0, None))
                    changed = True
        if not changed:
            return


def _filled(network: Network, planned: list[Planned], own: NDArray[np.int64]) -> list[Planned]:
    """Return the non-empty communities with their contents, each after its parent."""
    order = np.argsort(own, kind="stable")
    for i in order[np.searchsorted(own[order], 0) :]:
        planned[own[i]].own.append(int(i))
    members: list[list[int]] = [list(each.own) for each in planned]
    for place in sorted(range(len(planned)), key=lambda i: -planned[i].level):
        parent = planned[place].parent
        if parent is not None:
            members[parent] += members[place]
    places = sorted((i for i in range(len(planned)) if members[i]), key=lambda i: (planned[i].level, planned[i].id))
    place_of = {old: new for new, old in enumerate(places)}
    parts = [planned[i] for i in places]
    for each, old in zip(parts, places, strict=True):
        each.nodes = np.array(sorted(members[old]), np.int64)
        each.parent = None if each.parent is None else place_of[each.parent]
    _describe(network, parts, own, place_of)
    return parts


def _describe(
    network: Network, communities: list[Planned], own: NDArray[np.int64], place_of: Mapping[int, int]
) -> None:
    """Set the key names, passages and hashes of communities."""
    name: dict[int, str] = {}
    entities: dict[int, list[str]] = {}
    for i, node in enumerate(network.node.tolist()):
        name.setdefault(node, network.names[i])
        entities.setdefault(node, []).append(network.entities[i])
    facts = own[network.facts]
    stated = np.bincount(facts[(facts[:, 0] == facts[:, 1]) & (facts[:, 0] >= 0), 0]) if len(facts) else np.zeros(0)
    counts = {place_of[old]: int(n) for old, n in enumerate(stated) if n}
    for place, each in enumerate(communities):
        strength = np.asarray(network.ties[each.nodes][:, each.nodes].sum(axis=1)).ravel()
        first = np.argsort(-strength, kind="stable")[:_NAMES]
        each.names = [name[int(each.nodes[i])] for i in first]
        each.passages = _passages(network, each.nodes)
        members = [*sorted(id for node in each.nodes.tolist() for id in entities[node]), *each.names]
        members += [network.passages[i] for i, _ in each.passages] + [str(counts.get(place, 0))]
        each.content = digest(members)


def _passages(network: Network, nodes: NDArray[np.int64]) -> list[tuple[int, float]]:
    """Return the passages that name most of some nodes, each with its count relative to the highest."""
    mentions = network.by_node
    rows = np.concatenate([mentions.indices[mentions.indptr[i] : mentions.indptr[i + 1]] for i in nodes])
    places, counts = np.unique(rows, return_counts=True)
    if len(places) > _PASSAGES:
        least = np.partition(counts, -_PASSAGES)[-_PASSAGES]
        places, counts = places[counts >= least], counts[counts >= least]
    best = sorted(zip(places.tolist(), counts.tolist(), strict=True), key=lambda x: (-x[1], network.passages[x[0]]))
    return [(place, count / best[0][1]) for place, count in best[:_PASSAGES]]


def digest(lines: Sequence[str]) -> str:
    """Return a hash of lines."""
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
