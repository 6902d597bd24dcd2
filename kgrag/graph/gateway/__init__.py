"""The read-only gateway: the one door for Cypher that a stranger or a language model wrote.

Before anything is sent: rules on the statement's tokens (`rules`, `patterns`, `growth`), by lists of what is allowed.
Then the server's own plan has to be one that reads, of operators on a list (`plan`). Then it is run in a transaction
that can only read, with a time-out of the server, and with caps on rows and size (`run`).
"""

from kgrag.graph.gateway.plain_values import plain
from kgrag.graph.gateway.plan import PlanKind
from kgrag.graph.gateway.run import read_only
from kgrag.graph.gateway.scope import check_collection

__all__ = ["PlanKind", "check_collection", "plain", "read_only"]
