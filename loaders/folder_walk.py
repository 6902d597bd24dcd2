"""Walk folders: list each file once and in order, skip excluded files, and find the changed ones."""

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Self

from kgrag.loaders.base import clean, hash_of
from kgrag.loaders.jsonl import QUERIES, TRIPLES
from kgrag.loaders.named_rows import CORPUS
from kgrag.values.documents import Problem, Scan
from kgrag.values.errors import InputError

ALWAYS = ("node_modules/", ".git/", ".venv/", "__pycache__/")
"""Folders of third-party or generated files, which are always skipped."""
_NAME = ".gitignore"
OF_PROGRAM = "locks and settings of programs"
"""The name under which skipped files of programs are counted."""
_ADDRESS = re.compile(r"(https?|ftp|s3|gs):/+(.*)", re.IGNORECASE)
_OF_PROGRAMS = re.compile(r"~\$.+|\.~lock\..+#|desktop\.ini|(?:eh)?thumbs\.db", re.IGNORECASE)
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Rule:
    path: re.Pattern[str]  # relative to the folder of the file with the rule
    base: PurePath
    kept: bool  # "!": a match is read nevertheless
    folders: bool  # "/": only folders match

    def matches(self, path: PurePath, is_folder: bool) -> bool:
        if (self.folders and not is_folder) or not path.is_relative_to(self.base):
            return False
        return self.path.fullmatch(path.relative_to(self.base).as_posix()) is not None


class Ignore:
    """The ignore patterns in force in a folder and below; the last match decides."""

    def __init__(self, top: Path, patterns: Iterable[str] = (), *, files: bool = True) -> None:
        self._top = top
        self._real = top.resolve()
        self._files = files
        self._patterns = list(filter(None, (_rule(self._real, line) for line in (*ALWAYS, *patterns))))
        self._rules: list[_Rule] = []
        for folder in reversed(_above(self._real)):
            self._heed(folder)

    def enter(self, folder: Path) -> None:
        """Add the patterns of a folder on entering it."""
        self._heed(self._real / folder.relative_to(self._top))

    def _heed(self, folder: Path) -> None:
        if not self._files:
            return
        try:
            with (folder / _NAME).open("rb") as file:
                lines = file.read(_MAX_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:  # most folders have none
            return
        self._rules.extend(filter(None, (_rule(folder, line) for line in lines)))

    def passes_over(self, path: Path, *, is_folder: bool) -> str:
        """Return why a path is skipped ("excluded" or "in .gitignore"), or "" if it is read."""
        real = self._real / path.relative_to(self._top)
        for rules, why in ((self._patterns, "excluded"), (self._rules, f"in {_NAME}")):
            last = next((rule for rule in reversed(rules) if rule.matches(real, is_folder)), None)
            if last is not None and not last.kept:
                return why
        return ""


def _above(top: Path) -> list[Path]:
    """Return the folders between a folder and the root of its repository, from the inside."""
    folders: list[Path] = []
    if not (top / ".git").exists():
        for folder in top.parents:
            folders.append(folder)
            if (folder / ".git").exists():
                return folders
    return []


def _rule(base: PurePath, line: str) -> _Rule | None:
    """Return the rule on a line; None for a comment or an empty line."""
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line.removeprefix("!")
    folders = line.endswith("/")
    line = line.strip("/") if "/" not in line.strip("/") and not line.startswith("/") else f"/{line.strip('/')}"
    return _Rule(_pattern(line), base, negated, folders) if line.strip("/") else None


_WILDCARD = re.compile(r"(?:^|(?<=/))\*\*(?:/|\Z)|\[(?P<inner>..*?)\]|\\(?P<escaped>.)|.", re.DOTALL)
_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _expression(match: re.Match[str]) -> str:
    """Return the regular expression of a wildcard or another token of a pattern."""
    if inner := match["inner"]:
        inner = inner.replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]"
    return _WILD[match[0]] if match[0] in _WILD else re.escape(match["escaped"] or match[0])


def _pattern(line: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression; with a leading "/" it matches in its own folder only."""
    start = "" if line.startswith("/") else "(?:.*/)?"
    try:
        return re.compile(start + _WILDCARD.sub(_expression, line.removeprefix("/")), re.DOTALL)
    except re.error:  # "[z-a]" matches nothing
        return re.compile(r"(?!)")


_COARSE = 2.0  # seconds: resolution of file times (on FAT); a change within them may keep the same time


@dataclass(frozen=True, slots=True)
class Stamp:
    """The total size of one or more files in bytes, and the time of their last change in nanoseconds.

    `mark`: a hash of the files' times of change, times of status change and inode numbers.
    """

    size: int
    time: int
    mark: int

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Self | None:
        """Return the stamp of files, or None unless all are existing regular files."""
        size = newest = 0
        marks: list[int] = []
        for path in paths:
            try:
                status = path.stat()
            except OSError:
                return None
            if not stat.S_ISREG(status.st_mode):
                return None
            size += status.st_size
            newest = max(newest, status.st_mtime_ns)
            marks += [status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        return cls(size, newest, hash_of(repr(marks).encode()))

    def age(self) -> float:
        """Return the seconds since the last change; negative if the clocks differ."""
        return time.time() - self.time / 1e9


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The reader of a file, and the file's size, mark and hash at that time; as text "READER SIZE MARK HASH".

    `reader`: the format, its version, and the options that affect the result. A mark of 0 is never compared: the file
    was so new that a later change might have kept the mark.
    """

    reader: str
    size: int
    mark: int
    hash: str

    @classmethod
    def of(cls, reader: str, stamp: Stamp, hash: str) -> Self:
        """Return the current fingerprint of a file that `reader` reads."""
        return cls(reader, stamp.size, stamp.mark if stamp.age() > _COARSE else 0, hash)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse the text form of a fingerprint; return None for any other text."""
        parts = text.split(" ")
        if len(parts) != 4 or not (parts[1].isdigit() and parts[2].isdigit()):
            return None
        return cls(parts[0], int(parts[1]), int(parts[2]), parts[3])

    def __str__(self) -> str:
        return f"{self.reader} {self.size} {self.mark} {self.hash}"

    def still(self, paths: Sequence[Path], stamp: Stamp) -> Self | None:
        """Return the current fingerprint of the files if their contents are unchanged; else None.

        Reads the files if their stamp changed.
        """
        if stamp.size != self.size:
            return None
        if self.mark and self.mark == stamp.mark:
            return self
        if digest(paths) != self.hash:
            return None
        return replace(self, mark=stamp.mark if stamp.age() > _COARSE else 0)


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


class Seen:
    """A set of names, stored as 8-byte hashes."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, name: str) -> bool:
        """Add a name; returns whether it is new."""
        before = len(self._hashes)
        self._hashes.add(hash_of(name.encode("utf-8", "surrogateescape")))
        return len(self._hashes) > before


def file_key(path: str | Path, root: str | Path | None = None) -> str:
    """Return the key of a file: its path relative to `root` if inside, else its absolute path with links resolved."""
    real = Path(os.path.realpath(path))
    if root is not None and real.is_relative_to(top := os.path.realpath(root)):
        real = real.relative_to(top)
    return shown_path(real)


def shown_path(path: Path) -> str:
    """Return a path as text, with bytes that are not UTF-8 as "\\xe9", so that different files look different."""
    return clean(os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace"))


def folder_prefix(path: Path, root: str | Path | None) -> str:
    """Return the common beginning of the keys of a folder's files; empty for `root` itself."""
    key = file_key(path, root)
    return "" if key == "." else f"{key.rstrip('/')}/"


def add_to(counts: dict[str, int], kind: str, number: int = 1) -> None:
    """Add a number to the count of a kind."""
    if number:
        counts[kind] = counts.get(kind, 0) + number


@dataclass(slots=True)
class Walk:
    """The files of one folder, sorted; `scan` counts skipped files and `repeated` files met before."""

    top: Path
    seen: Seen
    scan: Scan
    root: str | Path | None
    follow_links: bool
    ignore: Ignore | None = None
    repeated: int = 0

    def __iter__(self) -> Iterator[Path | Problem]:
        """Yield the files, and a Problem for each skipped folder and link."""
        ignore = self.ignore or Ignore(self.top)
        stack: list[Iterator[Path]] = [iter((self.top,))]
        inside = os.path.realpath(self.top)
        while stack:
            path = next(stack[-1], None)
            if path is None:
                stack.pop()
            elif path is not self.top and (why := ignore.passes_over(path, is_folder=is_dir(path))):
                add_to(self.scan.skipped, why)
            elif path is not self.top and of_program(path):
                add_to(self.scan.skipped, OF_PROGRAM)
            elif path is not self.top and not self.seen.add(os.path.realpath(path)):
                self.repeated += 1
            elif not self.follow_links and path.is_symlink() and not _leads_into(path, inside):
                yield Problem(str(path), "is a link that leaves the folder, and was not followed; to have such links "
                              "followed, set KGRAG_LOADING__FOLLOW_LINKS=true", lasting=True)  # fmt: skip
            elif is_dir(path):
                ignore.enter(path)
                try:
                    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
                except OSError as error:
                    self.scan.unreadable.append(folder_prefix(path, self.root))
                    yield Problem(str(path), reason(error))
                    continue
                if CORPUS in names and not is_dir(path / CORPUS):
                    # a benchmark's triples and questions are not documents
                    names = [name for name in names if name not in (TRIPLES, QUERIES)]
                stack.append(map(path.joinpath, names))
            else:
                yield path


def is_dir(path: Path) -> bool:
    """Return whether a path is a folder, or False if that cannot be determined."""
    try:
        return path.is_dir()
    except OSError:  # a folder without search permission gives only names
        return False


def of_program(path: Path) -> bool:
    """Return whether the name of a file marks a lock of an office program or the settings of a folder."""
    return _OF_PROGRAMS.fullmatch(path.name) is not None


def check_address(path: Path) -> None:
    """Raise InputError if a path is a web address."""
    if (match := _ADDRESS.fullmatch(str(path))) and not path.exists():
        address = clean(f"{match[1]}://{match[2]}")
        raise InputError(
            f"kgrag reads files, and {address} is an address.",
            f"Download it first: `curl -LO {address}`, then ingest the file.",
        )


def exists(path: Path) -> bool:
    """Return whether the path exists, even as a broken link or in an unreadable folder."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def reason(error: OSError) -> str:
    """Return the reason for a read error, for a Problem."""
    if isinstance(error, FileNotFoundError):
        return "is a link that leads nowhere, or was removed"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    return f"cannot be read: {error.strerror or error}"


def _leads_into(link: Path, folder: str) -> bool:
    """Return whether a link leads into the folder or is broken, which its reader reports."""
    real = Path(os.path.realpath(link))
    return real.is_relative_to(folder) or not real.exists()
