"""Turn the sources of a load, paths or Documents, into one stream of Documents."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.settings import Settings
from kgrag.values.documents import Document, Problem, Scan, Unchanged
from kgrag.values.errors import InputError
from kgrag.values.events import Progress

if TYPE_CHECKING:
    from kgrag.loaders import Columns
    from kgrag.loaders.dispatch import Known

Source = str | Path | Iterable[str | Path] | Iterable[Document | Problem]
Items = Iterable[Document | Problem | Unchanged]


def items_of(
    source: Source,
    columns: "Columns | None",
    settings: Settings,
    root: str | Path | None = None,
    *,
    states: "Known | None" = None,
    settle: float = 0.0,
    missing_ok: bool = False,
    names: Mapping[Path, str] | None = None,
    progress: Progress | None = None,
) -> tuple[Items, int | None, Scan | None]:
    """Load Documents from paths, or pass them on; return them, their number if known, and the scan of the paths.

    See `kgrag.loaders.dispatch.Load` for the options. Raises InputError for paths and documents in one list.
    """
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        raise _no_document(source)
    total = len(source) if isinstance(source, list | tuple) else None
    stream = iter(source)
    first = next(stream, None)
    if isinstance(first, str | Path):
        from kgrag.loaders.dispatch import Load

        others = list(stream)
        if mixed := next((item for item in others if not isinstance(item, str | Path)), None):
            raise _mixed(mixed)
        paths = [first, *(item for item in others if isinstance(item, str | Path))]
        items = Load(
            paths, columns=columns, max_file_mb=settings.max_file_mb, loading=settings.loading, root=root,
            states=states, settle=settle, missing_ok=missing_ok, names=names, progress=progress,
            cache=settings.cache,
        )  # fmt: skip
        return items, None, items.scan
    return _documents(stream if first is None else chain([first], stream)), total, None


def _documents(items: Iterator[str | Path | Document | Problem]) -> Iterator[Document | Problem]:
    for item in items:
        if isinstance(item, str | Path):
            raise _mixed(item)
        if not isinstance(item, Document | Problem | Unchanged):
            raise _no_document(item)
        yield item


def _no_document(item: object) -> InputError:
    remedy = "Make one of each row: Document(key, (Section(text),), title, metadata={...}); see docs/howto.md."
    return InputError(f"An object of type {type(item).__name__} is no document.", remedy)


def _mixed(item: object) -> InputError:
    return InputError(
        f"Paths and documents are mixed: {str(item)[:100]!r} is of the other kind.", "Give each by itself."
    )


def first_document(items: Items, scan: Scan | None) -> tuple[Items, tuple[Problem, ...] | None]:
    """Return the items and None if one is a document; otherwise return no items, and the problems.

    If `scan` then says that files were left for later, it is no problem that there are no documents yet.
    """
    stream = iter(items)
    problems: list[Problem] = []
    for item in stream:
        if isinstance(item, Document):
            return chain(problems, [item], stream), None
        if isinstance(item, Problem):
            problems.append(item)
    if not problems and not (scan and scan.unsettled):
        problems.append(Problem("input", "holds no document"))
    return (), tuple(problems)
