"""Files -> a collection, in transactions that each note how far they came: a killed import resumes."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from kgrag.exchange.files import Footer, Header, JsonLinesReader, damaged, foreign, reading, received
from kgrag.graph import collections as registry
from kgrag.graph import schema
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.contents import LABELS, LOCAL, Fingerprint, Item, NodeRecord, vectors_of
from kgrag.graph.counts import count_nodes
from kgrag.graph.jobs import collection_lock
from kgrag.values.errors import InputError, MismatchError
from kgrag.values.events import Progress

NODES_AT_ONCE = 1000  # a transaction
EDGES_AT_ONCE = 5000
_STEP = 1000  # nodes and edges between reports of the check
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. `resumed` counts nodes of an earlier attempt; `digest` is the digest of the export."""

    collection: str
    nodes: int
    edges: int
    resumed: int
    seconds: float
    digest: str


def import_export(graph: Graph, source: str, progress: Progress, unused_seconds: float) -> ImportReport:
    """Create the collection that was exported to `source`.

    The file is first read completely, so a damaged file changes nothing. An interrupted import resumes when it is run
    again; until it is complete, nobody can use the collection. `unused_seconds`: see `create_collection`. Raises
    InputError if the file is not a complete export, MismatchError if it has another schema or the collection exists
    already, and BusyError while somebody else works on it.
    """
    started = time.monotonic()
    with received(source) as path:
        reader = reading(path)
        header = reader.header
        _check(header)
        name = header.collection
        registry.check_name(name)
        _check_free(graph, header)
        fingerprint = read_through(reader, progress)
        with collection_lock(graph, name, "import"):
            resumed = Import(graph, reader, fingerprint, progress, unused_seconds).run()
    edges = sum(n for kind, n in fingerprint.counts.items() if kind not in LABELS)
    return ImportReport(
        collection=name,
        nodes=sum(fingerprint.counts.values()) - edges,
        edges=edges,
        resumed=resumed,
        seconds=time.monotonic() - started,
        digest=fingerprint.total(),
    )


def _check(header: Header) -> None:
    if header.schema_version not in schema.READABLE:
        raise schema.version_mismatch("The export", header.schema_version)
    if not header.embeddings:
        raise MismatchError(
            "The export was made without embeddings, for looking at; a collection cannot be made from it.",
            "Export it again, without --without-embeddings.",
        )


def _check_free(graph: Graph, header: Header) -> None:
    """Raise MismatchError if there is a collection of its name, other than one that this export was making."""
    name = header.collection
    schema.check_schema(graph)
    schema.check_constraints(graph)
    unfinished = registry.find_import(graph, name)
    if unfinished is None:
        if registry.find_collection(graph, name) is not None:
            raise MismatchError(
                f"There is a collection {name!r} already.", f"Delete it first: kgrag delete --collection {name}"
            )
    elif unfinished[1] != header.export:
        raise MismatchError(
            f"The import of another export as {name!r} was interrupted.",
            f"Finish that one, or give it up with `kgrag delete --collection {name} --yes`.",
        )


def read_through(reader: JsonLinesReader, progress: Progress) -> Fingerprint:
    """Read all of an export. Raises InputError if it is not as it was written."""
    digest = Fingerprint()
    number = 0
    for number, item in enumerate(reader, 1):
        node = item if isinstance(item, NodeRecord) else None
        if (number == 1) != (node is not None and node.label == "Collection"):
            raise foreign(reader.place)
        if node is not None and node.properties.get("collection") != reader.header.collection:
            raise damaged(reader.place, "the node is of another collection")
        digest.add(item)
        if number % _STEP == 0:
            progress("check", number, None)
    if reader.footer is None:
        raise damaged(reader.place, "the file is cut off: its end is missing")
    if reader.footer != Footer.sum(digest):
        theirs, ours = reader.footer.plain(), Footer.sum(digest).plain()
        differ = sorted(kind for kind in theirs.keys() | ours.keys() if theirs.get(kind) != ours.get(kind))
        raise damaged(reader.place, f"the contents differ from the export ({', '.join(differ)})")
    progress("check", number, number)
    return digest


class Import:
    """One import. The Collection node records its progress in the transaction of each batch."""

    def __init__(
        self, graph: Graph, reader: JsonLinesReader, fingerprint: Fingerprint, progress: Progress, unused_seconds: float
    ) -> None:
        self._graph = graph
        self._reader = reader
        self._export = reader.header.export
        self._name = reader.header.collection
        self._total = sum(fingerprint.counts.values())
        self._progress = progress
        self._unused_seconds = unused_seconds

    def run(self) -> int:
        """Bring it to its end; returns how much was there before."""
        unfinished = registry.find_import(self._graph, self._name)
        if unfinished is None:
            self._begin()
            unfinished = registry.find_import(self._graph, self._name)
        if unfinished is None or unfinished[1] != self._export:
            raise MismatchError(
                f"Somebody else made {self._name!r} meanwhile.",
                f"Delete it first: kgrag delete --collection {self._name}",
            )
        collection, _, done = unfinished
        with ThreadPoolExecutor(1) as writer:  # one batch is read while the one before it is written
            future: Future[None] | None = None
            for before, items in self._batches(done):
                rows = self._rows(items, collection)
                if future is not None:
                    future.result()
                    self._progress("import", before, self._total)
                place = self._reader.place
                future = writer.submit(self._write, before, items, rows, place)
            if future is not None:
                future.result()
        self._progress("import", self._total, self._total)
        self._progress("indexes", 0, None)
        registry.ensure_indexes(self._graph, collection, *count_nodes(self._graph, self._name))
        self._graph.run("write/end_import", name=self._name)
        return done - 1  # but for the collection itself

    def _begin(self) -> None:
        item = next(iter(self._reader))
        left = {"name", "collection", *LOCAL}
        properties = {key: value for key, value in item.properties.items() if key not in left}
        properties |= {"importing": self._export, "imported": 1}
        parameters = {"name": self._name, "properties": properties, "unused_seconds": self._unused_seconds}
        self._graph.run("write/create_collection", **parameters, ahead=0)

    def _batches(self, done: int) -> Iterator[tuple[int, list[Item]]]:
        """Yield the batches that remain to be written, nodes and edges apart, each with the count of earlier items."""
        batch: list[Item] = []
        number = 0
        for number, item in enumerate(self._reader, 1):
            if number <= done:
                continue
            is_node = isinstance(item, NodeRecord)
            if batch and (
                len(batch) == (NODES_AT_ONCE if is_node else EDGES_AT_ONCE)
                or is_node != isinstance(batch[0], NodeRecord)
            ):
                yield number - 1 - len(batch), batch
                batch = []
            batch.append(item)
        if batch:
            yield number - len(batch), batch

    def _rows(self, items: list[Item], collection: registry.Collection) -> list[Any]:
        rows: list[Any] = []  # lists for nodes, maps for edges: see write/nodes and write/import_edges
        for item in items:
            if isinstance(item, NodeRecord):
                vectors = vectors_of(item.properties)
                properties = {key: value for key, value in item.properties.items() if key not in vectors}
                labels = schema.labels_of(item.label, collection.number)
                vector_rows = [{"name": key, "numbers": item.properties[key]} for key in vectors]
                rows.append([[*labels, *item.labels], properties, vector_rows])
                continue
            if not rows or rows[-1]["start"] != item.start[1]:
                rows.append({"start": item.start[1], "ends": {}})
            edge = {"type": item.type, "end": item.end[1], "properties": item.properties}
            rows[-1]["ends"].setdefault(item.end[0], []).append(edge)
        return rows

    def _write(self, before: int, items: list[Item], rows: list[Any], place: str) -> None:
        def work(tx: Transaction) -> None:
            after = before + len(items)
            step = tx.run("write/import_step", name=self._name, export=self._export, before=before, after=after)
            if not step:
                raise MismatchError(
                    f"Somebody else imports into {self._name!r}, or deleted it.",
                    "Run the import again when they are done.",
                )
            if isinstance(items[0], NodeRecord):
                tx.run("write/nodes", rows=rows)
            elif tx.run("write/import_edges", rows=rows, collection=self._name)[0]["number"] != len(items):
                raise InputError(
                    f"{place}: one of the {len(items):,} edges up to here lacks an end.",
                    f"Export it again; give this import up with `kgrag delete --collection {self._name} --yes`.",
                )

        self._graph.write(work)
