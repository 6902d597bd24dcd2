"""A real server on loopback, in a thread of the tests, and its clients."""

import threading
import time
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import uvicorn

from kgrag import KnowledgeGraph
from kgrag.server.app import config_of, create_app
from kgrag.server.jobs.runner import _Running
from kgrag.server.keys import Keys
from kgrag.server.sessions import Sessions
from kgrag.settings import ServeOptions

SHIPS = {
    "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
    "Ole Brandvik": "Ole Brandvik was born in Nordvika.",
}
"""Titles and texts of two documents; a question about the captain's birthplace needs both."""


def finish_late(patch: pytest.MonkeyPatch) -> None:
    """Pause jobs at their documents, so that an occasional observer sees that stage."""
    progress, rested = _Running.progress, set[str]()

    def late(self: _Running, stage: str, done: int, total: int | None) -> None:
        progress(self, stage, done, total)
        if stage == "documents" and self.job.id not in rested:
            rested.add(self.job.id)
            time.sleep(2)

    patch.setattr(_Running, "progress", late)


class Served:
    """Serves a database; `tokens` are the keys by name."""

    def __init__(self, kg: KnowledgeGraph, folder: Path, **options: Any) -> None:
        self.keys = Keys(folder / "keys.json")
        self.tokens: dict[str, str] = {}
        self.options = ServeOptions(**{"rate": 1e6, "port": 0, **options})
        self._kg = kg

    def __enter__(self) -> Self:
        self.app = create_app(self._kg, self.keys, self.options)
        self._server = uvicorn.Server(config_of(self.app, self.options))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.02)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()

    def key(self, name: str, role: Any = "read", *collections: str) -> str:
        """Make a key."""
        self.tokens[name] = self.keys.add(name, role, collections)
        return self.tokens[name]

    def session(self, name: str) -> str:
        """Return the id of a new session of a named key."""
        id = Sessions(self.keys).open(self.tokens[name])
        assert id is not None
        return id

    def client(self, name: str | None = None, **options: Any) -> httpx.Client:
        """Return a client with a named key, or without one."""
        headers = {"Authorization": f"Bearer {self.tokens.get(name, name)}"} if name else {}
        # without TLS, since loading the certificate authorities takes 25 ms each time
        own = {"timeout": 60, "verify": False, "trust_env": False}
        return httpx.Client(base_url=self.url, headers=headers, **(own | options))
