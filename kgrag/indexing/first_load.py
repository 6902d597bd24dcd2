"""The first load of a collection, which writes its first documents as final rows.

A few documents are one transaction. Otherwise nodes are written as they arrive, and relationships once their ends
exist; the collection is locked meanwhile. If a first load is killed, the next ingest starts it again.
"""

import gc
import time
from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgrag.engines import Engine
from kgrag.graph import collections as registry
from kgrag.graph import schema
from kgrag.graph.collections import Collection, index_labels
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.document_writer import check_there
from kgrag.indexing.new_collection.collection import CollectionRows, Totals
from kgrag.indexing.new_collection.tables import EDGES, NODES, TYPES, GraphSink, property_names
from kgrag.models.embed import Embedder, Vectors
from kgrag.runtime.document_progress import at
from kgrag.runtime.files import scratch_folder
from kgrag.settings import Settings
from kgrag.values.documents import Document, Problem, Scan, Unchanged
from kgrag.values.errors import DatabaseError
from kgrag.values.events import Progress

Row = list[Any]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Turn the garbage collector off, since its repeated visits of the rows take a third of the time.

    The rows have no cycles, so they are freed without it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


PASSAGES = 10_000
"""Approximate number of passages in a first load; further documents are added by the usual ingest."""
LONGEST = 2_000_000
"""A first load stops before a document with more characters."""
SECONDS = 300.0
"""Time after which a first load accepts no more documents, so that a kill costs no more work than that."""
_PASSAGE_CHARS = 1000  # approximate characters per passage
ONE_TRANSACTION = 20_000  # nodes and relationships up to which everything is one transaction
NODES_AT_ONCE = 5_000  # nodes per transaction if there are several
EDGES_AT_ONCE = 10_000
_QUEUE = 4  # pending transactions while the rows of the next are prepared
_NAMES = {table: property_names(table) for table in (*NODES, *EDGES)}


@_no_collection()  # as a decorator, so that the rows are freed before a collection could visit them
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
    """Write the first documents of an empty collection.

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
        The fields of an IngestReport; the remaining documents (beyond the limits, or second versions); and whether the
        corpus-wide stages are complete for the written documents.

    Raises:
        MismatchError: The collection was removed meanwhile.
        DatabaseError: Neo4j is unreachable.
    """
    settings = settings.model_copy(update={"indexing": collection.indexing})
    stream = iter(source)
    left: list[Document | Problem | Unchanged] = []
    with scratch_folder() as scratch, TransactionSink(graph, collection, settings.writers) as sink:
        rows = CollectionRows(collection.name, embedder, settings, sink, scratch, engine, scan)
        rows.read(_first(stream, left, progress), progress, total)
        finished = False
        if rows.passages:
            totals = rows.relate(progress)
            sink.close(totals, progress)
            finished = totals.finished
        left += list(rows.deferred)
    return rows.counts(), chain(left, stream), finished


def _first(
    stream: Iterator[Document | Problem | Unchanged], left: list[Document | Problem | Unchanged], progress: Progress
) -> Iterator[Document | Problem]:
    """Yield the documents within the limits; the next one goes to `left`."""
    passages, end = 0, time.monotonic() + SECONDS
    for item in stream:
        if isinstance(item, Document):
            passages += 1 + len(item.text) // _PASSAGE_CHARS
            if passages > PASSAGES or len(item.text) > LONGEST or time.monotonic() > end:
                left.append(item)
                return
            at(progress, Path(item.source or item.key).name)
        if not isinstance(item, Unchanged):  # an empty collection has no unchanged files
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
    """The rows of one transaction: nodes by id, and relationships (kind, start, end, values)."""

    nodes: dict[str, Row]
    edges: list[tuple[object, ...]]

    def __len__(self) -> int:
        return len(self.nodes) + len(self.edges)


def _lists(vectors: Vectors) -> list[list[float] | None]:
    return [row if any(row) else None for row in vectors.tolist()]


class TransactionSink(GraphSink):
    """A sink that writes rows in parallel transactions; a context manager.

    If the block ends with an error, unwritten rows are dropped.
    """

    lines = _Rows
    vectors = staticmethod(_lists)

    def __init__(self, graph: Graph, collection: Collection, writers: int) -> None:
        """Write into an empty collection. `writers`: number of parallel transactions."""
        self._graph = graph
        self._collection = collection
        self._labels = {label: schema.labels_of(label, collection.number) for label in NODES}
        self._next = _Writing({}, [])
        self._edges: dict[str, list[tuple[object, ...]]] = {table: [] for table in EDGES}  # their ends may be missing
        self._whole: set[str] = set()  # labels whose nodes are complete
        self._elements: dict[str, str] = {}  # element ids of the written nodes, by id
        self._several = False
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="kgrag-first-load")
        self._queue: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writers.shutdown(wait=True, cancel_futures=error is not None)

    def take(self, lines: Mapping[str, _Rows]) -> None:
        """See GraphSink."""
        for table, lines_of_table in lines.items():
            if table in NODES:
                for row in lines_of_table.rows:
                    self.write(table, *row)
            else:
                self._edges[table].extend((table, *row) for row in lines_of_table.rows)

    def write(self, table: str, *values: object) -> None:
        """See GraphSink."""
        properties = {name: value for name, value in zip(_NAMES[table], values, strict=False) if value is not None}
        if table == "Document":
            properties |= dict(values[-1])  # type: ignore[call-overload]
        vector = properties.pop("embedding", None)  # a separate procedure writes vectors
        vectors = [] if vector is None else [{"name": self._collection.embedding, "numbers": vector}]
        self._next.nodes[str(values[0])] = [self._labels[table], properties, vectors]
        if table == "Triple" and "Triple" not in self._collection.indexed:
            self._collection = index_labels(self._graph, self._collection, "Triple")
        if len(self._next.nodes) >= NODES_AT_ONCE:
            self._submit()

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """See GraphSink."""
        self._edges[table].append((table, start, end, *values))

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """See GraphSink; this sink stores any metadata."""
        return [properties]

    def complete(self, *labels: str) -> None:
        """See GraphSink."""
        self._whole.update(labels)
        edges: list[tuple[object, ...]] = []
        for table in EDGES:
            if self._whole.issuperset(EDGES[table][:2]):
                edges += self._edges[table]
                self._edges[table] = []
        if not self._several and len(self._next) + len(edges) <= ONE_TRANSACTION:
            self._next.edges += edges
            return
        if edges:
            self._submit()
            self._wait(0)  # the ends of the relationships are written first
        for start in range(0, len(edges), EDGES_AT_ONCE):
            self._next.edges += edges[start : start + EDGES_AT_ONCE]
            self._submit()

    def close(self, totals: Totals, progress: Progress) -> None:
        """Write the remaining rows and the record of the collection."""
        record = {
            "passages": totals.passages, "class": totals.corpus_class,
            "density": totals.density, "density0": totals.density0, "linked": totals.linked,
        }  # fmt: skip
        waiting = len(self._queue)
        for left in range(waiting, 0, -1):
            progress("writing", waiting - left, waiting)
            self._wait(left - 1)
        self._submit(lambda tx: tx.run("write/end_first_load", collection=self._collection.name, totals=record))
        self._wait(0)

    def _submit(self, last: Callable[[Transaction], object] | None = None) -> None:
        begins, self._several = not self._several and last is None, True
        writing, self._next = self._next, _Writing({}, [])
        self._wait(_QUEUE - 1)
        self._queue.append(self._writers.submit(self._write, writing, begins, last))
        if begins:
            self._wait(0)

    def _wait(self, most: int) -> None:
        """Wait until at most `most` transactions are pending. Raises the writer's error if it failed."""
        while len(self._queue) > most or (self._queue and self._queue[0].done()):
            self._queue.popleft().result()

    def _write(self, writing: _Writing, begins: bool, last: Callable[[Transaction], object] | None) -> None:
        new_elements: dict[str, str] = {}

        def work(tx: Transaction) -> None:
            new_elements.clear()
            is_first = not self._elements
            if is_first:
                new_elements[self._collection.name] = check_there(tx, self._collection)
            if begins:
                tx.run("write/begin_first_load", collection=self._collection.name, mark=registry.FIRST_LOAD)
            if writing.nodes:
                elements = tx.run("write/nodes", rows=list(writing.nodes.values()))[0]["elements"]
                new_elements.update(zip(writing.nodes, elements, strict=True))
            known_elements = ChainMap(new_elements, self._elements)
            if writing.edges:
                rows = [_edge(row, known_elements) for row in writing.edges]
                if tx.run("write/edges", rows=rows)[0]["number"] != len(rows):
                    raise DatabaseError(
                        f"Nodes of collection {self._collection.name!r} were removed while it was written.",
                        "Run the same command again.",
                    )
            if not is_first:  # last, since it locks the collection until the transaction ends
                check_there(tx, self._collection)
            if last is not None:
                last(tx)

        self._graph.write(work)
        self._elements.update(new_elements)


def _edge(row: tuple[Any, ...], elements: Mapping[str, str]) -> Row:
    kind, start, end, *values = row
    properties = {name: value for name, value in zip(_NAMES[kind], values, strict=False) if value is not None}
    return [elements[start], elements[end], TYPES.get(kind, kind), properties]
