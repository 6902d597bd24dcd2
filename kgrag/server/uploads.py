"""Store uploaded files, each by its name in a collection, under a hash of the name."""

import hashlib
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kgrag.loaders.base import clean
from kgrag.values.errors import FullError, InputError, NotFoundError
from kgrag.values.identity import node_id

_LONGEST = 500  # characters of a name
_SUFFIX = re.compile(r"(\.[a-z]{1,8})?\.[a-z0-9]{1,8}$")  # the file name extension: .pdf, .warc.gz
_NAME = ".name"
_COUNTED = 60.0  # seconds after which the size is counted again, since other servers and deletions change it
_LEFT = 3600  # seconds without a change after which a temporary file is abandoned


@dataclass(frozen=True, slots=True)
class Upload:
    """A stored upload. `name`: the name that its sender gave it, the key of its document; `size` in bytes."""

    name: str
    path: Path
    size: int


class Uploads:
    """The uploads of all collections, one folder each under `home`/uploads. No path contains a name."""

    def __init__(self, home: Path) -> None:
        self._top = home / "uploads"
        self._lock = threading.Lock()
        self._bytes: int | None = None  # bytes, the time of the last count, and the bytes since
        self._counted = 0.0

    def folder(self, collection: str) -> Path:
        """Return the folder of a collection's uploads."""
        return self._top / node_id(collection)

    def keep(self, collection: str, name: str, chunks: Iterable[bytes]) -> Upload:
        """Store a file atomically; it replaces one of the same name. Raises InputError for an invalid name."""
        name = checked_name(name)
        path = self._path(collection, name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            try:
                file.writelines(chunks)
                file.close()
                _named(path).write_text(name, encoding="utf-8")
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        upload = self.find(collection, name)
        with self._lock:
            if self._bytes is not None:
                self._bytes += upload.size
        return upload

    def size(self, *, now: bool = False) -> int:
        """Return the bytes of all uploads, as of the last minute, or with `now` as of this moment."""
        with self._lock:
            if now or self._bytes is None or time.monotonic() - self._counted > _COUNTED:
                self._bytes, self._counted = self._count(), time.monotonic()
            return self._bytes

    def check_room(self, size: int, most: int) -> None:
        """Raise FullError if `size` more bytes would exceed `most` in total."""
        if self.size() + size <= most:
            return
        size_now = self.size(now=True)
        if size_now + size > most:
            raise FullError(
                f"The server holds {size_now // 1_000_000:,} MB of uploads; {most // 1_000_000:,} MB is the most.",
                "Remove uploads or collections that are no longer wanted, or set KGRAG_SERVE__HELD_MB.",
            )

    def _count(self) -> int:
        total = 0
        for file in self._top.glob("*/*"):
            with suppress(FileNotFoundError):  # removed meanwhile
                total += file.stat().st_size
        return total

    def tidy(self) -> None:
        """Remove the remains of interrupted uploads."""
        for file in self._top.glob("*/.*"):
            with suppress(FileNotFoundError):
                if time.time() - file.stat().st_mtime > _LEFT:
                    file.unlink()

    def find(self, collection: str, name: str) -> Upload:
        """Return an upload by its name. Raises NotFoundError, or InputError for an invalid name."""
        name = checked_name(name)
        path = self._path(collection, name)
        try:
            return Upload(name, path, path.stat().st_size)
        except FileNotFoundError:
            raise NotFoundError(f"Nothing is uploaded under the name {name!r}.", "Upload it first.") from None

    def holds(self, collection: str, name: str) -> bool:
        """Return whether a file of that name is stored."""
        with suppress(NotFoundError, InputError):
            return bool(self.find(collection, name))
        return False

    def list(self, collection: str) -> list[Upload]:
        """Return the uploads of a collection, by name."""
        uploads = []
        for file in self.folder(collection).glob(f"*{_NAME}"):
            with suppress(FileNotFoundError, NotFoundError):  # deleted meanwhile, or not there yet
                uploads.append(self.find(collection, file.read_text(encoding="utf-8")))
        return sorted(uploads, key=lambda upload: upload.name)

    def remove(self, collection: str, name: str) -> bool:
        """Delete an upload, and return whether it existed. Its document stays until it is deleted or pruned."""
        path = self._path(collection, checked_name(name))
        existed = path.exists()
        path.unlink(missing_ok=True)
        _named(path).unlink(missing_ok=True)
        return existed

    def clear(self, collection: str) -> None:
        """Delete all uploads of a collection."""
        shutil.rmtree(self.folder(collection), ignore_errors=True)

    def _path(self, collection: str, name: str) -> Path:
        match = _SUFFIX.search(name.lower())
        suffix = match[0] if match and not match[0].endswith(_NAME) else ""
        return self.folder(collection) / (hashlib.sha256(name.encode()).hexdigest() + suffix)


def checked_name(name: str) -> str:
    """Return the stored form of a name, a relative path with "/". Raises InputError for a path outside the folder."""
    cleaned = clean(name).replace("\\", "/")
    parts = cleaned.split("/")
    if (
        cleaned != name.replace("\\", "/")
        or not 0 < len(cleaned) <= _LONGEST
        or not cleaned.isprintable()
        or any(part.strip(" .") == "" for part in parts)
        or ":" in parts[0]
    ):
        raise InputError(
            f"{cleaned[:_LONGEST]!r} cannot be the name of an upload.",
            f"Use up to {_LONGEST} printable characters, such as report.pdf or folder/report.pdf.",
        )
    return cleaned


def _named(path: Path) -> Path:
    """Return the path of an upload."""
    return path.with_name(f"{path.name}{_NAME}")
