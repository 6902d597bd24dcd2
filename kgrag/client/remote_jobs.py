"""The jobs of a server: what it was given to do in the background."""

from collections.abc import Iterator
from urllib.parse import quote

from kgrag.client.http import Http
from kgrag.graph.jobs import Job, State
from kgrag.values.errors import CancelledError, error_of
from kgrag.values.events import Progress
from kgrag.wire import from_json


class RemoteJobs:
    """The jobs that a key may see."""

    def __init__(self, http: Http) -> None:
        self.http = http

    def jobs(self, collection: str | None = None, state: State | None = None, limit: int = 50) -> list[Job]:
        """The jobs of the collections that the key may see, newest first."""
        asked = {"collection": collection, "state": state, "limit": limit}
        given = {name: value for name, value in asked.items() if value is not None}
        return from_json(list[Job], self.http.request("GET", "jobs", params=given)["jobs"])

    def job(self, id: str) -> Job:
        """The job of that id as it is now. Raises NotFoundError."""
        return from_json(Job, self.http.request("GET", _job(id)))

    def cancel(self, id: str) -> Job:
        """Cancel a job; what it has written stays."""
        return from_json(Job, self.http.request("DELETE", _job(id)))

    def retry(self, id: str) -> Job:
        """Have a job that failed or was cancelled go on where it stopped."""
        return from_json(Job, self.http.request("POST", f"{_job(id)}/retry"))

    def watch(self, id: str) -> Iterator[Job]:
        """The job now and at each change, until it has ended."""
        for _, form in self.http.events("GET", f"{_job(id)}/events"):
            yield from_json(Job, form)

    def finished(self, job: Job, progress: Progress | None = None) -> Job:
        """The job once it is done. Raises what it failed with, CancelledError if it was cancelled."""
        for now in self.watch(job.id):
            job = now
            if progress is not None and now.state == "running" and now.stage:
                progress(now.stage, now.done, now.total)
        if job.state == "failed":
            raise error_of(job.error_kind, job.error, job.remedy)
        if job.state != "done":
            raise CancelledError("The job was cancelled.", "Retry it to go on.")
        return job


def _job(id: str) -> str:
    return f"jobs/{quote(id, safe='')}"
