"""Run the jobs of a server: threads take the next job, and run it in a process of its own."""

import ctypes
import gc
import logging
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from kgrag.client.graph import KnowledgeGraph
from kgrag.graph import jobs, schema
from kgrag.graph import jobs as kept
from kgrag.graph.jobs import Job, State
from kgrag.runtime.child import Died
from kgrag.runtime.document_progress import SECONDS
from kgrag.server.jobs import kinds as work
from kgrag.server.jobs.process import TOO_MUCH, JobProcess
from kgrag.server.uploads import Uploads
from kgrag.values.errors import CancelledError, DatabaseError, DeadlineError, KgragError

_LOG = logging.getLogger(__name__)
_LOOK = 1.0  # seconds between checks for jobs queued by other processes
_WAIT = 30.0  # seconds within which a running job must stop
_DEATHS = 3  # crashes of servers or of the database after which a job fails for good
_ENDS = 5  # crashes of its process after which a job fails for good, even if each run made progress
_RETRY = 60.0  # seconds for which a job retries after losing the database
_IDLE = 60.0  # seconds after which an idle process ends


class _Stopped(Exception):
    """The job must be cancelled, or this process ends."""


class _Running:
    """A running job: its progress, and its process."""

    def __init__(self, job: Job, process: JobProcess, seconds: float) -> None:
        """Make the job's handle; `seconds`: its time limit."""
        self.job = job
        self.process = process
        self.at: tuple[str, int, int | None] = ("", 0, None)
        self.stop: State | None = None
        """The state to record if the job must stop."""
        self.late = False
        """Whether the job timed out."""
        self.lost = threading.Event()
        """Set when this server has lost the lease of the job and must not write any more."""
        self.beaten = time.monotonic()
        self._until = self.beaten + seconds

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Receive the progress of the work. Raises _Stopped if the job must stop."""
        self.at = (stage, done, total)
        if time.monotonic() - self.beaten > kept.LEASE:  # this process was suspended
            self.lost.set()
        if self.over:
            raise _Stopped

    @property
    def over(self) -> bool:
        """Whether the job must end now."""
        self.late = self.late or time.monotonic() > self._until
        return self.stop is not None or self.late or self.lost.is_set()

    def check(self) -> None:
        """Kill the process if the job must end; otherwise send it a heartbeat."""
        if self.over:
            self.process.kill()
        else:
            self.process.assure()


class Jobs(AbstractContextManager["Jobs"]):
    """The jobs of a database, and `workers` threads that run them within the `with` block.

    Each collection has one running job at a time, even with several servers. Another process, or the next one, resumes
    a job whose process was killed. Safe to share between threads.
    """

    def __init__(self, kg: KnowledgeGraph, workers: int = 1) -> None:
        """Set up the jobs; with `workers` 0 this process only submits and follows them."""
        self.kg = kg
        self.uploads = Uploads(kg.settings.home)
        self._holder = uuid.uuid4().hex
        self._running: dict[str, _Running] = {}
        self._ending = threading.Event()
        self._request = threading.Event()
        self._workers = [
            threading.Thread(target=self._work, name=f"kgrag-jobs-{n}", daemon=True) for n in range(workers)
        ]

    def __enter__(self) -> Self:
        """Start the workers. Raises MismatchError for a database of another schema version."""
        schema.ensure_schema(self.kg.graph)
        self.uploads.tidy()
        for thread in self._workers:
            thread.start()
        if self._workers:
            threading.Thread(target=self._beat, name="kgrag-jobs-beat", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop at the next step; the next worker resumes."""
        self._ending.set()
        self._request.set()
        for running in list(self._running.values()):
            running.stop = running.stop or "queued"
            running.check()
        until = time.monotonic() + _WAIT
        for thread in self._workers:
            thread.join(max(0.0, until - time.monotonic()))

    def submit(
        self, kind: str, collection: str, parameters: Mapping[str, Any] | None = None, owner: str = "", seconds: int = 0
    ) -> Job:
        """Submit a job that starts after `seconds`. Raises as `work.checked_options` does."""
        options = work.checked_options(self.kg, self.uploads, kind, collection, dict(parameters or {}))
        schema.ensure_schema(self.kg.graph)
        job = kept.add_job(self.kg.graph, kind, collection, options.model_dump(mode="json"), owner, seconds)
        self._request.set()
        return job

    def get(self, id: str) -> Job:
        """Return the current state of a job. Raises NotFoundError."""
        return kept.find_job(self.kg.graph, id)

    def list(
        self, collections: Sequence[str] = (), state: State | None = None, limit: int = 50, kind: str | None = None
    ) -> list[Job]:
        """Return jobs of these collections (none: all), in this state and of this kind, newest first."""
        return kept.list_jobs(self.kg.graph, collections, state, limit, kind)

    def cancel(self, id: str) -> Job:
        """Cancel a job; its committed writes stay, and `retry` resumes it. Raises NotFoundError."""
        self.get(id)
        kept.cancel_job(self.kg.graph, id)
        if (running := self._running.get(id)) is not None:
            running.stop = "cancelled"
            running.check()
        return self.get(id)

    def retry(self, id: str) -> Job:
        """Resume a job that failed or was cancelled; other jobs stay as they are. Raises NotFoundError."""
        self.get(id)
        kept.retry_job(self.kg.graph, id)
        self._request.set()
        return self.get(id)

    # ----- the threads

    def _work(self) -> None:
        process, used = None, 0.0
        while not self._ending.is_set():
            try:
                job = kept.claim_job(self.kg.graph, self._holder)
                if job is not None:
                    process = self._do(job, process)
                    used = time.monotonic()
                    continue
            except DatabaseError as error:  # running jobs restart when the database is back
                _LOG.warning("jobs wait for the database: %s", error.message)
            if process is not None and time.monotonic() - used > _IDLE:
                process.kill()
                process = None
            self._request.wait(_LOOK)
            self._request.clear()
        if process is not None:
            process.kill()

    def _do(self, job: Job, process: JobProcess | None) -> JobProcess | None:
        """Run a job in the process or a new one, record its end, and return the process if it is alive.

        Raises DatabaseError if the end cannot be recorded.
        """
        _LOG.info("job %s begins: %s %s", job.id, job.kind, job.collection)
        options = self.kg.settings.serve
        running = _Running(job, process or self._process(), options.job_seconds)
        self._running[job.id] = running
        try:
            kept.end_job(self.kg.graph, self._holder, job.id, **self._outcome(running))
        except BaseException:
            running.process.kill()
            raise
        finally:
            del self._running[job.id]
            _give_back_memory()
        if running.over or running.process.is_large(options.job_memory_mb // 2):
            running.process.kill()
            return None
        return running.process

    def _outcome(self, running: _Running) -> dict[str, Any]:
        """Return the end of a job in the form of `end_job`.

        Raises DatabaseError if the database failed: the job restarts when its lease expires.
        """
        job = running.job
        try:
            if job.died >= _DEATHS:
                raise KgragError(
                    f"The server that worked on it ended {job.died} times before it was done.",
                    "The server's log may say why; then retry it.",
                )
            outcome = self._run(running)
            if outcome.error is not None:
                return _failed(outcome.error, outcome.result)
            return {"state": "done", "result": outcome.result}
        except (_Stopped, CancelledError):
            if running.late and running.stop is None and not running.lost.is_set():
                return _failed(
                    DeadlineError(
                        f"It took longer than {self.kg.settings.serve.job_seconds:,.0f} s.",
                        "Retry it to go on, with less at once, or set KGRAG_SERVE__JOB_SECONDS.",
                    )
                )
            return {"state": running.stop or "queued"}
        except DatabaseError as error:
            if job.died + 1 < _DEATHS:
                raise
            return _failed(error)
        except KgragError as error:
            return _failed(error)

    def _run(self, running: _Running) -> work.JobOutcome:
        """Run a job; if its process dies, resume in a new one, unless that dies at the same place.

        Raises _Stopped, and errors of the work.
        """
        places: set[str] = set()
        while True:
            if self._ending.is_set() or running.over:
                raise _Stopped
            try:
                return running.process.run(running.job, running.progress)
            except Died as death:
                if self._ending.is_set() or running.over:
                    raise _Stopped from death
                if death.code == TOO_MUCH:
                    most = self.kg.settings.serve.job_memory_mb
                    raise KgragError(
                        f"It needed more than {most:,} MB of memory, {_place(running)}.",
                        "Retry it with less at once, or set KGRAG_SERVE__JOB_MEMORY_MB.",
                    ) from death
                _LOG.warning("job %s: its process ended (%s), %s", running.job.id, death, _place(running))
                if _place(running) in places or len(places) >= _ENDS:
                    raise KgragError(
                        f"Its process ended ({death}) again and again, {_place(running)}.",
                        "What was written stays. The server's log may say why; then retry it.",
                    ) from death
                places.add(_place(running))
                running.process = self._process()

    def _process(self) -> JobProcess:
        """Start a process in a thread, since it may wait for the database."""
        return JobProcess(self.kg.settings.model_copy(update={"neo4j_retry_seconds": _RETRY}))

    def _beat(self) -> None:
        """Record the running jobs of this process, and cancel jobs on request."""
        while self._running or not self._ending.is_set():
            time.sleep(jobs.BEAT)
            for id, running in list(self._running.items()):
                began = time.monotonic()
                try:
                    stop = kept.beat_job(self.kg.graph, self._holder, id, *running.at)
                except DatabaseError:
                    if time.monotonic() - running.beaten > kept.LEASE:
                        running.lost.set()
                        running.check()
                    continue
                if stop is None and id in self._running:
                    running.lost.set()
                elif stop:
                    running.stop = "cancelled"
                running.beaten = began
                running.check()


def _give_back_memory() -> None:
    """Free the memory of uploads and requests after a job, and return it to the system.

    Python collects garbage among old objects only when their number has grown by a quarter, and glibc keeps freed
    memory for the thread that freed it. The peak memory of a request would stay allocated, once for each thread. All
    threads wait meanwhile: less than 0.1 s a job.
    """
    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def _place(running: _Running) -> str:
    stage, done, total = running.at
    if stage.startswith(SECONDS):
        return f"at {stage.removeprefix(SECONDS)}"
    return f"at {stage} {done}{'' if total is None else f' of {total}'}" if stage else "at its beginning"


def _failed(error: KgragError, result: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"state": "failed", "error": error, "result": result}
