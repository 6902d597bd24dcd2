"""Sessions of the pages: a cookie holds a random id, and a file stores the session until it ends.

A session belongs to one key, and ends with it. The file survives restarts, holds only hashes, and is readable by the
user of the server only.
"""

import secrets
from datetime import UTC, datetime, timedelta

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from kgrag.runtime.files import private_folder, write_atomic
from kgrag.server.keys import Access, KeptFile, Keys, hashed

DAYS = 30
"""Lifetime of a session."""
_BYTES = 32  # random
_MOST = 10_000


class _Session(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    """A stored session: the hash of the token of its key."""
    until: datetime


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sessions: dict[str, _Session] = {}


class Sessions:
    """The sessions in a file beside the keys. Safe to share between threads and processes."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._path = keys.path.with_name("sessions.json")
        self._file = KeptFile(self._path, _File)

    def open(self, token: str) -> str | None:
        """Open a session of a key, and return its id, or None for an unknown token."""
        access = self._keys.resolve(token)
        if access is None:
            return None
        id, now = secrets.token_urlsafe(_BYTES), datetime.now(UTC)
        self._change({hashed(id): _Session(key=access.key, until=now + timedelta(days=DAYS))})
        return id

    def resolve(self, id: str) -> Access | None:
        """Return the current access of a session, or None if it has expired or its key was deleted."""
        session = self._sessions().get(hashed(id))
        if session is None or session.until < datetime.now(UTC):
            return None
        return next((key.access for key in self._keys.all() if key.sha256 == session.key), None)

    def close(self, id: str) -> None:
        """End a session."""
        self._change({}, ended=hashed(id))

    def _change(self, more: dict[str, _Session], ended: str = "") -> None:
        private_folder(self._path.parent)
        with FileLock(self._path.with_suffix(".lock"), mode=0o600):
            now, keys = datetime.now(UTC), {key.sha256 for key in self._keys.all()}
            current = {id: s for id, s in self._sessions().items() if s.until > now and s.key in keys and id != ended}
            newest = dict(sorted((current | more).items(), key=lambda item: item[1].until)[-_MOST:])
            write_atomic(self._path, _File(sessions=newest).model_dump_json() + "\n", mode=0o600)

    def _sessions(self) -> dict[str, _Session]:
        """Return all sessions; none if the file is invalid, so that people log in again."""
        try:
            return self._file.read().sessions
        except (OSError, ValidationError):
            return {}
