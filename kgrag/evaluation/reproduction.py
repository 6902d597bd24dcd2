"""A table of a paper, measured again: the paper's numbers beside ours, and what differs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kgrag.client import Collection
from kgrag.errors import NotFoundError
from kgrag.evaluation.datasets import Dataset
from kgrag.evaluation.experiment import Experiment, spelt
from kgrag.evaluation.report import Result, Sheet
from kgrag.papers import Paper, PaperRow, PaperTable, override
from kgrag.settings import Settings
from kgrag.types import Progress, Usage

_DEPTH = 15

Cell = tuple[float | None, float | None]
"""A number of the paper, and ours."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A table with both numbers of each cell. `cells`: label -> data set -> measure -> the paper's number and ours.

    `missing`: label -> why kgrag has no such row. `differs`: sentences. `usage`: of all calls; the marks apart.
    """

    paper: str
    table: PaperTable
    cells: Mapping[str, Mapping[str, Mapping[str, Cell]]]
    missing: Mapping[str, str]
    differs: list[str]
    usage: Usage
    marking: Usage
    errors: int

    def sheet(self) -> Sheet:
        """A line a row and data set, and for each measure the paper's number, ours and the difference."""
        head = ["row", "data"]
        for measure in self.table.measures:
            head += [f"{measure} paper", "ours", "diff"]
        lines = []
        for label, sets in self.cells.items():
            for data, cells in sets.items():
                line = [label, data]
                for theirs, ours in cells.values():
                    both = theirs is not None and ours is not None
                    line += [_text(theirs), _text(ours), f"{(ours or 0) - (theirs or 0):+.1f}" if both else "-"]
                lines.append(tuple(line))
        return Sheet(f"{self.paper}, table {self.table.number}: {self.table.caption}", tuple(head), tuple(lines))

    @property
    def spent(self) -> str:
        """What the calls took, in a sentence."""
        total = self.usage + self.marking
        cost = "cost unknown" if total.cost is None else f"cost {total.cost:.4f}"
        failed = f" {self.errors} questions failed." if self.errors else ""
        return f"{total.calls:,} calls ({total.cached:,} cached), {total.tokens:,} tokens, {cost}.{failed}"

    def values(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "paper": self.paper,
            "table": self.table.number,
            "caption": self.table.caption,
            "rows": {
                label: {
                    data: {m: {"paper": theirs, "ours": ours} for m, (theirs, ours) in cells.items()}
                    for data, cells in sets.items()
                }
                for label, sets in self.cells.items()
            },
            "missing": dict(self.missing),
            "differs": self.differs,
            "calls": self.usage.calls + self.marking.calls,
            "tokens": self.usage.tokens + self.marking.tokens,
            "cost": (self.usage + self.marking).cost,
            "errors": self.errors,
        }


@dataclass(slots=True)
class Reproduction:
    """A table that is being measured, one data set after the other. `labels`: only these rows; empty: all."""

    paper: Paper
    table: PaperTable
    labels: Sequence[str] = ()
    seed: int = 0
    threads: int = 8
    out: Path | None = None
    _found: dict[tuple[str, str], dict[str, float | None]] = field(default_factory=dict, init=False)
    _sets: dict[str, tuple[Dataset, int]] = field(default_factory=dict, init=False)
    _spent: list[tuple[Usage, Usage, int]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        known = [row.label for row in self.table.rows]
        for label in self.labels:
            if label not in known:
                raise NotFoundError(f"Table {self.table.number} has no row {label!r}.", f"It has: {', '.join(known)}.")

    @property
    def per_question(self) -> int | None:
        """How many documents each question has a graph of; None: there is one graph of all."""
        each: int | None = self.paper.setting("evaluation.per_question")
        return each

    @property
    def asks(self) -> bool:
        """Whether a language model is needed for answers."""
        return "EM" in self.table.measures or any("+" in (row.system or "") for row in self.rows)

    @property
    def rows(self) -> list[PaperRow]:
        """The rows that are wanted."""
        return [row for row in self.table.rows if not self.labels or row.label in self.labels]

    def parts(self) -> Iterator[tuple[Callable[[Settings], Settings], list[PaperRow]]]:
        """The rows that can be measured together, since the same settings hold for them, and what makes these."""
        groups: dict[str, list[PaperRow]] = {}
        for row in self.rows:
            if row.system is not None:
                groups.setdefault(repr(sorted(row.settings.items())), []).append(row)
        for rows in groups.values():
            yield partial(override, values=rows[0].settings), rows

    def measure(
        self, name: str, data: Dataset, collection: Collection, rows: Sequence[PaperRow], progress: Progress
    ) -> None:
        """Measure some rows on one of the table's data sets, after what they need. Raises as `Experiment.run` does."""
        self._prepare(collection, {row.needs for row in rows if row.needs}, progress)
        place = self.table.data.index(name)
        systems = {(row.label, m): self._system(row, place, m) for row in rows for m in self.table.measures}
        experiment = Experiment(
            dict.fromkeys(systems.values()),
            data,
            depth=max([self.paper.setting("evaluation.depth") or _DEPTH, *map(_cut, self.table.measures)]),
            threads=self.threads,
            out=self.out,
            grade="Acc" in self.table.measures,
            per_question=self.per_question,
            seed=self.seed,
        )
        result = experiment.run(progress, collection=collection)
        for (label, measure), system in systems.items():
            value = result.rows[spelt(system)].get(measure)
            self._found.setdefault((label, name), {})[measure] = value
        self._sets[name] = data, 0 if self.per_question else collection.info().counts.get("Passage", 0)
        self._spent.append((_usage(result), result.marking or Usage(), sum(map(len, result.errors.values()))))

    def _prepare(self, collection: Collection, needs: set[str], progress: Progress) -> None:
        """Have the model write the tree, or the reports on communities, as far as they are not written yet."""
        for need in sorted(needs):
            build = collection.build_tree if need == "tree" else collection.build_communities
            report = build(ask=True, threads=self.threads, progress=progress)
            self._spent.append((report.usage, Usage(), len(report.failures)))
            if report.stopped is not None:
                raise report.stopped

    def _system(self, row: PaperRow, place: int, measure: str) -> str:
        """The system that measures a row on a data set: the values of the table in their places."""
        assert row.system is not None
        values = {"k": _cut(measure)} | {name: its[place] for name, its in self.table.values.items()}
        return row.system.format(**values)

    def result(self, settings: Settings, embedder: str) -> Reproduced:
        """The table with what was measured."""
        cells: dict[str, dict[str, dict[str, Cell]]] = {}
        for row in self.rows:
            for place, name in enumerate(self.table.data):
                if name in self._sets:
                    ours = self._found.get((row.label, name), {})
                    numbers = zip(self.table.measures, row.numbers[place], strict=True)
                    cells.setdefault(row.label, {})[name] = {m: (number, ours.get(m)) for m, number in numbers}
        usage, marking, errors = zip(*self._spent, strict=True) if self._spent else ((), (), ())
        return Reproduced(
            self.paper.name,
            self.table,
            cells,
            {row.label: row.missing for row in self.rows if row.missing},
            self._differences(settings, embedder),
            sum(usage, Usage()),
            sum(marking, Usage()),
            sum(errors),
        )

    def _differences(self, settings: Settings, embedder: str) -> list[str]:
        """What differs from the paper, sentence by sentence."""
        found = []
        asked = settings.chat.model or "none"
        if asked != self.paper.model:
            found.append(f"Model: {asked} here, {self.paper.model} in the paper.")
        if embedder != self.paper.setting("embedder"):
            found.append(f"Embedder: {embedder} here, {self.paper.setting('embedder')} in the paper.")
        wanted = self.paper.setting("evaluation.sample")
        for name, (data, passages) in self._sets.items():
            if len(data.questions) != wanted:
                found.append(f"{name}: {len(data.questions)} questions (seed {self.seed}), {wanted} in the paper.")
            theirs = dict(zip(self.table.data, self.table.corpus, strict=False)).get(name)
            if theirs != passages and passages:
                known = f"{theirs:,}" if theirs else "another number of"
                found.append(f"{name}: {passages:,} passages, {known} in the paper: the fewer, the easier to find.")
        found += [f"{row.label}: {row.missing}." for row in self.rows if row.missing]
        return [*found, *self.paper.differs]


def _cut(measure: str) -> int:
    """The k of "R@k", else 5."""
    return int(measure.rpartition("@")[2]) if "@" in measure else 5


def _usage(result: Result) -> Usage:
    return sum((r.usage if r.answer is None else r.answer.usage for r in result.records), Usage())


def _text(number: float | None) -> str:
    return "-" if number is None else f"{number:.1f}"
