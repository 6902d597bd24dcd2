"""Work on collections in the background: kept in the graph, one job a collection at a time, resumed after a kill."""

from kgrag.graph.jobs import Job
from kgrag.server.jobs.kinds import KINDS
from kgrag.server.jobs.runner import Jobs

__all__ = ["KINDS", "Job", "Jobs"]
