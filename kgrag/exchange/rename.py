"""An import under another name: the ids of nodes hash the collection's name, so they are made as an ingest would.

The nodes have waiting ids by then, a prefix before the old id. Interrupted and run again, it goes on with those left.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from kgrag.graph.connection import Graph
from kgrag.graph.description import describe
from kgrag.values import identity
from kgrag.values.errors import InputError
from kgrag.values.events import Progress

PREFIX = "import-"
_BATCH = 2000
_MOST = 100_000  # times that a passage may occur in a document


def rename(graph: Graph, old: str, new: str, prefix: str, progress: Progress, *, by_key: bool = False) -> None:
    """Give every node of collection `new` whose id begins with `prefix` the id that it has under that name.

    `by_key`: they are those of a knowledge graph. Raises InputError for a passage whose id does not follow from the old
    name.
    """
    done = 0
    for node in describe().nodes:  # a node stands there after what its id is made within
        if not node.held:
            continue
        waiting = graph.stream(
            "stages/waiting_ids",
            label=node.label,
            collection=new,
            prefix=prefix,
            of=node.of,
            by=["key"] if by_key and node.layer == "knowledge" else list(node.by),
        )
        rows = ({"element": r["element"], "id": _id(node.label, r, old, new, prefix)} for r in waiting)
        while batch := list(islice(rows, _BATCH)):
            graph.run("write/import_ids", rows=batch)
            done += len(batch)
            progress("ids", done, None)


def _id(label: str, record: Mapping[str, Any], old: str, new: str, prefix: str) -> str:
    """The id of a node in collection `new`; `record`: a row of `stages/waiting_ids`."""
    kind, was, parts = label.lower(), record["id"].removeprefix(prefix), record["parts"]
    if label != "Passage":
        return identity.node_id(record["home"] or new, kind, *(parts or [was]))
    content = "\x1f".join(parts)
    before = identity.document_id(old, record["key"])
    for occurrence in range(_MOST):
        if identity.passage_id(before, content, occurrence) == was:
            return identity.passage_id(record["home"], content, occurrence)
    raise InputError(
        f"The id of passage {was} does not follow from its document and text.",
        f"Import the collection under its own name, {old!r}; give this up with "
        f"`kgrag delete --collection {new} --yes`.",
    )
