"""Write a collection to files as a stream: memory does not grow with the collection."""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from kgrag.exchange.files import FORMATS, STREAM, Footer, Header, format_of, writing
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.contents import Fingerprint, NodeRecord, contents
from kgrag.values.errors import InputError, MismatchError
from kgrag.values.events import Progress

STEP = 1000  # nodes and edges between reports


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The contents of an export. `left_out` counts edges that leave the collection; `bytes` is None for a stream."""

    collection: str
    path: str
    format: str
    nodes: int
    edges: int
    left_out: int
    bytes: int | None
    seconds: float
    digest: str


def export(
    graph: Graph,
    collection: Collection,
    target: str,
    progress: Progress,
    *,
    format: str | None = None,
    embeddings: bool = True,
    overwrite: bool = False,
) -> ExportReport:
    """Write all that a collection holds to a file or "-" (standard output).

    Raises InputError if the target cannot be written, MismatchError if the collection changed meanwhile.
    """
    started = time.monotonic()
    format = format or format_of(target)
    if format not in FORMATS:
        raise InputError(f"There is no format {format!r}.", f"There are: {', '.join(FORMATS)}.")
    header = Header(
        collection=collection.name,
        schema_version=collection.schema_version,
        kgrag=version("kgrag"),
        export=uuid.uuid4().hex,
        exported=datetime.now(UTC).isoformat(timespec="seconds"),
        embeddings=embeddings,
    )
    digest = Fingerprint()
    nodes = edges = left_out = 0
    before = count_of(graph, collection)
    with writing(target, format, header, overwrite=overwrite) as writer:
        for item in contents(graph, collection.name, embeddings=embeddings):
            if item is None:
                left_out += 1
                continue
            writer.write(item)
            digest.add(item)
            if isinstance(item, NodeRecord):
                nodes += 1
            else:
                edges += 1
            if (nodes + edges) % STEP == 0:
                progress("export", nodes + edges, before)
        if not before == nodes + edges + left_out == count_of(graph, collection):
            raise MismatchError(
                f"Collection {collection.name!r} changed while it was exported.",
                "Export it again when nothing writes into it.",
            )
        writer.finish(Footer.sum(digest))
    progress("export", nodes + edges, nodes + edges)
    return ExportReport(
        collection=collection.name,
        path=target,
        format=format,
        nodes=nodes,
        edges=edges,
        left_out=left_out,
        bytes=None if target == STREAM else Path(target).stat().st_size,
        seconds=time.monotonic() - started,
        digest=digest.total(),
    )


def count_of(graph: Graph, collection: Collection) -> int:
    """Count the nodes and edges of a collection."""
    return int(graph.run("inspect/count_contents", collection=collection.name)[0]["number"])
