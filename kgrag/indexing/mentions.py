"""Mentions: which known names each passage holds. The graph is the gazetteer.

Names come from titles, from triples, and from capitalised phrases; a name of one word counts only while the corpus
writes that word with a capital more often than not. Source: the PathRank recipe, index, 3 to 5.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from kgrag.graph.connection import Transaction
from kgrag.identity import entity_id, word_id
from kgrag.indexing.language import named_entities
from kgrag.indexing.work import Work, phrase
from kgrag.names import capitalised_phrases, find_names
from kgrag.text import stems, tokens

_BATCH = 1000
Row = dict[str, Any]


class Gazetteer:
    """The names of a collection that are looked for in texts."""

    def __init__(self, collection: str, known: set[str], pipeline: str | None = None) -> None:
        """`known`: normal forms; `pipeline`: of spaCy, which finds more names in a text."""
        self.known = known
        self.pipeline = pipeline
        self._collection = collection

    @classmethod
    def of_graph(cls, work: Work) -> Self:
        """The gazetteer as the graph has it now."""
        known: set[str] = set()
        single: list[str] = []
        for record in work.graph.stream("search/gazetteer", collection=work.name):
            if " " in record["name"]:
                known.add(record["name"])
            else:
                single.append(record["name"])
        known.update(_proper(work, single))
        return cls(work.name, known, work.collection.indexing.pipeline)

    def entity(self, name: str) -> str:
        """The id that an entity with this normalised name has, whether there is one or not."""
        return entity_id(self._collection, name)


def _proper(work: Work, single: Sequence[str]) -> Iterator[str]:
    """Those names of one word that the corpus writes with a capital more often than not."""
    for start in range(0, len(single), 10_000):
        part = single[start : start + 10_000]
        words = [word_id(work.name, stem) for stem in stems(part)]
        proper = set(work.graph.run("search/proper_words", ids=sorted(set(words)))[0]["ids"])
        yield from (name for name, word in zip(part, words, strict=True) if word in proper)


def bits(id: str) -> int:
    """The first 64 bits of a node's id."""
    return int(id[:16], 16)


def spread_names(work: Work) -> None:
    """Mark the passages that hold a new name, and count the titles of names that gained or lost one."""

    def phrases(ids: list[str]) -> list[str]:
        names = work.graph.run("search/entity_names", ids=ids)
        return [phrase(stems(r["normal"].split()), slop=1) for r in names]

    work.spread("Entity", "spread", phrases, "mentions")
    for ids in work.batches(work.due("Entity", "titles"), _BATCH, "titles"):

        def count(tx: Transaction, ids: list[str] = ids) -> None:
            tx.run("write/count_titles", ids=ids)

        work.commit("Entity", "titles", ids, count)


def link_mentions(work: Work) -> None:
    """Write the mentions of the passages that are marked, and count the passages of each name."""
    due = work.due("Passage", "mentions")
    if not due:
        return
    gazetteer = Gazetteer.of_graph(work)
    for ids in work.batches(due, _BATCH, "mentions"):
        sources = work.graph.run("search/mention_sources", ids=ids)
        found: dict[str, dict[str, Row]] = {}
        phrases: dict[str, dict[str, str]] = {}
        for source in sources:
            found[source["id"]], phrases[source["id"]] = mentions(source, gazetteer)
        tried = {entity: name for entities in phrases.values() for entity, name in entities.items()}
        single = {name for name in tried.values() if " " not in name}
        common = single.difference(_proper(work, sorted(single)))
        rare = sorted(entity for entity, name in tried.items() if name not in common)
        add_rare(found, phrases, set(work.graph.run("search/rare_names", ids=rare)[0]["ids"]))
        rows = [{"id": passage, "mentions": list(its.values())} for passage, its in found.items()]

        def write(tx: Transaction, rows: list[Row] = rows) -> None:
            touched = {mention["entity"] for row in rows for mention in row["mentions"]}
            touched.update(tx.run("write/mentions", rows=rows)[0]["before"])
            tx.run("write/count_mentions", ids=sorted(touched))

        work.commit("Passage", "mentions", ids, write)


def mentions(source: Mapping[str, Any], gazetteer: Gazetteer) -> tuple[dict[str, Row], dict[str, str]]:
    """The mentions of one passage by entity: names in its text, names within its title, those that
    spaCy finds, the names of its triples.

    And those of its capitalised phrases that the gazetteer leaves out: entity -> name.
    `source`: a row of `cypher/search/mention_sources.cypher`; the maps given back are those of `write/mentions`.
    Positions are word numbers from 0 in the title followed by the text, as in the passage's stems.
    """
    found: dict[str, Row] = {}
    title, text = tokens(source["title"]), tokens(source["text"])
    own = set(source["own"])
    known = gazetteer.known

    def is_other(name: str) -> bool:
        return name in known and gazetteer.entity(name) not in own

    for name, positions in find_names(text, known.__contains__).items():
        entity = gazetteer.entity(name)
        found[entity] = {"entity": entity, "via": "local", "positions": [len(title) + p for p in positions]}
    for name, positions in find_names(title, is_other, skip={" ".join([t.norm for t in title])}).items():
        entity = gazetteer.entity(name)
        before = found[entity]["positions"] if entity in found else []
        found[entity] = {"entity": entity, "via": "title", "positions": positions + before}
    for entity in map(gazetteer.entity, named_entities(source["text"], gazetteer.pipeline)):
        found.setdefault(entity, {"entity": entity, "via": "spacy", "positions": None})
    for entity in source["stated"]:
        if entity not in found:
            found[entity] = {"entity": entity, "via": "triple", "positions": None}
    phrases = {gazetteer.entity(name): name for name in capitalised_phrases(text) if name not in known}
    return found, {entity: name for entity, name in phrases.items() if entity not in found}


def add_rare(found: dict[str, dict[str, Row]], phrases: Mapping[str, Iterable[str]], rare: Container[str]) -> None:
    """Add the mentions of names that one passage alone holds (`rare`); `phrases`: passage -> entities to be tried."""
    for passage, entities in phrases.items():
        for entity in entities:
            if entity in rare:
                found[passage][entity] = {"entity": entity, "via": "phrase", "positions": None}
