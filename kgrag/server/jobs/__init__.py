"""Background jobs on collections: stored in the graph, one at a time for each collection, resumed after a kill."""

from kgrag.graph.jobs import Job
from kgrag.server.jobs.kinds import KINDS
from kgrag.server.jobs.runner import Jobs

__all__ = ["KINDS", "Job", "Jobs"]
