"""The question sets for measuring recall: the demo's, and parts of the sets in the folder of benchmarks.

That folder is not part of the repository: KGRAG_BENCH names it; the default is ../shared/bench beside the repository. A
sample takes every question, or every n-th, with all its gold and random other passages of the corpus.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag import demo
from kgrag.loaders import load
from kgrag.values.documents import Document

BENCH = Path(os.environ.get("KGRAG_BENCH") or Path(__file__).parents[3] / "shared" / "bench")
FILES = ("corpus", "queries", "triples")
_RETRIEVERS = ("pathrank", "hybrid", "bm25")
_ALL = (*_RETRIEVERS, "ppr", "gear")
Row = dict[str, Any]


@dataclass(frozen=True)
class QuestionSet:
    """A set: its sample (every n-th question, a number of passages without gold), and the systems to measure."""

    name: str
    every: int = 1
    others: int = 0
    systems: tuple[str, ...] = _RETRIEVERS

    @property
    def exists(self) -> bool:
        """Whether the set exists on this machine."""
        return self == DEMO or (BENCH / self.name).is_dir()

    def write(self, parent: Path) -> Path:
        """Write the sample to a folder of its name, for `kgrag lab eval`."""
        folder = parent / self.name
        folder.mkdir()
        for name, rows in zip(FILES, _demo() if self == DEMO else self._part(), strict=True):
            lines = [json.dumps(row) + "\n" for row in rows]
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        return folder

    def _part(self) -> tuple[Iterable[Row], ...]:
        corpus, queries, triples = (_rows(BENCH / self.name / f"{name}.jsonl") for name in FILES)
        queries = queries[:: self.every]
        kept = {id for row in queries for id in row["gold"]}
        others = [row["id"] for row in corpus if row["id"] not in kept]
        kept.update(others[:: max(1, len(others) // self.others)][: self.others])
        return (
            [row for row in corpus if row["id"] in kept],
            queries,
            [row for row in triples if row["passage"] in kept],
        )


DEMO = QuestionSet("demo", systems=_ALL)
SETS = (  # the slowest first: two are measured at once
    QuestionSet("musique-gold", others=800),
    QuestionSet("hotpot-gold", every=3, others=500),
    QuestionSet("musique", others=350, systems=_ALL),
    QuestionSet("2wiki-gold", others=500),
    DEMO,
)


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _demo() -> tuple[Iterable[Row], ...]:
    with demo.corpus() as folder:
        documents = [item for item in load(folder, root=folder) if isinstance(item, Document)]
    return (
        [{"id": d.title, "title": d.title, "text": d.text} for d in documents],
        [
            {"id": f"{q.documents[0]}: {q.answer}", "question": q.question, "answers": [q.answer], "gold": q.documents}
            for q in demo.questions()
        ],
        [],
    )
