"""Knowledge collections: facts of Wikidata, or of a file of triples, without passages and without a model.

The source is read once, line by line, into a store on disk; from there the facts go through Neo4j's bulk import into an
empty database of this machine, or else in transactions. Interrupted at any moment and run again, it goes on.
Source: Millions of GEAR-s, section 5.
"""

import bz2
import gzip
import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from kgrag.graph import collections as registry
from kgrag.graph.connection import Graph
from kgrag.graph.jobs import check_idle, collection_lock
from kgrag.graph.local import bulk
from kgrag.graph.local.server import LocalServer
from kgrag.indexing.knowledge.fact_writer import complete_aliases, write_files, write_transactions
from kgrag.indexing.knowledge.store import Entry, Store, code
from kgrag.indexing.knowledge.triples import CsvReader, NTriplesReader, rdf_lines
from kgrag.indexing.knowledge.wikidata import WikidataReader, base
from kgrag.runtime.files import disk_errors, locked
from kgrag.settings import Settings
from kgrag.text.languages import Language, language_of
from kgrag.text.tokens import normalise
from kgrag.values.errors import InputError
from kgrag.values.events import Progress

__all__ = ["KnowledgeReport", "Selection"]

_BATCH = 50_000  # names and facts of a step of reading
LONGEST = 64 << 20  # bytes of a line
_MOST_LINES = 200  # lines per CSV row, so that an unclosed quotation mark cannot swallow the rest of the file
Line = tuple[bytes, int, int]
FORMATS = {
    "wikidata": (".json", ".jsonl", ".ndjson"),
    "ntriples": (".nt",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "rdf": (".ttl", ".rdf", ".owl", ".trig", ".n3"),
}
"""The formats of sources, with the suffixes by which they are known, each with or without .gz or .bz2."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection from a source. `languages`: names use the first available one; `properties`: empty for all.

    `ids`: only statements about these entities (Q42). `classes`: about instances of these classes or their subclasses
    (P31, P279). `about`: about the entities meant by names in this collection of documents. `hops`: entities within
    this many statements of all these are included.
    """

    languages: tuple[str, ...] = ("en",)
    properties: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    classes: tuple[str, ...] = ()
    about: str | None = None
    hops: int = 1

    @property
    def part(self) -> bool:
        """Whether it is less than all."""
        return self.ids is not None or bool(self.classes) or self.about is not None

    @property
    def listed(self) -> bool:
        """Whether its subjects are known before anything is read."""
        return self.ids is not None and not self.classes and self.about is None and self.hops == 1


@dataclass(frozen=True, slots=True)
class KnowledgeReport:
    """The result of an import. `counts` has items read and left out, in words; `stages` has seconds by stage.

    `unnamed`: facts left out because an end has no name; `known`: this very import was complete before.
    """

    collection: str
    entities: int = 0
    facts: int = 0
    unnamed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    bulk: bool = False
    known: bool = False
    resumed: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)


def import_knowledge(
    path: Path, name: str, settings: Settings, selection: Selection, progress: Progress, *, format: str | None = None
) -> KnowledgeReport:
    """Import a file into the collection of kind knowledge of that name, which is made if it does not exist.

    Raises InputError for a file that cannot be read, ConfigurationError for Turtle without rdflib, MismatchError for
    a collection of documents, and DatabaseError.
    """
    started = time.monotonic()
    registry.check_name(name)
    format = format or format_of(path)
    language = language_of(base(selection.languages[0]))
    source = _fingerprint(path, selection, format)
    home = Path(settings.home)
    place = home / "imports" / f"{_digest(name)}.sqlite"
    stages: dict[str, float] = {}
    local = None if settings.neo4j_uri is not None else LocalServer(settings)
    with _endpoint(settings, local, progress) as graph:
        existing = registry.find_collection(graph, name)
        if existing is not None and source in registry.check_knowledge(existing).sources:
            with Store(place, source) as store:
                store.remove()
            return KnowledgeReport(name, known=True, seconds=time.monotonic() - started)
        about = _names_of(graph, selection.about)
        empty = local is not None and not bulk.occupants(graph)
        check_idle(graph, None if empty else name)  # before much is read for nothing
    with disk_errors(home, "KGRAG_HOME"), Store(place, source) as store:
        resumed = store.lines
        with _timed(stages, "reading"):
            counts = read_source(path, format, selection, language, store, progress)
        with _timed(stages, "selecting"):
            if selection.part:
                keys = [*(selection.ids or ()), *_standing_for(store, about, language)]
                counts["entities selected"] = store.select(keys, selection.classes, selection.hops)
        if local is not None and empty:
            entities, facts = _in_bulk(local, settings, name, source, language, store, progress, stages, selection.part)
        else:
            with (
                _endpoint(settings, local, progress) as graph,
                collection_lock(graph, name, "import facts"),
                _timed(stages, "transactions"),
            ):
                collection = registry.create_knowledge(graph, name, language.code, settings.old_vectors_seconds)
                entities, facts = write_transactions(graph, collection, store, progress, part=selection.part)
                graph.run("write/knowledge_source", name=name, source=source)
        unnamed = store.prepare(part=selection.part)[1] - facts
        store.remove()
    return KnowledgeReport(
        name, entities, facts, unnamed, counts, local is not None and empty, False, resumed, time.monotonic() - started,
        stages,
    )  # fmt: skip


def format_of(path: Path) -> str:
    """Return the format by the name of a file. Raises InputError."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".bz2")]
    for format, endings in FORMATS.items():
        if suffixes and suffixes[-1] in endings:
            return format
    raise InputError(f"{path}: the name does not tell the format.", f"Give it by --format: {', '.join(FORMATS)}.")


def read_source(
    path: Path, format: str, selection: Selection, language: Language, store: Store, progress: Progress
) -> Counter[str]:
    """Read the source into the store, from where the store ends; return the items read and left out."""
    counts = store.counts
    if store.read:
        return counts
    read = _reader(format, selection, language, counts)
    entries: list[Entry] = []
    pending, done, number = 0, store.lines, 0
    lines = rdf_lines(path) if format == "rdf" else lines_of(path, counts)
    if isinstance(read, CsvReader):
        lines = _rows(lines, read)
    for number, (line, place, size) in enumerate(lines, 1):
        if number <= done:
            continue
        entry = read(line)
        if entry is not None:
            entries.append(entry)
            pending += len(entry.named) + len(entry.facts)
        if pending >= _BATCH:
            store.add(entries, number, counts)
            entries, pending = [], 0
            progress("reading, MB", place // 1_000_000, max(size // 1_000_000, 1))
    store.add(entries, max(number, done), counts)
    progress("names of units, redirects", 0, None)
    store.finish()
    return counts


def _reader(
    format: str, selection: Selection, language: Language, counts: Counter[str]
) -> Callable[[bytes], Entry | None]:
    if format == "wikidata":
        only = frozenset(map(code, selection.ids or ())) if selection.listed else None
        return WikidataReader(selection.languages, frozenset(selection.properties), only, counts)
    if format in ("ntriples", "rdf"):
        return NTriplesReader(selection.languages, frozenset(selection.properties), counts)
    return CsvReader("\t" if format == "tsv" else ",", language, counts)


def lines_of(path: Path, counts: Counter[str]) -> Iterator[Line]:
    """Yield the lines of a file, each with the number of bytes read so far, and of all bytes."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        begin = raw.read(3)
        raw.seek(0)
        file: IO[bytes] = raw
        if begin[:2] == b"\x1f\x8b":
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw))
        elif begin == b"BZh":
            file = cast(IO[bytes], bz2.BZ2File(raw))
        try:
            while line := file.readline(LONGEST):
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    counts["lines that are too long"] += 1
                    while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                        pass
                    line = b""
                yield line, raw.tell(), size
        except (EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            counts["files that are cut off or damaged"] += 1


def _rows(lines: Iterator[Line], read: CsvReader) -> Iterator[Line]:
    """Yield rows of CSV: a line continues in the next ones while a cell in quotes is open, unless that never ends."""
    queue: deque[Line] = deque()
    while (current := queue.popleft() if queue else next(lines, None)) is not None:
        line, place, size = current
        more: list[Line] = []
        whole = line
        while read.is_open(whole) and len(more) < _MOST_LINES:
            following = queue.popleft() if queue else next(lines, None)
            if following is None:
                break
            more.append(following)
            whole += following[0]
        if read.is_open(whole):
            queue.extendleft(reversed(more))
        elif more:
            line, (_, place, size) = whole, more[-1]
        yield line, place, size


def _in_bulk(
    server: LocalServer,
    settings: Settings,
    name: str,
    source: str,
    language: Language,
    store: Store,
    progress: Progress,
    stages: dict[str, float],
    part: bool,
) -> tuple[int, int]:
    """Replace the empty database of this machine by the facts; returns the numbers of entities and facts."""
    with locked(server.home.root / ".bulk-lock", progress), bulk.work_folder(server.home) as folder:
        with _timed(stages, "files"):
            files, entities, facts = write_files(folder, name, source, language, store, progress, part=part)
        with _timed(stages, "import"):
            with server.offline(progress) as admin:
                bulk.import_files(admin, server.home, settings.neo4j_database, files, progress)
            endpoint = server.ensure_running(progress=progress)
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph, _timed(stages, "indexes"):
        progress("indexes", 0, None)
        bulk.complete(server.home, graph)
        complete_aliases(graph, registry.open_collection(graph, name), store)
    return entities, facts


@contextmanager
def _endpoint(settings: Settings, local: LocalServer | None, progress: Progress) -> Iterator[Graph]:
    if local is None:
        assert settings.neo4j_uri is not None
        with Graph(settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password, settings.neo4j_database) as graph:
            yield graph
        return
    endpoint = local.ensure_running(progress=progress)
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
        bulk.complete(local.home, graph)
        yield graph


def _names_of(graph: Graph, collection: str | None) -> frozenset[str]:
    """Return the names of a collection of documents in normal form, and their known articles."""
    if collection is None:
        return frozenset()
    record = registry.check_documents(registry.open_collection(graph, collection))
    rows = graph.stream("look_up/known_names", collection=record.name)
    return frozenset(text for row in rows for text in (row["normal"], row["wikipedia"]) if text)


def _standing_for(store: Store, names: frozenset[str], language: Language) -> Iterator[str]:
    """Yield the keys of the entities with one of these names, or with a fact on one of these articles."""
    if names:
        for key, name, wikipedia in store.names():
            if normalise(name, language) in names or (wikipedia and wikipedia in names):
                yield key


@contextmanager
def _timed(stages: dict[str, float], stage: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    stages[stage] = time.monotonic() - start


def _fingerprint(path: Path, selection: Selection, format: str) -> str:
    """Return the identity of an import: the file's name, size and time, and the selection."""
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from error
    identity = [str(path.resolve()), stat.st_size, stat.st_mtime_ns, format, repr(selection)]
    return _digest(json.dumps(identity))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def ids_in(path: Path) -> Sequence[str]:
    """Return the ids of entities in a file: the first word of each line. Raises InputError."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}", "Name a text file with an id on each line: Q42") from error
    return list(dict.fromkeys(line.split()[0].strip(",") for line in lines if line.split()))
