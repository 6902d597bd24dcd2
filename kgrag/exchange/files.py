"""Where exports go and come from: a file, a compressed file, a stream.

Under its final name there is a whole export, or none.
"""

import gzip
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kgrag.exchange.form import Header, Writer, foreign, read_errors
from kgrag.exchange.graphml import GraphMLWriter
from kgrag.exchange.jsonl import JsonLinesReader, JsonLinesWriter
from kgrag.values.errors import InputError

FORMATS = {"jsonl": (".jsonl", ".ndjson"), "graphml": (".graphml", ".xml")}
"""Each format with the suffixes by which it is known."""

STREAM = "-"
_GZIP = b"\x1f\x8b"
_LEVEL = 6


def format_of(target: str) -> str:
    """The format that the name of a file tells. Raises InputError if its suffix is of another kind."""
    if target == STREAM:
        return "jsonl"
    name = Path(target).name.lower().removesuffix(".gz")
    for format, suffixes in FORMATS.items():
        if name.endswith(suffixes):
            return format
    raise InputError(
        f"{target}: the name does not tell the format.",
        "End it with .jsonl, .graphml (either with .gz), or give --format.",
    )


@contextmanager
def writing(target: str, format: str, header: Header, *, overwrite: bool = False) -> Iterator[Writer]:
    """A writer to a file or "-", which appears under its name when the block ends well, and not otherwise.

    Raises InputError if there is something of that name already, or if it cannot be written.
    """
    if target == STREAM:
        yield _writer(sys.stdout.buffer, format, header, None)
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    _check_free(path, overwrite)
    part = path.with_name(f".{path.name}.part")
    with write_errors(path):
        part.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(part, "xb", buffering=1 << 20, opener=_for_its_owner) as file:
                if path.name.lower().endswith(".gz"):
                    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as stream:
                        yield _writer(stream, format, header, path.parent)  # type: ignore[arg-type]
                else:
                    yield _writer(file, format, header, path.parent)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _for_its_owner(path: str, flags: int) -> int:  # what few may read in a database is not for all on this machine
    return os.open(path, flags, 0o600)


def reading(source: str) -> JsonLinesReader:
    """A reader of an export. Raises InputError."""
    with read_errors(source):
        open = _opener(Path(source))
        with open() as file:
            begin = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        raise InputError(
            f"{source}: only JSON Lines can be imported.",
            "GraphML is for other programs: export the collection again, as FILE.jsonl.gz.",
        )
    if begin.startswith(b"{"):
        return JsonLinesReader(open, source)
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


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    if compressed:
        return lambda: gzip.open(path)  # type: ignore[return-value]
    return lambda: path.open("rb", buffering=1 << 20)


def _writer(stream: IO[bytes], format: str, header: Header, folder: Path | None) -> Writer:
    return JsonLinesWriter(stream, header) if format == "jsonl" else GraphMLWriter(stream, header, folder)


def _check_free(path: Path, overwrite: bool) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file.")
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
