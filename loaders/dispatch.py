"""The entry point: walks over files and folders and hands each file to its format."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import is_zipfile

from kgrag.errors import InputError
from kgrag.loaders.base import MB, BadInput, Format, Item, Reading, Source, check_size, clean
from kgrag.loaders.benchmark import QUERIES, TRIPLES, load_benchmark
from kgrag.loaders.guard import Readers
from kgrag.loaders.rows import CORPUS, Columns
from kgrag.plugins import Plugins
from kgrag.settings import LoadingSettings
from kgrag.types import Document, Problem

LOADERS: Plugins[Format] = Plugins("kgrag.loaders", "loader")
"""The formats by name; adding one is a module and an entry point."""

_OLE = (
    "is an office file encrypted with a password, or of a format from before 2007; save it without a password as "
    "DOCX, PPTX, XLSX or PDF"
)
_OFFICE = (".docx", ".pptx", ".xlsx")
_ROWS = (".jsonl", ".ndjson", ".csv", ".tsv")  # whose rows stand on lines
_MAX_PROBLEMS = 1000  # of one file: beyond that the number is told, not each one


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    columns: Columns | None = None,
    max_file_mb: int = 64,
    loading: LoadingSettings | None = None,
    root: str | Path | None = None,
) -> Iterator[Item]:
    """Read files and folders into Documents, one after another; what cannot be read becomes a Problem.

    Folders are walked in sorted order, without hidden files; links that leave the folder are reported, not followed,
    unless `loading` says so. A file's key is its absolute path, links resolved: the same however the path was typed.
    With `root`, a folder, it is the path within that folder, which stays when the folder is moved. A row's key is
    FILE#ID with the id column, FILE#LINE without one; ids of a column that `columns` names, and of a benchmark's
    corpus.jsonl, are keys by themselves. Files over `max_file_mb` are reported (of CSV and JSON Lines only single rows
    over it). PDF and office files are known by their content, and read as `loading` says.
    Raises InputError, at once, if none of the paths exists.
    """
    given = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if given and not any(_exists(path) for path in given):
        names = ", ".join(clean(str(path)) for path in given[:5]) + (", ..." if len(given) > 5 else "")
        raise InputError(
            f"Nothing to read: {names} {'does' if len(given) == 1 else 'do'} not exist.",
            f"Check the spelling; paths are relative to {clean(str(Path.cwd()))}.",
        )
    return _Loader(columns or Columns(), max_file_mb * MB, loading or LoadingSettings(), root).run(given)


def file_key(path: str | Path, root: str | Path | None = None) -> str:
    """The key of a file: its absolute path with "/", links resolved, or its path in `root` if it lies there."""
    real = Path(os.path.realpath(path))
    if root is not None and real.is_relative_to(top := os.path.realpath(root)):
        real = real.relative_to(top)
    return clean(real.as_posix())


class _Loader:
    """The state of one load: which files and which keys have been seen, as hashes of 8 bytes."""

    def __init__(self, columns: Columns, limit: int, loading: LoadingSettings, root: str | Path | None = None) -> None:
        self._formats = {extension: form for form in LOADERS.values() for extension in form.extensions}
        self._root = root
        self._follow_links = loading.follow_links
        self._reading = Reading(columns, Readers(loading))
        self._limit = limit
        self._seen: set[int] = set()
        self._keys: set[int] = set()
        self._repeated = 0

    def run(self, paths: list[Path]) -> Iterator[Item]:
        with self._reading.readers:
            yield from self._run(paths)

    def _run(self, paths: list[Path]) -> Iterator[Item]:
        for path in paths:
            for item in self._path(path):
                if isinstance(item, Problem):
                    yield Problem(clean(item.place), clean(item.message))
                elif self._is_new(self._keys, item.key):
                    yield item
                else:
                    yield Problem(
                        _place(item),
                        f"has the key {item.key!r}, which another document of this load has already; it is left out. "
                        "Give it another id, or do not name the column of the ids",
                    )

    def _path(self, path: Path) -> Iterator[Item]:
        if not _exists(path):
            yield Problem(str(path), "does not exist")
        elif not self._is_new(self._seen, os.path.realpath(path)):
            return  # passed twice
        elif _is_dir(path):
            yield from self._folder(path)
        else:
            yield from self._file(self._source(path))

    def _source(self, path: Path) -> Source:
        return Source(path, file_key(path, self._root), clean(str(path)), self._limit)

    def _folder(self, top: Path) -> Iterator[Item]:
        unknown: Counter[str] = Counter()
        readable = 0
        repeated = self._repeated
        for found in self._walk(top):
            if isinstance(found, Problem):
                yield found
                continue
            suffix = found.suffix.lower()
            if suffix not in self._formats:
                unknown[suffix] += 1
                continue
            readable += 1
            source = self._source(found)
            triples = found.with_name(TRIPLES)
            if found.name == CORPUS and os.path.lexists(triples):
                pair = load_benchmark(source, self._source(triples), self._reading.columns)
                yield from _guarded(source, pair)
            else:
                yield from self._file(source)
        for suffix, count in sorted(unknown.items()):
            what = f"with unknown extension {suffix}" if suffix else "without extension"
            yield Problem(str(top), f"{count:,} {'file' if count == 1 else 'files'} {what} skipped")
        if not readable and not unknown and self._repeated == repeated:
            yield Problem(str(top), "holds no files to read")

    def _walk(self, top: Path) -> Iterator[Path | Problem]:
        """The files in a folder, sorted; each file and folder once, whatever links lead to it."""
        stack: list[Iterator[Path]] = [iter((top,))]
        inside = os.path.realpath(top)
        while stack:
            path = next(stack[-1], None)
            if path is None:
                stack.pop()
            elif path is not top and not self._is_new(self._seen, os.path.realpath(path)):
                self._repeated += 1
            elif not self._follow_links and path.is_symlink() and not _leads_into(path, inside):
                yield Problem(str(path), "is a link that leaves the folder, and was not followed; to have such links "
                              "followed, set KGRAG_LOADING__FOLLOW_LINKS=true")  # fmt: skip
            elif _is_dir(path):
                try:
                    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
                except OSError as error:
                    yield Problem(str(path), _reason(error))
                    continue
                if CORPUS in names and not _is_dir(
                    path / CORPUS
                ):  # a benchmark's triples and questions are no documents
                    names = [name for name in names if name not in (TRIPLES, QUERIES)]
                stack.append(map(path.joinpath, names))
            else:
                yield path

    def _file(self, source: Source) -> Iterator[Item]:
        suffix = source.path.suffix.lower()
        kind = _kind(source.path)
        if kind == "ole":
            return iter([Problem(source.shown, _OLE)])
        form = LOADERS[kind] if kind else self._formats.get(suffix, LOADERS["text"])
        if form.untrusted and not kind:
            return _guarded(source, _refuse(source, form))
        return _guarded(source, form.load(source, self._reading))

    def _is_new(self, seen: set[int], name: str) -> bool:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        if number in seen:
            return False
        seen.add(number)
        return True


def _kind(path: Path) -> str:
    """The format that the first bytes of a file show: "pdf", "word" (any office file), "ole" (old ones), else ""."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:  # whoever reads it says why
        return ""
    if head.startswith(b"%PDF-") or (path.suffix.lower() == ".pdf" and b"%PDF-" in head):
        return "pdf"
    if head.startswith(b"PK\3\4"):
        return "word" if path.suffix.lower() in _OFFICE or is_zipfile(path) else ""
    return "ole" if head.startswith(b"\xd0\xcf\x11\xe0") else ""


def _refuse(source: Source, form: Format) -> Iterator[Item]:
    check_size(source)
    raise BadInput(f"is no {form.name}, whatever its name says, or damaged from its start")
    yield


def _guarded(source: Source, items: Iterator[Item]) -> Iterator[Item]:
    """The items of one file; an error becomes its last Problem, and a flood of Problems is cut off."""
    problems = 0
    try:
        for item in items:
            if isinstance(item, Problem):
                problems += 1
                if problems > _MAX_PROBLEMS:
                    continue
            yield item
    except BadInput as error:
        yield Problem(source.shown, str(error))
    except OSError as error:
        yield Problem(source.shown, _reason(error))
    if problems > _MAX_PROBLEMS:
        yield Problem(source.shown, f"has {problems - _MAX_PROBLEMS:,} more problems like these")


def _place(document: Document) -> str:
    """Where a document comes from as a Problem's place: "corpus.jsonl#17" is line 17, but "list.json#17" is no line."""
    path, mark, number = document.source.rpartition("#")
    suffix = Path(path).suffix.lower()
    return f"{path}:{number}" if mark and suffix in _ROWS else document.source


def _leads_into(link: Path, folder: str) -> bool:
    """Whether a link leads to something in the folder, or nowhere at all, which whoever reads it says."""
    real = Path(os.path.realpath(link))
    return real.is_relative_to(folder) or not real.exists()


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder whose names may be read but not what they stand for
        return False


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is a link that leads nowhere, or was removed"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    return f"cannot be read: {error.strerror or error}"


def _exists(path: Path) -> bool:
    """Whether there is something by that name, even a broken link or something in a folder that may not be read."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True
