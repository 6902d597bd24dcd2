"""The public face of kgrag: a KnowledgeGraph is a context manager that ingests, searches, answers and deletes."""

from kgrag.client.analysing import Analysing
from kgrag.client.asking import Asking
from kgrag.client.building import Building
from kgrag.client.connected import DEFAULT_COLLECTION

__all__ = ["DEFAULT_COLLECTION", "KnowledgeGraph"]


class KnowledgeGraph(Building, Asking, Analysing):
    """A Neo4j database with collections of documents. Safe to share between threads; close it, or use `with`.

    >>> with KnowledgeGraph.local() as kg:
    ...     kg.ingest("notes/", collection="notes")
    ...     for hit in kg.search("Who designed the ship?", collection="notes"):
    ...         print(hit.score, hit.passage.title, hit.why)
    """
