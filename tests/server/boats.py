"""Boats whose documents jobs ingest."""

from kgrag.graph.jobs import Job
from kgrag.server.jobs import Jobs


def upload(jobs: Jobs, collection: str, number: int) -> list[str]:
    """The names of so many documents that were uploaded."""
    for i in range(number):
        text = f"Boat {i} was built by Builder {i % 7} in Larvik. She sailed to Harbour {i % 11} in {1600 + i}."
        jobs.uploads.keep(collection, f"boats/boat_{i}.txt", [text.encode()])
    return [its.name for its in jobs.uploads.list(collection)]


def end(jobs: Jobs, id: str) -> Job:
    """A job, when it has ended."""
    *_, last = jobs.watch(id)
    return last
