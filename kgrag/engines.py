"""Engines run independent items of work in this process, in a pool of processes, or on Ray.

The caller asks the graph for pending items, hands them to an engine one by one, and writes the results: the graph is
the only record of finished work. A lost worker costs its present item, which another worker does again.
"""

import gc
import multiprocessing
import os
import pickle
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Generic, Literal, Self, TypeVar

from kgrag.runtime.child import end_with_parent
from kgrag.settings import EngineSettings
from kgrag.values.errors import ConfigurationError, EngineError
from kgrag.values.installing import require_extra

T = TypeVar("T")
R = TypeVar("R")

TRIES = 3
"""How many workers may be lost with the same item before the item is to blame."""
ALONE = 2
"""How many items are done here first, since other processes are not worth their start for a small load."""


class Engine(ABC):
    """Does work on items. A context manager; nothing is started before there is an item.

    `place`: where: in this process, in forks of it, or apart from its memory.
    """

    place: Literal["here", "forked", "apart"] = "apart"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release its resources."""
        return  # most hold nothing

    @abstractmethod
    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """Yield each item with the result of `work`, in any order; a few items are taken ahead.

        `work` must be fit to be pickled, and depend on nothing but its item; where it gives an iterator, that is drawn
        by the worker. `models`: it computes with a model, which may need a GPU. Raises what `work` raises, EngineError
        when workers are lost again and again.
        """


class InProcess(Engine):
    """The caller's own thread."""

    place = "here"

    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """See Engine; an iterator that `work` gives is drawn by the caller."""
        for item in items:
            yield item, work(item)


IN_PROCESS = InProcess()


def open_engine(settings: EngineSettings) -> Engine:
    """Open the engine of the settings. Raises ConfigurationError when its package is not installed."""
    if settings.name == "ray":
        return Ray(settings)
    if settings.name == "processes":
        return Processes(settings.workers)
    return InProcess()


class Parcel:
    """Work as a worker is sent it; unpacked when it is first used, so that its errors are those of an item."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        """Pickle the work. Raises ConfigurationError when it cannot be pickled."""
        try:
            self._pickled = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"The work cannot be sent to other processes: {error}.",
                "Leave out --engine; or name an embedder instead of handing one over, or let it be pickled.",
            ) from error
        self._work: Callable[[Any], Any] | None = None

    def __call__(self, item: Any) -> Any:
        """Return the complete result for an item."""
        if self._work is None:
            self._work = pickle.loads(self._pickled)
        return materialise(self._work(item))


def materialise(result: Any) -> Any:
    """Return a result, an iterator as a list."""
    return list(result) if isinstance(result, Iterator) else result


_MOST = 8  # processes by default: this process could not keep more of them busy
_WORK: Callable[[Any], Any] | None = None


@dataclass(slots=True)
class _Parcel(Generic[T]):
    item: T
    future: "Future[Any] | None" = None
    tries: int = 0


class Processes(Engine):
    """As many processes as there are cores, or as are named, for each kind of work new ones.

    Results come in the order of their items. `forked`: processes hold what this one holds without copying it, and the
    work need not be pickled. That is for work without models, whose libraries do not stand it; where a process cannot
    be forked without risk (macOS, Windows), it is done here.
    """

    def __init__(self, number: int = 0, *, forked: bool = False) -> None:
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        self._number = number or min(_MOST, cores)
        self._forked = forked
        self.place = "forked" if forked else "apart"
        self._here = forked and (sys.platform != "linux" or self._number == 1)

    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """See Engine."""
        stream = iter(items)
        for item in stream if self._here else islice(stream, ALONE):
            yield item, work(item)
        for first in islice(stream, 1):
            yield from self._spread(work if self._forked else Parcel(work), chain([first], stream))

    def _spread(self, work: Callable[[Any], Any], items: Iterator[T]) -> Iterator[tuple[T, Any]]:
        pool = self._start(work)
        running: deque[_Parcel[T]] = deque()
        try:
            while True:
                ahead = 2 * self._number - len(running)
                running.extend(map(_Parcel, islice(items, ahead)))
                if not running:
                    return
                try:
                    for task in running:
                        if task.future is None:
                            task.future = pool.submit(_call, task.item)
                    future = running[0].future
                    assert future is not None
                    result = future.result()
                except BrokenProcessPool:
                    _take_back(running)
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self._start(work)
                    continue
                yield running.popleft().item, result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, work: Callable[[Any], Any]) -> ProcessPoolExecutor:
        kind = "fork" if self._forked else "spawn" if sys.platform == "win32" else "forkserver"
        context = multiprocessing.get_context(kind)
        # the server of forks imports once what each process would import again for each kind of work
        context.set_forkserver_preload(sorted(name for name in sys.modules if name.startswith("kgrag.")))
        return ProcessPoolExecutor(self._number, context, initializer=_begin, initargs=(work,))


def _take_back(running: "deque[_Parcel[Any]]") -> None:
    """Take back the items under way of a lost process, to be done again. Raises EngineError after several attempts."""
    for task in running:
        if task.future is None or not task.future.done() or isinstance(task.future.exception(), BrokenProcessPool):
            task.future = None
            task.tries += 1
    if running[0].tries == TRIES:
        raise EngineError.lost(TRIES)


def _begin(work: Callable[[Any], Any]) -> None:
    global _WORK
    _WORK = work
    gc.disable()  # its visits of the rows take a third of the time
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides when to stop
    end_with_parent()


def _call(item: Any) -> Any:
    assert _WORK is not None
    gc.collect()  # little is left of the item before
    return materialise(_WORK(item))


# Work on a cluster of Ray (https://www.ray.io): actors are created for each kind of work, as many as there is room for.
#
# The driver keeps the items. If an actor is lost, alone or with its node, its unfinished items go to another actor.


_AHEAD = 2  # items that a worker has at once, so that it does not wait for the next
_CONNECT = 10.0  # seconds
_PATIENCE = 120.0  # seconds in which some worker must have begun


@dataclass(slots=True)
class _Entry:
    item: Any
    tries: int = 0


class Worker:
    """The class of an actor."""

    def __init__(self, parcel: Parcel) -> None:
        self._parcel = parcel

    def ready(self) -> None:
        """Answer once the actor has begun."""

    def do(self, item: Any) -> tuple[Any, Exception | None]:
        """Return the result for an item, or its error."""
        try:
            return self._parcel(item), None
        except Exception as error:
            return None, error


class Ray(Engine):
    """Actors of a cluster, or of a Ray that is started on this machine for as long as the engine is open."""

    def __init__(self, settings: EngineSettings) -> None:
        """Set up the engine; nothing is started yet. Raises ConfigurationError without the package."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it is read as the package is imported
        with require_extra("ray", "The engine ray needs the package Ray.", "Install it here and on every node: {}"):
            import ray
        self._ray: Any = ray
        self._settings = settings
        self._ours = False

    def close(self) -> None:
        """Leave the cluster; a Ray that was started for this ends."""
        if self._ours:
            self._ray.shutdown()
            self._ours = False

    def each(self, work: Callable[[T], R], items: Iterable[T], *, models: bool = False) -> Iterator[tuple[T, R]]:
        """See Engine; results come as they are made."""
        stream = iter(items)
        for item in islice(stream, 0 if models else ALONE):
            yield item, work(item)
        for first in islice(stream, 1):
            parcel = Parcel(work)
            self._connect()
            gpus = self._settings.gpus if models else 0.0
            with _Actors(self._ray, parcel, self._number(gpus), gpus) as actors:
                for item, result, error in actors.each(chain([first], stream)):
                    if error is not None:
                        raise error
                    yield item, result

    def _number(self, gpus: float) -> int:
        """Return the number of workers."""
        resources = self._ray.cluster_resources()
        room = resources.get("GPU", 0) / gpus if gpus else resources.get("CPU", 0)
        if room < 1:
            raise EngineError(
                f"The Ray cluster has no room for a worker: it has {resources.get('GPU' if gpus else 'CPU', 0):g} "
                f"{'GPUs' if gpus else 'CPUs'}.",
                "Lower KGRAG_ENGINE__GPUS, or add nodes: ray start --address=HOST:PORT.",
            )
        return min(int(room), self._settings.workers or int(room))

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return  # by whoever uses kgrag as a library
        address = self._settings.address
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            number = self._settings.workers or None
            options |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "num_cpus": number}
        else:
            options["address"] = address
        try:
            _check_there(address)
            self._ray.init(**options)
        except (OSError, RuntimeError, ValueError) as error:
            where = f"There is no Ray cluster at {address}" if address else "Ray cannot be started on this machine"
            raise EngineError(
                f"{where}: {str(error).strip().splitlines()[0]}",
                "Start its head node by `ray start --head --include-dashboard=false --disable-usage-stats`, and name "
                "its address by KGRAG_ENGINE__ADDRESS; without one, a Ray is started on this machine.",
            ) from error
        self._ours = True
        # Ray would report lost workers on standard output, in the middle of output for programs
        self._ray._private.worker._worker_logs_enabled = False


def _check_there(address: str | None) -> None:
    """Raise OSError if nothing listens at the address, since Ray itself would retry for minutes."""
    host, colon, port = (address or "").rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), _CONNECT).close()


class _Actors:
    """A fixed number of actors with one kind of work; one that is lost is replaced. A context manager."""

    def __init__(self, ray: Any, parcel: Parcel, number: int, gpus: float) -> None:
        self._ray = ray
        self._kind = ray.remote(Worker).options(num_cpus=1, num_gpus=gpus, max_restarts=0)
        self._parcel = ray.put(parcel)
        self._under_way: dict[Any, tuple[Any, _Entry | None]] = {}  # None: a check whether the worker has started
        self._alive: set[Any] = set()
        self._failed = 0
        for _ in range(number):
            self._add()

    def __enter__(self) -> "_Actors":
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._alive:
            self._ray.kill(actor)

    def each(self, items: Iterator[Any]) -> Iterator[tuple[Any, Any, Exception | None]]:
        """Yield each item with its result or error."""
        again: deque[_Entry] = deque()

        def due() -> Iterator[_Entry]:
            while True:
                while again:
                    yield again.popleft()
                try:
                    yield _Entry(next(items))
                except StopIteration:
                    return

        free: deque[Any] = deque()
        while True:
            for actor, entry in zip(list(free), due(), strict=False):
                free.remove(actor)
                self._under_way[actor.do.remote(entry.item)] = actor, entry
            if not any(task for _, task in self._under_way.values()) and free:
                return
            for ref in self._next():
                actor, task = self._under_way.pop(ref)
                try:
                    result = self._ray.get(ref)
                except self._ray.exceptions.RayError as error:
                    self._lose(actor, task, error)
                    free = deque(a for a in free if a != actor)
                    if task is not None:
                        again.append(task)
                    continue
                if task is None:
                    self._failed = 0
                    free.extend([actor] * _AHEAD)
                else:
                    free.append(actor)
                    yield task.item, *result

    def _next(self) -> list[Any]:
        working = any(task for _, task in self._under_way.values())
        done, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=None if working else _PATIENCE)
        if not done:
            raise EngineError(
                f"The Ray cluster gave no worker in {_PATIENCE:g} seconds: others hold its CPUs or GPUs.",
                "`ray status` says who; lower KGRAG_ENGINE__GPUS, or add nodes: ray start --address=HOST:PORT.",
            )
        return list(done)

    def _add(self) -> None:
        actor = self._kind.remote(self._parcel)
        self._alive.add(actor)
        self._under_way[actor.ready.remote()] = actor, None

    def _lose(self, actor: Any, task: _Entry | None, error: Exception) -> None:
        """Replace an actor. Raises EngineError when the same work, or the start of one, fails again and again."""
        if task is None:
            self._failed += 1
            if self._failed == TRIES:
                raise EngineError(
                    f"Workers of the Ray cluster do not begin: {str(error).strip().splitlines()[-1]}",
                    "Install the same kgrag, with the same extras and Python, on every node.",
                ) from error
        else:
            task.tries += 1
            if task.tries == TRIES:
                raise EngineError.lost(TRIES) from error
        if actor in self._alive:
            self._alive.remove(actor)
            self._add()
