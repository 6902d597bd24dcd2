"""Jobs: background work on collections, stored in the graph, where every process sees it.

A process holds a running job by a lease, which it extends regularly. If the process dies, the lease expires and
others can take the job. Only one job of a collection runs at a time, in any process.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

import psutil

from kgrag.graph import schema
from kgrag.graph.connection import Graph
from kgrag.runtime import limits
from kgrag.text.tokens import caption
from kgrag.values.errors import BusyError, CancelledError, KgragError, NotFoundError
from kgrag.values.forms import read

State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
KEPT = 1000
_TIMES = ("created", "started", "ended", "begins")
LEASE = 20
"""Seconds after which other processes may take the job of a silent process."""


@dataclass(frozen=True, slots=True)
class Job:
    """The current state of a job. `stage`, `done`, `total`: its progress. Times are ISO 8601, or empty.

    `error`, `remedy` and `error_kind`: the reason for a failure. `result`: its outcome. `attempt`: how often it began.
    `died`: the number of processes that crashed on it since the last request. `owner`: the requester. `begins`: the
    earliest start, if any.
    """

    id: str
    kind: str
    collection: str
    parameters: Mapping[str, Any]
    state: State
    stage: str = ""
    done: int = 0
    total: int | None = None
    error: str = ""
    remedy: str = ""
    error_kind: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    owner: str = ""
    created: str = ""
    started: str = ""
    ended: str = ""
    attempt: int = 0
    died: int = 0
    begins: str = ""

    @property
    def over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED


def add_job(
    graph: Graph, kind: str, collection: str, parameters: Mapping[str, Any], owner: str = "", seconds: int = 0
) -> Job:
    """Queue a job. The last 1,000 finished jobs are kept."""
    properties = {
        "name": caption(f"{kind} {collection}"),
        "collection": collection,
        "kind": kind,
        "parameters": json.dumps(parameters, ensure_ascii=False),
        "owner": owner,
    }
    rows = graph.run("jobs/add", id=uuid.uuid4().hex, properties=properties, seconds=seconds, kept=KEPT)
    return job_of(rows[0]["job"])


def find_job(graph: Graph, id: str) -> Job:
    """Return the job of that id. Raises NotFoundError."""
    rows = graph.run("jobs/list", id=id, collections=[], state=None, kind=None, limit=1)
    if not rows:
        raise no_job(id)
    return job_of(rows[0]["job"])


def no_job(id: str) -> NotFoundError:
    """Return the error for a job that does not exist."""
    return NotFoundError(f"There is no job {id!r}.", f"The last {KEPT:,} are kept; list them to see their ids.")


def list_jobs(
    graph: Graph, collections: Sequence[str] = (), state: State | None = None, limit: int = 50, kind: str | None = None
) -> list[Job]:
    """Return jobs, newest first, filtered by collections (none: all), state and kind."""
    rows = graph.run("jobs/list", id=None, collections=list(collections), state=state, kind=kind, limit=limit)
    return [job_of(r["job"]) for r in rows]


def cancel_job(graph: Graph, id: str) -> None:
    """Cancel a job, at once or when its worker notices. A finished job is unchanged."""
    graph.run("jobs/cancel", id=id)


def retry_job(graph: Graph, id: str) -> None:
    """Queue a failed or cancelled job again. Other jobs are unchanged."""
    graph.run("jobs/retry", id=id)


def claim_job(graph: Graph, holder: str) -> Job | None:
    """Begin the next job as `holder`. Returns None if no job is pending."""
    rows = graph.run("jobs/claim", holder=holder, seconds=LEASE)
    return job_of(rows[0]["job"]) if rows else None


def beat_job(graph: Graph, holder: str, id: str, stage: str, done: int, total: int | None) -> bool | None:
    """Extend the lease of a job and record its progress. Returns whether to cancel it, or None if the lease is lost."""
    rows = graph.run("jobs/beat", id=id, holder=holder, seconds=LEASE, stage=stage, done=done, total=total)
    return bool(rows[0]["stop"]) if rows else None


def end_job(
    graph: Graph,
    holder: str,
    id: str,
    state: State,
    *,
    error: KgragError | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    """End a job, or queue it again. If the holder has lost it, nothing changes."""
    graph.run(
        "jobs/end", id=id, holder=holder, state=state,
        error=error.message if error else None,
        remedy=error.remedy or None if error else None,
        error_kind=type(error).__name__ if error else None,
        result=json.dumps(result, ensure_ascii=False) if result else None,
    )  # fmt: skip


def job_of(properties: Mapping[str, Any]) -> Job:
    """Return a job from the properties of its node."""
    fields = {name: value for name, value in properties.items() if value is not None}
    values = {name: json.loads(fields[name]) for name in ("parameters", "result") if name in fields}
    times = {name: fields[name].to_native().isoformat() for name in _TIMES if name in fields}
    return read(Job, fields | values | times)


# A collection is locked by one job at a time, of a server or of another program.
#
# While a program works on a collection, the graph has a job for it, so that servers see it and wait.


BEAT = 1.0
"""Seconds between two checks whether the holder is alive."""
_SIGNS = 2.0  # seconds between two extensions of a lease; each is a transaction besides those of the work

_TRIES = 3  # attempts to unlock a collection

_HELD: ContextVar[str | None] = ContextVar("kgrag_held", default=None)  # the collection that this context works on


@contextmanager
def within_job(job: Job) -> Iterator[None]:
    """Treat the work of the block on the job's collection as part of the job, which holds the lock."""
    token = _HELD.set(job.collection)
    try:
        yield
    finally:
        _HELD.reset(token)


@contextmanager
def collection_lock(graph: Graph, collection: str, kind: str) -> Iterator[None]:
    """Lock the collection for the block. `kind`: its work.

    If the holder is silent, wait until its lease expires. If it was a local process that has exited, take over at once.
    Raises BusyError, which names the holder, and CancelledError if the work is cancelled or its lease was lost.
    """
    if _HELD.get() == collection:
        yield
        return
    schema.ensure_schema(graph)
    id, holder = uuid.uuid4().hex, f"{this_place()} {os.getpid()}"
    _begin(graph, collection, kind, id, holder)
    ended, lost = threading.Event(), threading.Event()
    beating = threading.Thread(target=_keep, args=(graph, holder, id, ended, lost), name="kgrag-hold", daemon=True)
    beating.start()
    token = _HELD.set(collection)
    try:
        with limits.limited(cancelled=lost):
            yield
    except CancelledError as error:
        if not lost.is_set():
            raise
        raise CancelledError(
            f"The work on collection {collection!r} was cancelled, or taken over while this process stood still.",
            "Run it again to go on.",
        ) from error
    finally:
        _HELD.reset(token)
        ended.set()
        beating.join()


def check_idle(graph: Graph, collection: str | None = None) -> None:
    """Raise BusyError if another process works on a collection, or on any if none is given."""
    for row in graph.run("jobs/held", collection=collection):
        if row["job"]["collection"] != _HELD.get() and not has_died(row["job"]["holder"]):
            raise busy(job_of(row["job"]))


def _begin(graph: Graph, collection: str, kind: str, id: str, holder: str) -> None:
    properties = {
        "name": caption(f"{kind} {collection}"),
        "collection": collection,
        "kind": kind,
        "parameters": json.dumps({}),
        "owner": f"process {os.getpid()} on {socket.gethostname()}",
        "holder": holder,
    }
    first = None
    while True:
        other = graph.run("jobs/hold", id=id, properties=properties, seconds=LEASE)[0]["other"]
        if other is None or other["id"] == id:  # our own job: the driver repeated the transaction
            return
        if has_died(other["holder"]):
            _release(graph, other["id"])
            continue
        if first is not None and other["lease"] != first:  # the lease was extended, so the holder is alive
            raise busy(job_of(other))
        first = other["lease"]
        time.sleep(BEAT)


def _release(graph: Graph, id: str) -> None:
    graph.run("jobs/release", id=id)


def this_place() -> str:
    """Return the name of the machine, or of the container."""
    return f"{socket.gethostname()} {uuid.getnode():x}"


def has_died(holder: str) -> bool:
    """Return whether a holder was a process of this machine that has ended. Jobs of servers have other holders."""
    place, _, process = holder.rpartition(" ")
    return place == this_place() and not psutil.pid_exists(int(process))


def busy(job: Job) -> BusyError:
    """Return the error for work blocked by a running job."""
    owner = f" for {job.owner}" if job.owner else ""
    return BusyError(
        f"Collection {job.collection!r} is being worked on: {job.kind}{owner}, since {job.started}.",
        f"Try again when that has ended; `kgrag serve` shows and cancels it as job {job.id}.",
        seconds=LEASE,
    )


def _keep(graph: Graph, holder: str, id: str, ended: threading.Event, lost: threading.Event) -> None:
    """Extend the lease, and release it at the end. Sets `lost` if that fails for too long or the work is cancelled.

    It runs in a separate thread, where the limits of the work do not apply. A Ctrl-C within a message breaks the
    connection of the driver, so any error may follow.
    """
    beaten = time.monotonic()
    while not ended.wait(_SIGNS):
        began = time.monotonic()
        try:
            stop = beat_job(graph, holder, id, "", 0, None)
        except Exception:
            if time.monotonic() - beaten > LEASE:
                lost.set()
            continue
        if stop is not False:
            lost.set()
        beaten = began
    for _ in range(_TRIES):
        with suppress(Exception):  # the lease expires by itself
            _release(graph, id)
            return
