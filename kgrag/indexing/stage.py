"""Shared code of the corpus-wide stages: visit pending nodes (`todo`) in batches, and take their marks off."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, Self, TypeVar

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.description import describe
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.values.events import Progress

_LOG = logging.getLogger(__name__)
Row = dict[str, Any]
T = TypeVar("T")
R = TypeVar("R")


class StageContext:
    """The state of a collection while its corpus-wide stages run: a context manager.

    It writes one transaction in the background while the next batch is prepared.
    """

    def __init__(
        self,
        graph: Graph,
        collection: Collection,
        settings: Settings,
        progress: Progress,
        embedder: Embedder | None = None,
        engine: Engine = IN_PROCESS,
    ) -> None:
        self.graph = graph
        self.collection = collection
        self.settings = settings
        self.progress = progress
        self.embedder = embedder
        self.engine = engine
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kgrag-stage")
        self._writing: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._writer.shutdown(wait=True)

    @property
    def name(self) -> str:
        """The collection's name."""
        return self.collection.name

    def due(self, label: str, stage: str) -> list[str]:
        """Return the ids of the nodes of a label that are marked for a stage."""
        return [r["id"] for r in self.graph.stream("stages/todo", label=label, collection=self.name, stage=stage)]

    def batches(self, ids: Sequence[str], size: int, stage: str) -> Iterator[list[str]]:
        """Yield the ids, `size` at a time, and report progress. All transactions are written when the iterator ends."""
        started = time.perf_counter()
        for start in range(0, len(ids), size):
            self.progress(stage, start, len(ids))
            yield list(ids[start : start + size])
        self._ended(len(ids), stage, started)

    def computed(
        self,
        ids: Sequence[str],
        size: int,
        stage: str,
        read: Callable[[list[str]], T],
        compute: Callable[[tuple[list[str], T]], R],
    ) -> Iterator[tuple[list[str], R]]:
        """Yield each batch of ids with the result that the engine computes from its rows."""
        started = time.perf_counter()
        done = 0
        parts = (list(ids[start : start + size]) for start in range(0, len(ids), size))
        for (part, _), result in self.engine.each(compute, ((part, read(part)) for part in parts)):
            self.progress(stage, done, len(ids))
            yield part, result
            done += len(part)
        self._ended(len(ids), stage, started)

    def _ended(self, number: int, stage: str, started: float) -> None:
        self.flush()
        if number:
            self.progress(stage, number, number)
            _LOG.info("%s: %d in %.1f s", stage, number, time.perf_counter() - started)

    def rows(self, name: str, ids: list[str]) -> list[Row]:
        """Return the records of a query that takes node ids, as dictionaries that can be sent to a worker."""
        return [dict(record) for record in self.graph.run(name, ids=ids)]

    def commit(self, label: str, stage: str, ids: Sequence[str], work: Callable[[Transaction], object]) -> None:
        """Write a result and take the stage's mark off its nodes, in one transaction, after the previous commit.

        Raises the error of the previous commit, if it failed.
        """

        def run(tx: Transaction) -> None:
            work(tx)
            tx.run("stages/done", label=label, ids=list(ids), stage=stage)

        self.flush()
        self._writing = self._writer.submit(self.graph.write, run)

    def flush(self) -> None:
        """Wait until everything is written. Raises the error of the writer, if it failed."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def mark(self, label: str, ids: Sequence[str], stage: str) -> None:
        """Mark nodes of a label for a stage."""
        if ids:
            self.graph.run("stages/due", label=label, ids=list(ids), stage=stage)

    def done(self, label: str, ids: Sequence[str], stage: str) -> None:
        """Take a stage's mark off nodes that need no write."""
        if ids:
            self.graph.run("stages/done", label=label, ids=list(ids), stage=stage)

    @cached_property
    def passages(self) -> int:
        """The number of passages, counted once and recorded on the collection."""
        return int(self.graph.run("write/count_passages", collection=self.name)[0]["passages"])

    def word_phrases(self, ids: list[str]) -> list[Row]:
        """Return the search phrases of words."""
        return [phrase([r["stem"]]) for r in self.graph.run("stages/word_stems", ids=ids)]

    def spread(self, label: str, mark: str, phrases: Callable[[list[str]], list[Row]], stage: str) -> None:
        """Mark for `stage` the passages that hold a word or name marked `mark`.

        Marks every passage if that is faster. `phrases(ids)` returns the search phrases of words or names.
        """
        due = self.due(label, mark)
        if not due:
            return
        new = f"new {describe().node(label).plural}"
        if len(due) > max(1000, self.passages // 4):
            self.graph.run("stages/due_all_passages", collection=self.name, stage=stage)
            for ids in self.batches(due, 10_000, new):
                self.done(label, ids, mark)
            return
        index = self.collection.index("passage_stems")
        for ids in self.batches(due, 200, new):
            rows = phrases(ids)

            def look(tx: Transaction, rows: list[Row] = rows) -> None:
                tx.run("stages/due_holders", index=index, phrases=rows, stage=stage)

            self.commit(label, mark, ids, look)


def phrase(stems: Sequence[str], initials: int = 0) -> Row:
    """Return the parameter of `stages/due_holders` that finds the passages with consecutive stems.

    Args:
        stems: The stems.
        initials: The number of single characters that may stand between them.
    """
    quoted = " ".join(stem.replace("\\", "\\\\").replace('"', '\\"') for stem in stems)
    if initials < 1 or len(stems) < 2:
        return {"phrase": f'"{quoted}"', "pattern": None}
    apart = "(?: \\S)* ".join(f"\\Q{stem}\\E" for stem in stems)
    return {"phrase": f'"{quoted}"~{initials}', "pattern": f"(?s).* {apart} .*"}
