"""What may be given to be read, paths or Documents, as one stream of Documents."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.settings import Settings
from kgrag.types import Document, Problem

if TYPE_CHECKING:
    from kgrag.loaders import Columns

Source = str | Path | Iterable[str | Path] | Iterable[Document | Problem]
Items = Iterable[Document | Problem]


def items_of(
    source: Source, columns: "Columns | None", settings: Settings, root: str | Path | None = None
) -> tuple[Items, int | None]:
    """Documents from paths, which are loaded together, or as they are; and how many, if that is known.

    `root`: the folder in which paths are keys (`kgrag.loaders.load`).
    """
    if isinstance(source, str | Path):
        source = [source]
    total = len(source) if isinstance(source, list | tuple) else None
    stream = iter(source)
    first = next(stream, None)
    if isinstance(first, str | Path):
        from kgrag.loaders import load

        paths = [first, *(item for item in stream if isinstance(item, str | Path))]
        items = load(paths, columns=columns, max_file_mb=settings.max_file_mb, loading=settings.loading, root=root)
        return items, None
    documents = (item for item in stream if not isinstance(item, str | Path))
    return chain([] if first is None else [first], documents), total


def first_document(items: Items) -> tuple[Items, tuple[Problem, ...]]:
    """The items, unchanged, if there is a document among them; else the problems."""
    stream = iter(items)
    problems: list[Problem] = []
    for item in stream:
        if isinstance(item, Document):
            return chain(problems, [item], stream), ()
        problems.append(item)
    return (), tuple(problems or [Problem("input", "holds no document")])
