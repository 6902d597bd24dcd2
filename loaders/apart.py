"""Formats whose files are one document each, read as a whole by a process of its own."""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from kgrag.loaders.base import MB, BadInput, Item, Reading, Source, check_size, clean_value, one_line
from kgrag.loaders.outline import Outline
from kgrag.types import Document, Section

MAX_TEXT = 64 * MB
_MAX_UNPACKED = 1024 * MB
_MAX_RATIO = 300  # what XML files of office programs are packed to is a fiftieth at most
_MAX_PARTS = 20_000


class Content(TypedDict):
    """What a file holds, as JSON: `sections` are pairs of a path of headings and the text under it.

    `encoding`: the legacy one that it was in, else empty.
    """

    title: str
    sections: list[tuple[str, str]]
    metadata: dict[str, Any]
    encoding: str


def content(outline: Outline, title: str = "", metadata: dict[str, Any] | None = None) -> Content:
    """What an outline holds. Raises BadInput for too much of it."""
    sections = outline.sections()
    if sum(len(s.text) for s in sections) > MAX_TEXT:
        raise BadInput(f"holds more than {MAX_TEXT // MB} MB of text; split it")
    return {
        "title": title or outline.first_h1,
        "sections": [(s.heading, s.text) for s in sections],
        "metadata": {key: value for key, value in (metadata or {}).items() if value},
        "encoding": "",
    }


def read_apart(reader: str) -> Callable[[Source, Reading], Iterator[Item]]:
    """The `load` of a format; `reader`: "module:function" of path -> Content, which may raise BadInput."""

    def load(source: Source, reading: Reading) -> Iterator[Item]:
        check_size(source)
        readers = reading.readers
        child, found = readers.open(source.path, reader, readers.settings.file_seconds)
        readers.give(child)
        if not found["sections"]:
            raise BadInput("holds no text")
        yield document_of(source, found)

    return load


def document_of(source: Source, found: Mapping[str, Any]) -> Document:
    """The document that a Content is."""
    if found["encoding"]:
        source.converted.add(found["encoding"])
    sections = tuple(Section(text, heading) for heading, text in found["sections"])
    title = one_line(found["title"])[:300] or source.title
    metadata = {key: clean_value(value) for key, value in found["metadata"].items()}
    return Document(source.key, sections, title, source.shown, metadata)


def check_archive(path: Path) -> set[str]:
    """The names of the parts of a ZIP archive. Raises BadInput for a damaged one, or one that unpacks to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadInput(f"is a damaged archive ({error})") from error
    total = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if len(entries) > _MAX_PARTS or total > _MAX_UNPACKED or (total > 20 * MB and total > _MAX_RATIO * packed):
        raise BadInput(f"would unpack {path.stat().st_size / MB:,.1f} MB to {total / MB:,.0f} MB: it is not opened")
    if any(entry.flag_bits & 1 for entry in entries):
        raise BadInput("is encrypted with a password; save it without one")
    return {entry.filename for entry in entries}


def needs(module: str, what: str, package: str, extra: str) -> None:
    """Raise BadInput when a package is missing."""
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise BadInput(f"is {what}, for which {package} is needed: python -m pip install 'kgrag[{extra}]'")
