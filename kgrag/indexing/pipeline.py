"""Ingestion: an engine prepares documents, parallel transactions write them, and the corpus-wide stages follow.

The graph is the ledger. A document with the same content hash is skipped, an existing passage is not embedded again,
and the nodes themselves are marked for pending stages.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection, index_labels
from kgrag.graph.connection import Graph
from kgrag.indexing import documents as local
from kgrag.indexing.corpus_stages import record_reach, run_corpus_stages
from kgrag.indexing.document_writer import Batch, write_batch
from kgrag.indexing.documents import ExistingDocument
from kgrag.indexing.first_load import first_load
from kgrag.indexing.index_sync import synchronise
from kgrag.indexing.vectors import embedded
from kgrag.models.embed import Embedder
from kgrag.runtime.document_progress import at
from kgrag.settings import IndexingSettings, Settings
from kgrag.text.languages import Language
from kgrag.values.documents import Document, FileState, Problem, Replaced, Scan, Unchanged
from kgrag.values.events import Progress
from kgrag.values.identity import content_hash, document_id
from kgrag.values.results import IngestReport


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A new or changed document, and the version that it replaces, if any."""

    id: str
    document: Document
    held: ExistingDocument
    replaced: Replaced | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows of one transaction, the number of vectors computed for it, and the texts without a vector.

    `alone`: it must not run beside others. Parts of a long document are committed in order, since the last one
    completes it; removals change words and entities anywhere. `of`: for a long document, the number of passages up to
    the end of this part, and in all.
    """

    batch: Batch
    embedded: int
    alone: bool
    problems: list[Problem]
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Preparing:
    """Splits documents into passages, finds their names and embeds new ones. `size`: passages per transaction."""

    collection: str
    indexing: IndexingSettings
    language: Language
    embedder: Embedder
    size: int

    def __call__(self, due: Sequence[PendingDocument]) -> Iterator[Prepared]:
        """Yield the rows of documents that have text."""
        for parts in local.split(self._plans(due), self.size):
            batch, texts = local.build_batch(self.collection, parts, self.language)
            places = local.places(parts, batch)
            vectors, problems = embedded(self.embedder, texts, places)
            for row, vector in zip([*batch.passages, *batch.triples], vectors, strict=True):
                row["vector"] = vector
            alone = any(start > 0 or end < len(p.passages) or p.held.known for p, start, end in parts)
            last, start, end = parts[-1]
            of = (end, len(last.passages)) if start > 0 or end < len(last.passages) else ()
            yield Prepared(batch, len(texts) - len(problems), alone, problems, of)

    def _plans(self, due: Sequence[PendingDocument]) -> Iterator[local.Plan]:
        for item in due:
            plan = local.plan(self.collection, item.document, self.indexing, self.language)
            plan.held = item.held
            if plan.passages:
                yield plan


_LOG = logging.getLogger(__name__)
Items = Iterable[Document | Problem | Unchanged]

SMALL_BATCH = 64
"""With a smaller `batch_passages` the first load is skipped, and documents are written as they arrive."""
_GROUP = 256  # documents whose hashes are looked up at once
_GROUP_CHARS = 16_000_000  # characters after which such a group ends
_PASSAGE_CHARS = 1000  # rough characters per passage, enough to keep batches from being tiny or huge


@dataclass(slots=True)
class _Tally:
    """The counts of an ingest. `seen`: 64 bits of each document's id; `again`: later documents with these ids."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    passages: int = 0
    embedded: int = 0
    embedded_batches: int = 0
    problems: list[Problem] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    again: dict[str, Document] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        return self.added + self.changed + self.unchanged


def ingest(
    graph: Graph,
    collection: Collection,
    source: Items,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    total: int | None = None,
    scan: Scan | None = None,
    engine: Engine = IN_PROCESS,
    empty: bool = False,
) -> IngestReport:
    """Write documents into a collection and bring its corpus-wide edges up to date.

    Can be interrupted at any moment and run again. `total`: number of documents, if known, for the progress bar.
    `scan`: the scan of the load, which records former roots; files with a Problem count as unread. `engine` prepares
    the documents. `empty`: the collection has no documents yet. Raises DatabaseError if Neo4j becomes unreachable, and
    EngineError if workers do.
    """
    started = time.monotonic()
    tally = _Tally()
    scan = scan or Scan()
    size = settings.batch_passages
    finished = False
    if empty and size >= SMALL_BATCH:
        first, source, finished = first_load(
            graph, collection, source, embedder, settings, progress, total=total, scan=scan, engine=engine
        )
        tally.problems += first.pop("problems")
        for name, value in first.items():
            setattr(tally, name, getattr(tally, name) + value)
    before = tally.documents
    prepare = Preparing(collection.name, collection.indexing, collection.language, embedder, size)
    while True:
        with Writers(graph, collection, settings.writers) as writers:
            groups = _some(_due(graph, collection, source, tally, scan), size)
            for group, prepared in engine.each(prepare, groups, models=True):
                ids: set[str] = set()
                passages: list[int] = []
                longest = max(group, key=lambda each: len(each.document.text)).document
                at(progress, Path(longest.source or longest.key).name, "passages", passages)
                for part in prepared:
                    passages[:] = part.of
                    if part.batch.triples:
                        collection = index_labels(graph, collection, "Triple")
                    tally.embedded += part.embedded
                    tally.embedded_batches += part.embedded > 0
                    tally.passages += len(part.batch.passages)
                    tally.problems += part.problems
                    ids.update(row["id"] for row in part.batch.documents)
                    writers.submit(part.batch, alone=part.alone)
                    progress("documents", tally.documents, total)
                for each in group:
                    _count(each, each.id in ids, tally, scan)
                progress("documents", tally.documents, total)
        if not tally.again:
            break
        source, tally.again, tally.seen = list(tally.again.values()), {}, set()
    at(progress, "")
    progress("documents", tally.documents, total if total is None else tally.documents)
    seconds = time.monotonic() - started
    _LOG.info("documents: %d, with %d new passages, in %.1f s", tally.documents, tally.passages, seconds)
    if finished and tally.documents == before:
        record_reach(graph, collection)
        synchronise(graph, collection, settings, progress)
    else:
        run_corpus_stages(graph, collection, settings, progress, embedder, engine=engine)
    return IngestReport(
        added=tally.added,
        changed=tally.changed,
        unchanged=tally.unchanged,
        passages=tally.passages,
        embedded=tally.embedded,
        embedded_batches=tally.embedded_batches,
        problems=tuple(tally.problems),
        replaced=tuple(tally.replaced),
        seconds=time.monotonic() - started,
    )


def _due(graph: Graph, collection: Collection, source: Items, tally: _Tally, scan: Scan) -> Iterator[PendingDocument]:
    """Yield the new and changed documents with the ids that the graph has for them."""
    stream = iter(source)
    while group := _group(stream):
        by_id: dict[str, Document] = {}
        touched: list[dict[str, Any]] = []  # files with another fingerprint or root, but the same documents
        for item in group:
            if isinstance(item, Problem):
                tally.problems.append(item)
            elif isinstance(item, Unchanged):
                tally.unchanged += item.file.documents
                if item.file != item.recorded:
                    touched.append(_touched(item))
            elif (id := document_id(collection.name, item.key)) not in by_id:
                by_id[id] = item
            elif content_hash(item) == content_hash(by_id[id]):
                tally.unchanged += 1
                tally.again.pop(id, None)  # the last version counts
            else:
                tally.again[id] = item
        if touched:
            graph.run("write/files", collection=collection.name, rows=touched)
        hashes = {id: content_hash(document) for id, document in by_id.items()}
        rows = [{"id": id, "hash": hash} for id, hash in hashes.items()]
        recorded = {r["id"]: r for r in graph.run("look_up/recorded_documents", rows=rows)} if rows else {}
        due: list[PendingDocument] = []
        same: list[dict[str, Any]] = []  # unchanged documents from another file or another state of it
        for key, document in by_id.items():
            before: Mapping[str, Any] = recorded.get(key, {})
            if before.get("root") and before["root"] != scan.root:
                scan.moved.add(before["root"])
            if before.get("content_hash") == hashes[key]:
                tally.unchanged += 1
                now = local.file_properties(document)
                if any(before[name] != value for name, value in now.items()):
                    same.append({"id": key, "source": document.source or document.key, **now})
                continue
            if int(key[:16], 16) in tally.seen:  # compare with the graph only after the earlier version is written
                tally.again[key] = document
                continue
            tally.seen.add(int(key[:16], 16))
            replaced = _replaced(document, before) if before.get("content_hash") else None
            existing = ExistingDocument(bool(before), set(before.get("passages", ())), set(before.get("triples", ())))
            due.append(PendingDocument(key, document, existing, replaced))
        if same:
            graph.run("write/document_files", rows=same)
        yield from due


def _some(due: Iterator[PendingDocument], size: int) -> Iterator[list[PendingDocument]]:
    """Yield documents in groups of about `size` passages."""
    group: list[PendingDocument] = []
    passages = 0
    for item in due:
        group.append(item)
        passages += 1 + len(item.document.text) // _PASSAGE_CHARS
        if passages >= size:
            yield group
            group, passages = [], 0
    if group:
        yield group


def _count(item: PendingDocument, is_written: bool, tally: _Tally, scan: Scan) -> None:
    """Count a prepared document, or report that it has no text."""
    document = item.document
    if not is_written:
        tally.problems.append(Problem(document.source or document.key, "holds no text"))
        if document.file is not None:
            scan.files[document.file.key] = ""
        return
    tally.changed += item.held.known
    tally.added += not item.held.known
    if item.replaced is not None:
        tally.replaced.append(item.replaced)


def _touched(item: Unchanged) -> dict[str, Any]:
    now, before = item.file, item.recorded
    return {"file": now.key, "before": before.fingerprint, "fingerprint": now.fingerprint, "root": now.root or None}


def _replaced(document: Document, before: Mapping[str, Any]) -> Replaced | None:
    """Return the replacement of a document from another source; None if the same source changed."""
    now = document.file.path if document.file is not None else document.source or document.key
    was = FileState(before["file"], before["root"] or "").path if before["file"] else before["source"]
    same = was == now
    if (document.file is None) != (before["file"] is None):  # one source is a path as typed, with a row number
        same = Path(was).name.partition("#")[0] == Path(now).name.partition("#")[0]
    return None if same else Replaced(document.key, was, now)


def _group(stream: Iterator[Document | Problem | Unchanged]) -> list[Document | Problem | Unchanged]:
    group: list[Document | Problem | Unchanged] = []
    size = 0
    for item in stream:
        group.append(item)
        size += sum(len(s.text) for s in item.sections) if isinstance(item, Document) else 0
        if len(group) == _GROUP or size >= _GROUP_CHARS:
            break
    return group


class Writers:
    """Parallel transactions. `submit` blocks while every writer is busy, and the first failure is raised."""

    def __init__(self, graph: Graph, collection: Collection, number: int) -> None:
        self._graph = graph
        self._collection = collection
        self._number = number
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="kgrag-writer")
        self._running: set[Future[None]] = set()

    def __enter__(self) -> "Writers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._drain(0)
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, batch: Batch, *, alone: bool) -> None:
        """Write a batch as soon as a writer is free. With `alone`, no other transaction runs meanwhile."""
        self._drain(0 if alone else self._number)
        self._running.add(self._pool.submit(write_batch, self._graph, self._collection, batch))
        if alone:
            self._drain(0)

    def _drain(self, allowed: int) -> None:
        while len(self._running) > allowed:
            done, self._running = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
