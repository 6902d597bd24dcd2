"""The public face of kgrag: a KnowledgeGraph with its Collections, and their asynchronous twins."""

from kgrag.client.aio import AsyncCollection, AsyncKnowledgeGraph
from kgrag.client.collection import Collection
from kgrag.client.graph import DEFAULT_COLLECTION, KnowledgeGraph
from kgrag.client.remote import RemoteCollection, RemoteKnowledgeGraph

__all__ = [
    "DEFAULT_COLLECTION",
    "AsyncCollection",
    "AsyncKnowledgeGraph",
    "Collection",
    "KnowledgeGraph",
    "RemoteCollection",
    "RemoteKnowledgeGraph",
]
