"""Tagging: TAGME is asked once a passage for the Wikipedia articles that it speaks of (KGP, section 3.3).

What it finds are mentions: an article is the entity of its title's normal form, as for extraction with links. A mention
that the passage holds anyway stays one edge, with the way in which it was found; `tagme` is TAGME's rho in any case.
The graph is the ledger: a passage carries the settings that it was tagged with, written together with its mentions.
Interrupted at any moment and run again, the passages that lack it are asked for, and no others.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.ask_each import FailedPassage, Source, ask_each, passage_sources, unread
from kgrag.indexing.finish import finish
from kgrag.indexing.titles import Titles
from kgrag.models.embed import Embedder
from kgrag.models.tagme import TITLES, Annotation, Tagme, address
from kgrag.settings import Settings, TagmeSettings
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import folded_name, normalise, tokens
from kgrag.values.errors import ModelError
from kgrag.values.events import Progress
from kgrag.values.identity import entity_id

OF = " of "
"""Stands in a version before what is linked to."""
_FORM = 1
"""Counts up when what is made of a reply changes."""
_STAGE = "tagging"
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
    """What distinguishes the settings from others that give other mentions."""
    return f"{_FORM} {address(settings)} {settings.lang} {settings.threshold:g}"


def _version(graph: Graph, collection: Collection, settings: TagmeSettings) -> str:
    """The same; where titles are linked to, with a digest of them, so that new ones are linked to everywhere."""
    if settings.endpoint != TITLES:
        return version(settings)
    titles = "\0".join(row["title"] or "" for row in graph.stream("look_up/titles", collection=collection.name))
    digest = hashlib.blake2b(titles.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{version(settings)}{OF}{digest}"


def untagged(graph: Graph, collection: Collection, settings: TagmeSettings) -> list[str]:
    """The passages that were not tagged with these settings yet."""
    return unread(graph, collection, "tagged", _version(graph, collection, settings))


def tag(
    graph: Graph,
    collection: Collection,
    tagme: Tagme | None,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 4,
    limit: int | None = None,
    engine: Engine = IN_PROCESS,
) -> TaggingReport:
    """Tag the passages that were not tagged with these settings yet, `limit` of them at most.

    `tagme`: None takes the titles of the collection's own documents in its place (see `titles`). A passage that fails
    is listed. When the server is out of reach or refuses the token, what was received is written and the rest is left.
    Raises DatabaseError.
    """
    started = time.monotonic()
    waiting = untagged(graph, collection, settings.tagme)
    due = waiting[:limit]
    mentions = 0
    its = _version(graph, collection, settings.tagme)
    if tagme is not None:
        annotate = tagme.annotate
    elif due:
        annotate = Titles(_all_sources(graph, collection), collection.language).annotate

    def ask(source: Mapping[str, Any]) -> list[Row]:
        found = annotate(source["text"])
        kept = [annotation for annotation in found if annotation.rho >= settings.tagme.threshold]
        rows = mention_rows(collection.name, source, kept, collection.language)
        return rows if tagme is not None else [_no_article(row) for row in rows]

    def write(tagged: Mapping[str, list[Row]]) -> None:
        nonlocal mentions
        mentions += graph.write(lambda tx: _write(tx, collection, its, tagged))

    outcome = ask_each(passage_sources(graph, due), len(due), ask, write, partial(progress, _STAGE), threads)
    finish(graph, collection, settings, progress, embedder, engine=engine)
    return TaggingReport(
        passages=outcome.written,
        mentions=mentions,
        failures=tuple(outcome.failures),
        left=len(waiting) - outcome.written,
        seconds=time.monotonic() - started,
        stopped=outcome.stopped,
    )


def _all_sources(graph: Graph, collection: Collection) -> Iterator[Source]:
    """All passages, document by document."""
    return passage_sources(graph, unread(graph, collection, "tagged", "none has this"))


def _no_article(row: Row) -> Row:
    """A mention of a title that is no article of Wikipedia."""
    return row | {"wikipedia": None, "node": row["node"] | {"wikipedia": None}}


def mention_rows(
    collection: str, source: Mapping[str, Any], found: Sequence[Annotation], language: Language = ENGLISH
) -> list[Row]:
    """The mentions that TAGME found in a passage, one an entity; keys as in `cypher/write/tagged_*`.

    Positions are word numbers from 0 in the title followed by the text, as for other mentions.
    """
    before = len(tokens(source["title"] or "", language))
    rows: dict[str, Row] = {}
    spots: defaultdict[str, set[int]] = defaultdict(set)
    for annotation in sorted(found, key=lambda a: (-a.rho, a.title)):
        normal = normalise(annotation.title, language)
        if not normal:
            continue
        id = entity_id(collection, normal)
        known_by = {"normal": normal, "folded": folded_name(normal)}
        entity = {"id": id, "name": annotation.title, **known_by, "wikipedia": annotation.title}
        row = {"passage": source["id"], "entity": id, "rho": annotation.rho, "wikipedia": annotation.title}
        rows.setdefault(id, row | {"node": entity})
        spots[id].add(before + len(tokens(source["text"][: annotation.start], language)))
    return [row | {"positions": sorted(spots[id])} for id, row in rows.items()]


def _write(tx: Transaction, collection: Collection, version: str, tagged: Mapping[str, Sequence[Row]]) -> int:
    """Write the mentions of passages that are still there; returns how many."""
    there = {r["id"] for r in tx.run("write/tagged", ids=sorted(tagged), version=version)}
    gone = {r["entity"] for r in tx.run("write/remove_tagged", ids=sorted(there))}
    rows = [row for passage in sorted(there) for row in tagged[passage]]
    if rows:
        nodes: dict[str, Row] = {}
        for node in (row["node"] for row in rows):  # of two spellings of a title, the first
            nodes[node["id"]] = min(nodes.get(node["id"], node), node, key=lambda n: str(n["name"]))
        tx.run(
            "write/tagged_entities",
            rows=[nodes[id] for id in sorted(nodes)],
            collection=collection.name,
            labels=[collection.label("Entity")],
        )
        mentions = [{key: row[key] for key in row if key != "node"} for row in rows]
        tx.run("write/tagged_mentions", rows=sorted(mentions, key=lambda row: str(row["entity"])))
    if gone:
        tx.run("write/settle_entities", ids=sorted(gone))
    return len(rows)
