"""Work on a cluster of Ray (https://www.ray.io): actors that are made for each kind of work, as many as there is room.

The driver keeps the items: what is under way on an actor that is lost, with its node or alone, is given to another.
"""

import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from kgrag.engines import ALONE, TRIES, Engine, Parcel
from kgrag.settings import EngineSettings
from kgrag.values.errors import ConfigurationError, EngineError
from kgrag.values.installing import install_hint

T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 2  # items that a worker has at once, so that it does not wait for the next
_CONNECT = 10.0  # seconds
_PATIENCE = 120.0  # seconds in which some worker must have begun


@dataclass(slots=True)
class _Task:
    item: Any
    tries: int = 0


class Worker:
    """What an actor is."""

    def __init__(self, parcel: Parcel) -> None:
        self._parcel = parcel

    def ready(self) -> None:
        """Answer once the actor has begun."""

    def do(self, item: Any) -> tuple[Any, Exception | None]:
        """What the work makes of an item, or what it raised."""
        try:
            return self._parcel(item), None
        except Exception as error:
            return None, error


class Ray(Engine):
    """Actors of a cluster, or of a Ray that is started on this machine for as long as the engine is open."""

    def __init__(self, settings: EngineSettings) -> None:
        """Nothing is started yet. Raises ConfigurationError without the package."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it is read as the package is imported
        try:
            import ray
        except ImportError as error:
            raise ConfigurationError(
                "The engine ray needs the package Ray.", f"Install it here and on every node: {install_hint('ray')}"
            ) from error
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
        """How many workers there are to be."""
        found = self._ray.cluster_resources()
        room = found.get("GPU", 0) / gpus if gpus else found.get("CPU", 0)
        if room < 1:
            raise EngineError(
                f"The Ray cluster has no room for a worker: it has {found.get('GPU' if gpus else 'CPU', 0):g} "
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
                "its address by --address; without one, a Ray is started on this machine.",
            ) from error
        self._ours = True
        # what it says of lost workers would stand on standard output, between what is printed for programs
        self._ray._private.worker._worker_logs_enabled = False


def _check_there(address: str | None) -> None:
    """Raise OSError where nobody listens: Ray itself would try again for minutes."""
    host, colon, port = (address or "").rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), _CONNECT).close()


class _Actors:
    """A fixed number of actors with one kind of work; one that is lost is replaced. A context manager."""

    def __init__(self, ray: Any, parcel: Parcel, number: int, gpus: float) -> None:
        self._ray = ray
        self._kind = ray.remote(Worker).options(num_cpus=1, num_gpus=gpus, max_restarts=0)
        self._parcel = ray.put(parcel)
        self._under_way: dict[Any, tuple[Any, _Task | None]] = {}  # None: it is asked whether it has begun
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
        """Each item with its result or error."""
        again: deque[_Task] = deque()

        def due() -> Iterator[_Task]:
            while True:
                while again:
                    yield again.popleft()
                try:
                    yield _Task(next(items))
                except StopIteration:
                    return

        free: deque[Any] = deque()
        while True:
            for actor, given in zip(list(free), due(), strict=False):
                free.remove(actor)
                self._under_way[actor.do.remote(given.item)] = actor, given
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

    def _lose(self, actor: Any, task: _Task | None, error: Exception) -> None:
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
