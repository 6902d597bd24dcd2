"""The tables of a collection: the columns of each label and relationship type, and temporary files for rows."""

import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol, Self

import numpy as np

from kgrag.models.embed import Vectors


class Spill:
    """A temporary file of values."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb", buffering=1 << 20)
        self._places = array("Q")
        self._end = 0

    def __len__(self) -> int:
        return len(self._places)

    def add(self, value: object) -> None:
        """Append a value."""
        self.put(pickled(value))

    def put(self, value: bytes) -> None:
        """Append a value that is already pickled."""
        self._places.append(self._end)
        self._end += self._file.write(value)

    def flush(self) -> None:
        """Flush the file, so that other processes see every value."""
        self._file.flush()

    def __getitem__(self, number: int) -> Any:
        return self.stored(number)()

    def stored(self, number: int) -> Callable[[], Any]:
        """Return a function that reads a value, also in another process."""
        return partial(_read, self._path, self._places[number])

    def __iter__(self) -> Iterator[Any]:
        self.flush()
        with self._path.open("rb") as file:
            for _ in self._places:
                yield pickle.load(file)

    def close(self) -> None:
        """Delete the values."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _read(path: Path, place: int) -> Any:
    with path.open("rb") as file:
        file.seek(place)
        return pickle.load(file)


def pickled(value: object) -> bytes:
    """Return a value in the file format of a Spill."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


_PARTS = 64


def partition(rows: Iterable[tuple[Any, ...]]) -> list[bytes]:
    """Split rows for Partitions and pickle each part; a row begins with the id of its node."""
    parts: list[list[tuple[Any, ...]]] = [[] for _ in range(_PARTS)]
    for row in rows:
        parts[int(row[0][:8], 16) % _PARTS].append(row)
    return [pickled(part) if part else b"" for part in parts]


class Partitions:
    """Counts of millions of names or words, split by id into files that each fit in memory."""

    def __init__(self, folder: Path, name: str) -> None:
        self._spills = [Spill(folder / f"{name}-{i}.rows") for i in range(_PARTS)]

    def add(self, dealt: Iterable[bytes]) -> None:
        """Store rows split by `partition`."""
        for spill, rows in zip(self._spills, dealt, strict=True):
            if rows:
                spill.put(rows)

    def __iter__(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Yield the rows of each part; all rows of one id are in one part, in order."""
        for spill in self._spills:
            yield (row for rows in spill for row in rows)

    def close(self) -> None:
        """Delete the rows."""
        for spill in self._spills:
            spill.close()


class VectorFile:
    """A file of float32 rows, written block by block and then read as one memory-mapped array."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._file: IO[bytes] | None = None
        self.rows = 0

    def __enter__(self) -> Self:
        self._file = self._path.open("wb", buffering=1 << 20)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, vectors: Vectors) -> None:
        """Append rows."""
        assert self._file is not None
        self._file.write(np.ascontiguousarray(vectors, np.float32).tobytes())
        self.rows += len(vectors)

    def read(self) -> Vectors:
        """Return all rows after the last one was added."""
        if self.rows == 0:
            return np.empty((0, self._dimension), np.float32)
        return np.memmap(self._path, np.float32, "r", shape=(self.rows, self._dimension))


Columns = Mapping[str, Sequence[str]]
NODES: Columns = {
    "Document": ("id:ID(Document)", "content_hash", "updated:datetime"),
    "Passage": ("id:ID(Passage)", "collection", "name", "title", "section", "text", "tokens:long", "stems",
                "title_stems", "sentences", "ordinal:long", "embedding:float[]", "similar_floor:double",
                "todo:string[]", "page:long", "last_page:long"),
    "Page": ("id:ID(Page)", "collection", "name", "number:long", "label", "text", "confidence:double"),
    "Table": ("id:ID(Table)", "collection", "name", "number:long", "caption", "markdown", "page:long",
              "last_page:long"),
    "Figure": ("id:ID(Figure)", "collection", "name", "number:long", "caption", "media_type", "sha", "page:long",
               "box:double[]", "width:long", "height:long", "description"),
    "Triple": ("id:ID(Triple)", "collection", "name", "subject", "predicate", "object", "text", "embedding:float[]"),
    "Entity": ("id:ID(Entity)", "collection", "name", "normal", "folded", "df:long", "ntit:long", "phrases:long",
               "named:boolean", "stemmed", "embedding:float[]", "similar_floor:double", "todo:string[]"),
    "Word": ("id:ID(Word)", "collection", "name", "stem", "df:long", "class:long", "upper:long", "lower:long"),
    "Keyword": ("id:ID(Keyword)", "collection", "name", "text", "stem", "df:long"),
    "Collection": ("id:ID(Collection)", "name", "collection", "number:long", "embedder", "dimension:long", "embedding",
                   "settings", "language", "stemmer", "schema_version:long", "created:datetime", "passages:long",
                   "class:long", "density:double", "density0:double", "linked:boolean"),
    "Schema": ("id:ID(Schema)", "name", "collections:long", "touched:datetime"),
}  # fmt: skip
EDGES: Columns = {
    "HOLDS": ("Collection", "Document"), "HAS_PASSAGE": ("Document", "Passage"), "NEXT": ("Passage", "Passage"),
    "ABOUT": ("Document", "Entity", "weight:double", "text"),
    "PASSAGE_ABOUT": ("Passage", "Entity", "weight:double", "text"), "STATES": ("Passage", "Triple"),
    "SUBJECT": ("Triple", "Entity"), "OBJECT": ("Triple", "Entity"),
    "MENTIONS": ("Passage", "Entity", "via", "positions:long[]", "text", "stated:boolean", "about:boolean"),
    "HAS_KEYWORD": ("Passage", "Keyword", "weight:double", "text"),
    "SIMILAR": ("Passage", "Passage", "score:double", "via"),
    "NAME_SIMILAR": ("Entity", "Entity", "score:double", "via"), "HAS_PAGE": ("Document", "Page"),
    "HAS_TABLE": ("Document", "Table"), "PAGE_NEXT": ("Page", "Page"), "PAGE_CONTAINS": ("Page", "Table"),
    "CONTAINS": ("Page", "Passage"), "OF_TABLE": ("Passage", "Table"), "SHOWS": ("Page", "Figure"),
    "DOCUMENT_SHOWS": ("Document", "Figure"), "REFERS_TO": ("Passage", "Figure"), "LINKS_TO": ("Document", "Document"),
}  # fmt: skip

TYPES = {
    "PASSAGE_ABOUT": "ABOUT", "PAGE_NEXT": "NEXT", "PAGE_CONTAINS": "CONTAINS", "DOCUMENT_SHOWS": "SHOWS",
    "NAME_SIMILAR": "SIMILAR",
}  # fmt: skip
"""The relationship types of tables with another name, because the type connects several pairs of labels."""


def property_names(table: str) -> list[str]:
    """Return the properties in the columns of a table, in order; for relationships, the columns after the two ends."""
    columns = NODES[table] if table in NODES else EDGES[table][2:]
    return [column.partition(":")[0] for column in columns]


class Lines(Protocol):
    """Rows of one table, held in memory until a sink takes them; they can be sent to another process."""

    def write(self, *values: object) -> None:
        """Add the row of a node; missing values at its end are null."""

    def link(self, start: str, end: str, *values: object) -> None:
        """Add the row of a relationship between the nodes with two ids."""


class GraphSink(Protocol):
    """The target of a new collection's rows: files that Neo4j imports, or transactions."""

    lines: Callable[[], Any]
    """Creates an empty container for the rows of one table (Lines)."""
    vectors: Callable[[Vectors], Sequence[Any]]
    """Converts each row of a float32 matrix [n, d]; a row of zeros, which means no vector, becomes None."""

    def take(self, lines: Mapping[str, Any]) -> None:
        """Take the rows of Lines, by the name of their table."""

    def write(self, table: str, *values: object) -> None:
        """Take the row of a node."""

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """Take the row of a relationship; its ends may come later."""

    def complete(self, *labels: str) -> None:
        """Declare the nodes of these labels complete, so that their relationships can be written."""
        return

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """Return the last values of a document's row, or None if this sink cannot represent them."""
