"""Jobs: work on collections that servers do in the background, kept in the graph, where every process sees it.

A job that runs is left to one process for a short time, which that process extends again and again; when it dies, the
job is there for others. Of each collection one job runs at a time, whatever process it is in.
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
"""Seconds after which a job of a process that gives no sign of life is there for others."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is now. `stage`, `done`, `total`: how far it is; times are ISO 8601, empty if there is none yet.

    `error` and `remedy` say why it failed, `error_kind` is the class of that error, and `result` what came of it;
    `attempt`: how often it was begun, `died`: how often a process that worked on it died since it was last asked for;
    `owner`: who asked for it; `begins`: when it is to begin, if not as soon as it can.
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
        """Whether it has ended."""
        return self.state in ENDED


def add_job(
    graph: Graph, kind: str, collection: str, parameters: Mapping[str, Any], owner: str = "", seconds: int = 0
) -> Job:
    """Ask for a job, which waits so long. The last 1,000 are kept; what has not ended is kept in any case."""
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
    """Return jobs, the newest first: of these collections, none for all, in this state, and of this kind."""
    rows = graph.run("jobs/list", id=None, collections=list(collections), state=state, kind=kind, limit=limit)
    return [job_of(r["job"]) for r in rows]


def cancel_job(graph: Graph, id: str) -> None:
    """Cancel a job, now or when its worker notices; one that has ended is unchanged."""
    graph.run("jobs/cancel", id=id)


def retry_job(graph: Graph, id: str) -> None:
    """Have a job that failed or was cancelled done again; another one stays as it is."""
    graph.run("jobs/retry", id=id)


def claim_job(graph: Graph, holder: str) -> Job | None:
    """Begin the job that is next, as `holder`; None if there is nothing to do."""
    rows = graph.run("jobs/claim", holder=holder, seconds=LEASE)
    return job_of(rows[0]["job"]) if rows else None


def beat_job(graph: Graph, holder: str, id: str, stage: str, done: int, total: int | None) -> bool | None:
    """Keep a job for the holder, and say how far it is: whether it is to be cancelled, None if the lease is lost."""
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
    """End a job, or with "queued" give it back; one that is the holder's no more stays as it is."""
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


# One job at a time works on a collection: a server's, or that of a program.
#
# A program's work stands in the graph as a job while it lasts, so that servers see it and wait.


BEAT = 1.0
"""Seconds between two looks for a sign of life."""
_SIGNS = 2.0  # seconds between them; each is a transaction, beside those of the work

_TRIES = 3  # to give a collection back

_HELD: ContextVar[str | None] = ContextVar("kgrag_held", default=None)  # the collection that this context works on


@contextmanager
def within_job(job: Job) -> Iterator[None]:
    """Let the work in the block on the job's collection count as the job itself."""
    token = _HELD.set(job.collection)
    try:
        yield
    finally:
        _HELD.reset(token)


@contextmanager
def collection_lock(graph: Graph, collection: str, kind: str) -> Iterator[None]:
    """Lock the collection for the block; `kind`: the work in it.

    One who gives no sign of life is waited for until its lease ends; a process of this machine that has died is not.
    Raises BusyError, which says who is at work, and CancelledError when a server was told to cancel this, or when it
    stood still until somebody else took its place.
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
    """Raise BusyError while somebody else works on a collection, or without one on any."""
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
        if other is None or other["id"] == id:  # ours: the driver has sent it twice
            return
        if has_died(other["holder"]):
            _release(graph, other["id"])
            continue
        if first is not None and other["lease"] != first:  # it lives
            raise busy(job_of(other))
        first = other["lease"]
        time.sleep(BEAT)


def _release(graph: Graph, id: str) -> None:
    graph.run("jobs/release", id=id)


def this_place() -> str:
    """Return the name of the machine, or of the container."""
    return f"{socket.gethostname()} {uuid.getnode():x}"


def has_died(holder: str) -> bool:
    """Return whether a holder was a process of this machine that has ended.

    A server's job has another kind of holder.
    """
    place, _, process = holder.rpartition(" ")
    return place == this_place() and not psutil.pid_exists(int(process))


def busy(job: Job) -> BusyError:
    """Make the error of who comes while a job works."""
    owner = f" for {job.owner}" if job.owner else ""
    return BusyError(
        f"Collection {job.collection!r} is being worked on: {job.kind}{owner}, since {job.started}.",
        f"Try again when that has ended; `kgrag serve` shows and cancels it as job {job.id}.",
        seconds=LEASE,
    )


def _keep(graph: Graph, holder: str, id: str, ended: threading.Event, lost: threading.Event) -> None:
    """Extend the lease, and give it back; `lost` is set when that failed for too long, or somebody says to stop.

    In a thread of its own the limits of the work, which may be over, do not hold. A Ctrl-C in the middle of a message
    leaves the driver a broken connection, which raises anything.
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
        with suppress(Exception):  # the lease ends by itself
            _release(graph, id)
            return
