"""Where exports go and come from: a file, a compressed file, a folder, a stream.

Under its final name there is a whole export, or none.
"""

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from kgrag.exchange.csv_folder import MANIFEST, CsvReader, CsvWriter
from kgrag.exchange.form import Header, Reader, Writer, foreign, read_errors
from kgrag.exchange.graphml import GraphMLWriter
from kgrag.exchange.jsonl import JsonLinesReader, JsonLinesWriter
from kgrag.values.errors import InputError

FORMATS = {"jsonl": (".jsonl", ".ndjson"), "graphml": (".graphml", ".xml"), "csv": ()}
"""Each format with the suffixes by which it is known; a folder is CSV."""

STREAM = "-"
_GZIP = b"\x1f\x8b"
_LEVEL = 6


def format_of(target: str) -> str:
    """The format that the name of a file or folder tells. Raises InputError if its suffix is of another kind."""
    if target == STREAM:
        return "jsonl"
    name = Path(target).name.lower().removesuffix(".gz")
    for format, suffixes in FORMATS.items():
        if suffixes and name.endswith(suffixes):
            return format
    if Path(name).suffix and not Path(target).is_dir() and not target.endswith(("/", os.sep)):
        raise InputError(
            f"{target}: the name does not tell the format.",
            "End it with .jsonl, .graphml (either with .gz), name a folder for CSV, or give --format.",
        )
    return "csv"


@contextmanager
def writing(target: str, format: str, header: Header, *, overwrite: bool = False) -> Iterator[Writer]:
    """A writer to a file, folder or "-", which appears under its name when the block ends well, and not otherwise.

    Raises InputError if there is something of that name already, or if it cannot be written.
    """
    if target == STREAM:
        if format == "csv":
            raise InputError("CSV is a folder of files; it cannot go to standard output.", "Name a folder.")
        yield _writer(sys.stdout.buffer, format, header, None)
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    _check_free(path, format, overwrite)
    part = path.with_name(f".{path.name}.part")
    with write_errors(path):
        _remove(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if format == "csv":
                part.mkdir(mode=0o700)  # what may be read in a database by few is not for all on this machine
                yield CsvWriter(part, header)
            else:
                with open(part, "xb", buffering=1 << 20, opener=_for_its_owner) as file:
                    if path.name.lower().endswith(".gz"):
                        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as stream:
                            yield _writer(stream, format, header, path.parent)  # type: ignore[arg-type]
                    else:
                        yield _writer(file, format, header, path.parent)
            if path.is_dir():
                old = path.with_name(f".{path.name}.old")
                _remove(old)
                path.rename(old)
                part.rename(path)
                _remove(old)
            else:
                part.replace(path)
        except BaseException:
            _remove(part)
            raise


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def reading(source: str) -> Reader:
    """A reader of an export, of whatever format. Raises InputError."""
    path = Path(source)
    with read_errors(source):
        if path.is_dir():
            return CsvReader(path)
        open = _opener(path)
        with open() as file:
            begin = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        raise InputError(
            f"{source}: only JSON Lines and CSV can be imported.",
            "GraphML is for other programs: export the collection again, as FILE.jsonl.gz or a folder.",
        )
    if begin.startswith(b"{") and path.name != MANIFEST:
        return JsonLinesReader(open, source)
    if path.name == MANIFEST or path.suffix.lower() == ".csv":
        raise InputError(f"{source}: this is a part of an export.", f"Name its folder: kgrag import {path.parent}")
    raise foreign(source)


@contextmanager
def received(source: str) -> Iterator[str]:
    """The path of an export; what comes on standard input ("-") is kept in a file meanwhile, for it is read twice."""
    if source != STREAM:
        yield source
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="kgrag-import-") as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        yield str(path)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all in a folder."""
    return sum(p.stat().st_size for p in (path.iterdir() if path.is_dir() else (path,)))


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    if compressed:
        return lambda: gzip.open(path)  # type: ignore[return-value]
    return lambda: path.open("rb", buffering=1 << 20)


def _writer(stream: IO[bytes], format: str, header: Header, folder: Path | None) -> Writer:
    return JsonLinesWriter(stream, header) if format == "jsonl" else GraphMLWriter(stream, header, folder)


def _check_free(path: Path, format: str, overwrite: bool) -> None:
    if path.is_dir() and format == "csv":
        if overwrite and (path / MANIFEST).exists():
            return
        if not any(path.iterdir()):
            return
        raise InputError(
            f"The folder {path} is not empty.",
            "Name another, or replace a former export with --overwrite."
            if (path / MANIFEST).exists()
            else "Name a new one.",
        )
    if path.is_dir() or (path.exists() and format == "csv"):
        what = "a folder" if path.is_dir() else "a file"
        raise InputError(f"{path} is {what}.", "Name another, or choose the format that fits it with --format.")
    if path.exists() and not overwrite:
        raise InputError(f"There is {path} already.", "Name another, or replace it with --overwrite.")


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn a failed write to `path` into InputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{error.filename or path} cannot be written: {reason}.", "Is there room, and may you write there?"
        ) from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()
