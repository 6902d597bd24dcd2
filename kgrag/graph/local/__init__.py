"""A Neo4j on this machine, provisioned by kgrag itself: no Docker, no root."""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.graph.local.server import Endpoint as Endpoint
    from kgrag.graph.local.server import LocalServer as LocalServer
    from kgrag.graph.local.server import ServerStatus as ServerStatus
else:
    __all__, __getattr__, __dir__ = offered(__name__, {"server": "Endpoint LocalServer ServerStatus"})
