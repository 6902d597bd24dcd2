"""Boats whose documents are ingested by jobs."""

import time
from collections.abc import Iterator

from kgrag.graph.jobs import Job
from kgrag.server.jobs import Jobs


def upload(jobs: Jobs, collection: str, number: int) -> list[str]:
    """Upload this many documents; return their names."""
    for i in range(number):
        text = f"Boat {i} was built by Builder {i % 7} in Larvik. She sailed to Harbour {i % 11} in {1600 + i}."
        jobs.uploads.keep(collection, f"boats/boat_{i}.txt", [text.encode()])
    return [its.name for its in jobs.uploads.list(collection)]


def watch(jobs: Jobs, id: str) -> Iterator[Job]:
    """Yield a job now, then at each change, until it has ended."""
    seen = None
    while seen is None or not seen.over:
        if (job := jobs.get(id)) != seen:
            yield (seen := job)
        time.sleep(0.1)


def end(jobs: Jobs, id: str) -> Job:
    """Return a job when it has ended."""
    *_, last = watch(jobs, id)
    return last
