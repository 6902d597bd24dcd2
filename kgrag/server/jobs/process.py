"""Processes that jobs run in: what a document does to one of them harms nothing else, and to stop a job is to kill it.

A process receives its settings, its jobs and, every second, a sign that its server lives. It replies
{"at": [stage, done, total]}, after which it waits for a sign to go on, and at last {"result": ..., "error": ...}.
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
_OFTEN = 0.05  # seconds between reports of how far a job is
_LOOK = 0.25  # seconds between looks at the memory
TOO_MUCH = 75
"""The exit code of a process that needs too much memory."""
_ALIVE = b"."
_GO_ON = b"!"


class JobProcess(Child):
    """A process that does one job after the other."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(__name__)
        self.send(settings)

    def run(self, job: Job, progress: Progress) -> work.JobOutcome:
        """Do a job. Raises Died, what `progress` raises, which ends the process, and what the work raises."""
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
        """Tell it that its server lives."""
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
        """Hear what comes; the process ends with its server."""
        for message in messages():
            self._heard = time.monotonic()
            if message == _GO_ON:
                self._go_on.put(message)
            elif message != _ALIVE:
                self.jobs.put(Job(**message))
        os._exit(0)

    def watch(self, memory_mb: int) -> None:
        """End the process when it needs too much memory, or when its server stands still: then its job is another's."""
        me = psutil.Process()
        with suppress(MemoryError):
            while me.memory_info().rss < memory_mb * _MB:
                if time.monotonic() - self._heard > LEASE:
                    os._exit(1)
                time.sleep(_LOOK)
        os._exit(TOO_MUCH)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Say how far a job is, not too often, and wait until it may go on."""
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._reported > _OFTEN:
            self._stage, self._reported = stage, now
            self._tell({"at": [stage, done, total]})
            self._go_on.get()


def main() -> None:
    """Do the jobs that the server brings, until it ends."""
    tell = begin()
    settings: Settings = next(messages())
    server = _Server(tell)
    memory_mb = settings.serve.job_memory_mb
    limit_memory("DATA", 2 * memory_mb)  # far beyond the limit: between two looks much may come
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
