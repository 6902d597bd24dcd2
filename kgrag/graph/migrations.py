"""Migrations: what brings a database of an older schema to the current one, version by version."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kgrag.graph.connection import Graph
from kgrag.graph.metadata import dated, from_properties, to_properties
from kgrag.graph.migrated_names import Names
from kgrag.graph.schema import (
    SCHEMA_VERSION,
    collections_held,
    ensure_fulltext_indexes,
    ensure_shared_indexes,
    ensure_vector_indexes,
    index_name,
    indexed_labels,
    keep_description,
    label_of,
    stored_state,
    unique_key,
    version_mismatch,
)
from kgrag.text.languages import STEMMER, language_of
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import LONGEST_CAPTION, caption, known_by, normalise

_NAMES = 2000  # entities a transaction

Held = Sequence[Mapping[str, Any]]
"""The properties of collections."""


def migrate(graph: Graph) -> list[str]:
    """Bring the database to the current schema version, step by step; returns what was done, nothing if up to date.

    Each step can be run again after it was interrupted; the version is recorded after each. Raises MismatchError for
    a database of a newer version.
    """
    unique_key(graph, "Schema")
    stored, described = stored_state(graph)
    version = stored or 0
    if version > SCHEMA_VERSION:
        raise version_mismatch(version)
    done: list[str] = []
    for target in range(version + 1, SCHEMA_VERSION + 1):
        done.append(_take(graph, target, collections_held(graph)))
        graph.run("write/set_version", version=target)
    keep_description(graph, described)
    return done


def migrate_collection(graph: Graph, name: str, version: int) -> list[str]:
    """Bring a collection that is as this older version made it to the version of its database; returns what was done.

    It can be run again after it was interrupted.
    """
    held = [collection for collection in collections_held(graph) if collection["name"] == name]
    return [_take(graph, target, held) for target in range(version + 1, SCHEMA_VERSION + 1)]


def _take(graph: Graph, target: int, held: Held) -> str:
    description, step = MIGRATIONS[target]
    step(graph, held)
    return f"{target - 1} -> {target}: {description}"


def _shared_indexes(graph: Graph, held: Held) -> None:
    """Versions 1, 3 and 4: the constraints and indexes that all collections share."""
    with graph.exclusively():
        ensure_shared_indexes(graph)


def _entity_vectors(graph: Graph, held: Held) -> None:
    """Version 2: vector indexes over entities; which names are similar is found when the next ingest finishes."""
    for collection in held:
        name = collection["name"]
        with graph.exclusively():
            number, dimension, embedding = (collection[key] for key in ("number", "dimension", "embedding"))
            ensure_vector_indexes(graph, number, dimension, embedding, indexed_labels(collection))
        graph.run("stages/due_named_entities", collection=name, stage="similar")
        graph.run("write/migrated_collection", name=name, version=2)


def _names(graph: Graph, held: Held) -> None:
    """Version 5: long names are shortened, for another property holds the whole text; runs keep their question so."""
    graph.run("write/run_questions")
    rows = [
        {"element": r["element"], "name": _shortened(r["name"], r["ordinal"])}
        for r in graph.stream("look_up/long_names", longest=LONGEST_CAPTION)
    ]
    for start in range(0, len(rows), 5000):
        graph.run("write/names", rows=rows[start : start + 5000])
    for collection in held:
        graph.run("write/migrated_collection", name=collection["name"], version=5)


def _searched(
    graph: Graph, held: Held, version: int, but: tuple[str, ...] = (), indexes: tuple[str, ...] = ("passage_stems",)
) -> None:
    """Versions 6, 8 and 9: headings and symbols are searched, since version 8 titles also by themselves, and names are
    told by new rules: all are counted again. Version 11: other stop words, except for the languages of `but`.

    What counts them is the finish of an ingest, which goes on from the marks that this leaves.
    """
    for collection in held:
        name, number = collection["name"], collection["number"]
        code = collection.get("language") or "en"
        if code in but:
            graph.run("write/migrated_collection", name=name, version=version)
            continue
        language = language_of(code)
        graph.run("write/uncount_words", collection=name)
        graph.run("write/uncount_names", collection=name)
        passages = (
            (r["id"], TokenisedPassage(r["title"], r["text"], r["section"], language))
            for r in graph.stream("look_up/passage_texts", collection=name)
        )
        rows = [
            {"id": id, "stems": p.stems(), "title_stems": p.title_stems(), "sentences": p.sentences()}
            for id, p in passages
        ]
        for start in range(0, len(rows), 1000):
            graph.run("write/recount_passages", rows=rows[start : start + 1000])
        with graph.exclusively():  # an index of the same name stays what it was
            for index in indexes:
                graph.run("schema/drop_index", index=index_name(index, number))
            ensure_fulltext_indexes(graph, number, indexed_labels(collection))
        graph.run("write/stemmed_by", name=name, stemmer=STEMMER)
        graph.run("write/migrated_collection", name=name, version=version)


def stem_anew(graph: Graph, name: str) -> None:
    """Make the stems of a collection anew, whose words another stemmer has stemmed; can be run again."""
    held = [collection for collection in collections_held(graph) if collection["name"] == name]
    _searched(graph, held, version=SCHEMA_VERSION)


def _sentences(graph: Graph, held: Held) -> None:
    """Version 7: passages have their sentences in stems; names of triples are looked for in texts no longer, and
    mentions say what triples are about: where there are triples, the finish of an ingest finds the mentions again.
    """
    while rows := graph.run("look_up/without_sentences", limit=5000):
        graph.run(
            "write/sentences",
            rows=[
                {"id": r["id"], "sentences": TokenisedPassage(r["title"] or "", r["text"]).sentences()} for r in rows
            ],
        )
    for collection in held:
        name = collection["name"]
        if graph.run("inspect/layers", collection=name, layers=["triples"])[0]["found"]:
            graph.run("stages/due_all_passages", collection=name, stage="mentions")
        graph.run("write/migrated_collection", name=name, version=7)


def _identities(graph: Graph, held: Held) -> None:
    """Version 13: names that differ by a sign, a mark or the point of a number are entities of their own.

    What titles, headings and triples name is named anew; the rest follows from the texts, which are counted again.
    """
    for collection in held:
        if collection.get("kind") == "knowledge":
            _known_by(graph, collection)
            continue
        names = Names(collection["name"], language_of(collection.get("language") or "en"))
        for row in graph.stream("look_up/named_documents", collection=names.collection):
            names.add_document(row)
            names = _written(graph, collection, names)
        for row in graph.stream("look_up/stated", collection=names.collection):
            names.add_triple(row)
            names = _written(graph, collection, names)
        _written(graph, collection, names, least=0)
    documents = [collection for collection in held if collection.get("kind") != "knowledge"]
    _searched(graph, documents, version=13, indexes=("passage_stems", "entity_name"))


def _written(graph: Graph, collection: Mapping[str, Any], names: Names, least: int = _NAMES) -> Names:
    """The names that are not written yet: none, if they are enough for a transaction."""
    if len(names.entities) < least:
        return names
    rows = sorted(names.entities.values(), key=lambda row: str(row["id"]))
    labels = [label_of("Entity", collection["number"])]
    graph.run("write/entities", rows=rows, collection=names.collection, labels=labels)
    for label in ("Document", "Passage"):
        graph.run("write/about", label=label, rows=names.about[label])
        graph.run("write/not_about", label=label, rows=names.kept[label])
    graph.run("write/other_ends", rows=names.ends)
    return Names(names.collection, names.language)


def _known_by(graph: Graph, collection: Mapping[str, Any]) -> None:
    """Entities with keys of their own: what they are known by beside these."""
    language, number = language_of(collection.get("language") or "en"), collection["number"]
    rows = [
        {"id": r["id"], **known_by(normalise(r["name"], language), language)}
        for r in graph.stream("look_up/entities_by_name", collection=collection["name"])
    ]
    for start in range(0, len(rows), _NAMES):
        graph.run("write/known_by", rows=rows[start : start + _NAMES])
    with graph.exclusively():
        graph.run("schema/drop_index", index=index_name("entity_name", number))
        ensure_fulltext_indexes(graph, number, indexed_labels(collection))
    graph.run("write/migrated_collection", name=collection["name"], version=13)


def _metadata(graph: Graph, held: Held, version: int) -> None:
    """Version 10: lists of a document's metadata are properties, in which filters look. Version 12: so is its date."""
    for collection in held:
        name = collection["name"]
        rows = []
        for r in graph.stream("look_up/document_metadata", collection=name):
            metadata = from_properties(r["properties"])
            properties = to_properties(metadata) | dated(metadata)
            if not properties.items() <= r["properties"].items():
                rows.append({"id": r["id"], "properties": properties})
        for start in range(0, len(rows), 5000):
            graph.run("write/metadata", rows=rows[start : start + 5000])
        graph.run("write/migrated_collection", name=name, version=version)


def _links(graph: Graph, held: Held) -> None:
    """Version 14: documents lead to those that they link to, which the finish of an ingest finds by their metadata."""
    for collection in held:
        if collection.get("kind") != "knowledge":
            graph.run("write/unlink", collection=collection["name"], any=True)
        graph.run("write/migrated_collection", name=collection["name"], version=14)


def _shortened(name: str, ordinal: int | None) -> str:
    prefix = "" if ordinal is None else f"{ordinal + 1} · "
    return prefix + caption(name.removeprefix(prefix)) if name.startswith(prefix) else caption(name)


MIGRATIONS: dict[int, tuple[str, Callable[[Graph, Held], None]]] = {
    1: ("constraints, and indexes by collection and by work left", _shared_indexes),
    2: ("vector indexes over entities; the next ingest into a collection finds its similar names", _entity_vectors),
    3: ("constraints and indexes for kept runs and their steps", _shared_indexes),
    4: ("constraints and indexes for pages and tables", _shared_indexes),
    5: ("long names are shortened", _names),
    6: ("headings and symbols are searched, and names found by new rules", partial(_searched, version=6)),
    7: ("sentences in stems; names are found again where there are triples", _sentences),
    8: ("titles are a field of their own; names found by new rules", partial(_searched, version=8)),
    9: ("names found by new rules", partial(_searched, version=9)),
    10: ("filters look into lists of metadata", partial(_metadata, version=10)),
    11: ("stop words of other languages than English", partial(_searched, version=11, but=("en", "xx"))),
    12: ("documents have the date that their metadata say", partial(_metadata, version=12)),
    13: ("names that differ by a sign, a mark or a point are two", _identities),
    14: ("documents lead to those that they link to", _links),
}
"""Schema version -> what the step to it does, and the step."""
