"""Answers that the pages have shown, on disk: whoever opens a page again, or after a restart, sees them without paying.

Each belongs to the key that asked. The file is one that nobody else may read.
"""

import hashlib
import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from kgrag import wire
from kgrag.runtime.files import private_folder
from kgrag.values.errors import InputError
from kgrag.values.events import Answer

_LOG = logging.getLogger(__name__)
_MADE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, said TEXT, answer BLOB)"
_OLDER = "DELETE FROM answers WHERE key NOT IN (SELECT key FROM answers ORDER BY said DESC LIMIT ?)"


class Answers:
    """The newest `most` answers in a file. Safe to use from many threads and processes."""

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most

    def get(self, *asked: str) -> tuple[Answer, datetime] | None:
        """What was answered to what was asked, and when; None when none is kept, or it cannot be read."""
        if not self._most or not self._path.exists():
            return None
        try:
            with self._file() as file:
                found = file.execute("SELECT answer, said FROM answers WHERE key = ?", (_key(asked),)).fetchone()
            if found is None:
                return None
            return wire.answer_from_json(json.loads(zlib.decompress(found[0]))), datetime.fromisoformat(found[1])
        except (OSError, sqlite3.Error, zlib.error, ValueError, InputError) as error:
            _LOG.warning("A kept answer cannot be read: %s", error)
            return None

    def put(self, answer: Answer, *asked: str) -> None:
        """Keep an answer, and drop the oldest. What cannot be written is logged: the answer itself is there."""
        if not self._most:
            return
        form = zlib.compress(wire.dumps(wire.to_json(answer)).encode())
        try:
            with self._file() as file:
                row = (_key(asked), datetime.now(UTC).isoformat(), form)
                file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
                file.execute(_OLDER, (self._most,))
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("An answer cannot be kept: %s", error)

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        private_folder(self._path.parent)
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self._path, timeout=20)) as file, file:
            file.execute(_MADE)
            yield file


def _key(asked: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
