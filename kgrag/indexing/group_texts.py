"""Writing texts about groups of nodes, such as summaries: from sentences of theirs, or by a language model, each once.

What a text was made from is a hash (`rests_on`) beside it, and so is what made it (`made`): sentences, or a version of
the prompt. Only what rests on something else than when it was written is written again.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from kgrag.indexing.ask_each import FailedPassage, Meter, Source, ask_each
from kgrag.indexing.summaries import EXTRACTED, Said
from kgrag.models.budget import HIGH, LOW
from kgrag.models.tasks import Tasks
from kgrag.values.errors import ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

_BATCH = 200  # texts written at once


class Due(Protocol):
    """What a text is due about; `changed`: it rests on something else than the text that is there."""

    @property
    def id(self) -> str:
        """Its node."""
        ...

    @property
    def changed(self) -> bool:
        """Whether its text no longer says what it should."""
        ...


Group = TypeVar("Group", bound=Due)


@dataclass(frozen=True, slots=True)
class WritingReport:
    """What was done. `levels`: how many nodes each level has; `written`: texts made, or made again; `left`: those that
    a model was to write and did not, the `failures` among them; `stopped`: why it ended early, if it did; `stale`:
    texts of a model that no longer say what they should.
    """

    levels: tuple[int, ...] = ()
    written: int = 0
    removed: int = 0
    left: int = 0
    failures: tuple[FailedPassage, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: ModelError | None = None
    stale: int = 0


def bytes_of(tokens: float) -> int:
    """How many bytes so many tokens of usual text have."""
    return round(tokens * (LOW + HIGH) / 2)


class Writer(ABC, Generic[Group]):
    """Writes the texts that are due about some groups. `material` is what one is made from, in the caller's form."""

    task: ClassVar[str]

    @abstractmethod
    def material(self, groups: Sequence[Group]) -> list[Any]:
        """What each text is made from."""

    @abstractmethod
    def heading(self, material: Any) -> str:
        """What to call it where it fails."""

    @abstractmethod
    def extracted(self, groups: Sequence[Group]) -> list[Said]:
        """The texts without a model."""

    @abstractmethod
    def asked(self, material: Any, tasks: Tasks) -> Said:
        """The text by a model. Raises ModelError."""

    @abstractmethod
    def write(self, groups: Sequence[Group], said: Sequence[Said], made: str) -> None:
        """Write texts into the graph."""


class Writing:
    """Texts under way, of one level after another. `tasks` None: without a model."""

    def __init__(self, tasks: Tasks | None, threads: int, progress: Progress) -> None:
        self._usage = Meter()
        self._tasks = tasks.with_listener(self._usage) if tasks is not None else None
        self._threads, self._progress = threads, progress
        self._started = time.monotonic()
        self._failures: list[FailedPassage] = []
        self._left = 0
        self._stopped: ModelError | None = None
        self.written = 0

    def report(self, levels: Sequence[int], removed: int, stale: int = 0) -> WritingReport:
        """What was done until now."""
        return WritingReport(
            tuple(levels), self.written, removed, self._left, tuple(self._failures), self._usage.total,
            time.monotonic() - self._started, self._stopped, stale,
        )  # fmt: skip

    def run(self, writer: Writer[Group], due: list[Group], stage: str) -> None:
        """Write what is due: with a model what it gives, and of sentences what has changed and it did not write.

        When the budget is used up or the server is out of reach, what was received is written.
        """
        if self._tasks is not None:
            if self._stopped is None and due:
                due = self._ask(writer, self._tasks, due, stage)
            self._left += len(due)
        changed = [group for group in due if group.changed]
        done = 0
        for batch in batches(changed):
            self._progress(stage, done, len(changed))
            writer.write(batch, writer.extracted(batch), EXTRACTED)
            done += len(batch)
        if changed:
            self._progress(stage, done, len(changed))
        self.written += done

    def _ask(self, writer: Writer[Group], tasks: Tasks, groups: list[Group], stage: str) -> list[Group]:
        """Have a model write; returns the groups that it did not write about."""
        version = tasks.prompt(writer.task).version
        left = {group.id: group for group in groups}

        def sources() -> Iterator[Source]:
            for batch in batches(groups):
                for group, material in zip(batch, writer.material(batch), strict=True):
                    yield {"id": group.id, "document": "", "title": writer.heading(material), "material": material}

        def write(replies: Mapping[str, Said]) -> None:
            writer.write([left.pop(id) for id in replies], list(replies.values()), version)
            self.written += len(replies)

        def report(done: int, total: int) -> None:
            self._progress(stage, done, total)

        outcome = ask_each(
            sources(), len(groups), lambda s: writer.asked(s["material"], tasks), write, report, self._threads
        )
        self._failures += outcome.failures
        self._stopped = outcome.stopped
        return list(left.values())


def batches(groups: Sequence[Group]) -> list[Sequence[Group]]:
    """Groups, some at a time."""
    return [groups[start : start + _BATCH] for start in range(0, len(groups), _BATCH)]
