"""Bringing a database up to date: its schema, and what the finish of an ingest makes."""

from kgrag.graph import migrations, schema
from kgrag.graph.collections import list_collections
from kgrag.graph.connection import Graph
from kgrag.graph.holding import check_idle, collection_lock
from kgrag.indexing.finish import finish
from kgrag.settings import Settings
from kgrag.values.events import no_progress


def migrate(graph: Graph, settings: Settings) -> list[str]:
    """The steps that were taken: none where the database is current, whoever works on a collection.

    Raises BusyError while somebody works on a collection of one that is not.
    """
    if schema.is_current(graph):
        return []
    check_idle(graph)
    done = migrations.migrate(graph)
    for collection in list_collections(graph) if done else ():
        with collection_lock(graph, collection.name, "migrate"):
            finish(graph, collection, settings, no_progress)
    return done
