"""What the corpus-wide stages share: the nodes marked for a stage (`todo`), in batches, and taking the mark off."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Unit
from kgrag.settings import Settings
from kgrag.types import Progress


class Work:
    """A collection whose corpus-wide stages are at work: a context manager.

    One transaction is written in the background while the next batch is prepared.
    """

    def __init__(self, graph: Graph, collection: Collection, settings: Settings, progress: Progress) -> None:
        self.graph = graph
        self.collection = collection
        self.settings = settings
        self.progress = progress
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
        """The ids of the nodes marked for a stage; `label`: passages, entities or words."""
        return [r["id"] for r in self.graph.stream(f"search/todo_{label}", collection=self.name, stage=stage)]

    def batches(self, ids: Sequence[str], size: int, stage: str) -> Iterator[list[str]]:
        """The ids, `size` at a time, reporting progress; at the end all is written."""
        for start in range(0, len(ids), size):
            self.progress(stage, start, len(ids))
            yield list(ids[start : start + size])
        self.flush()
        if ids:
            self.progress(stage, len(ids), len(ids))

    def commit(self, label: str, stage: str, ids: Sequence[str], work: Callable[[Unit], object]) -> None:
        """Write a result and take the stage's mark off its nodes, in one transaction, once the one before is through.

        Raises what the one before raised.
        """

        def run(unit: Unit) -> None:
            work(unit)
            unit.run(f"write/done_{label}", ids=list(ids), stage=stage)

        self.flush()
        self._writing = self._writer.submit(self.graph.write, run)

    def flush(self) -> None:
        """Wait until everything is written. Raises what a writer raised."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def mark(self, label: str, ids: Sequence[str], stage: str) -> None:
        """Mark nodes for a stage; `label`: passages or entities."""
        if ids:
            self.graph.run(f"write/due_{label}", ids=list(ids), stage=stage)

    def count_passages(self) -> int:
        """How many passages the collection has; recorded on it, too."""
        return int(self.graph.run("write/count_passages", collection=self.name)[0]["passages"])

    def spread(self, label: str, mark: str, phrases: Callable[[list[str]], list[str]], stage: str) -> None:
        """Mark for `stage` the passages that hold a word or name marked `mark`; all of them when that is quicker.

        `phrases(ids)` gives the Lucene phrases of stems to look for.
        """
        due = self.due(label, mark)
        if not due:
            return
        if len(due) > max(1000, self.count_passages() // 4):
            self.graph.run("write/due_all_passages", collection=self.name, stage=stage)
            for ids in self.batches(due, 10_000, f"new {label}"):
                self.graph.run(f"write/done_{label}", ids=ids, stage=mark)
            return
        index = self.collection.index("passage_stems")
        for ids in self.batches(due, 200, f"new {label}"):
            wanted = phrases(ids)

            def look(unit: Unit, wanted: list[str] = wanted) -> None:
                unit.run("write/due_holders", index=index, phrases=wanted, stage=stage)

            self.commit(label, mark, ids, look)


def phrase(stems: Sequence[str], slop: int = 0) -> str:
    """A Lucene phrase of stems; with slop 1 a middle initial may stand in between."""
    quoted = " ".join(stem.replace("\\", "\\\\").replace('"', '\\"') for stem in stems)
    return f'"{quoted}"~{slop}' if slop and len(stems) > 1 else f'"{quoted}"'
