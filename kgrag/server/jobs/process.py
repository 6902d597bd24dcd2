"""Processes that jobs run in: what a document does to one of them harms nothing else, and to stop a job is to kill it.

A process receives its settings, jobs and, every second, a sign that its server lives (pickled, on standard input). It
answers in lines of JSON: {"at": [stage, done, total]}, after which it waits for a sign to go on, and at last
{"result": ..., "error": ...}.
"""

import json
import logging
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO, TextIO

import psutil

from kgrag.client.graph import KnowledgeGraph
from kgrag.graph import holding
from kgrag.graph.jobs import LEASE, Job
from kgrag.server.jobs import kinds as work
from kgrag.server.uploads import Uploads
from kgrag.settings import Settings
from kgrag.values.errors import KgragError, error_of
from kgrag.values.events import Progress

_LOG = logging.getLogger(__name__)
_MB = 1024 * 1024
_OFTEN = 0.05  # seconds between reports of how far a job is
_LOOK = 0.25  # seconds between looks at the memory
_TOO_MUCH = 75  # exit code of a process that needs too much memory
_ALIVE = b"."
_GO_ON = b"!"


class Died(Exception):
    """The process ended before its job did; `memory`: because it needed too much of it."""

    def __init__(self, code: int) -> None:
        super().__init__(f"signal {-code}" if code < 0 else f"exit code {code}")
        self.memory = code == _TOO_MUCH


class JobProcess:
    """A process that does one job after the other."""

    def __init__(self, settings: Settings) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which ends it
        )
        self._sending = threading.Lock()
        self._send(settings)

    def run(self, job: Job, progress: Progress) -> work.Outcome:
        """Do a job. Raises Died, what `progress` raises, which ends the process, and what the work raises."""
        assert self._process.stdout is not None
        self._send(asdict(job))
        for line in self._process.stdout:
            answer = json.loads(line)
            if "at" not in answer:
                if "raised" in answer:
                    raise error_of(*answer["raised"])
                return work.Outcome(answer["result"], error_of(*answer["error"]) if answer["error"] else None)
            try:
                progress(*answer["at"])
            except BaseException:
                self.kill()
                raise
            self._send(_GO_ON)
        raise Died(self._process.wait())

    def assure(self) -> None:
        """Tell it that its server lives."""
        self._send(_ALIVE)

    def is_large(self, memory_mb: int) -> bool:
        """Whether it holds more than that, and a new one is to be preferred."""
        with suppress(psutil.Error):
            return bool(psutil.Process(self._process.pid).memory_info().rss > memory_mb * _MB)
        return True

    def kill(self) -> None:
        """End it at once; that may be done more than once, from any thread."""
        self._process.kill()
        self._process.wait()

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        with self._sending, suppress(OSError):  # one that has died is noticed where its answer is read
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()


# ----- inside of the process


class _Server:
    """What the process hears of its server, and tells it."""

    def __init__(self, orders: BinaryIO, out: TextIO) -> None:
        self._orders, self._out = orders, out
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._go_on: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._heard = time.monotonic()
        self._reported = 0.0
        self._stage = ""

    def listen(self) -> None:
        """Hear what comes; the process ends with its server."""
        with suppress(EOFError, OSError):
            while True:
                message = pickle.load(self._orders)
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
        os._exit(_TOO_MUCH)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Say how far a job is, not too often, and wait until it may go on."""
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._reported > _OFTEN:
            self._stage, self._reported = stage, now
            self.tell({"at": [stage, done, total]})
            self._go_on.get()

    def tell(self, answer: dict[str, Any]) -> None:
        """Send a line."""
        self._out.write(json.dumps(answer) + "\n")
        self._out.flush()


def main() -> None:
    """Do the jobs that standard input brings, until it ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # a library's own words are no answer
    settings: Settings = pickle.load(sys.stdin.buffer)
    server = _Server(sys.stdin.buffer, out)
    memory_mb = settings.serve.job_memory_mb
    _limit(memory_mb)
    for watching in (server.listen, lambda: server.watch(memory_mb)):
        threading.Thread(target=watching, daemon=True).start()
    with KnowledgeGraph.connect(settings=settings) as kg:
        while True:
            server.tell(
                _done(lambda job: work.run(kg, Uploads(settings.home), job, server.progress), server.jobs.get())
            )


def _done(run: Callable[[Job], work.Outcome], job: Job) -> dict[str, Any]:
    """What a job ends with."""
    try:
        with holding.within_job(job):
            outcome = run(job)
    except KgragError as error:
        return {"raised": _form(error)}
    except MemoryError:
        os._exit(_TOO_MUCH)
    except Exception:
        _LOG.exception("job %s failed", job.id)
        return {"raised": _form(KgragError("It failed, and kgrag does not know why.", "The server's log says more."))}
    return {"result": outcome.result, "error": outcome.error and _form(outcome.error)}


def _form(error: KgragError) -> tuple[str, str, str]:
    return type(error).__name__, error.message, error.remedy


def _limit(memory_mb: int) -> None:
    """Have memory far beyond the limit refused at once, where the system can: between two looks much may come."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (2 * memory_mb * _MB, 2 * memory_mb * _MB))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
