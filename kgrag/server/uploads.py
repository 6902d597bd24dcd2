"""Files and texts that callers gave to a server, held on its disk until they are deleted.

A file lies under the hash of its content, in a folder of its collection; the name that the caller gave it is kept apart
and is never part of a path. That name is the key of the document in the graph.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from kgrag.errors import InputError, NotFoundError
from kgrag.graph.local.files import private_folder, write_atomic
from kgrag.loaders import LOADERS, load
from kgrag.loaders.base import clean, one_line, title_of
from kgrag.settings import Settings
from kgrag.types import Document, Problem, Scalar, Section

_LONGEST = 1024  # characters of a name
_CHUNK = 1024 * 1024
_TEXT = ".text"  # of a document that came as text, not as a file


class Text(BaseModel):
    """A document that came as text. `key`: its id in the collection, in which another of that key is replaced."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    text: str
    title: str = ""
    source: str = ""
    metadata: dict[str, Scalar] = {}


@dataclass(frozen=True, slots=True)
class Upload:
    """A held file: the name that the caller gave it, its size in bytes, its hash, and when it came (ISO 8601)."""

    name: str
    file: str
    size: int
    sha256: str
    uploaded: str


class Uploads:
    """What is held, by collection. Safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, settings: Settings) -> "Uploads":
        """Those in the home that the settings name."""
        return cls(settings.home / "uploads")

    def keep(self, collection: str, name: str, content: BinaryIO) -> Upload:
        """Hold a file under a name; one of that name that is held already is replaced.

        Raises InputError for a name that is none, or of a kind of file that nothing reads.
        """
        name = checked_name(name)
        extension = _extension(name)
        folder = private_folder(self._of(collection))
        temporary = folder / f".{secrets.token_hex(8)}"
        try:
            with temporary.open("xb") as file:
                os.fchmod(file.fileno(), 0o600)
                hash, size = hashlib.sha256(), 0
                while chunk := content.read(_CHUNK):
                    hash.update(chunk)
                    size += len(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            upload = Upload(
                name, f"{hash.hexdigest()}{extension}", size, hash.hexdigest(), datetime.now(UTC).isoformat()
            )
            temporary.replace(folder / upload.file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self._record(collection, upload)
        return upload

    def keep_text(self, collection: str, text: Text) -> Upload:
        """Hold a text under its key. Raises InputError for a key that is none."""
        name = checked_name(text.key)
        content = text.model_dump_json().encode()
        hash = hashlib.sha256(content).hexdigest()
        path = private_folder(self._of(collection)) / f"{hash}{_TEXT}"
        write_atomic(path, content.decode(), mode=0o600)
        upload = Upload(name, path.name, len(content), hash, datetime.now(UTC).isoformat())
        self._record(collection, upload)
        return upload

    def held(self, collection: str) -> list[Upload]:
        """What is held of a collection, by name."""
        return sorted(map(_read, self._of(collection).glob("*.json")), key=lambda upload: upload.name)

    def find(self, collection: str, name: str) -> Upload:
        """What is held under that name. Raises NotFoundError."""
        path = self._place(collection, name)
        if not path.exists():
            raise NotFoundError(f"No file {name!r} is held.", "Upload it first.")
        return _read(path)

    def path(self, collection: str, upload: Upload) -> Path:
        """Where its content lies."""
        return self._of(collection) / upload.file

    def documents(self, collection: str, names: Iterable[str], settings: Settings) -> Iterator[Document | Problem]:
        """What the held files of these names hold, read as `kgrag ingest` reads files; keys begin with the names."""
        for name in names:
            upload = self.find(collection, name)
            path = self.path(collection, upload)
            if path.suffix == _TEXT:
                yield _document(upload, path)
                continue
            items = load(path, max_file_mb=settings.max_file_mb, loading=settings.loading, root=path.parent)
            for item in items:
                yield _named(item, upload, path)

    def remove(self, collection: str, names: Iterable[str]) -> None:
        """Hold these no longer; a name that is not held is passed over."""
        for name in names:
            path = self._place(collection, name)
            with suppress(FileNotFoundError):
                upload = _read(path)
                path.unlink()
                if all(other.file != upload.file for other in self.held(collection)):
                    self.path(collection, upload).unlink(missing_ok=True)

    def remove_all(self, collection: str) -> None:
        """Hold nothing of a collection any more."""
        folder = self._of(collection)
        if folder.exists():
            for path in folder.iterdir():
                path.unlink(missing_ok=True)
            folder.rmdir()

    def _of(self, collection: str) -> Path:
        return self.folder / _hash(collection)

    def _place(self, collection: str, name: str) -> Path:
        return self._of(collection) / f"{_hash(name)}.json"

    def _record(self, collection: str, upload: Upload) -> None:
        fields = {slot: getattr(upload, slot) for slot in Upload.__slots__}
        write_atomic(self._place(collection, upload.name), json.dumps(fields) + "\n", mode=0o600)


def checked_name(name: str) -> str:
    """A name as it is kept: cleaned, on one line, of a relative path. Raises InputError for one that is none."""
    shown = one_line(name.replace("\\", "/"))
    parts = PurePosixPath(shown).parts
    if not shown or len(shown) > _LONGEST or "\0" in name or shown.startswith("/") or ".." in parts or not parts:
        raise InputError(
            f"{shown[:100]!r} is no name for a document.",
            f"Give a relative path without '..', of at most {_LONGEST} characters.",
        )
    return shown


def _extension(name: str) -> str:
    """The end of a name that tells its format. Raises InputError for one that nothing reads."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes]
    for extension in ("".join(suffixes[-2:]), *suffixes[-1:]):
        if any(extension in form.extensions for form in LOADERS.values()):
            return extension
    raise InputError(
        f"{name!r} is of no kind that can be read.",
        "Give text, Markdown, HTML, PDF, office files, EPUB, e-mails, CSV or JSON; see `kgrag ingest --help`.",
    )


def _named(item: Document | Problem, upload: Upload, path: Path) -> Document | Problem:
    """What was read of a held file, as if it lay under its name: the hash stands wherever the path would."""
    held = clean(str(path))
    if isinstance(item, Problem):
        message = item.message.replace(held, upload.name).replace(upload.file, upload.name)
        return replace(item, place=item.place.replace(held, upload.name), message=message)
    return replace(
        item,
        key=item.key.replace(upload.file, upload.name, 1),
        title=item.title.replace(upload.sha256, title_of(PurePosixPath(upload.name))),
        source=item.source.replace(held, upload.name, 1),
        file=None,
    )


def _document(upload: Upload, path: Path) -> Document | Problem:
    try:
        text = Text.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        return Problem(upload.name, f"cannot be read any more: {type(error).__name__}")
    title = one_line(text.title) or one_line(text.key)
    return Document(upload.name, (Section(clean(text.text)),), title, text.source or upload.name, text.metadata)


def _read(path: Path) -> Upload:
    fields: dict[str, Any] = json.loads(path.read_bytes())
    return Upload(**fields)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
