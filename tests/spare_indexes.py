"""Empty indexes for test collections, since Neo4j replans every query whenever an index is made."""

from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.graph.schema import SLOTS, await_all, ensure_fulltext_indexes, ensure_schema, ensure_vector_indexes

_DOCUMENTS, _KNOWLEDGE = 14, 3  # approximate maximum of collections at once
_DIMENSION = 256  # of the built-in embedder


def make_spare_indexes(graph: Graph) -> None:
    """Make indexes like those that removed collections leave."""
    ensure_schema(graph)
    kinds = [(_DIMENSION, SLOTS[0], describe().labels("indexed"))] * _DOCUMENTS
    kinds += [(0, "", ("Entity", "Triple"))] * _KNOWLEDGE
    spare = []
    for number, (dimension, embedding, labels) in enumerate(kinds, start=1):
        ensure_fulltext_indexes(graph, number, labels)
        ensure_vector_indexes(graph, number, dimension, embedding, labels)
        spare.append(f"{dimension} {number} 0 {' '.join(labels)}")
    await_all(graph)
    text = "MATCH (s:Schema) SET s.collections = size($spare), s.spare_indexes = $spare"
    graph.driver.execute_query(text, spare=spare)
