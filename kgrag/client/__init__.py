"""The public face of kgrag: a KnowledgeGraph with its Collections, and their asynchronous twins.

Each is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.client.aio import AsyncCollection as AsyncCollection
    from kgrag.client.aio import AsyncKnowledgeGraph as AsyncKnowledgeGraph
    from kgrag.client.collection import Collection as Collection
    from kgrag.client.graph import DEFAULT_COLLECTION as DEFAULT_COLLECTION
    from kgrag.client.graph import KnowledgeGraph as KnowledgeGraph
    from kgrag.client.remote import RemoteCollection as RemoteCollection
    from kgrag.client.remote import RemoteKnowledgeGraph as RemoteKnowledgeGraph
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "aio": "AsyncCollection AsyncKnowledgeGraph",
            "collection": "Collection",
            "graph": "DEFAULT_COLLECTION KnowledgeGraph",
            "remote": "RemoteCollection RemoteKnowledgeGraph",
        },
    )
