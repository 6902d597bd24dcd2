"""Bringing a database up to date: its schema, and what the finish of an ingest makes."""

from contextlib import suppress

from kgrag.graph import migrations, schema
from kgrag.graph.collections import KNOWLEDGE, Collection, list_collections, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.holding import check_idle, collection_lock
from kgrag.indexing.finish import finish
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER
from kgrag.values.errors import BusyError
from kgrag.values.events import no_progress


def migrate(graph: Graph, settings: Settings) -> list[str]:
    """The steps that were taken; where there were none, what an interrupted one left is finished, in collections that
    nobody works on.

    Raises BusyError while somebody works on a collection of a database that is not current.
    """
    done: list[str] = []
    stemmed: list[str] = []
    if not schema.is_current(graph):
        check_idle(graph)
        done = migrations.migrate(graph)
    for collection in list_collections(graph):
        if collection.kind != KNOWLEDGE and collection.stemmer != STEMMER:
            with collection_lock(graph, collection.name, "migrate"):
                migrations.stem_anew(graph, collection.name)
                finish(graph, open_collection(graph, collection.name), settings, no_progress)
            stemmed.append(f"the words of collection {collection.name} by {STEMMER}")
        elif done:
            finish_migrated(graph, collection, settings)
        elif graph.run("stages/unfinished", collection=collection.name)[0]["number"]:
            with suppress(BusyError):
                finish_migrated(graph, collection, settings)
    return [*done, *stemmed]


def finish_migrated(graph: Graph, collection: Collection, settings: Settings) -> None:
    """Count and link what a migration has marked in a collection. Raises BusyError while somebody works on it."""
    with collection_lock(graph, collection.name, "migrate"):
        finish(graph, collection, settings, no_progress)
