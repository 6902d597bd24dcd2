"""Names of test objects in the Neo4j that the workers of a run share."""

import os


def own(name: str) -> str:
    """Return the name with the worker's name appended."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return f"{name}-{worker}" if worker else name
