"""A Neo4j on this machine, provisioned by kgrag itself: no Docker, no root."""

from kgrag.graph.local.server import Endpoint, LocalServer, ServerStatus

__all__ = ["Endpoint", "LocalServer", "ServerStatus"]
