"""Mentions: which known names each passage holds. Names come from titles and triples; the graph is the gazetteer."""

from collections.abc import Mapping
from typing import Any

from kgrag.graph.connection import Unit
from kgrag.identity import entity_id
from kgrag.indexing.names import names_in
from kgrag.indexing.work import Work, phrase
from kgrag.text import normalise, stems

_BATCH = 1000


class Gazetteer:
    """The names of a collection: 64 bits of each entity's id stand for it, so that millions of names stay small."""

    def __init__(self, work: Work) -> None:
        self._collection = work.name
        stream = work.graph.stream("search/entity_ids", collection=work.name)
        self._known = {int(r["id"][:16], 16) for r in stream}

    def id(self, name: str) -> str | None:
        """The id of the entity with this normalised name, or None."""
        entity = entity_id(self._collection, name)
        return entity if int(entity[:16], 16) in self._known else None


def spread_names(work: Work) -> None:
    """Mark the passages that hold a new name, and count the titles of names that gained or lost one."""

    def phrases(ids: list[str]) -> list[str]:
        names = work.graph.run("search/entity_names", ids=ids)
        return [phrase(stems(r["normal"].split()), slop=1) for r in names]

    work.spread("entities", work.due("entities", "spread"), phrases, "mentions")
    for ids in work.batches(work.due("entities", "titles"), _BATCH, "titles"):

        def count(unit: Unit, ids: list[str] = ids) -> None:
            unit.run("write/count_titles", ids=ids)

        work.commit("entities", "titles", ids, count)


def link_mentions(work: Work) -> None:
    """Write the mentions of the passages that are marked, and count the passages of each name."""
    due = work.due("passages", "mentions")
    if not due:
        return
    gazetteer = Gazetteer(work)
    for ids in work.batches(due, _BATCH, "mentions"):
        rows = []
        for source in work.graph.run("search/mention_sources", ids=ids):
            rows.extend(mentions(source, gazetteer))

        def write(unit: Unit, ids: list[str] = ids, rows: list[dict[str, Any]] = rows) -> None:
            touched = unit.run("write/mentions", passages=ids, rows=rows)
            unit.run("write/count_mentions", ids=sorted(r["entity"] for r in touched))

        work.commit("passages", "mentions", ids, write)


def mentions(source: Mapping[str, Any], gazetteer: Gazetteer) -> list[dict[str, Any]]:
    """The mentions of one passage: names in its text, names within its title, and the names of its triples.

    `source`: a row of `cypher/search/mention_sources.cypher`; the rows given back are those of `write/mentions`.
    """
    found: dict[str, dict[str, Any]] = {}

    def add(entity: str | None, via: str, positions: list[int]) -> None:
        if entity is not None and entity not in found:
            found[entity] = {
                "passage": source["id"],
                "entity": entity,
                "via": via,
                "weight": 1.0,
                "positions": positions,
            }

    def is_known(name: str) -> bool:
        return gazetteer.id(name) is not None

    own = set(source["own"])

    def is_other(name: str) -> bool:
        entity = gazetteer.id(name)
        return entity is not None and entity not in own

    for name, positions in names_in(source["text"], is_known).items():
        add(gazetteer.id(name), "local", positions)
    for name, positions in names_in(source["title"], is_other, skip={normalise(source["title"])}).items():
        add(gazetteer.id(name), "title", positions)
    for entity in source["stated"]:
        add(entity, "triple", [])
    return list(found.values())
