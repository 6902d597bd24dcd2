"""Files that are sent to a server: by the names that they are known by there, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from kgrag.loaders.dispatch import LOADERS
from kgrag.loaders.folder_walk import Seen, Walk, file_key
from kgrag.values.documents import Problem, Scan
from kgrag.values.errors import InputError

_FILES, _BYTES = 100, 32 * 1024 * 1024  # of uploads that are sent at once


def named_files(paths: Iterable[str | Path], root: str | Path | None) -> Iterator[tuple[str, Path]]:
    """Files by the names that they are known by: of a folder those that some loader reads.

    Raises InputError for a path that does not exist.
    """
    seen, endings = Seen(), tuple(ending for _, form in LOADERS.items() for ending in form.extensions)
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"There is no {str(path)!r}.", "Check the spelling.")
        folder = path if path.is_dir() else path.parent
        found: Iterable[Path | Problem] = Walk(path, seen, Scan(), root, False) if path.is_dir() else [path]
        for file in found:
            if isinstance(file, Path) and (file is path or file.name.lower().endswith(endings)):
                yield file_key(file, root or folder), file


def parts(files: Iterator[tuple[str, Path]]) -> Iterator[dict[str, Path]]:
    """The files, as many together as are sent at once."""
    part: dict[str, Path] = {}
    size = 0
    for name, path in chain(files, [("", Path())]):
        bytes_ = path.stat().st_size if name else 0
        if part and (not name or len(part) == _FILES or size + bytes_ > _BYTES):
            yield part
            part, size = {}, 0
        part[name] = path
        size += bytes_
