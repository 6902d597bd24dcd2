"""Reading by Cypher: one door for statements that are not kgrag's own, with two levels of trust.

The owner asks freely, as long as the server's plan only reads. A guest, who reaches the graph over a server, is refused
what Neo4j cannot interrupt, by name (`guest`). Both have a time-out and caps on rows and size (`run`).
"""

from kgrag.graph.gateway.collection import check_collection
from kgrag.graph.gateway.run import PlanKind, Trust, plain, run_read

__all__ = ["PlanKind", "Trust", "check_collection", "plain", "run_read"]
