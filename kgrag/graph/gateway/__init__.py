"""The read-only gateway: the one door for Cypher that a stranger or a language model wrote.

Before anything is sent: rules on the statement's tokens (`rules`, `patterns`, `growth`), by lists of what is allowed.
Then the server's own plan has to be one that reads, of operators on a list. Then it is run in a transaction
that can only read, with a time-out of the server, and with caps on rows and size (`run`).
"""

from kgrag.graph.gateway.parts import check_collection
from kgrag.graph.gateway.run import PlanKind, plain, read_only

__all__ = ["PlanKind", "check_collection", "plain", "read_only"]
