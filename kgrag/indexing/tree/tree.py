"""The tree: passages are clustered and summed up, these summaries again, until few are left (RAPTOR, section 3).

The graph is the ledger. A level that is laid stays: passages that are added later go to the clusters that they are
nearest to, and only what has other members than when it was written, and what rests on that, is written again. What a
summary was made from is a hash of its members (`rests_on`); `made` says by what. Interrupted at any moment and run
again, it goes on: a level that was not laid whole is laid again, and no model is asked twice for the same summary.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelError
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.identity import node_id
from kgrag.indexing.asking import FailedPassage, Meter, Source, ask_each
from kgrag.indexing.finish import finish
from kgrag.indexing.tree.clusters import LEAST, SIZE, Cluster, soft_clusters
from kgrag.indexing.tree.summaries import EXTRACTED, TASK, Member, Said, asked, extracted, nearest_first, shown
from kgrag.models.budget import HIGH, LOW
from kgrag.models.embed import Embedder, unit
from kgrag.models.estimate import Estimate, estimate_calls
from kgrag.models.prompts import load_prompt
from kgrag.models.tasks import Tasks
from kgrag.settings import ChatSettings, Settings
from kgrag.text import caption
from kgrag.types import Progress, Usage

LEVELS = 5
"""Most levels of summaries (RAPTOR, its code)."""
_BATCH = 200  # summaries written at once
_EDGES = 2000  # edges written at once
_WRITTEN = 180  # tokens of a reply on average
_SHARPNESS = 20.0  # how fast the weight of a cluster falls with its distance, for what is added later


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What was done. `levels`: how many summaries each level has, from the lowest; `written`: summaries made, or made
    again; `left`: those that a model was to write and did not, the `failures` among them; `stopped`: why it ended.
    """

    levels: tuple[int, ...] = ()
    written: int = 0
    removed: int = 0
    left: int = 0
    failures: tuple[FailedPassage, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: ModelError | None = None


@dataclass(slots=True)
class _Level:
    """What is summed up: ids, unit vectors [n, d], what each says it rests on, and the summaries that it is in."""

    label: str
    ids: list[str]
    vectors: NDArray[np.float32]
    rests_on: list[str]
    parents: list[list[str]]


@dataclass(slots=True)
class _Group:
    """A summary that is to be written: the places of its members in the level below, and whether these have changed."""

    id: str
    members: list[int]
    rests_on: str
    changed: bool = True
    weights: Sequence[float] = ()


def build(
    graph: Graph,
    collection: Collection,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    tasks: Tasks | None = None,
    threads: int = 8,
    size: int = SIZE,
) -> TreeReport:
    """Make the tree of a collection, or bring it up to date; with `tasks` a model writes what it did not write yet.

    `size`: members of a summary on average, where a level is laid; one of so few or fewer has no other above it.
    When the budget is used up or the server is out of reach, what was received is written and the rest keeps the text
    that it had. Raises ConfigurationError when scikit-learn is not installed, DatabaseError.
    """
    return _Builder(graph, collection, embedder, settings, progress, size).build(tasks, threads)


def remove(graph: Graph, collection: Collection) -> int:
    """Remove all summaries; returns how many there were."""
    removed = 0
    graph.run("write/tree_laid", collection=collection.name, levels=0)
    while found := graph.run("write/remove_summaries", collection=collection.name, above=0, limit=5000)[0]["removed"]:
        removed += found
    return removed


def estimate(graph: Graph, collection: Collection, chat: ChatSettings, progress: Progress) -> Estimate:
    """What a model would take for all summaries that it has not written, once the tree is laid; nothing is asked.

    Summaries of summaries are taken to be read as long as replies usually are.
    """
    prompt = load_prompt(TASK, chat.prompts)
    around = sum(len(message.content) for message in prompt.messages(texts=""))
    calls, size = 0, 0
    levels = _laid(graph, collection)
    for level in range(1, levels + 1):
        below = _read(graph, collection, level - 1)
        groups = _due(graph, collection, level, below, prompt.version)
        for done, batch in enumerate(_batches(groups), 1):
            if level == 1:
                texts = _texts(graph, below, batch)
                size += sum(len(shown([texts[below.ids[i]] for i in g.members]).encode()) for g in batch)
            else:
                size += sum(round(len(g.members) * _WRITTEN * (LOW + HIGH) / 2) for g in batch)
            progress("summaries", min(done * _BATCH, len(groups)), len(groups))
        calls += len(groups)
        size += len(groups) * around
    return estimate_calls(chat, TASK, calls, size, _WRITTEN)


class _Builder:
    def __init__(
        self,
        graph: Graph,
        collection: Collection,
        embedder: Embedder,
        settings: Settings,
        progress: Progress,
        size: int,
    ) -> None:
        self.graph, self.collection, self.embedder = graph, collection, embedder
        self.settings, self.progress, self.size = settings, progress, size
        self.language = collection.language.code
        self.written = 0
        self.failures: list[FailedPassage] = []
        self.left = 0
        self.stopped: ModelError | None = None

    def build(self, tasks: Tasks | None, threads: int) -> TreeReport:
        """Level by level, from the passages up."""
        started = time.monotonic()
        finish(self.graph, self.collection, self.settings, self.progress, self.embedder)
        usage = Meter()
        tasks = tasks.with_listener(usage) if tasks is not None else None
        laid = _laid(self.graph, self.collection)
        removed = self._remove(laid)  # what a level that was not laid whole has left
        levels: list[int] = []
        while len(levels) < LEVELS:
            level = len(levels) + 1
            below = _read(self.graph, self.collection, level - 1)
            if level > laid:
                if len(below.ids) <= self.size:
                    break
                self._lay(level, below)
                below = _read(self.graph, self.collection, level - 1)
            else:
                self._place(level, below)
            removed += self.graph.run("write/remove_empty_summaries", collection=self.collection.name)[0]["removed"]
            self._write_again(level, below, tasks, threads)
            levels.append(len(_read(self.graph, self.collection, level).ids))
            if not levels[-1]:
                break
        return TreeReport(
            tuple(n for n in levels if n), self.written, removed, self.left, tuple(self.failures), usage.total,
            time.monotonic() - started, self.stopped,
        )  # fmt: skip

    def _remove(self, above: int) -> int:
        found = self.graph.run("write/remove_summaries", collection=self.collection.name, above=above, limit=1_000_000)
        return int(found[0]["removed"])

    def _lay(self, level: int, below: _Level) -> None:
        """Cluster what is below, and write the clusters with sentences of theirs; then the level is there."""
        self.progress(f"level {level}", 0, None)
        order = np.lexsort(below.vectors.T)  # of the vectors, not of ids, which are others under another name
        clusters = [
            Cluster(tuple(int(order[i]) for i in c.members), c.weights)
            for c in soft_clusters(below.vectors[order], self.size)
        ]
        groups = [self._group(level, below, cluster) for cluster in clusters]
        for start, batch in zip(range(0, len(groups), _BATCH), _batches(groups), strict=True):
            self.progress(f"level {level}", start, len(groups))
            self._write(level, below, batch, self._extracted(below, batch), EXTRACTED, new=True)
        self.progress(f"level {level}", len(groups), len(groups))
        self.graph.run("write/tree_laid", collection=self.collection.name, levels=level)

    def _group(self, level: int, below: _Level, cluster: Cluster) -> _Group:
        members = list(cluster.members)
        id = node_id(self.collection.name, "Summary", level, *sorted(below.ids[i] for i in members))
        return _Group(id, members, _rests_on(below, members), weights=cluster.weights)

    def _place(self, level: int, below: _Level) -> None:
        """Put what is in no cluster yet into those whose middles are nearest to it."""
        new = [i for i, parents in enumerate(below.parents) if not parents]
        members = _members(below)
        if not new or not members:
            return
        ids = sorted(members)
        middles = unit(np.stack([below.vectors[members[id]].mean(axis=0) for id in ids]))
        rows = []
        for start in range(0, len(new), 4096):
            places = new[start : start + 4096]
            nearness = _SHARPNESS * (below.vectors[places] @ middles.T)
            shares = np.exp(nearness - nearness.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            for i, row in zip(places, shares, strict=True):
                chosen = {int(row.argmax()), *map(int, np.flatnonzero(row >= LEAST))}
                rows.append(
                    {"member": below.ids[i], "ways": [{"summary": ids[k], "weight": float(row[k])} for k in chosen]}
                )
                below.parents[i] = [ids[k] for k in chosen]
        for start in range(0, len(rows), _EDGES):  # all edges of a member at once
            self.graph.run("write/summarised", label=below.label, rows=rows[start : start + _EDGES])

    def _write_again(self, level: int, below: _Level, tasks: Tasks | None, threads: int) -> None:
        """Write the summaries whose members have changed, and with a model those that it has not written."""
        version = tasks.prompt(TASK).version if tasks is not None else None
        due = _due(self.graph, self.collection, level, below, version)
        if tasks is not None:
            if self.stopped is None and due:
                due = self._ask(level, below, due, tasks, threads)
            self.left += len(due)
        for batch in _batches([group for group in due if group.changed]):
            self._write(level, below, batch, self._extracted(below, batch), EXTRACTED)

    def _ask(self, level: int, below: _Level, groups: list[_Group], tasks: Tasks, threads: int) -> list[_Group]:
        """Have a model write summaries; returns those that it did not write."""
        version = tasks.prompt(TASK).version
        left = {group.id: group for group in groups}

        def sources() -> Iterator[Source]:
            for batch in _batches(groups):
                for group, members in zip(batch, self._told(below, batch), strict=True):
                    yield {"id": group.id, "document": "", "title": members[0]["title"], "members": members}

        def write(replies: Mapping[str, Said]) -> None:
            self._write(level, below, [left.pop(id) for id in replies], list(replies.values()), version)

        def report(done: int, total: int) -> None:
            self.progress(f"summaries {level}", done, total)

        outcome = ask_each(sources(), len(groups), lambda s: asked(s["members"], tasks), write, report, threads)
        self.failures += outcome.failures
        self.stopped = outcome.stopped
        return list(left.values())

    def _told(self, below: _Level, groups: Sequence[_Group]) -> list[list[Member]]:
        """The members of groups, nearest to the middle first."""
        texts = _texts(self.graph, below, groups)
        return [nearest_first([texts[below.ids[i]] for i in g.members], below.vectors[g.members]) for g in groups]

    def _extracted(self, below: _Level, groups: Sequence[_Group]) -> list[Said]:
        middles = unit(np.stack([below.vectors[g.members].mean(axis=0) for g in groups]))
        return extracted(self._told(below, groups), middles, self.embedder, self.language)

    def _write(
        self, level: int, below: _Level, groups: Sequence[_Group], said: Sequence[Said], made: str, new: bool = False
    ) -> None:
        vectors = self.embedder.embed([s.text for s in said]).tolist()
        rows = [
            {
                "id": group.id,
                "vector": vector,
                "rests_on": group.rests_on,
                "name": caption(s.name),
                "title": s.name,
                "text": s.text,
                "members": [
                    {"id": below.ids[i], "weight": w} for i, w in zip(group.members, group.weights, strict=True)
                ]
                if new
                else [],
            }
            for group, s, vector in zip(groups, said, vectors, strict=True)
        ]
        self.graph.run(
            "write/summaries",
            label=below.label,
            rows=rows,
            collection=self.collection.name,
            labels=[self.collection.label("Summary")],
            embedding=self.collection.embedding,
            level=level,
            made=made,
        )
        self.written += len(rows)


def _laid(graph: Graph, collection: Collection) -> int:
    return int(graph.run("search/tree_laid", collection=collection.name)[0]["levels"])


def _read(graph: Graph, collection: Collection, level: int) -> _Level:
    """All passages (level 0), or the summaries of a level, by id."""
    label = "Summary" if level else "Passage"
    ids, vectors, rests_on, parents = [], [], [], []
    for record in graph.stream(
        "search/tree_members", label=label, collection=collection.name, level=level, embedding=collection.embedding
    ):
        ids.append(record["id"])
        vectors.append(np.array(record["vector"], dtype=np.float32))
        rests_on.append(record["rests_on"])
        parents.append(record["parents"])
    return _Level(
        label, ids, np.stack(vectors) if vectors else np.zeros((0, collection.dimension), np.float32), rests_on, parents
    )


def _texts(graph: Graph, below: _Level, groups: Sequence[_Group]) -> dict[str, Member]:
    """The texts of the members of groups, by id."""
    ids = sorted({below.ids[i] for group in groups for i in group.members})
    return {r["id"]: dict(r) for r in graph.run("search/tree_texts", label=below.label, ids=ids)}


def _members(below: _Level) -> dict[str, list[int]]:
    """The places of the members of each summary."""
    found: dict[str, list[int]] = {}
    for i, parents in enumerate(below.parents):
        for parent in parents:
            found.setdefault(parent, []).append(i)
    return found


def _due(graph: Graph, collection: Collection, level: int, below: _Level, version: str | None) -> list[_Group]:
    """The summaries of a level that have other members than when they were written, or that `version` did not write."""
    members = _members(below)
    due = []
    for record in graph.stream("search/summaries", collection=collection.name, level=level):
        places = members.get(record["id"], [])
        rests_on = _rests_on(below, places)
        changed = record["rests_on"] != rests_on
        if places and (changed or (version is not None and record["made"] != version)):
            due.append(_Group(record["id"], places, rests_on, changed))
    return due


def _rests_on(below: _Level, places: Sequence[int]) -> str:
    """A hash of members, and of what those rest on."""
    hashed = hashlib.blake2b(digest_size=8)
    for line in sorted(f"{below.ids[i]}:{below.rests_on[i]}" for i in places):
        hashed.update(line.encode())
    return hashed.hexdigest()


def _batches(groups: Sequence[_Group]) -> list[Sequence[_Group]]:
    return [groups[start : start + _BATCH] for start in range(0, len(groups), _BATCH)]
