"""kgrag: documents become a graph in Neo4j; questions are answered by walking it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.client import KnowledgeGraph

__version__ = "0.1.0"
__all__ = ["KnowledgeGraph", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "KnowledgeGraph":  # imported on first use: `kgrag --help` must not wait for the driver
        from kgrag.client import KnowledgeGraph

        return KnowledgeGraph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
