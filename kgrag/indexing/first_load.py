"""The first load of a collection: its first documents are read in memory, and written as final rows.

A few documents are one transaction. Otherwise each transaction holds whole documents with the marks of the stages. Then
the words, names and relationships of all documents follow, while the collection has no stemmer. If it is killed before
that, the next ingest continues with the missing documents. If it is killed after that, the texts are read again.
"""

import time
from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgrag.engines import Engine
from kgrag.graph import schema
from kgrag.graph.collections import Collection, index_labels
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.document_writer import check_there
from kgrag.indexing.new_collection.collection import CollectionRows, Totals
from kgrag.indexing.new_collection.tables import EDGES, NODES, TYPES, property_names
from kgrag.models.embed import Embedder, Vectors
from kgrag.runtime.document_progress import at
from kgrag.runtime.files import scratch_folder
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER
from kgrag.values.documents import Document, Problem, Scan, Unchanged
from kgrag.values.errors import DatabaseError
from kgrag.values.events import Progress

Row = list[Any]

PASSAGES = 10_000
"""How many passages are kept in memory, about; the documents after them are added to the collection as to any other."""
LONGEST = 2_000_000
"""Characters of a document that is not kept in memory: a transaction holds it in parts."""
_PASSAGE_CHARS = 1000  # of a passage, about
ONE_TRANSACTION = 20_000  # nodes and relationships that are written as one
NODES_AT_ONCE = 5_000  # in a transaction, of several
_NODES_A_PASSAGE = 8  # itself, its document, and names
EDGES_AT_ONCE = 10_000
PATIENCE = 5.0  # seconds after which documents that are ready are written, however few they are
_QUEUE = 4  # transactions that wait while the rows of the next are made
_LATER = ("MENTIONS", "HAS_KEYWORD")  # kinds whose ends are written when all passages are counted
_NAMES = {table: property_names(table) for table in (*NODES, *EDGES)}


def first_load(
    graph: Graph,
    collection: Collection,
    source: Iterable[Document | Problem | Unchanged],
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    total: int | None,
    scan: Scan | None,
    engine: Engine,
) -> tuple[dict[str, Any], Iterator[Document | Problem | Unchanged], bool]:
    """Write the first documents of an empty collection, as many as fit in memory.

    Args:
        graph: The database.
        collection: The collection, which holds nothing yet.
        source: The documents, and problems of files, which go into the report.
        embedder: The embedder of the collection.
        settings: The settings.
        progress: The listener for progress.
        total: The number of documents, if known.
        scan: The scan of the documents, in which files without text are recorded.
        engine: The engine that prepares and relates documents.

    Returns:
        The fields of an IngestReport; the remaining documents: those beyond the bounds and second versions; and whether
        the corpus-wide stages are complete for the written documents.

    Raises:
        MismatchError: The collection was removed meanwhile.
        DatabaseError: Neo4j is unreachable.
    """
    settings = settings.model_copy(update={"indexing": collection.indexing})
    stream = iter(source)
    left: list[Document | Problem | Unchanged] = []
    with scratch_folder() as scratch, _Transactions(graph, collection, settings.batch_passages) as tables:
        rows = CollectionRows(
            collection.name, embedder, settings, tables, scratch, in_memory=True, scan=scan, engine=engine
        )
        rows.read(_first(stream, left, progress), progress, total)
        finished = False
        if rows.passages:
            totals = rows.relate(progress)
            tables.close(totals, progress)
            finished = totals.finished
        left += list(rows.deferred)
    return rows.counts(), chain(left, stream), finished


def _first(
    stream: Iterator[Document | Problem | Unchanged], left: list[Document | Problem | Unchanged], progress: Progress
) -> Iterator[Document | Problem]:
    """Yield the documents that fit in memory. The next one goes to `left`."""
    passages = 0
    for item in stream:
        if isinstance(item, Document):
            passages += 1 + len(item.text) // _PASSAGE_CHARS
            if passages > PASSAGES or len(item.text) > LONGEST:
                left.append(item)
                return
            at(progress, Path(item.source or item.key).name)
        if not isinstance(item, Unchanged):  # an empty collection has no such file
            yield item


class _Rows:
    """Rows of one table, in memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []

    def write(self, *values: object) -> None:
        """See Lines."""
        self.rows.append(values)

    link = write


@dataclass(slots=True)
class _Writing:
    """The rows of one transaction: nodes by id, relationships (kind, start, end, values), changed properties by id."""

    nodes: dict[str, Row]
    edges: list[tuple[object, ...]]
    changes: dict[str, Row]

    def __len__(self) -> int:
        return len(self.nodes) + len(self.edges) + len(self.changes)


class _Transactions:
    """Tables whose rows one thread writes, one transaction at a time: a context manager.

    Rows that are not written when the block ends with an error are dropped.
    """

    two_steps = True
    lines = _Rows

    def __init__(self, graph: Graph, collection: Collection, batch: int) -> None:
        """Write whole documents in transactions of about `batch` passages."""
        self._graph = graph
        self._collection = collection
        self._most = min(NODES_AT_ONCE, _NODES_A_PASSAGE * batch)
        self._labels = {label: schema.labels_of(label, collection.number) for label in NODES}
        self._next = _Writing({}, [], {})
        self._later: dict[str, list[tuple[object, ...]]] = {table: [] for table in _LATER}
        self._elements: dict[str, str] = {}  # what the server calls the nodes that are written, by id
        self._relating = self._counting = self._several = False
        self._submitted = time.monotonic()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kgrag-first-load")
        self._queue: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.shutdown(wait=True, cancel_futures=error is not None)

    def take(self, lines: Mapping[str, _Rows]) -> None:
        """See Tables."""
        for table, lines_of_table in lines.items():
            if table in NODES:
                for row in lines_of_table.rows:
                    self.write(table, *row)
            else:
                self._later.get(table, self._next.edges).extend((table, *row) for row in lines_of_table.rows)

    def write(self, table: str, *values: object) -> None:
        """See Tables."""
        properties = {name: value for name, value in zip(_NAMES[table], values, strict=False) if value is not None}
        if table == "Document":
            properties |= dict(values[-1])  # type: ignore[call-overload]
        self._next.nodes[str(values[0])] = [self._labels[table], *self._row(properties)]
        if table == "Triple" and "Triple" not in self._collection.indexed:
            self._collection = index_labels(self._graph, self._collection, "Triple")

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """See Tables."""
        self._later.get(table, self._next.edges).append((table, start, end, *values))

    def amend(self, table: str, id: str, **properties: object) -> None:
        """See Tables."""
        if id in self._next.nodes:
            _, properties_so_far, vectors = self._next.nodes[id]
            changed, new_vectors = self._row(properties)
            properties_so_far |= changed
            vectors += new_vectors
        else:
            self._next.changes[id] = list(self._row(properties))

    def _row(self, properties: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the properties of a node, and separately its vector, which is written by another procedure."""
        vector = properties.pop("embedding", None)
        return properties, [] if vector is None else [{"name": self._collection.embedding, "numbers": vector}]

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """See Tables; all of it."""
        return [properties]

    def vectors(self, vectors: Vectors) -> Sequence[object]:
        """See Tables."""
        return [row if any(row) else None for row in vectors.tolist()]

    def checkpoint(self) -> None:
        """See Tables."""
        waiting = self._next
        most = NODES_AT_ONCE if self._relating else self._most
        many = len(waiting.nodes) + len(waiting.changes) >= most or len(waiting.edges) >= EDGES_AT_ONCE
        if many or (time.monotonic() - self._submitted > PATIENCE and len(waiting)):
            self._wait(_QUEUE - 1)
            self._submit()

    def release(self, table: str) -> None:
        """See Tables."""
        edges = self._later.pop(table)
        if not self._several and len(self._next) + len(edges) <= ONE_TRANSACTION:
            self._next.edges += edges
            return
        for start in range(0, len(edges), EDGES_AT_ONCE):
            self._next.edges += edges[start : start + EDGES_AT_ONCE]
            self._submit()

    def begin_relations(self) -> None:
        """See Tables."""
        self._relating = True
        if self._several:
            self._submit()

    def close(self, totals: Totals, progress: Progress) -> None:
        """Write the remaining rows and the record of the collection."""
        record = {
            "passages": totals.passages, "class": totals.corpus_class,
            "density": totals.density, "density0": totals.density0,
            "linked": totals.linked, "stemmer": STEMMER,
        }  # fmt: skip
        waiting = len(self._queue)
        for left in range(waiting, 0, -1):
            progress("writing", waiting - left, waiting)
            self._wait(left - 1)
        self._submit(lambda tx: tx.run("write/end_counting", collection=self._collection.name, totals=record))
        self._wait(0)

    def _submit(self, also: Callable[[Transaction], object] | None = None) -> None:
        whole = also is not None and not self._several
        begins = self._relating and not (whole or self._counting)
        self._counting, self._several = self._counting or begins, True
        writing, self._next = self._next, _Writing({}, [], {})
        self._queue.append(self._writer.submit(self._write, writing, begins, also))
        self._submitted = time.monotonic()

    def _wait(self, most: int) -> None:
        """Wait until at most this many transactions are pending. Raises the error of the writer, if it failed."""
        while len(self._queue) > most or (self._queue and self._queue[0].done()):
            self._queue.popleft().result()

    def _write(self, writing: _Writing, begins: bool, also: Callable[[Transaction], object] | None) -> None:
        new_elements: dict[str, str] = {}

        def work(tx: Transaction) -> None:
            new_elements.clear()
            new_elements[self._collection.name] = check_there(tx, self._collection)
            if begins:
                tx.run("write/begin_counting", collection=self._collection.name)
            if any("meta_links" in properties for _, properties, _ in writing.nodes.values()):
                tx.run("write/unlink", collection=self._collection.name, any=True)
            if writing.nodes:
                elements = tx.run("write/nodes", rows=list(writing.nodes.values()))[0]["elements"]
                new_elements.update(zip(writing.nodes, elements, strict=True))
            known_elements = ChainMap(new_elements, self._elements)
            if writing.changes:
                changes = [[known_elements[id], *row] for id, row in writing.changes.items()]
                tx.run("write/changed_nodes", rows=changes)
            if writing.edges:
                rows = [_edge(row, known_elements) for row in writing.edges]
                if tx.run("write/edges", rows=rows)[0]["number"] != len(rows):
                    raise DatabaseError(
                        f"Nodes of collection {self._collection.name!r} were removed while it was written.",
                        "Run the same command again.",
                    )
            if also is not None:
                also(tx)

        self._graph.write(work)
        self._elements.update(new_elements)


def _edge(row: tuple[Any, ...], elements: Mapping[str, str]) -> Row:
    kind, start, end, *values = row
    properties = {name: value for name, value in zip(_NAMES[kind], values, strict=False) if value is not None}
    return [elements[start], elements[end], TYPES.get(kind, kind), properties]
