"""The pictures of figures: files of the home, one for each picture of a collection, named by its hash.

They are written before their figures are, and removed after these, so a kill leaves a file too many, never one too few;
the next ingest or deletion, which have the collection for themselves, remove what no figure has.
"""

import logging
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from kgrag.graph.connection import Graph
from kgrag.runtime.files import private_folder
from kgrag.values.documents import SHOWN, Document, Figure
from kgrag.values.errors import NotFoundError
from kgrag.values.identity import node_id

_LOG = logging.getLogger(__name__)
_SHA = re.compile(r"[0-9a-f]{64}")
T = TypeVar("T")


class FigureFiles:
    """The pictures of one collection, under `home`/figures. No path is made of its name."""

    def __init__(self, home: Path, collection: str) -> None:
        self._collection = collection
        self._folder = home / "figures" / node_id(collection)

    def keep(self, items: Iterable[T]) -> Iterator[T | Document]:
        """Yield documents and what else there is, the pictures of figures kept as files instead."""
        for item in items:
            if isinstance(item, Document) and item.figures:
                yield replace(item, figures=tuple(map(self._stored, item.figures)))
            else:
                yield item

    def sweep(self, graph: Graph) -> None:
        """Remove the files of deleted figures, and the leftovers of killed processes."""
        files = list(self._folder.glob("*")) if self._folder.is_dir() else []
        if not files:
            return
        hashes = {row["sha"] for row in graph.run("look_up/figure_files", collection=self._collection)}
        for file in files:
            if file.stem not in hashes:
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):  # some are left
            self._folder.rmdir()

    def clear(self) -> None:
        """Remove all files."""
        for file in self._folder.glob("*"):
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self._folder.rmdir()

    def find(self, graph: Graph, id: str) -> tuple[Path, str]:
        """Return the picture of a figure and its media type. Raises NotFoundError if it is not kept."""
        path = self.path_of(graph, id)
        if path is None:
            raise NotFoundError(
                f"No picture of a figure {id!r} is kept here.", "Ingest its document again where this server runs."
            )
        return path, next(kind for kind, ending in SHOWN.items() if ending == path.suffix)

    def path_of(self, graph: Graph, id: str) -> Path | None:
        """Return the picture of a figure; None if it is not kept."""
        rows = graph.run("look_up/figure", collection=self._collection, id=id)
        path = self._path(rows[0]["sha"], rows[0]["media_type"]) if rows else None
        return path if path is not None and path.is_file() else None

    def _path(self, sha: str, media_type: str) -> Path | None:
        ending = SHOWN.get(media_type)
        return self._folder / f"{sha}{ending}" if ending and _SHA.fullmatch(sha) else None

    def _stored(self, figure: Figure) -> Figure:
        path = self._path(figure.sha, figure.media_type)
        if figure.data and path is not None and not path.exists():
            try:
                private_folder(self._folder)
                with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
                    file.write(figure.data)
                Path(file.name).replace(path)
            except OSError as error:  # the figure is known all the same
                _LOG.warning("a picture is not kept: %s", error)
        return replace(figure, data=b"")
