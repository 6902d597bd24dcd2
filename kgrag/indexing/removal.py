"""Removal: documents by their keys, or a whole collection; interrupted and run again, it goes on where it was."""

from collections.abc import Iterable

from kgrag.graph.collections import Collection, open_collection, recorded
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.indexing import document_writer as writer
from kgrag.indexing.finish import finish
from kgrag.indexing.index_sync import index_of
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Progress
from kgrag.values.identity import document_id


def delete_documents(
    graph: Graph,
    collection: Collection,
    keys: Iterable[str],
    settings: Settings,
    progress: Progress,
    *,
    missing_ok: bool = False,
) -> int:
    """Delete documents; returns the passages removed.

    Raises NotFoundError for a key that does not exist, before anything is removed; with `missing_ok` it is passed over.
    """
    ids = {document_id(collection.name, key): key for key in keys}
    there = {r["id"] for r in graph.run("look_up/content_hashes", ids=list(ids))}
    known = [id for id in ids if id in there]
    missing = [key for id, key in ids.items() if id not in there]
    if missing and not missing_ok:
        raise NotFoundError(
            f"Collection {collection.name!r} has no document {', '.join(map(repr, missing))}.",
            "A document's key is its path as ingested, or its id column; `kgrag search … --json` shows it.",
        )
    removed = 0
    for number, id in enumerate(known):
        progress("removal", number, len(known))
        removed += writer.remove_document(graph, collection, id)
    finish(graph, collection, settings, progress, removed=True)
    return removed


def delete_collection(graph: Graph, name: str, settings: Settings) -> int:
    """Delete a collection with all it holds; returns the passages removed. Raises NotFoundError, naming those there.

    Its passage index outside the graph goes first, since nothing would name it afterwards.
    """
    records = graph.run("look_up/collections", name=name)
    if not records:
        open_collection(graph, name)  # raises NotFoundError
    collection = recorded(records[0]["collection"])
    if (index := index_of(collection, settings)) is not None:
        index.drop()
    nodes = count_nodes(graph, name)
    writer.remove_collection(graph, collection, sum(nodes.values()))
    return nodes.get("Passage", 0)
