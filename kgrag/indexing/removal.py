"""Removal of documents by key, of documents whose files are gone, and of whole collections. It can be resumed."""

from collections.abc import Collection as Sized
from collections.abc import Iterable
from pathlib import Path

from kgrag.graph.collections import Collection, open_collection, recorded
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.indexing import document_writer as writer
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.figure_files import FigureFiles
from kgrag.indexing.index_sync import index_of
from kgrag.settings import Settings
from kgrag.values.documents import FileState, Scan
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Progress
from kgrag.values.identity import document_id
from kgrag.values.results import IngestReport

_BATCH = 1000  # files


def known_files(graph: Graph, collection: Collection, files: list[str]) -> dict[str, list[FileState]]:
    """Return the recorded states of files by key, if all their documents exist. A file may have several states."""
    states: dict[str, list[FileState]] = {}
    for row in graph.run("look_up/files", collection=collection.name, files=files):
        state = FileState(row["file"], row["root"] or "", row["fingerprint"], row["documents"], row["problems"] or "")
        states.setdefault(state.key, []).append(state)
    return states


def find_gone(graph: Graph, collection: Collection, scan: Scan, *, force: bool = False) -> dict[str, bool]:
    """Return the keys of documents whose files, or rows, a complete scan did not see, each with whether it is whole.

    An interrupted removal or change leaves documents that are not whole. Only folders and files that were read are
    compared. An empty folder or a missing path counts as not mounted, unless it is `force`d. Documents of files with
    problems stay, and so do documents of files that could not be looked for. With a root, documents of that root count,
    and documents of roots that are gone and that its files had before, since the folder was moved.
    """
    roots = [scan.root, *(root for root in scan.moved if not Path(root).is_dir())]
    places = places_of(scan, force)
    absolute = [place for place in places if Path(place).is_absolute()]
    relative = [place for place in places if not Path(place).is_absolute()]
    absent: dict[str, bool] = {}
    rows: list[dict[str, str | None]] = []
    for prefixes, of in ((absolute, [""]), (relative, roots)):
        if prefixes:
            files = graph.stream("look_up/files_in", collection=collection.name, prefixes=prefixes, roots=of)
            rows += [
                {"file": r["file"], "fingerprint": r["fingerprint"]}
                for r in files
                if lies_in(r["file"], r["prefix"]) and is_gone(scan, r["file"], r["fingerprint"])
            ]
    for start in range(0, len(rows), _BATCH):
        part = graph.run("look_up/file_documents", collection=collection.name, rows=rows[start : start + _BATCH])
        absent.update((r["key"], r["whole"]) for r in part)
    return absent


def too_many(absent: Sized[str], report: IngestReport, limit: float) -> bool:
    """Return whether so many documents have disappeared that the folder may be only half mounted or copied."""
    there = report.added + report.changed + report.unchanged + report.unsettled
    return len(absent) > limit * (len(absent) + there)


def places_of(scan: Scan, force: bool) -> list[str]:
    """Return the places of a scan: folders as prefixes of their files' keys, and single files."""
    folders = [*scan.folders, *(scan.empty if force else [])]
    alone = [file for file in scan.files if not any(file.startswith(folder) for folder in folders)]
    return [*folders, *alone, *(scan.missing if force else [])]


def lies_in(file: str, place: str) -> bool:
    """Return whether a file is one of the places or lies in one."""
    return not place or place.endswith("/") or file == place or file.startswith(f"{place}/")


def is_gone(scan: Scan, file: str, fingerprint: str | None) -> bool:
    """Return whether the file of some documents is gone."""
    if file in scan.files:
        return scan.files[file] not in ("", fingerprint)  # a row that the file no longer has
    return not any(file.startswith(folder) for folder in scan.unreadable)


def delete_documents(
    graph: Graph,
    collection: Collection,
    keys: Iterable[str],
    settings: Settings,
    progress: Progress,
    *,
    missing_ok: bool = False,
) -> int:
    """Delete documents, and return the number of removed passages.

    Raises NotFoundError before anything is removed if a key does not exist. With `missing_ok` such keys are skipped.
    """
    ids = {document_id(collection.name, key): key for key in keys}
    there = {r["id"] for r in graph.run("look_up/content_hashes", ids=list(ids))}
    present = [id for id in ids if id in there]
    missing = [key for id, key in ids.items() if id not in there]
    if missing and not missing_ok:
        raise NotFoundError(
            f"Collection {collection.name!r} has no document {', '.join(map(repr, missing))}.",
            "A document's key is its path as ingested, or its id column; `kgrag search … --json` shows it.",
        )
    removed = 0
    for number, id in enumerate(present):
        progress("removal", number, len(present))
        removed += writer.remove_document(graph, collection, id)
    FigureFiles(settings.home, collection.name).sweep(graph)
    run_corpus_stages(graph, collection, settings, progress, removed=True)
    return removed


def delete_collection(graph: Graph, name: str, settings: Settings) -> int:
    """Delete a collection and its nodes, and return the number of removed passages. Raises NotFoundError.

    Its passage index outside the graph goes first, since nothing would refer to it afterwards.
    """
    records = graph.run("look_up/collections", name=name)
    if not records:
        open_collection(graph, name)  # raises NotFoundError
    collection = recorded(records[0]["collection"])
    if (index := index_of(collection, settings)) is not None:
        index.drop()
    FigureFiles(settings.home, name).clear()
    nodes = count_nodes(graph, name)
    writer.remove_collection(graph, collection, sum(nodes.values()))
    return nodes.get("Passage", 0)
