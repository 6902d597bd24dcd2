"""Bulk load: a first, large collection through files and `neo4j-admin database import`.

The graph is the one that an ingest makes. Until the import begins, the database is not touched; an import that breaks
off is undone; after it the collection is complete but for its indexes, which any later command makes if need be.
For another server the files are handed over in a folder, with the arguments of the import tool.
"""

import shlex
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from kgrag.engines import Engine, InProcess, Processes, open_engine
from kgrag.graph import schema
from kgrag.graph.collections import check_name, needed_labels, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.graph.csv_files import CsvField, FoundColumns, Lines, Table, floats
from kgrag.graph.jobs import check_idle
from kgrag.graph.local import bulk
from kgrag.graph.local.bulk import ARGUMENTS, Files, import_arguments
from kgrag.graph.local.server import LocalServer
from kgrag.indexing.detection import first_language, in_language
from kgrag.indexing.new_collection.collection import CollectionRows, Totals
from kgrag.indexing.new_collection.tables import EDGES, NODES, TYPES, Columns, GraphSink
from kgrag.indexing.pipeline import ingest
from kgrag.models.embed import Embedder, Vectors
from kgrag.runtime.files import disk_errors, locked
from kgrag.settings import Settings
from kgrag.text.languages import STEMMER, language_of
from kgrag.values.documents import Document, Problem
from kgrag.values.errors import ConfigurationError, InputError, MismatchError
from kgrag.values.events import Progress
from kgrag.values.results import IngestReport

NUMBER = 1
"""The number of the only collection in an imported database."""


def _vector_fields(vectors: Vectors) -> Sequence[CsvField | None]:
    return [field if row.any() else None for field, row in zip(floats(vectors), vectors, strict=True)]


class ImportToolSink(GraphSink):
    """The tables of nodes and of relationships, each a file in a folder, or with `part` files of about that size.

    `nodes`, `edges`: their columns, as in `kgrag.indexing.new_collection.tables`.
    """

    lines = Lines
    vectors = staticmethod(_vector_fields)

    def __init__(self, folder: Path, part: int | None = None, nodes: Columns = NODES, edges: Columns = EDGES) -> None:
        self.nodes = {label: Table(folder, label, columns, part) for label, columns in nodes.items()}
        self.edges = {
            kind: Table(folder, kind, (f":START_ID({start})", f":END_ID({end})", *more), part)
            for kind, (start, end, *more) in edges.items()
        }

    def take(self, lines: Mapping[str, Lines]) -> None:
        """See GraphSink."""
        for name, rows in lines.items():
            self._table(name).take(rows)

    def write(self, table: str, *values: object) -> None:
        """See GraphSink."""
        self.nodes[table].write(*values)

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """See GraphSink."""
        if table == "HOLDS":  # it starts at a name, which may hold anything; ids do not
            self.edges[table].write(start, end)
        else:
            self.edges[table].link(start, end, *values)

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """See GraphSink; a column has one type, and not every name can head one."""
        return self._metadata.values(properties)

    @cached_property
    def _metadata(self) -> FoundColumns:
        return FoundColumns(self.nodes["Document"])

    def _table(self, name: str) -> Table:
        return self.edges[name] if name in self.edges else self.nodes[name]

    def close(self) -> Files:
        """Return the complete files."""
        tables = [*self.nodes.values(), *self.edges.values()]
        for table in tables:
            table.close()
        nodes = {label: (t.header, *t.parts) for label, t in self.nodes.items() if t.rows}
        edges = {kind: (t.header, *t.parts) for kind, t in self.edges.items() if t.rows}
        return Files(
            nodes=[(":".join(schema.labels_of(label, NUMBER)), paths) for label, paths in nodes.items()],
            relationships=[(TYPES.get(kind, kind), paths) for kind, paths in edges.items()],
            multiline=[path for t in tables if t.multiline for path in t.parts],
            longest=4 * max(t.longest for t in tables),  # bytes of characters
        )


@dataclass(frozen=True, slots=True)
class BulkReport(IngestReport):
    """The result of a bulk load. `stages`: seconds by stage; `dump`: the folder of the database that it replaced."""

    stages: dict[str, float] = field(default_factory=dict)
    dump: Path | None = None


@dataclass(frozen=True, slots=True)
class HandOver(IngestReport):
    """Files of a collection that are ready to be imported, in a folder, `bytes` in all.

    `left`: documents that are not in them, since CSV cannot hold their metadata as it is or one of the same key came
    before: an ingest into the collection, once it is there, adds them.
    """

    folder: Path = Path()
    files: int = 0
    bytes: int = 0
    left: int = 0

    def commands(self, database: str) -> list[str]:
        """Return the commands for the server, in the folder; it must be stopped, or lack that database."""
        return [
            f"cd {shlex.quote(str(self.folder))}",
            f"neo4j-admin database import full {shlex.quote(database)} --overwrite-destination @{ARGUMENTS}",
        ]


def load(
    source: Iterable[Document | Problem],
    name: str,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    replace_database: bool = False,
    total: int | None = None,
) -> BulkReport:
    """Load documents as the only collection of the local server's database.

    Raises MismatchError if the database holds anything, unless it is to be replaced; ConfigurationError if the
    settings name a server that is not local; LocalServerError if the import fails; the database is unchanged then.
    """
    check_name(name)
    server = _local_server(settings)
    server.home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    clock = _Clock()
    with locked(server.home.root / ".bulk-lock", progress), bulk.work_folder(server.home) as folder:
        _check_empty(server, settings, replace_database, progress)
        source, settings = _with_language(source, settings)
        tables = ImportToolSink(folder)
        with disk_errors(folder, "KGRAG_HOME"), open_engine(settings.engine) as engine:
            rows = CollectionRows(name, embedder, settings, tables, _scratch(folder), _workers(engine))
            with clock("documents"):
                rows.read(source, progress, total)
            if not rows.passages:
                return BulkReport(problems=tuple(rows.problems))
            with clock("relations"):
                _write_collection(tables, rows.relate(progress), name, embedder, settings)
                files = tables.close()
        with clock("import"):
            occupied = _check_empty(server, settings, replace_database, progress)
            dump = bulk.dump_folder(server.home) if occupied else None
            with server.offline(progress) as admin:
                bulk.import_files(admin, server.home, settings.neo4j_database, files, progress, dump=dump)
            endpoint = server.ensure_running(progress=progress)
        with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
            with clock("constraints"):
                progress("constraints", 0, None)
                schema.ensure_schema(graph)
            collection = open_collection(graph, name)
            with clock("full-text indexes"):
                progress("full-text indexes", 0, None)
                with graph.exclusively():
                    labels = needed_labels(collection, count_nodes(graph, name))
                    schema.ensure_fulltext_indexes(graph, collection.number, labels)
                schema.await_all(graph)
            with clock("vector indexes"):
                progress("vector indexes", 0, None)
                bulk.complete(server.home, graph)
            with clock("left over"):
                rest = ingest(graph, open_collection(graph, name), rows.deferred, embedder, settings, progress)
    both = {name: value + getattr(rest, name) for name, value in rows.counts().items()}
    return BulkReport(**both, changed=rest.changed, seconds=clock.elapsed(), stages=clock.stages, dump=dump)


def write_files(
    source: Iterable[Document | Problem],
    name: str,
    embedder: Embedder,
    settings: Settings,
    folder: Path,
    progress: Progress,
    *,
    total: int | None = None,
) -> HandOver:
    """Write the files of a first, large collection into a folder, to be imported elsewhere; no server is needed.

    The folder appears under its name when it is complete: an interrupted one begins again. Raises InputError if it
    holds anything, LocalServerError if it cannot be written.
    """
    check_name(name)
    started = time.monotonic()
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not an empty folder.", "Name another, or a new one.")
    source, settings = _with_language(source, settings)
    part = folder.with_name(f".{folder.name}.part")
    with disk_errors(folder, "--files"), open_engine(settings.engine) as engine:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            tables, scratch = ImportToolSink(part, settings.bulk_part_mb << 20), _scratch(part)
            rows = CollectionRows(name, embedder, settings, tables, scratch, _workers(engine))
            rows.read(source, progress, total)
            if not rows.passages:
                return HandOver(problems=tuple(rows.problems))
            _write_collection(tables, rows.relate(progress), name, embedder, settings)
            files = tables.close()
            left = len(rows.deferred)
            shutil.rmtree(scratch)
            for empty in set(part.iterdir()).difference(files.paths):
                empty.unlink()
            arguments = "".join(f"{argument}\n" for argument in import_arguments(files, part))
            (part / ARGUMENTS).write_text(arguments, encoding="utf-8")
            size, number = files.size(), len(files.paths)
            part.replace(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    seconds = time.monotonic() - started
    return HandOver(**rows.counts(), seconds=seconds, folder=folder, files=number, bytes=size, left=left)


def _with_language(
    source: Iterable[Document | Problem], settings: Settings
) -> tuple[Iterable[Document | Problem], Settings]:
    """Return the settings with a language: their own, or the language of the first documents."""
    if settings.indexing.language is not None:
        return source, settings
    source, language = first_language(source)
    return source, in_language(settings, language)


def _workers(engine: Engine) -> Engine:
    """Return the engine, or processes of this machine in place of none."""
    return Processes(forked=True) if isinstance(engine, InProcess) else engine


def _scratch(folder: Path) -> Path:
    scratch = folder / "scratch"
    scratch.mkdir()
    return scratch


def _write_collection(
    tables: ImportToolSink, totals: Totals, name: str, embedder: Embedder, settings: Settings
) -> None:
    """Write the nodes that a server's own ingest would have made first."""
    now, indexing = datetime.now(UTC), settings.indexing
    tables.write("Schema", "kgrag/schema", "kgrag schema", NUMBER, now)
    tables.write(
        "Collection", name, name, name, NUMBER, embedder.name, embedder.dimension, schema.SLOTS[0],
        indexing.model_dump_json(), language_of(indexing.language or "en").code, STEMMER, schema.SCHEMA_VERSION,
        now,
        totals.passages, totals.corpus_class, totals.density, totals.density0, totals.linked,
    )  # fmt: skip


def _local_server(settings: Settings) -> LocalServer:
    if settings.neo4j_uri is not None:
        raise ConfigurationError(
            f"A bulk load needs the local server; KGRAG_NEO4J_URI names {settings.neo4j_uri}.",
            "Leave out --bulk, or unset KGRAG_NEO4J_URI; --files DIR writes files that another server imports.",
        )
    return LocalServer(settings)


def _check_empty(server: LocalServer, settings: Settings, replace: bool, progress: Progress) -> bool:
    """Return whether the database holds anything. Raises MismatchError if it does and is not to be replaced."""
    if not server.home.has_data():
        return False  # never started
    endpoint = server.ensure_running(progress=progress)
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
        bulk.complete(server.home, graph)
        check_idle(graph)
        occupants = bulk.occupants(graph)
    if occupants and not replace:
        raise MismatchError(
            f"A bulk load needs an empty database; this one holds {', '.join(occupants)}.",
            "Leave out --bulk to add to it; or give up all it holds with --replace-database (a dump is kept).",
        )
    return bool(occupants)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._start = time.monotonic()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.stages[stage] = time.monotonic() - start

    def elapsed(self) -> float:
        return time.monotonic() - self._start
