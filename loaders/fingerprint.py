"""Whether a file has changed since its documents were written: by its size and time, else by its bytes."""

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

_COARSE = 2.0  # seconds: a file can change so soon after it was read without another time (FAT counts in these)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The size in bytes of a file, or of several together, and the time of the last change in nanoseconds."""

    size: int
    time: int

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Self | None:
        """Return the stamp of existing regular files; else None."""
        size = newest = 0
        for path in paths:
            try:
                found = path.stat()
            except OSError:
                return None
            if not stat.S_ISREG(found.st_mode):
                return None
            size += found.st_size
            newest = max(newest, found.st_mtime_ns)
        return cls(size, newest)

    def age(self) -> float:
        """Return seconds since the last change; below 0 if the clocks differ."""
        return time.time() - self.time / 1e9


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What read a file, and the file's size, time and hash then; as text "READER SIZE TIME HASH".

    `reader`: the format with its version, and what else decides what is read. A time of 0 says nothing: the file was
    too new to tell a later change by it.
    """

    reader: str
    size: int
    time: int
    hash: str

    @classmethod
    def of(cls, reader: str, stamp: Stamp, hash: str) -> Self:
        """Return the current fingerprint of a file that `reader` reads."""
        return cls(reader, stamp.size, stamp.time if stamp.age() > _COARSE else 0, hash)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the fingerprint of a text by `str`; None for any other text."""
        parts = text.split(" ")
        if len(parts) != 4 or not (parts[1].isdigit() and parts[2].isdigit()):
            return None
        return cls(parts[0], int(parts[1]), int(parts[2]), parts[3])

    def __str__(self) -> str:
        return f"{self.reader} {self.size} {self.time} {self.hash}"

    def still(self, paths: Sequence[Path], stamp: Stamp) -> Self | None:
        """Return the current fingerprint of the files, if their contents are unchanged; else None.

        Reads them if need be.
        """
        if stamp.size != self.size:
            return None
        if self.time and self.time == stamp.time:
            return self
        if digest(paths) != self.hash:
            return None
        return replace(self, time=stamp.time if stamp.age() > _COARSE else 0)


def digest(paths: Sequence[Path]) -> str | None:
    """Return a hash of the files' contents; None if they cannot be read."""
    total = hashlib.blake2b(digest_size=16)
    try:
        for path in paths:
            with path.open("rb") as file:
                total.update(os.fsencode(str(file.seek(0, os.SEEK_END))))
                file.seek(0)
                while part := file.read(1 << 20):
                    total.update(part)
    except OSError:
        return None
    return total.hexdigest()
