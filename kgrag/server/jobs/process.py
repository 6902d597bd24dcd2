"""Run jobs in processes: a document can crash only the process of its job, and killing the process stops the job.

A process receives its settings, its jobs and, every second, a heartbeat of its server. It replies
{"at": [stage, done, total]}, waits for the next heartbeat, and at the end replies {"result": ..., "error": ...}.
"""

import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import psutil

from kgrag.client.graph import KnowledgeGraph
from kgrag.graph import jobs
from kgrag.graph.jobs import LEASE, Job
from kgrag.runtime.child import Child, begin, limit_memory, messages
from kgrag.server.jobs import kinds as work
from kgrag.server.uploads import Uploads
from kgrag.settings import Settings
from kgrag.values.errors import KgragError, error_of
from kgrag.values.events import Progress

_LOG = logging.getLogger(__name__)
_MB = 1024 * 1024
_OFTEN = 0.05  # seconds between reports of progress
_LOOK = 0.25  # seconds between checks of the memory
TOO_MUCH = 75
"""The exit code of a process that exceeds its memory limit."""
_ALIVE = b"."
_GO_ON = b"!"


class JobProcess(Child):
    """A process that runs jobs one after another."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(__name__)
        self.send(settings)

    def run(self, job: Job, progress: Progress) -> work.JobOutcome:
        """Run a job. Raises Died, errors of `progress`, which end the process, and errors of the work."""
        self.send(asdict(job))
        while "at" in (answer := self.receive()):
            try:
                progress(*answer["at"])
            except BaseException:
                self.kill()
                raise
            self.send(_GO_ON)
        if "raised" in answer:
            raise error_of(*answer["raised"])
        return work.JobOutcome(answer["result"], error_of(*answer["error"]) if answer["error"] else None)

    def assure(self) -> None:
        """Send a heartbeat."""
        self.send(_ALIVE)


# ----- inside of the process


class _Server:
    """The messages between a process and its server."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self._tell = tell
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._go_on: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._heard = time.monotonic()
        self._reported = 0.0
        self._stage = ""

    def listen(self) -> None:
        """Receive messages; exit if the server is gone."""
        for message in messages():
            self._heard = time.monotonic()
            if message == _GO_ON:
                self._go_on.put(message)
            elif message != _ALIVE:
                self.jobs.put(Job(**message))
        os._exit(0)

    def watch(self, memory_mb: int) -> None:
        """Exit if the process exceeds its memory limit, or its server is silent: another one then owns the job."""
        me = psutil.Process()
        with suppress(MemoryError):
            while me.memory_info().rss < memory_mb * _MB:
                if time.monotonic() - self._heard > LEASE:
                    os._exit(1)
                time.sleep(_LOOK)
        os._exit(TOO_MUCH)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Report the progress of a job, not too often, and wait for the next heartbeat."""
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._reported > _OFTEN:
            self._stage, self._reported = stage, now
            self._tell({"at": [stage, done, total]})
            self._go_on.get()


def main() -> None:
    """Run the jobs that the server sends until it ends."""
    tell = begin()
    settings: Settings = next(messages())
    server = _Server(tell)
    memory_mb = settings.serve.job_memory_mb
    limit_memory("DATA", 2 * memory_mb)  # far beyond the limit, since much can happen between two checks
    for watching in (server.listen, lambda: server.watch(memory_mb)):
        threading.Thread(target=watching, daemon=True).start()
    with KnowledgeGraph.connect(settings=settings) as kg:
        while True:
            tell(_done(lambda job: work.run(kg, Uploads(settings.home), job, server.progress), server.jobs.get()))


def _done(run: Callable[[Job], work.JobOutcome], job: Job) -> dict[str, Any]:
    """Return the result of a job."""
    try:
        with jobs.within_job(job):
            outcome = run(job)
    except KgragError as error:
        return {"raised": _form(error)}
    except MemoryError:
        os._exit(TOO_MUCH)
    except Exception:
        _LOG.exception("job %s failed", job.id)
        return {"raised": _form(KgragError("It failed, and kgrag does not know why.", "The server's log says more."))}
    return {"result": outcome.result, "error": outcome.error and _form(outcome.error)}


def _form(error: KgragError) -> tuple[str, str, str]:
    return type(error).__name__, error.message, error.remedy
