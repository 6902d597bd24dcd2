"""The contract of language models: messages in, a reply out, with the usage counted by task.

A task is a kind of call (extract, read, reason, rewrite, answer, ...). Settings choose models and prompts by task.
"""

import hashlib
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Usage

_LOG = logging.getLogger(__name__)
_FORM = 1
"""Version of the form of cached replies and of their keys."""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A cached reply; `repeats`: it was cut because it repeated itself; `model`: the server's name of the model."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool
    repeats: bool = False
    model: str = ""


class ReplyCache:
    """Request -> reply, in a folder that only its user may read.

    Safe for many threads and processes; entries are never evicted.
    """

    def __init__(self, folder: Path, without: str = "KGRAG_CHAT__CACHE=false") -> None:
        """Open or create the cache; `without`: the setting that turns it off, for messages.

        Raises ConfigurationError if the folder cannot be used.
        """
        self._path = folder / "replies.sqlite3"
        self._own = threading.local()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # files that SQLite adds get the same mode
            self._file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"Replies cannot be kept in {folder}: {error}",
                f"Free the folder, name another with KGRAG_CACHE, or do without: {without}.",
            ) from error

    @property
    def _file(self) -> sqlite3.Connection:
        """The connection of the current thread."""
        if not hasattr(self._own, "file"):
            self._own.file = sqlite3.connect(self._path, timeout=60, isolation_level=None)
            self._own.file.execute("PRAGMA journal_mode = WAL")
            self._own.file.execute("PRAGMA synchronous = NORMAL")
        file: sqlite3.Connection = self._own.file
        return file

    @staticmethod
    def key(address: str, request: Mapping[str, Any]) -> str:
        """Return the key of a request: a hash of the server's address and everything that is sent."""
        form = json.dumps([_FORM, address, request], sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def get(self, key: str) -> CachedReply | None:
        """Return the cached reply to a request, or None if the cache has no readable reply."""
        try:
            row = self._file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return CachedReply(**json.loads(row[0])) if row else None
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            _LOG.warning("A kept reply cannot be read: %s", error)
            return None

    def put(self, key: str, reply: CachedReply) -> None:
        """Store a reply. A failure is only logged, since the caller has the reply."""
        try:
            self._file.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, json.dumps(asdict(reply))))
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("A reply cannot be kept: %s", error)

    def close(self) -> None:
        """Close the file of this thread."""
        if hasattr(self._own, "file"):
            self._own.file.close()
            del self._own.file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; `picture` is an image beside it, as a data URL."""

    role: Literal["system", "user", "assistant"]
    content: str
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a model. `cut`: it reached its limit; `served`: the server's name of the model.

    `served` is empty if the server does not say.
    """

    text: str
    model: str
    usage: Usage
    cut: bool = False
    served: str = field(default="", compare=False)


class ChatModel(Protocol):
    """Anything that answers messages. Safe to share between threads."""

    def chat(
        self,
        messages: Sequence[Message],
        *,
        task: str,
        json: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
        fresh: bool = False,
    ) -> Reply:
        """Send messages and return the reply; `json` is the JSON schema of the reply.

        `on_text` is called with the whole text so far whenever it grows; it starts again if a reply is interrupted and
        requested again. `fresh`: ignore the cache. Raises ModelError if there is no reply after all retries,
        BudgetError if the call could exceed the budget.
        """
        ...

    def name(self, task: str) -> str:
        """Return the model that answers a task."""
        ...


def no_model() -> ConfigurationError:
    """Return the error for a call without a configured language model."""
    return ConfigurationError(
        "No language model is configured.",
        "Set KGRAG_CHAT__MODEL=gpt-4o-mini and OPENAI_API_KEY=..., or for a model of your own, such as Ollama's, "
        "KGRAG_CHAT__MODEL=qwen3:8b and KGRAG_CHAT__BASE_URL=http://localhost:11434/v1.",
    )
