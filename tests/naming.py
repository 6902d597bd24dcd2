"""Names of what tests make in the Neo4j that the workers of a run share."""

import os


def own(name: str) -> str:
    """The name, with the worker's after it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return f"{name}-{worker}" if worker else name
