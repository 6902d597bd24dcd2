"""Read one file of a test folder; given content is written first."""

from pathlib import Path
from typing import Any

from kgrag.loaders import load
from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Document, Problem


def _write(path: Path, data: str | bytes | None) -> None:
    if data is not None:
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def all_in(path: Path, data: str | bytes | None = None, **options: Any) -> tuple[list[Document], list[tuple[str, str]]]:
    """Return the documents of a file or a folder, and problems as (the end of the path, message)."""
    _write(path, data)
    items = list(load(path, **options))
    problems = [(i.place.removeprefix(str(path)), i.message) for i in items if isinstance(i, Problem)]
    return [i for i in items if isinstance(i, Document)], problems


def with_omissions(
    path: Path, data: str | bytes | None = None, **options: Any
) -> tuple[Document, list[str], dict[str, int]]:
    """Return the document of a file, its problems, and its omissions."""
    _write(path, data)
    found = Load(path, **options)
    items = list(found)
    (document,) = (item for item in items if isinstance(item, Document))
    return document, [item.message for item in items if isinstance(item, Problem)], found.scan.left_out


def with_problems(path: Path, data: str | bytes | None = None, **options: Any) -> tuple[Document, list[str]]:
    """Return the document of a file, and its problems."""
    return with_omissions(path, data, **options)[:2]


def only(path: Path, data: str | bytes | None = None, **options: Any) -> Document:
    """Return the document of a file without problems."""
    _write(path, data)
    (item,) = load(path, **options)
    assert isinstance(item, Document), item
    return item
