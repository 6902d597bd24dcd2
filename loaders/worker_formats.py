"""Formats with one document per file, each read as a whole in a reading process."""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kgrag.loaders.base import MB, BadInput, Item, Source, clean_value, one_line, tell
from kgrag.loaders.figures import as_row, from_row
from kgrag.loaders.grid import numbered
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Reading
from kgrag.values.documents import Document, Section, Table

MAX_TEXT = 64 * MB
_MAX_UNPACKED = 1024 * MB
_MAX_RATIO = 300  # compression ratio; XML files of office programs reach 50 at most
_MAX_PARTS = 20_000


class Content(TypedDict):
    """The contents of a file as JSON: `sections` are pairs of a path of headings and the text under it.

    `tables`: pairs of a caption and the rows. `figures`: as in figures.py. `problems`: damaged parts. `left_out`: the
    parts left out, counted by kind (see `TOLD` in base.py). `encoding`: the legacy encoding, or "".
    """

    title: str
    sections: list[tuple[str, str]]
    tables: list[tuple[str, tuple[tuple[str, ...], ...]]]
    figures: list[dict[str, Any]]
    problems: list[str]
    left_out: dict[str, int]
    metadata: dict[str, Any]
    encoding: str


def content(outline: Outline, title: str = "", metadata: dict[str, Any] | None = None) -> Content:
    """Return the contents of an outline. Raises BadInput if there is too much text."""
    sections = outline.sections()
    cells = sum(len(cell) for table in outline.tables for row in table.rows for cell in row)
    if sum(len(s.text) for s in sections) + cells > MAX_TEXT:
        raise BadInput(f"holds more than {MAX_TEXT // MB} MB of text; split it")
    return {
        "title": title or outline.first_h1,
        "sections": [(s.heading, s.text) for s in sections],
        "tables": [(table.caption, table.rows) for table in outline.tables],
        "figures": list(map(as_row, outline.figures.all())),
        "problems": outline.problems,
        "left_out": outline.left_out,
        "metadata": {key: value for key, value in (metadata or {}).items() if value},
        "encoding": "",
    }


def read_apart(reader: str) -> Callable[[Source, Reading], Iterator[Item]]:
    """Make the `load` of a format.

    `reader`: "module:function" of path -> Content, which may raise BadInput.
    """

    def load(source: Source, reading: Reading) -> Iterator[Item]:
        content = reading.readers.read(source, reader)
        if not content["sections"] and not content["tables"]:
            raise BadInput("holds no text")
        yield document_of(source, content)

    return load


def document_of(source: Source, content: Mapping[str, Any]) -> Document:
    """Return the document of a Content."""
    if content["encoding"]:
        source.converted.add(content["encoding"])
    source.problems.extend(content["problems"])
    tell(source, content["left_out"])
    sections = tuple(Section(text, heading) for heading, text in content["sections"])
    title = one_line(content["title"])[:300] or source.title
    metadata = {key: clean_value(value) for key, value in content["metadata"].items()}
    tables = numbered([Table(0, tuple(map(tuple, rows)), caption) for caption, rows in content["tables"]])
    figures = tuple(map(from_row, content["figures"]))
    return Document(source.key, sections, title, source.shown, metadata, tables=tables, figures=figures)


def check_archive(path: Path) -> set[str]:
    """Return the names of the parts of a ZIP archive.

    Raises BadInput if it is damaged or would unpack to too much data.
    """
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


def parse_xml(archive: zipfile.ZipFile, name: str) -> Element:
    """Parse an XML part of an archive. Raises BadInput if it declares entities, which may expand without bound."""
    data = archive.read(name)
    if b"<!ENTITY" in data:
        raise BadInput("defines XML entities: it is not opened")
    return ElementTree.fromstring(data)
