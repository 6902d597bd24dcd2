"""A TAGME of the tests: a server in a separate process, reached over HTTP."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from scripted import Steered

from kgrag.settings import TagmeSettings

TOKEN = "good-token"


class LocalTagme(Steered):
    """The server; faults are "429", "429:1" (Retry-After), any status, "timeout", "cut", "malformed" and "html"."""

    def __init__(self, spots: Mapping[str, list[Any]]) -> None:
        super().__init__("tagme_server.py", json.dumps(spots))
        self.endpoint = f"{self._address}/tag"

    def settings(self, **changes: Any) -> TagmeSettings:
        """Return settings that name this server, without a cache."""
        values: dict[str, Any] = {
            "endpoint": self.endpoint, "token": SecretStr(TOKEN), "cache": False, "timeout": 20.0, "retries": 3,
        }  # fmt: skip
        return TagmeSettings(**(values | changes))

    def fail(self, *faults: str) -> None:
        """Set faults that come before replies."""
        self._post("fail", faults=faults)

    def knows(self, **spots: list[Any]) -> None:
        """Add articles that it finds."""
        self._post("spots", spots=spots)

    @property
    def texts(self) -> list[str]:
        """The texts that were annotated."""
        found: list[str] = self._state()["texts"]
        return found
