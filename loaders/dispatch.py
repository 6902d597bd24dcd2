"""The entry point: walks files and folders, and passes each file that may have changed to its format."""

import gzip
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from zipfile import is_zipfile

from kgrag.loaders.base import MB, BadInput, EmptyInput, Item, Source, check_size, clean, failure, one_line, open_file
from kgrag.loaders.folder_walk import (
    OF_PROGRAM,
    Fingerprint,
    Ignore,
    Seen,
    Stamp,
    Walk,
    add_to,
    check_address,
    digest,
    exists,
    file_key,
    folder_prefix,
    is_dir,
    of_program,
    reason,
    shown_path,
)
from kgrag.loaders.images import IMAGE
from kgrag.loaders.jsonl import TRIPLES, load_benchmark
from kgrag.loaders.named_rows import CORPUS, Columns
from kgrag.loaders.office import EXCEL, POWERPOINT, WORD
from kgrag.loaders.pdf import PDF
from kgrag.loaders.reading import Format, Readers, Reading
from kgrag.loaders.recognised import DPI, VERSION, is_on
from kgrag.runtime.document_progress import at
from kgrag.runtime.plugins import Plugins
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, FileState, Problem, Scan, Unchanged
from kgrag.values.errors import InputError, KgragError
from kgrag.values.events import Progress

PACKED = ".gz"
_MOST = 16  # times the size limit of a file; possible because rows are read one at a time
_BLOCK = 1 << 20


@contextmanager
def unpacked(source: Source) -> Iterator[Source]:
    """Unpack a ".gz" file to a temporary file for the duration of the block. Raises BadInput."""
    with tempfile.TemporaryDirectory(prefix="kgrag-") as folder:
        path = Path(folder) / Path(Path(source.shown).name).stem
        size = 0
        try:
            with open_file(source) as packed, gzip.open(packed) as data, path.open("wb") as out:
                while block := data.read(_BLOCK):
                    size += len(block)
                    if size > _MOST * source.limit:
                        raise BadInput(f"unpacks to more than {_MOST * source.limit // MB:,} MB; split it")
                    out.write(block)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(f"is a damaged gzip file ({error})") from error
        yield replace(source, path=path)


LOADERS: Plugins[Format] = Plugins("kgrag.loaders", "loader")
"""The formats by name; a new one needs a module and an entry point."""

READERS: Plugins[Format] = Plugins("kgrag.readers", "reader")
"""Third-party readers by name; a load that names one uses it for its extensions, in place of the formats."""

Known = Callable[[Sequence[str]], Mapping[str, Sequence[FileState]]]
"""Looks up the files of a collection by their keys; only files with all their documents are returned."""

_OLE = (
    "is an office file encrypted with a password, or of a format from before 2007; save it without a password as "
    "DOCX, PPTX, XLSX or PDF"
)
_OFFICE = WORD.extensions + POWERPOINT.extensions + EXCEL.extensions
_ARCHIVES = {  # format -> the endings of its files, and the content of the first part of an archive
    "epub": ((".epub",), b"application/epub+zip"),
    "odt": ((".odt", ".ods", ".odp", ".ott", ".ots", ".otp"), b"application/vnd.oasis.opendocument."),
}
_ROWS = (".jsonl", ".ndjson", ".csv", ".tsv")  # formats with one row a line
_ARCHIVED = (".warc.gz", ".wet.gz")  # unpacked by their format itself
_MAX_PROBLEMS = 1000  # listed per file; further ones are only counted
_KEPT = 200  # problems remembered per file
_GROUP = 500  # files looked up at once


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    columns: Columns | None = None,
    max_file_mb: int = 64,
    loading: LoadingSettings | None = None,
    root: str | Path | None = None,
) -> Iterator[Item]:
    """Read files and folders into Documents, one after another; unreadable files and rows become Problems.

    Folders are walked in sorted order, without hidden files and unknown formats. Links that leave a folder are reported
    and not followed, unless `loading` says so. PDF and office files are recognised by their content.

    Args:
        paths: files and folders.
        columns: the columns of rows' keys, titles and texts; None: detect them.
        max_file_mb: larger files become Problems; in CSV and JSON Lines, the limit applies to each row.
        loading: options of readers; None: the defaults.
        root: a folder to which keys are relative, so that they survive a move of the folder. None: a file's key is its
            absolute path with links resolved. A row's key is FILE#ID with an id column, else FILE#LINE. Ids in a column
            named by `columns`, and in a benchmark's corpus.jsonl, are keys by themselves.

    Yields:
        Documents and Problems.

    Raises:
        InputError: none of the paths exists; raised by the call, before the first item.
    """
    reading = Load(paths, columns=columns, max_file_mb=max_file_mb, loading=loading, root=root)
    return (item for item in reading if not isinstance(item, Unchanged))


@dataclass(frozen=True, slots=True)
class _File:
    """A file to read; `triples` is the file of triples next to a benchmark's corpus."""

    source: Source
    triples: Source | None = None

    @property
    def paths(self) -> list[Path]:
        return [self.source.path, *([self.triples.path] if self.triples else [])]


class Load:
    """The iterator that `load` returns. `scan` lists the files; with `states`, unchanged files are not read.

    `settle`: files changed within so many seconds are left for later, since somebody may be writing them.
    `missing_ok`: it is no error if paths do not exist, even if all are missing. `names`: the names by which files
    stored under other names are known and shown. `progress` receives the name of each file. `cache`: the folder for
    text recognised on pictures, so that a load that was interrupted need not recognise it again.
    """

    def __init__(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        columns: Columns | None = None,
        max_file_mb: int = 64,
        loading: LoadingSettings | None = None,
        root: str | Path | None = None,
        states: Known | None = None,
        settle: float = 0.0,
        missing_ok: bool = False,
        names: Mapping[Path, str] | None = None,
        progress: Progress | None = None,
        cache: Path | None = None,
    ) -> None:
        inputs = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
        for path in inputs:
            check_address(path)
        if inputs and not missing_ok and not any(exists(path) for path in inputs):
            listed = ", ".join(clean(str(path)) for path in inputs[:5]) + (", ..." if len(inputs) > 5 else "")
            raise InputError(
                f"Nothing to read: {listed} {'does' if len(inputs) == 1 else 'do'} not exist.",
                f"Check the spelling; paths are relative to {clean(str(Path.cwd()))}.",
            )
        self.scan = Scan("" if root is None else clean(Path(os.path.realpath(root)).as_posix()))
        loading = loading or LoadingSettings()
        self._paths = inputs
        self._own = {extension: name for name, form in LOADERS.items() for extension in form.extensions}
        self._readers = {name: READERS.find(name) for name in loading.readers}
        self._preferred = {
            extension: name for name in reversed(loading.readers) for extension in self._readers[name].extensions
        }
        self._formats = self._own | self._preferred
        self._root = root
        self._states = states
        self._settle = settle
        self._names = names or {}
        self._progress = progress
        self._loading = loading
        self._recognised = f".ocr{VERSION}.{DPI}" if is_on(loading) else ""
        self._reading = Reading(columns or Columns(), Readers(loading, cache))
        self._limit = max_file_mb * MB
        self._options = self._reading.columns.code + (f".{loading.encoding}" if loading.encoding else "")
        self._seen = Seen()
        self._keys = Seen()

    def __iter__(self) -> Iterator[Item | Unchanged]:
        """Yield the documents, the problems, and the unchanged files."""
        with self._reading.readers:
            items = chain.from_iterable(map(self._path, self._paths))
            while group := list(islice(items, _GROUP if self._states else 1)):
                keys = [file.source.key for file in group if isinstance(file, _File)]
                states = self._states(keys) if self._states and keys else {}
                for file in group:
                    if isinstance(file, Problem):
                        yield _cleaned(file)
                    else:
                        yield from self._read(file, states.get(file.source.key, ()))

    # ----- listing the files

    def _path(self, path: Path) -> Iterator[_File | Problem]:
        if not exists(path):
            self.scan.missing.append(file_key(path, self._root))
            yield Problem(str(path), "does not exist")
        elif not self._seen.add(os.path.realpath(path)):
            return  # the caller gave it twice
        elif is_dir(path):
            yield from self._folder(path)
        elif of_program(path):
            add_to(self.scan.skipped, OF_PROGRAM)
        elif "/" in self._names.get(path, "") and self._waits(path):  # a file of an uploaded folder
            yield Problem(self._names[path], "is a picture in a folder: KGRAG_LOADING__RECOGNITION=on has these read")
        else:
            yield _File(self._source(path))

    def _waits(self, path: Path) -> bool:
        """Return whether a file in a folder is a picture; an option is needed to recognise those."""
        suffix = self._extension(path)
        return self._loading.recognition != "on" and suffix in IMAGE.extensions and suffix not in self._preferred

    def _source(self, path: Path) -> Source:
        name = self._names.get(path)
        key = name or file_key(path, self._root)
        self.scan.files[key] = ""
        return Source(path, key, name or shown_path(path), self._limit, self._loading.encoding)

    def _folder(self, top: Path) -> Iterator[_File | Problem]:
        ignore = Ignore(top, self._loading.exclude, files=self._loading.gitignore)
        walk = Walk(top, self._seen, self.scan, self._root, self._loading.follow_links, ignore)
        before = len(self.scan.files)
        for item in walk:
            if isinstance(item, Problem):
                yield item
                continue
            source = self._source(item)
            suffix = self._extension(item)
            triples = item.with_name(TRIPLES)
            if suffix not in self._formats or self._waits(item):
                add_to(self.scan.skipped, suffix)
            elif item.name == CORPUS and os.path.lexists(triples):
                yield _File(source, self._source(triples))
            else:
                yield _File(source)
        prefix = folder_prefix(top, self._root)
        if len(self.scan.files) == before and not walk.repeated:
            self.scan.empty.append(prefix)
            yield Problem(str(top), "holds no files to read")
        else:
            self.scan.folders.append(prefix)

    # ----- reading the files

    def _read(self, file: _File, recorded: Sequence[FileState]) -> Iterator[Item | Unchanged]:
        stamp = Stamp.of(file.paths)
        if stamp is not None and 0 <= stamp.age() < self._settle:
            self.scan.unsettled += 1
            return
        for before in recorded:
            if before.root not in ("", self.scan.root):
                self.scan.moved.add(before.root)
            if (now := self._unchanged(file, stamp, before)) is not None:
                self.scan.files[now.key] = now.fingerprint
                for line in filter(None, now.problems.split("\n")):
                    place, _, message = line.partition("\t")
                    yield Problem(f"{file.source.shown}{place}", message, lasting=True)
                yield Unchanged(now, before)
                return
        if self._progress is not None and stamp is not None:
            what = f"{one_line(_named(file.source).name)} ({stamp.size / 1e6:,.1f} MB)"
            at(self._progress, what, "pages", file.source.pages)
        for item in _stamped(self.scan, file, stamp, *self._items(file)):
            if isinstance(item, Problem):
                yield _cleaned(item)
            elif self._keys.add(item.key):
                yield item
            else:
                self.scan.files[file.source.key] = ""
                yield Problem(
                    _place(item),
                    f"has the key {item.key!r}, which another document of this load has already; it is left out. "
                    "Give it another id, or do not name the column of the ids",
                )

    def _unchanged(self, file: _File, stamp: Stamp | None, recorded: FileState) -> FileState | None:
        """Return the state of a file if it is unchanged and would be read in the same way; else None."""
        before = Fingerprint.parse(recorded.fingerprint)
        if before is None or stamp is None:
            return None
        name = before.reader.partition(".")[0]
        extension = self._extension(_named(file.source))
        own = self._formats.get(extension, "text")
        form = self._readers.get(name) or LOADERS.get(name)
        if form is None or before.reader != self._reader(name):
            return None
        if name != own and (not form.untrusted or {name, own} & {*self._preferred.values()}):
            return None
        now = before.still(file.paths, stamp)
        return None if now is None else replace(recorded, root=self.scan.root_of(recorded.key), fingerprint=str(now))

    def _extension(self, path: Path) -> str:
        """Return the extension that determines a file's format: ".pdf", or ".warc.gz" if a format has that."""
        double = "".join(path.suffixes[-2:]).lower()
        inner, _, outer = double.rpartition(".")
        if double in self._formats or (f".{outer}" == PACKED and inner in self._formats):
            return double if double in self._formats else inner
        return path.suffix.lower()

    def _reader(self, name: str) -> str:
        """Return the part of a fingerprint that describes the reader.

        It consists of a format, its version, and the options that affect the result.
        """
        form = self._readers.get(name) or LOADERS[name]
        recognised = self._recognised if form in (PDF, IMAGE) else ""
        return f"{name}.{form.version}{self._options}{recognised}"

    def _items(self, file: _File) -> tuple[str, Iterator[Item]]:
        """Return the reader of a file, and its items."""
        source = file.source
        if file.triples is not None:
            pair = load_benchmark(source, file.triples, self._reading.columns)
            return self._reader("jsonl"), _guarded(source, pair)
        extension = self._extension(_named(source))
        if source.path.suffix.lower() == PACKED and extension not in (PACKED, *_ARCHIVED):
            return self._unpacked(source)
        kind = _kind(source.path)
        preferred = self._preferred.get(extension, "")
        if kind == "ole" and not preferred:
            return "", iter([Problem(source.shown, _OLE)])
        name = preferred or kind or self._formats.get(extension, "text")
        form, own = self._readers.get(name) or LOADERS[name], LOADERS[self._own.get(extension, "text")]

        def items() -> Iterator[Item]:  # _guarded starts it, so a load that is not a generator fails inside
            yield from _refuse(source, own) if own.untrusted and not kind else form.load(source, self._reading)

        return self._reader(name), _guarded(source, items())

    def _unpacked(self, source: Source) -> tuple[str, Iterator[Item]]:
        """Return the reader and the items of a packed file; its name without ".gz" determines the format."""

        def items() -> Iterator[Item]:
            with unpacked(source) as inner:
                yield from self._items(_File(inner))[1]

        return self._reader(self._formats[self._extension(_named(source))]), _guarded(source, items())


def _stamped(scan: Scan, file: _File, stamp: Stamp | None, reader: str, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of a file, each document with the file's state; the last state has the number of documents.

    The next load skips the file if it did not change meanwhile and no Problem was temporary.
    """
    key = file.source.key
    last: Document | None = None
    count = 0
    whole = stamp is not None
    state = FileState(key, scan.root_of(key))
    problems: list[str] = []
    for item in items:
        if isinstance(item, Problem) and item.lasting and len(problems) < _KEPT:
            problems.append(f"{item.place.removeprefix(file.source.shown)}\t{one_line(item.message)}")
            yield item
            continue
        if last is not None:
            yield replace(last, file=state)
            last = None
        if isinstance(item, Problem):
            whole = False
            yield item
            continue
        if not count and stamp is not None and (hash := digest(file.paths)) is not None:
            state = replace(state, fingerprint=str(Fingerprint.of(reader, stamp, hash)))
        last = item
        count += 1
    for encoding in file.source.converted:
        add_to(scan.converted, encoding)
    for kind, number in file.source.left_out.items():
        add_to(scan.left_out, kind, number)
    if last is not None:
        if whole and state.fingerprint and Stamp.of(file.paths) == stamp:
            state = replace(state, documents=count, problems="\n".join(problems))
            scan.files[key] = state.fingerprint
        yield replace(last, file=state)


def _cleaned(problem: Problem) -> Problem:
    return replace(problem, place=clean(problem.place), message=clean(problem.message))


def _named(source: Source) -> Path:
    """Return the name that determines a file's format: the shown one if it is stored under another name."""
    path = Path(source.shown)
    return source.path if path.suffix.lower() == PACKED != source.path.suffix.lower() else path


def _kind(path: Path) -> str:
    """Return the format of the first bytes: "pdf", "word" (any office file), "ole" (old ones), ..., else ""."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:  # the reader reports why
        return ""
    suffix = path.suffix.lower()
    if head.startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head):
        return "pdf"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if head.startswith(b"PK\3\4"):
        for name, (endings, mark) in _ARCHIVES.items():
            if suffix in endings or head.startswith(mark, 38):
                return name
        return "word" if suffix in _OFFICE or is_zipfile(path) else ""
    return "ole" if head.startswith(b"\xd0\xcf\x11\xe0") else ""


def _refuse(source: Source, form: Format) -> Iterator[Item]:
    check_size(source)
    raise BadInput(f"is no {form.name}, whatever its name says, or damaged from its start")
    yield


def _guarded(source: Source, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of one file; an error becomes its last Problem, and a flood of Problems is cut off."""
    problems = 0
    try:
        for item in items:
            if isinstance(item, Problem):
                problems += 1
                if problems > _MAX_PROBLEMS:
                    continue
            yield item
    except BadInput as error:
        yield Problem(source.shown, str(error), lasting=isinstance(error, EmptyInput))
    except OSError as error:
        yield Problem(source.shown, reason(error))
    except KgragError as error:
        yield Problem(source.shown, error.in_full)
    except Exception as error:  # a defect of a reader must not stop the other files
        yield Problem(source.shown, failure(error))
    for message in source.problems:
        yield Problem(source.shown, message, lasting=True)
    if problems > _MAX_PROBLEMS:
        yield Problem(source.shown, f"has {problems - _MAX_PROBLEMS:,} more problems like these")


def _place(document: Document) -> str:
    """Return the place of a document for a Problem: "corpus.jsonl#17" is line 17, but "list.json#17" is not a line."""
    path, mark, number = document.source.rpartition("#")
    suffix = Path(path).suffix.lower()
    return f"{path}:{number}" if mark and suffix in _ROWS else document.source
