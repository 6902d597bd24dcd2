"""A small question set: three short passages, and one document of several passages."""

import json
from collections.abc import Sequence
from pathlib import Path

from kgrag import KnowledgeGraph

_PART = "The ships of designer {0} were described by the captains at length, part {0}. " * 6

CORPUS = [
    {"id": "fram", "title": "Fram (ship)", "text": "The Fram was designed by Colin Archer for the polar ice."},
    {"id": "archer", "title": "Colin Archer", "text": "Colin Archer was a naval architect born in Larvik."},
    {"id": "larvik", "title": "Larvik", "text": "Larvik is a town on the coast of Norway."},
    {"id": "ships", "title": "Ships", "text": "\n\n".join(_PART.format(n) for n in range(60))},
]
QUERIES = [
    {"id": "q1", "question": "Where was the designer of the Fram born?", "gold": ["fram", "archer"], "type": "2hop"},
    {"id": "q2", "question": "On which coast is the town Larvik?", "gold": ["larvik"], "answers": ["Norway"]},
    {"id": "q3", "question": "Which ships did captains describe?", "gold": ["ships"]},
]
TRIPLES = [{"passage": "fram", "subject": "Fram", "predicate": "designed by", "object": "Colin Archer"}]

Rows = Sequence[object] | str | bytes | None


def write_set(folder: Path, corpus: Rows = CORPUS, queries: Rows = QUERIES, triples: Rows = TRIPLES) -> Path:
    """Write the files of a set into a folder: rows, or a file's complete content; None: no such file."""
    folder.mkdir(exist_ok=True)
    for name, rows in (("corpus", corpus), ("queries", queries), ("triples", triples)):
        path = folder / f"{name}.jsonl"
        path.unlink(missing_ok=True)
        if isinstance(rows, bytes):
            path.write_bytes(rows)
        elif rows is not None:
            text = rows if isinstance(rows, str) else "".join(f"{json.dumps(row)}\n" for row in rows)
            path.write_text(text, encoding="utf-8")
    return folder


def evaluated(kg: KnowledgeGraph) -> set[str]:
    """Return the collections that evaluations have made."""
    return {info.name for info in kg.collections() if info.name.startswith("eval-")}
