"""kgrag: documents become a graph in Neo4j; questions are answered by walking it."""

import logging
from typing import TYPE_CHECKING

from kgrag.lazy import offered

if TYPE_CHECKING:
    from kgrag.client import AsyncKnowledgeGraph as AsyncKnowledgeGraph
    from kgrag.client import KnowledgeGraph as KnowledgeGraph
    from kgrag.client import RemoteKnowledgeGraph as RemoteKnowledgeGraph
else:
    __all__, __getattr__, __dir__ = offered(  # `kgrag --help` must not wait for the driver
        __name__, {"client": "AsyncKnowledgeGraph KnowledgeGraph RemoteKnowledgeGraph"}, "__version__"
    )

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # whoever wants to read the log adds one
