"""Tagging: TAGME is asked once a passage for the Wikipedia articles that it speaks of (KGP, section 3.3).

What it finds are mentions: an article is the entity of its title's normal form, as for extraction with links. A mention
that the passage holds anyway stays one edge, with the way in which it was found; `tagme` is TAGME's rho in any case.
The graph is the ledger: a passage carries the settings that it was tagged with, written together with its mentions.
Broken off at any moment and run again, the passages that lack it are asked for, and no others.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.errors import ModelError
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Unit
from kgrag.identity import entity_id
from kgrag.indexing.asking import FailedPassage, ask_each, passage_sources
from kgrag.indexing.finish import finish
from kgrag.models.embed import Embedder
from kgrag.models.tagme import Annotation, Tagme, address
from kgrag.settings import Settings, TagmeSettings
from kgrag.text import normalise, tokens
from kgrag.types import Progress

_FORM = 1
"""Counts up when what is made of a reply changes."""
_STAGE = "tagging"
_BATCH = 64  # passages written at once, or fewer
_WAIT = 5.0  # seconds after which they are
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaggingReport:
    """What a tagging did.

    `passages` were tagged, which gave `mentions`. `left`: passages that still wait, the `failures` among them.
    `stopped`: why it ended early, if it did.
    """

    passages: int = 0
    mentions: int = 0
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    seconds: float = 0.0
    stopped: ModelError | None = None


def version(settings: TagmeSettings) -> str:
    """What tells the settings from others that give other mentions."""
    return f"{_FORM} {address(settings)} {settings.lang} {settings.threshold:g}"


def untagged(graph: Graph, collection: Collection, settings: TagmeSettings) -> list[str]:
    """The passages that were not tagged with these settings yet."""
    records = graph.stream("search/untagged", collection=collection.name, version=version(settings))
    return [record["id"] for record in records]


def tag(
    graph: Graph,
    collection: Collection,
    tagme: Tagme,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 4,
    limit: int | None = None,
) -> TaggingReport:
    """Tag the passages that were not tagged with these settings yet, `limit` of them at most.

    A passage that fails is listed. When the server is out of reach or refuses the token, what was received is written
    and the rest is left. Raises DatabaseError.
    """
    started = time.monotonic()
    waiting = untagged(graph, collection, settings.tagme)
    due = waiting[:limit]
    writer = _Writer(graph, collection, settings.tagme)

    def ask(source: Mapping[str, Any]) -> list[Annotation]:
        return tagme.annotate(source["text"])

    try:
        outcome = ask_each(
            passage_sources(graph, due),
            ask,
            writer.add,
            lambda failed: progress(_STAGE, writer.added + failed, len(due)),
            threads,
        )
    finally:
        writer.flush()
    finish(graph, collection, settings, progress, embedder)
    return TaggingReport(
        passages=writer.added,
        mentions=writer.mentions,
        failures=tuple(outcome.failures),
        left=len(waiting) - writer.added,
        seconds=time.monotonic() - started,
        stopped=outcome.stopped,
    )


def mention_rows(collection: str, source: Mapping[str, Any], found: Sequence[Annotation]) -> list[Row]:
    """The mentions that TAGME found in a passage, one an entity; keys as in `cypher/write/tagged_*`.

    Positions are word numbers from 0 in the title followed by the text, as for other mentions.
    """
    before = len(tokens(source["title"] or ""))
    rows: dict[str, Row] = {}
    spots: defaultdict[str, set[int]] = defaultdict(set)
    for annotation in sorted(found, key=lambda a: (-a.rho, a.title)):
        normal = normalise(annotation.title)
        if not normal:
            continue
        id = entity_id(collection, normal)
        entity = {"id": id, "name": annotation.title, "normal": normal, "wikipedia": annotation.title}
        row = {"passage": source["id"], "entity": id, "rho": annotation.rho, "wikipedia": annotation.title}
        rows.setdefault(id, row | {"node": entity})
        spots[id].add(before + len(tokens(source["text"][: annotation.start])))
    return [row | {"positions": sorted(spots[id])} for id, row in rows.items()]


class _Writer:
    """Writes what was found, some passages a transaction; `mentions` counts those of rho at the threshold or above."""

    def __init__(self, graph: Graph, collection: Collection, settings: TagmeSettings) -> None:
        self._graph, self._collection, self._settings = graph, collection, settings
        self._waiting: dict[str, list[Row]] = {}
        self._since = time.monotonic()
        self.added = self.mentions = 0

    def add(self, source: Mapping[str, Any], found: Sequence[Annotation]) -> None:
        """Take in what was found in a passage, and write when it is enough, or time."""
        if not self._waiting:
            self._since = time.monotonic()
        kept = [annotation for annotation in found if annotation.rho >= self._settings.threshold]
        self._waiting[source["id"]] = mention_rows(self._collection.name, source, kept)
        self.added += 1
        if len(self._waiting) >= _BATCH or time.monotonic() - self._since > _WAIT:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, {}
        if waiting:
            self.mentions += self._graph.write(lambda unit: self._write(unit, waiting))

    def _write(self, unit: Unit, waiting: Mapping[str, Sequence[Row]]) -> int:
        there = {r["id"] for r in unit.run("write/tagged", ids=sorted(waiting), version=version(self._settings))}
        gone = {r["entity"] for r in unit.run("write/remove_tagged", ids=sorted(there))}
        rows = [row for passage in sorted(there) for row in waiting[passage]]
        if rows:
            nodes: dict[str, Row] = {}
            for node in (row["node"] for row in rows):  # of two spellings of a title, the first
                nodes[node["id"]] = min(nodes.get(node["id"], node), node, key=lambda n: str(n["name"]))
            unit.run(
                "write/tagged_entities",
                rows=[nodes[id] for id in sorted(nodes)],
                collection=self._collection.name,
                labels=[self._collection.label("Entity")],
            )
            mentions = [{key: row[key] for key in row if key != "node"} for row in rows]
            unit.run("write/tagged_mentions", rows=sorted(mentions, key=lambda row: str(row["entity"])))
        if gone:
            unit.run("write/settle_entities", ids=sorted(gone))
        return len(rows)
