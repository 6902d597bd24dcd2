"""Keys of a server: who may do what in which collections.

A key is a random token, shown only when it is created. A file of the server's home, readable by its user only, stores
the hash.
"""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Literal, TypeVar, get_args

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from kgrag.runtime.files import private_folder, write_atomic
from kgrag.settings import Settings
from kgrag.values.errors import AccessError, ConfigurationError, InputError, NotFoundError

M = TypeVar("M", bound=BaseModel)

Role = Literal["read", "analyst", "write", "admin"]
"""Each role includes the previous ones: analyst runs Cypher, write uploads and removes documents, admin deletes."""
ROLES: tuple[Role, ...] = get_args(Role)

_MARK = "kgrag_"
_BYTES = 32  # random
_LONGEST = 64  # characters of a name


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of a caller. `collections`: the visible ones, empty for all; `key`: the hash of its token."""

    name: str
    role: Role
    collections: tuple[str, ...] = ()
    key: str = field(default="", repr=False)

    def may(self, role: Role) -> bool:
        """Return whether the caller has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def sees(self, collection: str) -> bool:
        """Return whether the caller may see this collection."""
        return not self.collections or collection in self.collections

    def check(self, role: Role, collection: str | None = None) -> None:
        """Raise AccessError without this role, NotFoundError for a collection that the caller may not see."""
        if not self.may(role):
            raise AccessError(
                f"The key {self.name!r} may not do this: its role is {self.role}, and this takes {role}.",
                "The operator of the server creates other keys with `kgrag keys add`.",
            )
        if collection is not None and not self.sees(collection):
            raise hidden(collection, self.collections)

    def check_all(self) -> None:
        """Raise AccessError unless the caller may see all collections."""
        if self.collections:
            raise AccessError(
                f"The key {self.name!r} may not do this: it is one of some collections, and this reads all.",
                "The operator creates keys of all collections with `kgrag keys add` without --collection.",
            )


LOCAL = Access("local", "admin")
"""The access of callers of a server on loopback without keys."""


def hidden(collection: str, seen: Sequence[str]) -> NotFoundError:
    """Return the error for a missing or hidden collection, which does not tell the two apart."""
    return NotFoundError(f"There is no collection {collection!r}.", f"There are: {', '.join(seen)}." if seen else "")


class Key(BaseModel):
    """A stored key: the hash of its token, and when it was created."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    role: Role
    collections: tuple[str, ...]
    sha256: str
    created: datetime

    @property
    def access(self) -> Access:
        """The rights of its role."""
        return Access(self.name, self.role, self.collections, self.sha256)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: tuple[Key, ...] = ()


class KeptFile(Generic[M]):
    """A JSON file, read again whenever it changes. Safe to share between threads."""

    def __init__(self, path: Path, model: type[M]) -> None:
        self._path, self._model = path, model
        self._state: tuple[tuple[int, int, int] | None, M | None] = (None, None)

    def read(self) -> M:
        """Return the contents.

        Raises OSError, FileNotFoundError where there is no file, and ValidationError.
        """
        status = self._path.stat()
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        last, value = self._state
        if value is None or stamp != last:
            value = self._model.model_validate_json(self._path.read_bytes())
            self._state = (stamp, value)
        return value


class Keys:
    """The keys in a file, read again whenever it changes. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = KeptFile(path, _File)

    @classmethod
    def of(cls, settings: Settings) -> "Keys":
        """Return the keys in the home of the settings."""
        return cls(settings.home / "keys.json")

    def __len__(self) -> int:
        return len(self.all())

    def all(self) -> tuple[Key, ...]:
        """Return all keys by name. Raises ConfigurationError if the file cannot be read."""
        try:
            return self._file.read().keys
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            raise self._unreadable(error) from error

    def resolve(self, token: str) -> Access | None:
        """Return the access of a token, or None if it is unknown; both take equally long."""
        digest = hashed(token)
        access = None
        for key in self.all():
            if hmac.compare_digest(key.sha256, digest):
                access = key.access
        return access

    def holds(self, access: Access) -> bool:
        """Return whether the credentials of a caller are still valid: its key exists, or there are still no keys."""
        keys = self.all()
        return any(key.access == access for key in keys) if keys else access is LOCAL

    def add(self, name: str, role: Role, collections: Sequence[str] = ()) -> str:
        """Create a key, and return its token, which is not stored. Raises InputError for a used or invalid name."""
        if not name.strip() or not name.isprintable() or len(name) > _LONGEST:
            raise InputError(f"{name!r} is no name for a key.", f"Give one of 1 to {_LONGEST} printable characters.")
        token = _MARK + secrets.token_urlsafe(_BYTES)
        new = Key(
            name=name,
            role=role,
            collections=tuple(sorted(set(collections))),
            sha256=hashed(token),
            created=datetime.now(UTC),
        )
        private_folder(self.path.parent)
        with self._lock():
            keys = self.all()
            if any(key.name == name for key in keys):
                raise InputError(f"There is a key {name!r} already.", f"Remove it first: kgrag keys remove {name!r}")
            self._write(tuple(sorted((*keys, new), key=lambda key: key.name)))
        return token

    def remove(self, name: str) -> Key:
        """Delete a key; running servers refuse it at once. Raises NotFoundError."""
        missing = NotFoundError(f"There is no key {name!r}.", "`kgrag keys list` lists them.")
        if not self.path.exists():
            raise missing
        with self._lock():
            keys = self.all()
            key_of_name = next((key for key in keys if key.name == name), None)
            if key_of_name is None:
                raise missing
            self._write(tuple(key for key in keys if key.name != name))
        return key_of_name

    def _write(self, keys: tuple[Key, ...]) -> None:
        write_atomic(self.path, _File(keys=keys).model_dump_json(indent=1) + "\n", mode=0o600)

    def _lock(self) -> FileLock:
        return FileLock(self.path.with_suffix(".lock"), mode=0o600)

    def _unreadable(self, error: Exception) -> ConfigurationError:
        reason = "it is not what `kgrag keys` wrote" if isinstance(error, ValidationError) else str(error)
        return ConfigurationError(f"The file of keys, {self.path}, cannot be read: {reason}.", "Mend or remove it.")


def hashed(token: str) -> str:
    """Return the hash of a token for storage."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
