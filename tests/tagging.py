"""A TAGME of the tests: a server in a process of its own, reached over HTTP."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

from pydantic import SecretStr

from kgrag.settings import TagmeSettings

PROGRAM = Path(__file__).parent / "models" / "tagme_server.py"
TOKEN = "good-token"


class LocalTagme:
    """The server; faults are "429", "429:1" (Retry-After), any status, "timeout", "cut", "malformed" and "html"."""

    def __init__(self, spots: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(spots)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self._address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.endpoint = f"{self._address}/tag"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def settings(self, **changes: Any) -> TagmeSettings:
        """Settings that name this server, and no cache."""
        values: dict[str, Any] = {
            "endpoint": self.endpoint,
            "token": SecretStr(TOKEN),
            "cache": False,
            "timeout": 20.0,
            "retries": 3,
        }
        return TagmeSettings(**(values | changes))

    def fail(self, *faults: str) -> None:
        """Faults that come before replies."""
        self._post("fail", faults=faults)

    def delay(self, seconds: float) -> None:
        """How long each reply takes."""
        self._post("delay", seconds=seconds)

    def knows(self, **spots: list[Any]) -> None:
        """What it finds besides."""
        self._post("spots", spots=spots)

    def reset(self) -> None:
        """As it was when it started."""
        self._post("reset")

    @property
    def texts(self) -> list[str]:
        """The texts that were annotated."""
        found: list[str] = self._state()["texts"]
        return found

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """All requests as {fault, lang, when}."""
        found: list[dict[str, Any]] = self._state()["attempts"]
        return found

    @property
    def most_under_way(self) -> int:
        """How many requests were under way at once, at most."""
        return int(self._state()["most_under_way"])

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(self._address, timeout=30) as reply:
            state: dict[str, Any] = json.load(reply)
        return state

    def _post(self, path: str, /, **values: Any) -> None:
        with urllib.request.urlopen(f"{self._address}/{path}", data=json.dumps(values).encode(), timeout=30) as reply:
            reply.read()
