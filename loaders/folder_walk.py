"""Folders: which files they hold, in order, each once whatever links lead to it."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from kgrag.loaders.base import clean
from kgrag.loaders.benchmark import QUERIES, TRIPLES
from kgrag.loaders.ignore import Ignore
from kgrag.loaders.named_rows import CORPUS
from kgrag.values.documents import Problem, Scan


class Seen:
    """Names that were met, as hashes of 8 bytes."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, name: str) -> bool:
        """Remember a name; returns whether it is new."""
        digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        before = len(self._hashes)
        self._hashes.add(int.from_bytes(digest, "little"))
        return len(self._hashes) > before


def file_key(path: str | Path, root: str | Path | None = None) -> str:
    """Return the key of a file: its absolute path with "/", links resolved, or its path in `root` if it lies there."""
    real = Path(os.path.realpath(path))
    if root is not None and real.is_relative_to(top := os.path.realpath(root)):
        real = real.relative_to(top)
    return clean(real.as_posix())


def folder_prefix(path: Path, root: str | Path | None) -> str:
    """Return the common beginning of the keys of a folder's files; empty for `root` itself."""
    key = file_key(path, root)
    return "" if key == "." else f"{key.rstrip('/')}/"


class Walk:
    """The files of one folder, sorted; what was met on the way goes into the scan."""

    def __init__(
        self,
        top: Path,
        seen: Seen,
        scan: Scan,
        root: str | Path | None,
        follow_links: bool,
        ignore: Ignore | None = None,
    ) -> None:
        self._top = top
        self._ignore = ignore or Ignore(top)
        self._seen = seen
        self._scan = scan
        self._root = root
        self._follow_links = follow_links
        self.repeated = 0
        """How many files and folders were met before."""

    def __iter__(self) -> Iterator[Path | Problem]:
        """Yield the files, and a Problem for each folder and link that is skipped."""
        stack: list[Iterator[Path]] = [iter((self._top,))]
        inside = os.path.realpath(self._top)
        while stack:
            path = next(stack[-1], None)
            if path is None:
                stack.pop()
            elif path is not self._top and (why := self._ignore.passes_over(path, is_folder=is_dir(path))):
                self._scan.skipped[why] = self._scan.skipped.get(why, 0) + 1
            elif path is not self._top and not self._seen.add(os.path.realpath(path)):
                self.repeated += 1
            elif not self._follow_links and path.is_symlink() and not _leads_into(path, inside):
                yield Problem(str(path), "is a link that leaves the folder, and was not followed; to have such links "
                              "followed, set KGRAG_LOADING__FOLLOW_LINKS=true", lasting=True)  # fmt: skip
            elif is_dir(path):
                self._ignore.enter(path)
                try:
                    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
                except OSError as error:
                    self._scan.unreadable.append(folder_prefix(path, self._root))
                    yield Problem(str(path), reason(error))
                    continue
                if CORPUS in names and not is_dir(path / CORPUS):
                    # a benchmark's triples and questions are no documents
                    names = [name for name in names if name not in (TRIPLES, QUERIES)]
                stack.append(map(path.joinpath, names))
            else:
                yield path


def is_dir(path: Path) -> bool:
    """Return whether it is a folder; not, if that cannot be found out."""
    try:
        return path.is_dir()
    except OSError:  # a folder whose names may be read but not what they stand for
        return False


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
    """Return the reason of a read error for a Problem."""
    if isinstance(error, FileNotFoundError):
        return "is a link that leads nowhere, or was removed"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    return f"cannot be read: {error.strerror or error}"


def _leads_into(link: Path, folder: str) -> bool:
    """Return whether a link leads into the folder, or nowhere at all, which its reader reports."""
    real = Path(os.path.realpath(link))
    return real.is_relative_to(folder) or not real.exists()
