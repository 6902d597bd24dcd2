"""One job at a time works on a collection: a server's, or that of a program.

A program's work stands in the graph as a job while it lasts, so that servers see it and wait.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import psutil

from kgrag.graph import schema
from kgrag.graph.connection import Graph
from kgrag.graph.jobs import LEASE, Job, beat_job, job_of
from kgrag.runtime import limits
from kgrag.text.tokens import caption
from kgrag.values.errors import BusyError, CancelledError

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
    id, holder = uuid.uuid4().hex, f"{_place()} {os.getpid()}"
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
        if row["job"]["collection"] != _HELD.get() and not _has_died(row["job"]["holder"]):
            raise _busy(job_of(row["job"]))


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
        if _has_died(other["holder"]):
            _release(graph, other["id"])
            continue
        if first is not None and other["lease"] != first:  # it lives
            raise _busy(job_of(other))
        first = other["lease"]
        time.sleep(BEAT)


def _release(graph: Graph, id: str) -> None:
    graph.run("jobs/release", id=id)


def _place() -> str:
    """Return the name of the machine, or of the container."""
    return f"{socket.gethostname()} {uuid.getnode():x}"


def _has_died(holder: str) -> bool:
    """Return whether a holder was a process of this machine that has ended.

    A server's job has another kind of holder.
    """
    place, _, process = holder.rpartition(" ")
    return place == _place() and not psutil.pid_exists(int(process))


def _busy(job: Job) -> BusyError:
    asked = f" for {job.owner}" if job.owner else ""
    return BusyError(
        f"Collection {job.collection!r} is being worked on: {job.kind}{asked}, since {job.started}.",
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
