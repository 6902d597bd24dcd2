"""Empty indexes for collections that tests make: whenever one is made later, Neo4j plans every query anew."""

from kgrag.graph.collections import create_collection, create_knowledge, index_labels, list_collections
from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.indexing.removal import delete_collection
from kgrag.settings import IndexingSettings, Settings

_DOCUMENTS, _KNOWLEDGE = 14, 3  # collections that there are at once, about


def make_spare_indexes(graph: Graph) -> None:
    """Make collections, which leave their indexes when they are removed again."""
    for number in range(_DOCUMENTS):
        made = create_collection(graph, f"spare {number}", "wordllama", 256, IndexingSettings(), 0.0)
        index_labels(graph, made, *describe().labels("indexed"))
    for number in range(_KNOWLEDGE):
        create_knowledge(graph, f"spare facts {number}", "en", 0.0)
    for collection in list_collections(graph):
        delete_collection(graph, collection.name, Settings())
