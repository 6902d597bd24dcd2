"""An import under another name: the ids of nodes hash the collection's name, so they are made anew, as an ingest would.

The nodes have waiting ids by then, a prefix before the old id. Broken off and run again, it goes on with those left.
"""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

from kgrag import identity
from kgrag.errors import InputError
from kgrag.graph.connection import Graph
from kgrag.types import Progress

PREFIX = "import-"
_BATCH = 2000
_LEVELS = ("own", "document", "passage")  # what the id of a node is made of besides itself
_MOST = 100_000  # times that a passage may occur in a document


def rename(graph: Graph, old: str, new: str, prefix: str, progress: Progress) -> None:
    """Give every node of collection `new` whose id begins with `prefix` the id that it has under that name.

    Raises InputError for a passage whose id does not follow from the old name.
    """
    done = 0
    for level in _LEVELS:
        rows = _rows(graph.stream(f"search/waiting_ids_{level}", collection=new, prefix=prefix), old, new, prefix)
        while batch := list(islice(rows, _BATCH)):
            graph.run("write/import_ids", rows=batch)
            done += len(batch)
            progress("ids", done, None)


def _rows(records: Iterator[Any], old: str, new: str, prefix: str) -> Iterator[dict[str, str]]:
    for record in records:
        id = _id(record, old, new, record["id"].removeprefix(prefix))
        yield {"element": record["element"], "id": id}


def _id(record: Mapping[str, Any], old: str, new: str, was: str) -> str:
    label, parent, parts = record["label"], record["parent"], record["parts"]
    if label == "Document":
        return identity.document_id(new, parts[0])
    if label == "Entity":
        return identity.entity_id(new, parts[0])
    if label == "Word":
        return identity.word_id(new, parts[0])
    if label == "Keyword":
        return identity.keyword_id(new, parts[0])
    if label == "Run":
        return identity.node_id(new, "run", was)
    if label == "Step":
        return identity.node_id(parent, "step", parts[0])
    if label == "Page":
        return identity.page_id(identity.document_id(new, parent), int(parts[0]))
    if label == "Table":
        return identity.table_id(identity.document_id(new, parent), int(parts[0]))
    if label == "Triple":
        return identity.triple_id(parent, *parts)
    content = "\x1f".join(parts)
    before, after = (identity.document_id(name, parent) for name in (old, new))
    for occurrence in islice(count(), _MOST):
        if identity.passage_id(before, content, occurrence) == was:
            return identity.passage_id(after, content, occurrence)
    raise InputError(
        f"The id of passage {was} does not follow from its document and text.",
        f"Import the collection under its own name, {old!r}; give this up with "
        f"`kgrag delete --collection {new} --yes`.",
    )
