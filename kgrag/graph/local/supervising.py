"""Watches over the Neo4j of this machine: one that died is started again, on the ports that it had."""

import logging
import threading
import time
from collections import deque
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings
from kgrag.values.errors import KgragError

_LOG = logging.getLogger(__name__)
_LOOK = 1.0  # seconds
_STARTS, _WITHIN = 5, 3600.0  # so many starts in so many seconds: more would not help


class Supervisor:
    """Starts the server again when its process has died, while the `with` block runs; one that was stopped rests."""

    def __init__(self, settings: Settings) -> None:
        """Supervise the running server in the settings' home."""
        status = LocalServer(settings).status()
        ports = {"bolt_port": urlsplit(status.uri or "").port, "http_port": urlsplit(status.browser_url or "").port}
        local = settings.local.model_copy(update={name: port for name, port in ports.items() if port})
        self._server = LocalServer(settings.model_copy(update={"local": local}))
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="kgrag-supervisor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        starts: deque[float] = deque()
        while not self._ending.wait(_LOOK):
            if not self._server.died():
                continue
            while starts and time.monotonic() - starts[0] > _WITHIN:
                starts.popleft()
            if len(starts) == _STARTS:
                _LOG.error("Neo4j ended %d times within an hour: it is not started again.", _STARTS)
                return
            starts.append(time.monotonic())
            _LOG.warning("Neo4j ended: it is started again.")
            try:
                self._server.ensure_running()
            except KgragError as error:
                _LOG.error("Neo4j cannot be started again: %s", error.in_full)


def supervised(settings: Settings) -> AbstractContextManager[object]:
    """Supervise this machine's server, where the settings name no other one."""
    return nullcontext() if settings.neo4j_uri is not None else Supervisor(settings)
