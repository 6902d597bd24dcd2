"""The schema: constraints and indexes of the database, those of each collection, and the versions they went through."""

from collections.abc import Callable

from kgrag.errors import MismatchError
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.text import LONGEST_NAME, caption

SCHEMA_VERSION = 5
SLOTS = ("embedding", "embedding_b")
_FULLTEXT = {"passage_text": "Passage", "passage_stems": "Passage", "triple_text": "Triple", "entity_name": "Entity"}
_WITH_VECTORS = ("Passage", "Triple", "Entity")
_WITH_WORK = ("passage", "entity", "word")
_LABELS = ("document", "passage", "keyword", "word", "entity", "triple", "run", "step", "page", "table")


def ensure_schema(graph: Graph) -> None:
    """Make the constraints and indexes that all collections share, and describe the graph in it, unless that is done.

    Raises MismatchError when the database was written by an older or newer schema.
    """
    version, described = _stored(graph)
    if version is not None and version != SCHEMA_VERSION:
        raise version_mismatch(version)
    if version is None:
        graph.run("schema/schema_id")
        with graph.exclusively():
            if stored_version(graph) is None:
                ensure_shared_indexes(graph)
                graph.run("write/set_version", version=SCHEMA_VERSION)
    _describe(graph, described)


def stored_version(graph: Graph) -> int | None:
    """The schema version of the database, or None when kgrag never wrote to it."""
    return _stored(graph)[0]


def _stored(graph: Graph) -> tuple[int | None, str | None]:
    """The schema version of the database, and the digest of the description that it holds."""
    records = graph.run("schema/version")
    return (records[0]["version"], records[0]["described"]) if records else (None, None)


def _describe(graph: Graph, described: str | None) -> None:
    """Keep the description of the graph in the Schema node, unless it holds this one."""
    description = describe()
    if described != description.digest():
        graph.run("write/describe", digest=description.digest(), **description.lines())


def check_schema(graph: Graph) -> None:
    """Raise MismatchError when the database was written by an older or newer schema; an empty one is fine."""
    version = stored_version(graph)
    if version not in (None, SCHEMA_VERSION):
        raise version_mismatch(version)


def version_mismatch(version: int) -> MismatchError:
    """The error for a database of another schema version, with its remedy."""
    if version < SCHEMA_VERSION:
        return MismatchError(
            f"The database has schema version {version}; this kgrag works with {SCHEMA_VERSION}.",
            "Run `kgrag migrate` to bring it up to date (your documents and vectors stay).",
        )
    return MismatchError(
        f"The database has schema version {version}; this kgrag knows only {SCHEMA_VERSION}.",
        "Install the newer kgrag that wrote it: pip install --upgrade kgrag.",
    )


def migrate(graph: Graph) -> list[str]:
    """Bring the database to the current schema version, step by step; returns what was done, nothing if up to date.

    Each step can be run again after it was broken off; the version is recorded after each. Raises MismatchError for
    a database of a newer version.
    """
    graph.run("schema/schema_id")
    stored, described = _stored(graph)
    version = stored or 0
    if version > SCHEMA_VERSION:
        raise version_mismatch(version)
    done: list[str] = []
    for target in range(version + 1, SCHEMA_VERSION + 1):
        description, step = MIGRATIONS[target]
        step(graph)
        graph.run("write/set_version", version=target)
        done.append(f"{target - 1} -> {target}: {description}")
    _describe(graph, described)
    return done


def ensure_shared_indexes(graph: Graph) -> None:
    """Make the constraints and indexes that all collections share, unless they are there."""
    graph.run("schema/collection_name")
    for label in _LABELS:
        graph.run(f"schema/{label}_id")
        graph.run(f"schema/{label}_collection")
    graph.run("schema/entity_stemmed")
    for label in _WITH_WORK:
        graph.run(f"schema/{label}_todo")
    graph.run("schema/await", seconds=300)


def _entity_vectors(graph: Graph) -> None:
    """Version 2: vector indexes over entities; which names are similar is found when the next ingest finishes."""
    for record in graph.run("search/collections", name=None):
        collection = record["collection"]
        if collection.get("removing"):
            continue
        name, number, slot = collection["name"], collection["number"], collection["embedding"]
        with graph.exclusively():
            ensure_vector_indexes(graph, number, collection["dimension"], slot)
        graph.run("write/due_named_entities", collection=name, stage="similar")
        graph.run("write/migrated_collection", name=name, version=2)


def _runs(graph: Graph) -> None:
    """Version 3: constraints and indexes for runs that are kept, and their steps."""
    for label in ("run", "step"):
        graph.run(f"schema/{label}_id")
        graph.run(f"schema/{label}_collection")
    graph.run("schema/await", seconds=300)
    for record in graph.run("search/collections", name=None):
        graph.run("write/migrated_collection", name=record["collection"]["name"], version=3)


def _pages(graph: Graph) -> None:
    """Version 4: constraints and indexes for pages and tables."""
    for label in ("page", "table"):
        graph.run(f"schema/{label}_id")
        graph.run(f"schema/{label}_collection")
    graph.run("schema/await", seconds=300)
    for record in graph.run("search/collections", name=None):
        graph.run("write/migrated_collection", name=record["collection"]["name"], version=4)


def _names(graph: Graph) -> None:
    """Version 5: long names are shortened, for another property holds the whole text; runs keep their question so."""
    graph.run("write/run_questions")
    rows = [
        {"element": r["element"], "name": _shortened(r["name"], r["ordinal"])}
        for r in graph.stream("search/long_names", longest=LONGEST_NAME)
    ]
    for start in range(0, len(rows), 5000):
        graph.run("write/names", rows=rows[start : start + 5000])
    for record in graph.run("search/collections", name=None):
        graph.run("write/migrated_collection", name=record["collection"]["name"], version=5)


def _shortened(name: str, ordinal: int | None) -> str:
    prefix = "" if ordinal is None else f"{ordinal + 1} · "
    return prefix + caption(name.removeprefix(prefix)) if name.startswith(prefix) else caption(name)


MIGRATIONS: dict[int, tuple[str, Callable[[Graph], None]]] = {
    1: ("constraints, and indexes by collection and by work left", ensure_shared_indexes),
    2: ("vector indexes over entities; the next ingest into a collection finds its similar names", _entity_vectors),
    3: ("constraints and indexes for kept runs and their steps", _runs),
    4: ("constraints and indexes for pages and tables", _pages),
    5: ("long names are shortened", _names),
}
"""Schema version -> what the step to it does, and the step."""


def index_name(kind: str, number: int) -> str:
    """The name of an index of a collection: kind is the name of its file under cypher/schema."""
    return f"{kind}_c{number}"


def label_of(label: str, number: int) -> str:
    """The label that the nodes of a kind carry in one collection, besides `label` itself: Passage_c7."""
    return f"{label}_c{number}"


def ensure_collection_indexes(graph: Graph, name: str, number: int, dimension: int, embedding: str) -> None:
    """Make the vector and full-text indexes of a collection, unless they are there, and wait until they answer."""
    with graph.exclusively():
        ensure_fulltext_indexes(graph, number)
        ensure_vector_indexes(graph, number, dimension, embedding)
    await_collection_indexes(graph, number, embedding)
    graph.run("write/collection_indexed", name=name)


def await_collection_indexes(graph: Graph, number: int, embedding: str, seconds: int = 3600) -> None:
    """Wait until the indexes of a collection answer. Raises DatabaseError if they do not in time."""
    for name in collection_indexes(number, embedding):
        graph.run("schema/await_index", index=name, seconds=seconds)


def collection_indexes(number: int, embedding: str) -> list[str]:
    """The names of the indexes that a collection has of its own."""
    kinds = (*_FULLTEXT, *(f"{label.lower()}_{embedding}" for label in _WITH_VECTORS))
    return [index_name(kind, number) for kind in kinds]


def shared_indexes() -> list[str]:
    """The names of the indexes that all collections share: each is that of its file under cypher/schema."""
    each = [f"{label}_{kind}" for label in _LABELS for kind in ("id", "collection")]
    return ["collection_name", *each, "entity_stemmed", *(f"{label}_todo" for label in _WITH_WORK)]


def ensure_fulltext_indexes(graph: Graph, number: int) -> None:
    """Make the full-text indexes of a collection, unless they are there."""
    for kind, label in _FULLTEXT.items():
        graph.run_schema(f"schema/{kind}", label_of(label, number), index=index_name(kind, number))


def ensure_vector_indexes(graph: Graph, number: int, dimension: int, embedding: str) -> None:
    """Make the vector indexes of a collection on the property `embedding`, unless they are there."""
    for label in _WITH_VECTORS:
        kind = f"{label.lower()}_{embedding}"
        graph.run_schema(f"schema/{kind}", label_of(label, number), index=index_name(kind, number), dimension=dimension)


def drop_vector_indexes(graph: Graph, number: int, embedding: str) -> None:
    """Drop the vector indexes of a collection on the property `embedding`."""
    for label in _WITH_VECTORS:
        graph.run("schema/drop_index", index=index_name(f"{label.lower()}_{embedding}", number))


def drop_collection_indexes(graph: Graph, number: int) -> None:
    """Drop every index of a collection."""
    for kind in _FULLTEXT:
        graph.run("schema/drop_index", index=index_name(kind, number))
    for slot in SLOTS:
        drop_vector_indexes(graph, number, slot)
