"""The tree: passages are clustered and summarised, then the summaries again, until few are left (RAPTOR, section 3).

The graph is the ledger. A finished level stays: passages added later join the nearest clusters. Only summaries whose
members changed, and summaries of those, are written again. `rests_on` is a hash of a summary's members, and `made`
says who wrote it. An interrupted run can be repeated: it builds an unfinished level again and never asks a model twice
for the same summary.
"""

import hashlib
import importlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.group_texts import (
    TASK,
    Group,
    Grouping,
    GroupText,
    Member,
    batches,
    by_model,
    bytes_of,
    extracted,
    nearest_first,
    prompt_text,
)
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.embed import unit
from kgrag.models.prompted import PromptedModel
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings
from kgrag.values.events import Progress
from kgrag.values.identity import node_id
from kgrag.values.installing import require_extra

# Soft clusters of vectors as in RAPTOR: Gaussian mixtures, their number chosen by the information criterion.
#
# Source: RAPTOR (Sarthi et al., 2024), section 3. It reduces dimensions by UMAP, first over all vectors and then within
# clusters. Here k-means splits large sets and principal components reduce the dimensions, which is faster and
# reproducible.


SIZE = 8
"""Members of a cluster on average (RAPTOR, appendix C: summaries have 6.7 children)."""
LEAST = 0.1
"""Least probability with which a vector belongs to a cluster (from RAPTOR's code)."""
_PART = 400  # vectors per fitted mixture
_COMPONENTS = 10  # dimensions (from RAPTOR's code)
_NUMBERS = (0.7, 1.0, 1.4)  # numbers of clusters to try, as multiples of n / SIZE

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The positions of a cluster's members, and the probability of each, 0 to 1."""

    members: tuple[int, ...]
    weights: tuple[float, ...]


def soft_clusters(vectors: Matrix, size: float = SIZE, seed: int = 0) -> list[Cluster]:
    """Return soft clusters of unit vectors [n, d] with about `size` members; each vector is in one or more.

    The result is reproducible.

    Raises ConfigurationError when scikit-learn is not installed.
    """
    clusters: list[Cluster] = []
    for places in _parts(np.arange(len(vectors)), vectors, seed):
        clusters += [
            Cluster(tuple(int(places[i]) for i in c.members), c.weights) for c in _mixture(vectors[places], size, seed)
        ]
    return clusters


def _parts(places: NDArray[np.int64], vectors: Matrix, seed: int) -> Iterator[NDArray[np.int64]]:
    """Split vectors into groups of at most _PART similar ones."""
    if len(places) <= _PART:
        yield places
        return
    means = _sklearn("cluster").MiniBatchKMeans(
        n_clusters=min(64, math.ceil(2 * len(places) / _PART)), random_state=seed, n_init=1, batch_size=4096
    )
    label = means.fit_predict(vectors[places])
    parts = [places[label == number] for number in np.unique(label)]
    if len(parts) == 1:  # all vectors are equal
        parts = [places[start : start + _PART] for start in range(0, len(places), _PART)]
    for part in parts:
        yield from _parts(part, vectors, seed)


def _mixture(vectors: Matrix, size: float, seed: int) -> list[Cluster]:
    """Return the clusters of the mixture with the lowest Bayesian information criterion."""
    usual = len(vectors) / size
    numbers = sorted({round(usual * share) for share in _NUMBERS} - {0, 1})
    if not numbers or len(np.unique(vectors, axis=0)) <= numbers[-1]:
        return [Cluster(tuple(range(len(vectors))), (1.0,) * len(vectors))]
    dimensions = min(_COMPONENTS, *vectors.shape)
    reduced = _sklearn("decomposition").PCA(dimensions, random_state=seed).fit_transform(vectors)
    mixtures = [
        _sklearn("mixture").GaussianMixture(n, covariance_type="diag", reg_covar=1e-3, random_state=seed).fit(reduced)
        for n in numbers
    ]
    best = min(mixtures, key=lambda mixture: mixture.bic(reduced))
    shares = best.predict_proba(reduced)
    belongs = shares >= LEAST
    belongs[np.arange(len(vectors)), shares.argmax(axis=1)] = True
    groups = [np.flatnonzero(column) for column in belongs.T]
    return [
        Cluster(tuple(map(int, members)), tuple(round(float(shares[i, k]), 4) for i in members))
        for k, members in enumerate(groups)
        if len(members)
    ]


def _sklearn(module: str) -> Any:
    with require_extra("tree", "Clusters are made by scikit-learn, which is not installed."):
        return importlib.import_module(f"sklearn.{module}")


LEVELS = 5
"""Maximum levels of summaries (from RAPTOR's code)."""
_EDGES = 2000  # edges written at once
_REMOVED = 5000  # summaries removed at once
_NEARNESSES = 2**23  # similarities of members to clusters held in memory at once
_WRITTEN = 180  # tokens of a reply on average
_SHARPNESS = 20.0  # how fast a cluster's weight falls with distance, for passages added later


@dataclass(slots=True)
class _Level:
    """The nodes of a level: ids, unit vectors [n, d], hashes of their sources, and the summaries above them."""

    label: str
    ids: list[str]
    vectors: NDArray[np.float32]
    rests_on: list[str]
    parents: list[list[str]]


@dataclass(frozen=True, kw_only=True)
class _Group(Group):
    """A pending summary. `members`: their positions in the level below."""

    members: list[int]


def remove(graph: Graph, collection: Collection) -> int:
    """Remove all summaries and return their number."""
    graph.run("write/laid", collection=collection.name, groups="tree", number=0)
    return _remove(graph, collection, 0)


def estimate(graph: Graph, collection: Collection, chat: ChatSettings, progress: Progress) -> Estimate:
    """Estimate the calls and tokens for the missing summaries of a laid-out tree, without calling the model.

    The length of summaries that a model reads is estimated from usual replies.
    """
    prompt = load_prompt(TASK, chat.prompts)
    around = sum(len(message.content) for message in prompt.messages(texts=""))
    calls, size = 0, 0
    levels = _laid(graph, collection)
    for level in range(1, levels + 1):
        below = _read(graph, collection, level - 1, vectors=False)
        groups = _due(graph, collection, level, below, prompt.version)
        for batch in batches(groups, partial(progress, "summaries")):
            if level == 1:
                texts = _texts(graph, below, batch)
                size += sum(len(prompt_text([texts[below.ids[i]] for i in g.members]).encode()) for g in batch)
            else:
                size += sum(bytes_of(len(g.members) * _WRITTEN) for g in batch)
        calls += len(groups)
        size += len(groups) * around
    return estimate_calls(chat, TASK, calls, size, _WRITTEN)


@dataclass
class Tree(Grouping[_Group]):
    """The summaries of a collection. `size`: average number of members of a summary in a new level.

    A level of `size` nodes or fewer is the last one.
    """

    label: ClassVar[str] = "Summary"
    task: ClassVar[str] = TASK
    below: _Level = field(init=False)

    def due(self, version: str | None) -> Iterator[tuple[str, list[_Group]]]:
        """See Grouping; the levels go from the passages up."""
        graph, collection = self.graph, self.collection
        laid = _laid(graph, collection)
        self.removed = _remove(graph, collection, laid)  # leftovers of an unfinished level
        self.below = _read(graph, collection, 0)
        for level in range(1, LEVELS + 1):
            if level <= laid:
                self._place()
            elif len(self.below.ids) > self.size:
                self._lay(level)
            else:
                return
            self.removed += graph.run("write/remove_empty_summaries", collection=collection.name)[0]["removed"]
            yield f"summaries {level}", _due(graph, collection, level, self.below, version)
            self.below = _read(graph, collection, level)
            if not self.below.ids:
                return
            self.levels.append(len(self.below.ids))

    def material(self, groups: Sequence[_Group]) -> list[list[Member]]:
        """See Grouping: the members of each group, nearest to the centroid first."""
        below, texts = self.below, _texts(self.graph, self.below, groups)
        return [nearest_first([texts[below.ids[i]] for i in g.members], below.vectors[g.members]) for g in groups]

    def heading(self, material: Sequence[Member]) -> str:
        """See Grouping."""
        return str(material[0]["title"])

    def extracted(self, groups: Sequence[_Group]) -> list[GroupText]:
        """See Grouping."""
        middles = unit(np.stack([self.below.vectors[g.members].mean(axis=0) for g in groups]))
        return extracted(self.material(groups), self.embedder, self.collection.language.code, middles)

    def by_model(self, material: Sequence[Member], llm: PromptedModel) -> GroupText:
        """See Grouping."""
        return by_model(material, llm)

    def _lay(self, level: int) -> None:
        """Create a level: cluster the one below and write the clusters without their texts."""
        self.progress(f"level {level}", 0, None)
        below, collection = self.below, self.collection
        order = np.lexsort(below.vectors.T)  # by vectors, since ids depend on the collection's name
        rows = []
        for cluster in soft_clusters(below.vectors[order], self.size):
            members = [int(order[i]) for i in cluster.members]
            id = node_id(collection.name, "Summary", level, *sorted(below.ids[i] for i in members))
            weighted = zip(members, cluster.weights, strict=True)
            rows.append({"id": id, "members": [{"id": below.ids[i], "weight": weight} for i, weight in weighted]})
            for i in members:
                below.parents[i].append(id)
        labels = [collection.label("Summary")]
        for batch in batches(rows, partial(self.progress, f"level {level}")):
            self.graph.run(
                "write/summaries", label=below.label, rows=batch, collection=collection.name, labels=labels, level=level
            )
        self.graph.run("write/laid", collection=collection.name, groups="tree", number=level)

    def _place(self) -> None:
        """Add nodes without a cluster to the clusters with the nearest centroids."""
        below, members = self.below, _members(self.below)
        new = [i for i, parents in enumerate(below.parents) if not parents]
        if not new or not members:
            return
        ids = sorted(members)
        middles = unit(np.stack([below.vectors[members[id]].mean(axis=0) for id in ids]))
        rows = []
        some = max(1, _NEARNESSES // len(ids))
        for start in range(0, len(new), some):
            places = new[start : start + some]
            nearness = _SHARPNESS * (below.vectors[places] @ middles.T)
            shares = np.exp(nearness - nearness.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            for i, row in zip(places, shares, strict=True):
                clusters = {int(row.argmax()), *map(int, np.flatnonzero(row >= LEAST))}
                rows.append(
                    {"member": below.ids[i], "ways": [{"summary": ids[k], "weight": float(row[k])} for k in clusters]}
                )
                below.parents[i] = [ids[k] for k in clusters]
        for start in range(0, len(rows), _EDGES):  # all edges of a member are in one transaction
            self.graph.run("write/summarised", label=below.label, rows=rows[start : start + _EDGES])


def _remove(graph: Graph, collection: Collection, above: int) -> int:
    """Remove the summaries above a level and return their number."""
    removed = 0
    while rows := graph.run("write/remove_summaries", collection=collection.name, above=above, limit=_REMOVED)[0][
        "removed"
    ]:
        removed += rows
    return removed


def _laid(graph: Graph, collection: Collection) -> int:
    return int(graph.run("stages/laid", collection=collection.name, groups="tree")[0]["number"])


def _read(graph: Graph, collection: Collection, level: int, *, vectors: bool = True) -> _Level:
    """Return all passages (level 0) or the summaries of a level, by id; without `vectors`, the vectors are [0, d]."""
    label = "Summary" if level else "Passage"
    below = _Level(label, [], np.zeros((0, collection.dimension), np.float32), [], [])
    levels = []
    for record in graph.stream(
        "stages/tree_members",
        label=label,
        collection=collection.name,
        level=level,
        embedding=collection.embedding,
        vectors=vectors,
    ):
        below.ids.append(record["id"])
        below.rests_on.append(record["rests_on"])
        below.parents.append(record["parents"])
        if vectors:
            levels.append(np.array(record["vector"], dtype=np.float32))
    if levels:
        below.vectors = np.stack(levels)
    return below


def _texts(graph: Graph, below: _Level, groups: Sequence[_Group]) -> dict[str, Member]:
    """Return the texts of the members of groups, by id."""
    ids = sorted({below.ids[i] for group in groups for i in group.members})
    return {r["id"]: dict(r) for r in graph.run("stages/tree_texts", label=below.label, ids=ids)}


def _members(below: _Level) -> dict[str, list[int]]:
    """Return the positions of the members of each summary."""
    members: dict[str, list[int]] = {}
    for i, parents in enumerate(below.parents):
        for parent in parents:
            members.setdefault(parent, []).append(i)
    return members


def _due(graph: Graph, collection: Collection, level: int, below: _Level, version: str | None) -> list[_Group]:
    """Return the summaries of a level whose members changed, or that another `version` wrote."""
    members = _members(below)
    due = []
    for record in graph.stream("stages/summaries", collection=collection.name, level=level):
        places = members.get(record["id"], [])
        rests_on = _rests_on(below, places)
        changed = record["rests_on"] != rests_on
        if places and (changed or (version is not None and record["made"] != version)):
            due.append(_Group(id=record["id"], rests_on=rests_on, changed=changed, members=places))
    return due


def _rests_on(below: _Level, places: Sequence[int]) -> str:
    """Return a hash of members and of the passages below them."""
    hashed = hashlib.blake2b(digest_size=8)
    for line in sorted(f"{below.ids[i]}:{below.rests_on[i]}" for i in places):
        hashed.update(line.encode())
    return hashed.hexdigest()
