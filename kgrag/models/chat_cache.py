"""Replies kept on disk, so that the same call is never paid for twice, by any process."""

import hashlib
import json
import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from kgrag.errors import ConfigurationError

_LOG = logging.getLogger(__name__)
_FORM = 1
"""Counts up when what is kept, or its key, changes its form."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply as it is kept."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool


class ReplyCache:
    """Request -> reply, in a folder. Safe to use from many threads and processes; nothing is ever thrown out."""

    def __init__(self, folder: Path, without: str = "KGRAG_CHAT__CACHE=false") -> None:
        """Open or make the cache; `without`: the setting that does without it.

        Raises ConfigurationError when the folder cannot be used.
        """
        import diskcache

        self._mishaps = (OSError, sqlite3.Error, diskcache.Timeout)
        try:
            self._disk: Any = diskcache.Cache(
                str(folder), disk=diskcache.JSONDisk, eviction_policy="none", cull_limit=0, size_limit=2**62
            )
        except self._mishaps as error:
            raise ConfigurationError(
                f"Replies cannot be kept in {folder}: {error}",
                f"Free the folder, name another with KGRAG_CACHE, or do without: {without}.",
            ) from error

    @staticmethod
    def key(address: str, request: Mapping[str, Any]) -> str:
        """What a request is kept by: a hash of the server's address and everything that is sent."""
        form = json.dumps([_FORM, address, request], sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def get(self, key: str) -> Kept | None:
        """The reply to a request; None when none is kept, or it cannot be read."""
        try:
            found = self._disk.get(key, retry=True)
            return None if found is None else Kept(**found)
        except (*self._mishaps, ValueError, TypeError) as error:
            _LOG.warning("A kept reply cannot be read: %s", error)
            return None

    def put(self, key: str, reply: Kept) -> None:
        """Keep a reply. What cannot be written is logged, since the reply itself is there."""
        try:
            self._disk.set(key, asdict(reply), retry=True)
        except self._mishaps as error:
            _LOG.warning("A reply cannot be kept: %s", error)

    def close(self) -> None:
        """Close this thread's file."""
        self._disk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
