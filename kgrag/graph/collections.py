"""Collections: namespaces with their own labels, indexes, embedder and settings."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgrag.graph import schema
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.settings import IndexingSettings
from kgrag.text.languages import ENGLISH, STEMMER, Language, language_of
from kgrag.values.errors import ConfigurationError, MismatchError, NotFoundError

DEFAULT_COLLECTION = "default"
DOCUMENTS = "documents"
KNOWLEDGE = "knowledge"
_FIRST = {DOCUMENTS: ("Passage", "Entity"), KNOWLEDGE: ("Entity", "Triple")}
_AHEAD = 3  # future collections whose indexes are created together with those of a new one
NO_EMBEDDER = "none"
"""The embedder of a collection that has no vectors."""
FIRST_LOAD = "first load"
"""The mark of a collection, in place of an export's id, while its first documents are written."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The record of a collection in the graph.

    `embedding`: the property of its current vectors. `reembedding`: the embedder of vectors that are being computed.
    `discard`: the property of old vectors that will be removed. Each of the two has fields that name an index outside
    the graph. `indexed`: the labels with indexes. `created`: the time as text, which distinguishes later collections
    with the same name and number. `language`: the language of its texts. `stemmer`: the stemmer of its stems. `kind`:
    DOCUMENTS or KNOWLEDGE, which has facts without passages and vectors, imported from files with the fingerprints
    `sources`. `fact_schema`: the schema of facts as JSON, or empty. `attachment`: the nodes of another graph used as
    documents, as JSON, or empty. `rereading`: its texts are being processed again in another language. `loading`: its
    first load was killed, or is running.
    """

    name: str
    number: int
    embedder: str
    dimension: int
    embedding: str
    schema_version: int
    indexing: IndexingSettings
    reembedding: str | None = None
    reembedding_dimension: int = 0
    discard: str | None = None
    discard_embedder: str = ""
    discard_dimension: int = 0
    indexed: tuple[str, ...] = ()
    created: str = ""
    language: Language = ENGLISH
    kind: str = DOCUMENTS
    sources: tuple[str, ...] = ()
    stemmer: str = STEMMER
    fact_schema: str = ""
    attachment: str = ""
    rereading: bool = False
    loading: bool = False

    def label(self, label: str) -> str:
        """Return the label that nodes of this kind have in this collection alone."""
        return schema.label_of(label, self.number)

    def index(self, kind: str) -> str:
        """Return the name of one of its full-text indexes."""
        return schema.index_name(kind, self.number)

    def vector_index(self, label: str) -> str:
        """Return the name of the vector index on its passages, triples or entities."""
        return schema.index_name(f"{label.lower()}_{self.embedding}", self.number)


def list_collections(graph: Graph) -> list[Collection]:
    """Return every collection, by name."""
    unusable = ("removing", "importing")
    return [recorded(record) for record in _recorded(graph) if not any(map(record.get, unusable))]


def find_collection(graph: Graph, name: str, *, unfinished: bool = False) -> Collection | None:
    """Return the collection of that name, in one round trip; with `unfinished`, also one whose first load was killed.

    Raises MismatchError for another schema version, and for an unfinished load, import or removal.
    """
    records = _recorded(graph, name) if name else []
    if not records:
        return None
    properties = records[0]
    if properties.get("removing"):
        raise MismatchError(
            f"The removal of collection {name!r} was interrupted.",
            f"Finish it with `kgrag delete --collection {name} --yes`.",
        )
    if properties.get("importing") == FIRST_LOAD and not unfinished:
        raise MismatchError(
            f"The first load of collection {name!r} was interrupted, or is running.",
            f"Run the same `kgrag ingest` again, or give it up with `kgrag delete --collection {name} --yes`.",
        )
    if properties.get("importing") not in (None, FIRST_LOAD):
        raise MismatchError(
            f"The import of collection {name!r} was interrupted, or is running.",
            f"Finish it with the same `kgrag import`, or give it up with `kgrag delete --collection {name} --yes`.",
        )
    return recorded(properties)


def find_import(graph: Graph, name: str) -> tuple[Collection, str, int] | None:
    """Return a collection with an unfinished import, the export's id, and the counts of imported nodes and edges."""
    records = graph.run("look_up/collections", name=name) if name else []
    properties = records[0]["collection"] if records else {}
    if properties.get("removing") or properties.get("importing") in (None, FIRST_LOAD):
        return None
    return recorded(properties), properties["importing"], properties["imported"]


def open_collection(graph: Graph, name: str) -> Collection:
    """Return the collection of that name. Raises NotFoundError, with the existing names, if it does not exist."""
    collection = find_collection(graph, name)
    if collection is None:
        names = ", ".join(c.name for c in list_collections(graph)) or "none yet"
        raise NotFoundError(
            f"There is no collection {name!r} (there are: {names}).",
            f"Make it with `kgrag ingest PATH... --collection {name}`.",
        )
    return collection


def choose_collection(graph: Graph) -> str:
    """Return the default collection: "default", or the only one. Raises NotFoundError if there is neither."""
    records = list_collections(graph)
    names = [c.name for c in records if c.kind == DOCUMENTS] or [c.name for c in records]
    if DEFAULT_COLLECTION in names:
        return DEFAULT_COLLECTION
    if len(names) == 1:
        return names[0]
    if not names:
        raise NotFoundError("There are no collections yet.", "Make one with: kgrag ingest PATH...  or try: kgrag demo")
    raise NotFoundError(
        f"Which collection? There are: {', '.join(names)}.",
        "Name one with --collection, or set KGRAG_COLLECTION; in Python ask it: kg[NAME].",
    )


def check_documents(collection: Collection) -> Collection:
    """Return the collection. Raises MismatchError if it has only facts, or another stemmer."""
    if collection.kind == KNOWLEDGE:
        raise MismatchError(
            f"Collection {collection.name!r} holds facts of a knowledge graph, and no passages.",
            f"Ask a collection of documents, with this one beside it: --knowledge {collection.name}. "
            "More facts go into it with `kgrag import --format wikidata` or `kgrag import --format triples`.",
        )
    if collection.stemmer != STEMMER:
        raise MismatchError(
            f"The words of collection {collection.name!r} were stemmed by {collection.stemmer}, and this is {STEMMER}, "
            "which would not find all of them.",
            f"`kgrag db repair {collection.name}` stems them; or install {collection.stemmer.replace(' ', '==')}.",
        )
    return collection


def no_documents(name: str) -> NotFoundError:
    """Return the error for a search in a collection without documents."""
    return NotFoundError(f"Collection {name!r} holds no documents yet.", "Add documents, and ask about them.")


def create_knowledge(graph: Graph, name: str, language: str, unused_seconds: float) -> Collection:
    """Return the collection of kind knowledge of that name, and create it if necessary (see `create_collection`).

    Raises MismatchError if it is a collection of documents.
    """
    check_name(name)
    schema.ensure_schema(graph, begins=True)
    settings = IndexingSettings().model_dump_json()
    properties = {"kind": KNOWLEDGE, "embedder": NO_EMBEDDER, "dimension": 0, "embedding": "", "settings": settings}
    properties |= {"language": language}
    graph.run("write/create_collection", name=name, properties=properties, unused_seconds=unused_seconds, ahead=0)
    return ensure_indexes(graph, check_knowledge(open_collection(graph, name)))


def check_knowledge(collection: Collection) -> Collection:
    """Return the collection. Raises MismatchError if it holds documents."""
    if collection.kind != KNOWLEDGE:
        raise MismatchError(
            f"Collection {collection.name!r} holds documents, not the facts of a knowledge graph.",
            "Name a collection that `kgrag import --format wikidata` or `kgrag import --format triples` made.",
        )
    return collection


def check_embedder(collection: Collection, embedder: str, dimension: int | None = None) -> None:
    """Raise MismatchError if the collection has another embedder or another dimension."""
    if collection.embedder != embedder:
        raise MismatchError(
            f"Collection {collection.name!r} was embedded with {collection.embedder!r}, not {embedder!r}.",
            f"Leave out --embedder to go on with {collection.embedder!r}, or change it with "
            f"`kgrag db reembed {collection.name} --embedder {embedder}`.",
        )
    if dimension is not None and collection.dimension != dimension:
        raise MismatchError(
            f"Collection {collection.name!r} holds vectors of {collection.dimension} numbers; "
            f"{embedder!r} now gives {dimension}.",
            f"Embed it again with `kgrag db reembed {collection.name} --embedder {embedder}`.",
        )


def check_indexing(collection: Collection, settings: IndexingSettings) -> None:
    """Raise MismatchError if a setting given by the user differs from the collection's."""
    for key in settings.model_fields_set:
        if getattr(settings, key) != getattr(collection.indexing, key):
            if key == "language":
                raise MismatchError(
                    f"Collection {collection.name!r} is read in the language {collection.language.code!r}, "
                    f"not {settings.language!r}.",
                    f"Change it with `kgrag db relanguage {collection.name} --language {settings.language}`, or leave "
                    "out --language and KGRAG_INDEXING__LANGUAGE.",
                )
            raise MismatchError(
                f"Collection {collection.name!r} was made with {key} = {getattr(collection.indexing, key)}, "
                f"not {getattr(settings, key)}.",
                f"Unset KGRAG_INDEXING__{key.upper()}, or ingest into a new collection.",
            )


def create_collection(
    graph: Graph, name: str, embedder: str, dimension: int, indexing: IndexingSettings, unused_seconds: float
) -> Collection:
    """Return the collection of that name, and create it with its indexes if necessary. Concurrent creators share one.

    It takes over spare indexes, or the indexes of a collection that was removed at least `unused_seconds` ago. Without
    spares it creates some more, since Neo4j replans all queries after every new index.
    """
    check_name(name)
    schema.ensure_schema(graph, begins=True)
    properties = {
        "embedder": embedder,
        "dimension": dimension,
        "embedding": schema.SLOTS[0],
        "settings": indexing.model_dump_json(),
        "language": indexing.language or "en",
        "stemmer": STEMMER,
    }
    created = graph.run(
        "write/create_collection", name=name, properties=properties, unused_seconds=unused_seconds, ahead=_AHEAD
    )
    collection = open_collection(graph, name)
    check_embedder(collection, embedder, dimension)
    ahead = [number for record in created for number in record["ahead"]]
    return index_labels(graph, collection, *_FIRST[collection.kind], ahead=ahead)


def check_name(name: str) -> None:
    """Raise ConfigurationError if a new collection cannot have that name.

    Names are part of URLs, where proxies and browsers change / and ..
    """
    if not name or len(name) > 200 or any(ord(c) < 32 or c in "/\\" for c in name) or name in (".", ".."):
        raise ConfigurationError(
            f"{name!r} cannot be the name of a collection.", "Use 1 to 200 characters without line breaks, / and \\."
        )


def ensure_indexes(graph: Graph, collection: Collection, *labels: str) -> Collection:
    """Create the missing indexes of a collection, and of these labels.

    Indexes may be missing because their creator was stopped, or because this release knows another label.
    """
    schema.ensure_schema(graph)
    return index_labels(graph, collection, *_FIRST[collection.kind], *labels)


def index_labels(graph: Graph, collection: Collection, *labels: str, ahead: Sequence[int] = ()) -> Collection:
    """Create the indexes of these labels before their first nodes are written.

    `ahead`: numbers of future collections that get the same indexes.

    An index is created when it is needed, since Neo4j replans every query after a change of indexes, and each index
    slows every write.
    """
    own = [label for label in dict.fromkeys(labels) if describe().node(label).indexed]
    missing = tuple(label for label in own if label not in collection.indexed)
    if missing:
        name, number, dimension = collection.name, collection.number, collection.dimension
        schema.ensure_collection_indexes(graph, name, number, dimension, collection.embedding, missing, ahead)
        collection = replace(collection, indexed=(*collection.indexed, *missing))
    return collection


def needed_labels(collection: Collection, present: Iterable[str]) -> tuple[str, ...]:
    """Return the labels whose indexes a collection needs, from its record and the labels `present` in it."""
    names = (*_FIRST[collection.kind], *collection.indexed, *present)
    return tuple(label for label in dict.fromkeys(names) if describe().node(label).indexed)


def _recorded(graph: Graph, name: str = "") -> list[dict[str, Any]]:
    """Return the properties of every collection, or of one. Raises MismatchError for another schema version."""
    records = graph.run("look_up/collections", name=name)
    if records:
        schema.check_version(records[0]["version"])
    else:
        schema.check_schema(graph)
    return [record["collection"] for record in records]


def recorded(properties: dict[str, Any]) -> Collection:
    """Return a collection from the properties of its node."""
    return Collection(
        name=properties["name"],
        number=properties["number"],
        embedder=properties["embedder"],
        dimension=properties["dimension"],
        embedding=properties["embedding"],
        schema_version=properties["schema_version"],
        indexing=IndexingSettings(**json.loads(properties["settings"])),
        reembedding=properties.get("reembedding"),
        reembedding_dimension=properties.get("reembedding_dimension") or 0,
        discard=properties.get("discard"),
        discard_embedder=properties.get("discard_embedder") or "",
        discard_dimension=properties.get("discard_dimension") or 0,
        indexed=schema.indexed_labels(properties),
        created=str(properties.get("created")),
        language=language_of(properties.get("language") or "en"),
        kind=properties.get("kind") or DOCUMENTS,
        sources=tuple(properties.get("sources") or ()),
        stemmer=properties.get("stemmer") or STEMMER,
        fact_schema=properties.get("fact_schema") or "",
        attachment=properties.get("attachment") or "",
        rereading=properties.get("stemmer") == "",
        loading=properties.get("importing") == FIRST_LOAD,
    )
