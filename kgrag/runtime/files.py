"""File helpers: atomic writes, locks, and disk errors with a remedy."""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kgrag.values.errors import InputError, LocalServerError
from kgrag.values.events import Progress

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NEW = 60  # seconds during which a new folder may not have its lock yet
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_OF_FILES = (
    {errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY, errno.ENAMETOOLONG, errno.ELOOP}
    | {errno.EIO, errno.ENXIO, errno.ENODEV, errno.EBUSY, errno.EMFILE, errno.ENFILE, errno.ETXTBSY}
    | _FULL | _REFUSED
)  # fmt: skip


def write_atomic(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write `path` atomically: a reader sees the old file or the new one, never a part.

    The file has `mode` from its first byte on. Raises OSError.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner may read, and restrict an existing one. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    return folder


def file_error(error: OSError, place: object, verb: str) -> InputError | None:
    """Return the error for a file, disk or pipe of the user; None for other errors, such as those of a network.

    `place`: the file, which the system does not name for a write; `verb`: "read" or "written".
    """
    if error.errno not in _OF_FILES:
        return None
    full = "Free some space, or write to another disk."
    return InputError(
        f"{error.filename or place} cannot be {verb}: {error.strerror}.",
        full if error.errno in _FULL else f"Is the path right, and may it be {verb} there?",
    )


@contextmanager
def user_file(place: object, verb: str = "written") -> Iterator[None]:
    """Convert errors of reading or writing a user's file to an InputError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not a text in UTF-8 ({error.reason}).", "Save it as UTF-8.") from error
    except OSError as error:
        raise file_error(error, place, verb) or error from error


@contextmanager
def disk_errors(place: Path, setting: str) -> Iterator[None]:
    """Convert an OSError of the block to a LocalServerError about `place`; `setting`: the variable that moves it."""
    try:
        yield
    except OSError as error:
        action = "Free some space" if error.errno in _FULL else "Make it writable for this user"
        raise LocalServerError(
            f"{error.filename or place} cannot be written: {error.strerror or error}.",
            f"{action}, or set {setting} to another folder, then run the command again.",
        ) from error


@contextmanager
def locked(path: Path, progress: Progress | None) -> Iterator[None]:
    """Hold the lock file `path`; while another process holds it, wait and tell `progress` so."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if progress is not None:
            progress("Waiting for another kgrag", 0, None)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder for the block; also removes the folders of killed processes."""
    for lock in Path(tempfile.gettempdir()).glob("kgrag-*/.lock"):
        with suppress(Timeout, OSError):
            if time.time() - lock.stat().st_mtime > _NEW:
                with FileLock(lock, timeout=0):
                    shutil.rmtree(lock.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="kgrag-") as name, FileLock(Path(name, ".lock")):
        yield Path(name)


def require_space(place: Path, needed: int, setting: str) -> None:
    """Raise LocalServerError if the disk of `place` has fewer than `needed` bytes free."""
    free = free_bytes(place)
    if free < needed:
        raise LocalServerError(
            f"{megabytes(needed)} are needed in {place}, only {megabytes(free)} are free.",
            f"Free some space, or set {setting} to a folder on a larger disk, then run the command again.",
        )


def free_bytes(place: Path) -> int:
    """Return the free bytes on the disk of `place`, which need not exist yet."""
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def megabytes(size: int) -> str:
    """Return `size` in bytes as text in MB."""
    return f"{size / 1e6:,.0f} MB"
