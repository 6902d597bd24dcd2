"""Ingest files or Documents into a collection: the work of `Collection.ingest` and `Collection.attach`."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.engines import open_engine
from kgrag.graph import collections as registry
from kgrag.graph.collections import Collection as Record
from kgrag.indexing import foreign, pipeline, removal
from kgrag.indexing.attachment import Attachment, attachment_of, propose_attachment, read_attachment
from kgrag.indexing.detection import first_language, in_language
from kgrag.indexing.figure_descriptions import described
from kgrag.indexing.figure_files import FigureFiles
from kgrag.indexing.removal import find_gone, known_files, too_many
from kgrag.indexing.repair import discard_old_vectors
from kgrag.indexing.rereading import change_language, read_again
from kgrag.loaders.source import Items, Source, first_document, items_of
from kgrag.models.embed import DeferredEmbedder, Embedder, load_embedder
from kgrag.settings import Settings
from kgrag.values.documents import Document, FileState, Problem, Scan, Unchanged
from kgrag.values.errors import MismatchError
from kgrag.values.events import Progress
from kgrag.values.results import IngestReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kgrag.client.connection import Connection
    from kgrag.loaders import Columns


def ingest(
    kg: "Connection",
    name: str,
    source: Source,
    *,
    embedder: str | Embedder | None,
    language: str | None,
    columns: "Columns | None",
    root: str | Path | None,
    prune: bool,
    force: bool,
    settle: float,
    names: "Mapping[Path, str] | None",
    progress: Progress,
    attached: bool = False,
) -> IngestReport:
    """See `Collection.ingest`; `attached`: the documents are made from the nodes that the collection is attached to."""
    graph = kg.graph
    settings = kg.settings if language is None else in_language(kg.settings, language)
    existing = registry.find_collection(graph, name, unfinished=True)
    if existing is not None and existing.loading:
        removal.delete_collection(graph, name, settings)
        existing = None
    if existing is not None:
        registry.check_documents(existing)
        if existing.attachment and not attached:
            raise MismatchError(
                f"Collection {name!r} is attached to nodes: `kgrag attach {name}` brings it in step with them.",
                "Ingest documents into a collection of another name.",
            )
    if existing is not None and isinstance(embedder, str):
        registry.check_embedder(existing, embedder)  # before a model is loaded for nothing

    def states(files: "Sequence[str]") -> "Mapping[str, Sequence[FileState]]":
        return {} if existing is None else known_files(graph, existing, list(files))

    items, total, scan = items_of(
        source, columns, settings, root,
        states=None if existing is None else states, settle=settle, missing_ok=prune and force, names=names,
        progress=progress,
    )  # fmt: skip
    if existing is None:
        items, problems = first_document(items, scan)
        if problems is not None:
            return noted(IngestReport(problems=problems), scan)  # without a document, no collection is created
    empty = existing is None
    if existing is not None:
        if existing.rereading:
            read_again(graph, existing, progress)
        model = _embedder_of(kg, existing, embedder)
        existing, items = _in_known_language(kg, existing, items, settings, progress)
        registry.check_indexing(existing, settings.indexing)
        existing = registry.ensure_indexes(graph, existing)
        discard_old_vectors(graph, existing, settings)
    else:
        model = kg.embedder(embedder)
        if settings.indexing.language is None:
            items, detected = first_language(items)
            settings = in_language(settings, detected)
        existing = registry.create_collection(
            graph, name, model.name, model.dimension, settings.indexing, settings.old_vectors_seconds
        )
    if settings.loading.describe_figures:
        items = described(items, kg.language_model())
    pictures = FigureFiles(settings.home, name)
    with open_engine(settings.engine) as engine:
        report = pipeline.ingest(
            graph, existing, pictures.keep(items), model, settings, progress,
            total=total, scan=scan, engine=engine, empty=empty,
        )  # fmt: skip
    pictures.sweep(graph)
    if scan is None:
        return report
    absent = find_gone(graph, existing, scan, force=force)
    whole = [key for key in absent if absent[key]]  # an interrupted removal of the others was allowed already
    prune = prune and (force or not too_many(whole, noted(report, scan), settings.loading.prune_limit))
    if absent and prune:
        removal.delete_documents(graph, existing, absent, settings, progress)
    return noted(replace(report, gone=tuple(absent), pruned=len(absent) if prune else 0), scan)


def _in_known_language(
    kg: "Connection", record: Record, items: Items, settings: Settings, progress: Progress
) -> tuple[Record, Items]:
    """Return a collection and the items; its language is detected now if its first texts were too few for that."""
    language = settings.indexing.language
    if record.indexing.language is not None or (language is None and record.kind != registry.DOCUMENTS):
        return record, items
    if language is None:
        rows = kg.graph.stream("look_up/passage_texts", collection=record.name)
        items, language = first_language(items, (f"{row['title']}\n{row['text']}" for row in rows))
    return record if language is None else change_language(kg.graph, record.name, language, progress), items


def attach(
    kg: "Connection",
    name: str,
    mapping: Attachment | str | Path | None,
    labels: Iterable[str] | None,
    progress: Progress,
) -> IngestReport:
    """See `Collection.attach`."""
    graph, existing = kg.graph, registry.find_collection(kg.graph, name)
    if isinstance(mapping, str | Path):
        mapping = read_attachment(Path(mapping))
    if mapping is None and labels is None:
        mapping = attachment_of(existing)
    mapping = mapping or propose_attachment(graph, labels)
    problems = foreign.check_attachment(graph, mapping, attachment_of(existing))
    if any(row["element"] is None for row in graph.stream("look_up/attached_documents", collection=name)):
        raise MismatchError(
            f"Collection {name!r} holds documents that were not made of nodes.",
            "Attach to a collection of another name.",
        )
    keys: set[str] = set()

    def noting() -> "Iterator[Document | Problem]":
        yield from problems
        for document in foreign.documents(graph, mapping):
            keys.add(document.key)
            yield document

    report = ingest(
        kg, name, noting(), embedder=None, language=None, columns=None, root=None, prune=False,
        force=False, settle=0.0, names=None, progress=progress, attached=True,
    )  # fmt: skip
    graph.run("write/attachment", collection=name, attachment=mapping.to_json())
    rows = graph.stream("look_up/attached_documents", collection=name)
    absent = tuple(row["key"] for row in rows if row["key"] not in keys)
    if absent:
        removal.delete_documents(graph, registry.open_collection(graph, name), absent, kg.settings, progress)
    return replace(report, gone=absent, pruned=len(absent))


def _embedder_of(kg: "Connection", record: Record, embedder: str | Embedder | None) -> Embedder:
    """Return the embedder of a collection; the recorded one is loaded and checked when it is first needed."""

    def load() -> Embedder:
        model = kg.embedder(record.embedder if embedder is None else embedder)
        registry.check_embedder(record, model.name, model.dimension)
        return model

    return DeferredEmbedder(record.embedder, record.dimension, load) if embedder is None else load()


def noted(report: IngestReport, scan: Scan | None) -> IngestReport:
    """Return a report with the counts of files from a scan."""
    if scan is None:
        return report
    return replace(
        report, skipped=scan.skipped, converted=scan.converted, unsettled=scan.unsettled, left_out=scan.left_out
    )


def first_load(
    name: str,
    source: Source,
    embedder: str | Embedder | None,
    language: str | None,
    columns: "Columns | None",
    root: str | Path | None,
    settings: Settings | None,
) -> "tuple[Iterator[Document | Problem], int | None, Scan | None, Embedder, Settings]":
    """Return the input of a load without a database: documents, their number, the scan, the embedder, settings."""
    settings = settings or Settings()
    if language is not None:
        settings = in_language(settings, language)
    items, total, scan = items_of(source, columns, settings, root)
    named = embedder or settings.embedder
    model = load_embedder(named, settings.embedding) if isinstance(named, str) else named
    there = (item for item in items if not isinstance(item, Unchanged))
    return FigureFiles(settings.home, name).keep(there), total, scan, model, settings
