"""The schema: constraints and indexes of the database, those of each collection, and its version."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.description import Fulltext, NodeKind, describe
from kgrag.values.errors import MismatchError
from kgrag.values.installing import update_hint

SCHEMA_VERSION = 15
READABLE = (14, SCHEMA_VERSION)
"""The versions of exports and backups that can be read; `upgrade` brings a database of the first to the second."""
OURS = "Kgrag"
"""The label of every node that kgrag makes: nodes of others may carry the other labels, too."""
SLOTS = ("embedding", "embedding_b")
_PATIENCE = 24 * 3600  # seconds: of five million vectors an index takes more than an hour


def ensure_schema(graph: Graph, *, begins: bool = False) -> None:
    """Create the constraints and indexes of every label, and store the description of the graph, unless that is done.

    A new label of the registry gets its indexes at the next write. Raises MismatchError for another schema version,
    and for constraints of others (see `check_constraints`) where a database or a collection (`begins`) begins.
    """
    version, described = stored_state(graph)
    check_version(version)
    if version is None or begins:
        check_constraints(graph)
    if version is None:
        graph.run("schema/labels", labels=describe().labels("all"))
        graph.run("schema/unique")
        graph.run("write/set_version", version=SCHEMA_VERSION)
    keep_description(graph, described)


def stored_version(graph: Graph) -> int | None:
    """Return the schema version of the database, or None if kgrag never wrote to it."""
    return stored_state(graph)[0]


def stored_state(graph: Graph) -> tuple[int | None, str | None]:
    """Return the schema version of the database, and the digest of its description."""
    records = graph.run("schema/version")
    return (records[0]["version"], records[0]["described"]) if records else (None, None)


def keep_description(graph: Graph, described: str | None) -> None:
    """Store this description of the graph in the Schema node and make its indexes, unless they exist."""
    description = describe()
    if described == description.digest():
        return
    with graph.exclusively():
        ensure_shared_indexes(graph)
        if described:  # as an older kgrag made them
            for number in graph.run("write/no_spare_indexes")[0]["numbers"]:
                drop_collection_indexes(graph, number)
        for collection in collections_held(graph) if described else ():
            number, labels = collection["number"], indexed_labels(collection)
            ensure_fulltext_indexes(graph, number, labels)
            ensure_vector_indexes(graph, number, collection["dimension"], collection["embedding"], labels)
    graph.run("write/describe", digest=description.digest(), **description.lines())


def check_schema(graph: Graph) -> None:
    """Raise MismatchError if the database has an older or newer schema. An empty database is fine."""
    check_version(stored_version(graph))


def check_version(version: int | None) -> None:
    """Raise MismatchError for an older or newer schema version. None means an empty database."""
    if version is not None and version != SCHEMA_VERSION:
        raise version_mismatch("The database", version)


def upgrade(graph: Graph) -> bool:
    """Bring a database of schema 14 to this one in place, and return whether it was of that schema.

    Every node gets the label Kgrag, and one constraint on it replaces those on single labels. A killed upgrade is
    completed by the next one: the version is written last.
    """
    if stored_version(graph) != READABLE[0]:
        return False
    labels = describe().labels("all")
    for label in labels:
        graph.run("schema/drop_constraint", index=f"{label.lower()}_{'name' if label == 'Collection' else 'id'}")
    names = graph.run("write/own_schema")[0]["names"]
    for label in labels:
        graph.run("write/own_nodes", label=label, collections=names)
    for name in names:
        graph.run("write/held", ids=[], collection=name)
    graph.run("schema/unique")
    graph.run("write/set_version", version=SCHEMA_VERSION)
    keep_description(graph, stored_state(graph)[1])
    return True


def check_constraints(graph: Graph) -> None:
    """Raise MismatchError where a constraint of others refuses nodes of kgrag."""
    for row in graph.run("inspect/constraints_of_others", labels=describe().labels("all")):
        raise MismatchError(
            f"The constraint {row['name']} on {row['label']} ({', '.join(row['properties'])}) is not kgrag's, and "
            "nodes that kgrag makes with this label would break it.",
            "Nothing was changed. Use another database (KGRAG_NEO4J_URI, KGRAG_NEO4J_DATABASE), or drop it.",
        )


def version_mismatch(what: str, version: int) -> MismatchError:
    """Return the error for a database, an export or a backup (`what`) of another schema version."""
    if version in READABLE:
        return MismatchError(
            f"{what} was made by a kgrag with schema {version}; this one has {SCHEMA_VERSION}.",
            "`kgrag db repair` brings it to this schema in place; no text is embedded or paid for again.",
        )
    remedy = f"Update kgrag ({update_hint()})" if version > SCHEMA_VERSION else "Go on with the kgrag that made it"
    return MismatchError(
        f"{what} was made by a kgrag with schema {version}; this one has {SCHEMA_VERSION}.",
        f"Nothing was changed. {remedy}, or ingest the documents again into a new database, "
        "which KGRAG_HOME or KGRAG_NEO4J_URI names.",
    )


def ensure_shared_indexes(graph: Graph) -> None:
    """Create the constraints and indexes that all collections share, if they are missing."""

    def make(tx: Transaction) -> None:
        tx.run("schema/unique")
        for node in describe().nodes:
            for index, properties in _ranges(node).items():
                tx.run("schema/range", label=node.label, properties=properties, index=index)
            for index, name in _texts(node).items():
                tx.run("schema/text", label=node.label, properties=[name], index=index)

    graph.write(make)
    await_all(graph)


def await_all(graph: Graph) -> None:
    """Wait until all indexes of the database are online. Raises DatabaseError after a day."""
    graph.run("schema/await", seconds=_PATIENCE)


def _ranges(node: NodeKind) -> dict[str, list[str]]:
    """Return the names and properties of the range indexes of a label. Each is named after its last property.

    If that property also has a text index of that name, the range index is named after both properties.
    """
    each = [["collection"], *(["collection", name] for name in node.ranges)] if node.held else []
    return {
        f"{node.label.lower()}_{'_'.join(properties if properties[-1] in node.texts else properties[-1:])}": properties
        for properties in each
    }


def _texts(node: NodeKind) -> dict[str, str]:
    """Return the names and properties of the text indexes of a label."""
    return {f"{node.label.lower()}_{name}": name for name in node.texts}


def collections_held(graph: Graph) -> list[dict[str, Any]]:
    """Return the properties of the collections that are not being deleted."""
    names = [record["collection"] for record in graph.run("look_up/collections", name="")]
    return [collection for collection in names if not collection.get("removing")]


def indexed_labels(collection: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels whose indexes a collection has, from the properties of its node."""
    return tuple(collection.get("indexed") or ())


def index_name(kind: str, number: int) -> str:
    """Return the name of an index of a collection. `kind`: label and property, such as passage_text."""
    return f"{kind}_c{number}"


def label_of(label: str, number: int) -> str:
    """Return the label of a kind of nodes in one collection, such as Passage_c7."""
    return f"{label}_c{number}"


def labels_of(label: str, number: int) -> list[str]:
    """Return all labels of a kind of nodes in one collection: Passage, Passage_c7 and Kgrag; Document and Kgrag."""
    return [label, label_of(label, number), OURS] if describe().node(label).indexed else [label, OURS]


def ensure_collection_indexes(
    graph: Graph,
    name: str,
    number: int,
    dimension: int,
    embedding: str,
    labels: Collection[str],
    ahead: Sequence[int] = (),
) -> None:
    """Create the missing indexes of a collection on some labels, and wait until they are online.

    `ahead`: the numbers of future collections that get the same indexes.
    """
    numbers = (number, *ahead)

    def make(tx: Transaction) -> None:
        for each in numbers:
            ensure_fulltext_indexes(tx, each, labels)
            ensure_vector_indexes(tx, each, dimension, embedding, labels)

    with graph.exclusively():
        graph.write(make)
    indexes = [index for each in numbers for index in collection_indexes(each, embedding, labels)]
    graph.run("schema/await_indexes", indexes=indexes, seconds=_PATIENCE)
    spare = [" ".join((str(dimension), str(each), "0", *labels)) for each in ahead]
    graph.run("write/collection_indexed", name=name, labels=list(labels), spare=spare)


def await_collection_indexes(graph: Graph, number: int, embedding: str, labels: Collection[str]) -> None:
    """Wait until the indexes of a collection are online. Raises DatabaseError after a time-out."""
    graph.run("schema/await_indexes", indexes=collection_indexes(number, embedding, labels), seconds=_PATIENCE)


def collection_indexes(number: int, embedding: str, labels: Collection[str] | None = None) -> list[str]:
    """Return the names of a collection's own indexes on these labels, or on any."""
    selection = describe().labels("indexed") if labels is None else labels
    return [*_fulltext(number, selection), *_vectors(number, embedding, selection)]


def index_states(graph: Graph, number: int, embedding: str, labels: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the indexes that a collection needs for these labels, and the shared ones.

    Name -> row of `cypher/inspect/indexes.cypher`, or {} if the index is missing.
    """
    names = [*collection_indexes(number, embedding, labels), *shared_indexes()]
    states = {record["name"]: dict(record) for record in graph.run("inspect/indexes", names=names)}
    return {name: states.get(name, {}) for name in names}


def shared_indexes() -> list[str]:
    """Return the names of the constraints and indexes that all collections share."""
    return ["kgrag_id", *(name for node in describe().nodes for name in (*_ranges(node), *_texts(node)))]


def _fulltext(number: int, labels: Collection[str]) -> dict[str, tuple[str, Fulltext]]:
    """Return the full-text indexes of a collection by name, with their labels."""
    return {
        index_name(f"{node.label.lower()}_{index.name}", number): (label_of(node.label, number), index)
        for node in describe().nodes
        if node.label in labels
        for index in node.fulltext
    }


def _vectors(number: int, embedding: str, labels: Collection[str]) -> dict[str, str]:
    """Return the vector indexes of a collection on the property `embedding` by name, with their labels."""
    embedded = describe().labels("embedded") if embedding else ()  # knowledge has no vectors
    return {
        index_name(f"{label.lower()}_{embedding}", number): label_of(label, number)
        for label in embedded
        if label in labels
    }


def ensure_fulltext_indexes(graph: Graph | Transaction, number: int, labels: Collection[str]) -> None:
    """Create the missing full-text indexes of a collection on these labels."""
    for name, (label, index) in _fulltext(number, labels).items():
        graph.run("schema/fulltext", label=label, properties=index.on, index=name, analyzer=index.analyzer)


def ensure_vector_indexes(
    graph: Graph | Transaction, number: int, dimension: int, embedding: str, labels: Collection[str]
) -> None:
    """Create the missing vector indexes of a collection on these labels and the property `embedding`.

    They use one byte per number (SCALAR). One bit (BINARY), the default since 2026, misses a fourth of the ten nearest.
    Call it after a write, since a newer server refuses the newer setting until the database is written to.
    """
    version = graph.run("schema/server_version")[0]["version"]
    typed = int(version.partition(".")[0]) >= 2026
    scalar = {"vector.quantization.type": "SCALAR"} if typed else {"vector.quantization.enabled": True}
    config = {"vector.dimensions": dimension, "vector.similarity_function": "cosine", **scalar}
    for name, label in _vectors(number, embedding, labels).items():
        graph.run("schema/vector", label=label, properties=[embedding], index=name, config=config)


def refill_fulltext_indexes(graph: Graph, name: str, labels: Collection[str]) -> None:
    """Reindex all nodes of a collection in its full-text indexes."""
    for label in labels:
        properties = [name for index in describe().node(label).fulltext for name in index.on]
        for marked in (True, False) if properties else ():
            graph.run("write/index_texts_anew", label=label, collection=name, properties=properties, marked=marked)


def renew_fulltext_indexes(graph: Graph, number: int, labels: Collection[str]) -> None:
    """Rebuild the full-text indexes of a collection, and wait until they are online.

    The new indexes replace the old ones in one transaction. Searches wait until the new ones are filled.
    """
    indexes = list(_fulltext(number, labels))

    def renew(tx: Transaction) -> None:
        for index in indexes:
            tx.run("schema/drop_index", index=index)
        ensure_fulltext_indexes(tx, number, labels)

    with graph.exclusively():
        graph.write(renew)
    graph.run("schema/await_indexes", indexes=indexes, seconds=_PATIENCE)


def drop_vector_indexes(graph: Graph, number: int, embedding: str) -> None:
    """Drop the vector indexes of a collection on the property `embedding`."""
    _drop(graph, _vectors(number, embedding, describe().labels("indexed")))


def drop_collection_indexes(graph: Graph, number: int) -> None:
    """Drop every index of a collection."""
    labels = describe().labels("indexed")
    _drop(graph, [*_fulltext(number, labels), *(name for slot in SLOTS for name in _vectors(number, slot, labels))])


def _drop(graph: Graph, names: Iterable[str]) -> None:
    for record in graph.run("inspect/indexes", names=list(names)):
        graph.run("schema/drop_index", index=record["name"])
