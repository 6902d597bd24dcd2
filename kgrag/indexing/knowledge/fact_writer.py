"""Names and facts of a store -> the graph: as files of a bulk import, or in transactions."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from kgrag.graph import schema
from kgrag.graph.collections import NO_EMBEDDER, Collection
from kgrag.graph.connection import Graph
from kgrag.graph.csv_files import ARRAY_DELIMITER, CsvField
from kgrag.graph.local.bulk import Files
from kgrag.indexing.bulk import NUMBER, ImportToolSink
from kgrag.indexing.knowledge.store import EntityRow, FactRow, Store
from kgrag.indexing.new_collection.tables import EDGES
from kgrag.settings import IndexingSettings
from kgrag.text.languages import Language
from kgrag.text.tokens import caption, known_by, normalise
from kgrag.values.events import Progress
from kgrag.values.identity import entity_id, node_id

_T = TypeVar("_T")
_EVERY = 50_000
_ENTITIES, FACTS = 5000, 5000  # rows of a transaction
_NODES = {
    "Entity": ("id:ID(Entity)", "collection", "key", "name", "normal", "folded", "stemmed", "df:long", "ntit:long",
               "phrases:long", "named:boolean", "aliases:string[]", "wikipedia"),
    "Triple": ("id:ID(Triple)", "collection", "key", "name", "subject", "predicate", "object", "text"),
    "Collection": ("id:ID(Collection)", "name", "collection", "kind", "number:long", "embedder", "dimension:long",
                   "embedding", "settings", "language", "schema_version:long", "created:datetime", "passages:long",
                   "sources:string[]"),
    "Schema": ("id:ID(Schema)", "name", "collections:long", "touched:datetime"),
}  # fmt: skip
_EDGES = {kind: EDGES[kind] for kind in ("SUBJECT", "OBJECT")}


def triple_properties(collection: str, row: FactRow) -> dict[str, str]:
    """Return the properties of a fact in the order of its table, but for its collection.

    A predicate without a name has its key as one.
    """
    s, subject, p, predicate, o, object, note = row
    key, relation = f"{s} {p} {o}", predicate or p or "is tied to"
    return {
        "id": node_id(collection, "triple", key), "key": key, "name": caption(relation), "subject": subject,
        "predicate": relation, "object": object,
        "text": f"{subject} {relation} {object}" + (f" ({note})" if note else ""),
    }  # fmt: skip


def entity_properties(collection: str, row: EntityRow, language: Language) -> dict[str, Any]:
    """Return the properties of an entity without its collection and counts."""
    key, name, alias, wikipedia = row
    return {
        "id": entity_id(collection, key),
        "key": key,
        "name": name,
        **known_by(normalise(name, language), language),
        "aliases": [alias] if alias else None,
        "wikipedia": wikipedia,
    }


def write_files(
    folder: Path, name: str, source: str, language: Language, store: Store, progress: Progress, *, part: bool
) -> tuple[Files, int, int]:
    """Write the files of a bulk import; returns them, and how many entities and facts they hold."""
    sink = ImportToolSink(folder, nodes=_NODES, edges=_EDGES)
    now = CsvField(datetime.now(UTC).isoformat(timespec="milliseconds"))
    entities, facts = store.prepare(part=part)
    for row in _counted(store.entities(), "entities", entities, progress):
        p = entity_properties(name, row, language)
        alias = row[2] if row[2] and ARRAY_DELIMITER not in row[2] else None  # else complete_aliases writes it
        sink.write(
            "Entity", p["id"], name, p["key"], p["name"], p["normal"], p["folded"], p["stemmed"], 0, 0, 0, True, alias,
            p["wikipedia"],
        )  # fmt: skip
    for fact in _counted(store.facts(part=part), "facts", facts, progress):
        id, *values = triple_properties(name, fact).values()
        sink.write("Triple", id, name, *values)
        sink.link("SUBJECT", id, entity_id(name, fact[0]))
        sink.link("OBJECT", id, entity_id(name, fact[4]))
    sink.write("Schema", "kgrag/schema", "kgrag schema", NUMBER, now)
    settings = IndexingSettings().model_dump_json()
    about = (NUMBER, NO_EMBEDDER, 0, "", settings, language.code, schema.SCHEMA_VERSION, now, 0, source)
    sink.write("Collection", name, name, name, "knowledge", *about)
    return sink.close(), sink.nodes["Entity"].rows, sink.nodes["Triple"].rows


def complete_aliases(graph: Graph, collection: Collection, store: Store) -> None:
    """Write the aliases that a file of a bulk import cannot hold."""
    divided = (row for row in store.entities() if row[2] and ARRAY_DELIMITER in row[2])
    rows = (entity_properties(collection.name, row, collection.language) for row in divided)
    _write_entities(graph, collection, rows)


def _write_entities(graph: Graph, collection: Collection, rows: Iterator[dict[str, Any]]) -> None:
    labels = [collection.label("Entity")]
    for batch in _batches(rows, _ENTITIES):
        batch.sort(key=lambda row: str(row["id"]))
        graph.run("write/knowledge_entities", rows=batch, collection=collection.name, labels=labels)


def write_transactions(
    graph: Graph, collection: Collection, store: Store, progress: Progress, *, part: bool
) -> tuple[int, int]:
    """Write names and facts in transactions, without those of an interrupted run; return how many."""
    name, language = collection.name, collection.language
    entities, facts = store.prepare(part=part)
    done = store.written
    if not done:
        rows = (
            entity_properties(name, row, language) for row in _counted(store.entities(), "entities", entities, progress)
        )
        _write_entities(graph, collection, rows)
    labels, count = [collection.label("Triple")], 0
    for group in _batches(_counted(store.facts(part=part), "facts", facts, progress), FACTS):
        count += len(group)
        if count <= done:
            continue
        end = partial(entity_id, name)
        rows_of_facts = [
            {"properties": triple_properties(name, fact), "subject": end(fact[0]), "object": end(fact[4])}
            for fact in group
        ]
        graph.run("write/knowledge_triples", rows=rows_of_facts, collection=name, labels=labels)
        store.written = count
    return entities, count


def _counted(rows: Iterable[_T], stage: str, total: int, progress: Progress) -> Iterator[_T]:
    number = 0
    for number, row in enumerate(rows, 1):
        if number % _EVERY == 1:
            progress(stage, number - 1, total)
        yield row
    progress(stage, number, number)


def _batches(rows: Iterator[_T], size: int) -> Iterator[list[_T]]:
    while batch := list(islice(rows, size)):
        yield batch
