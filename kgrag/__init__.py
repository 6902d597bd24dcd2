"""kgrag: documents become a graph in Neo4j; questions are answered by walking it."""

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.client import AsyncKnowledgeGraph, KnowledgeGraph

__version__ = "0.1.0"
__all__ = ["AsyncKnowledgeGraph", "KnowledgeGraph", "__version__"]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # whoever wants to read the log adds one


def __getattr__(name: str) -> Any:
    if name in ("AsyncKnowledgeGraph", "KnowledgeGraph"):  # on first use: `kgrag --help` must not wait for the driver
        from kgrag import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
