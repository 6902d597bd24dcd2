"""The reproduction of a paper's table: the paper's numbers beside kgrag's, and the differences."""

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, get_args

from kgrag.client.collection import Collection
from kgrag.lab.datasets import Dataset
from kgrag.lab.experiment import By, Experiment, spelt
from kgrag.lab.grading import TASK
from kgrag.lab.layers import prepare, unwritten
from kgrag.lab.papers import Paper, PaperRow, PaperTable, override
from kgrag.lab.report import Result, frame
from kgrag.lab.training import trained_on
from kgrag.retrieval.base import Layer
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_DEPTH = 15

Cell = tuple[float | None, float | None]
"""A number of the paper, and kgrag's."""


@dataclass(slots=True)
class Reproduction:
    """A table under measurement, one data set after the other. `results`: data set -> results of its experiments.

    `labels`: only these rows; empty: all. `given`: input of rows (`Paper.inputs`) -> the user's value.
    """

    paper: Paper
    table: PaperTable
    labels: Sequence[str] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    threads: int = 8
    out: Path | None = None
    results: dict[str, list[Result]] = field(default_factory=dict, init=False)
    _values: dict[tuple[str, str], dict[str, float | None]] = field(default_factory=dict, init=False)
    _systems: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict, init=False)
    _refused: dict[str, str] = field(default_factory=dict, init=False)
    _unwritten: dict[str, None] = field(default_factory=dict, init=False)
    _sets: dict[str, tuple[Dataset, int]] = field(default_factory=dict, init=False)
    _spent: list[tuple[Usage, Usage, int]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        labels = [row.label for row in self.table.rows]
        for label in self.labels:
            if label not in labels:
                raise NotFoundError(f"{self.table.number} has no row {label!r}.", f"It has: {', '.join(labels)}.")
        for name in self.given:
            if name not in self.inputs:
                takes = ", ".join(self.inputs) or "nothing"
                raise NotFoundError(f"No row of {self.table.number} takes {name!r}.", f"They take: {takes}.")

    @property
    def per_question(self) -> int | None:
        """The number of documents in each question's own graph; None: all questions share one graph."""
        each: int | None = self.paper.setting("evaluation.per_question")
        return each

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs of the rows of the table, each with its meaning."""
        names = {name for row in self.table.rows for name in _inputs_of(row)}
        return {name: what for name, (what, _) in self.paper.inputs.items() if name in names}

    @property
    def values(self) -> dict[str, str]:
        """The inputs of the rows with their values: the given ones, or the defaults."""
        return {name: own for name, (_, own) in self.paper.inputs.items() if own is not None} | dict(self.given)

    @property
    def trained_on(self) -> frozenset[str]:
        """The ids of the questions that trained given parts; nothing can be measured on these.

        Raises ConfigurationError for weights when torch is not installed.
        """
        return frozenset().union(*map(trained_on, self.given.values()))

    def lacks(self, row: PaperRow) -> str:
        """Return why no collection can measure a row; empty if one can."""
        if row.system is None:
            return row.missing
        return " and ".join(
            f"it takes {what}: --set {name}=..."
            for name, what in self.inputs.items()
            if name in _inputs_of(row) and name not in self.values
        )

    @property
    def asks(self) -> bool:
        """Whether a language model is needed for answers."""
        return "EM" in self.table.measures or any("+" in (row.system or "") for row in self.rows)

    @property
    def rows(self) -> list[PaperRow]:
        """The wanted rows."""
        return [row for row in self.table.rows if not self.labels or row.label in self.labels]

    def refuse(self, rows: Iterable[PaperRow], data: str, why: str) -> None:
        """Record rows that cannot be measured on a data set, and the reason."""
        self._refused |= {f"{row.label} ({data})": why for row in rows}

    def parts(self) -> Iterator[tuple[Callable[[Settings], Settings], list[PaperRow]]]:
        """Yield the rows with the same settings, which can be measured together, and their experiment."""
        groups: dict[str, list[PaperRow]] = {}
        for row in self.rows:
            if not self.lacks(row):
                groups.setdefault(repr((row.threads, sorted(row.settings.items()))), []).append(row)
        for rows in groups.values():
            yield partial(self._settings_of, rows[0]), rows

    def _settings_of(self, row: PaperRow, settings: Settings) -> Settings:
        """Return the settings of a row. Its model does everything but the grading, which one model does for all."""
        own, models = self._special(row), settings.chat.models
        if "chat.model" in own:
            marks = models.get(TASK, settings.chat.model)
            own["chat.models"] = {} if marks is None else {TASK: marks}
        return override(settings, own)

    def _special(self, row: PaperRow) -> dict[str, Any]:
        """Return the settings whose values differ for a row."""
        return {
            name: value.format(**self.values) if isinstance(value, str) else value
            for name, value in row.settings.items()
        }

    def measure(
        self, name: str, data: Dataset, collection: Collection, rows: Sequence[PaperRow], progress: Progress
    ) -> None:
        """Measure some rows on one of the table's data sets. Raises as `Experiment.run` does."""
        place = self.table.data.index(name)
        systems = {(row.label, m): self._system(row, place, m) for row in rows for m in self.table.measures}
        special = {row.label: "".join(f", {key}={value}" for key, value in self._special(row).items()) for row in rows}
        experiment = Experiment(
            dict.fromkeys(systems.values()),
            data,
            threads=rows[0].threads or self.threads,
            out=self.out,
            per_question=self.per_question,
            seed=self.seed,
            **self._options(),
        )
        result = experiment.run(progress, collection=collection)
        self.results.setdefault(name, []).append(result)
        reasons = {**result.failed, **result.refused}
        for (label, measure), system in systems.items():
            own = spelt(system)
            varied = {} if result.sweep is None else result.sweep.lines.get(own, {})
            measured = tuple(varied.values()) or (own,)
            refused = {one: reasons[one] for one in measured if one in reasons}
            if varied:
                self._refused |= {f"{one} ({name})": why for one, why in refused.items()}
            if len(refused) == len(measured):
                self._refused[f"{label} ({name})"] = next(iter(refused.values()))
                continue
            by_set = self._systems.setdefault(label, {})
            by_set[name] = tuple(dict.fromkeys((*by_set.get(name, ()), f"{spelt(system)}{special[label]}")))
            value = measured_from(result, spelt(system), measure, self.table.by)
            self._values.setdefault((label, name), {})[measure] = value
        self._unwritten |= dict.fromkeys(unwritten(map(str, systems.values()), collection))
        each = round(result.about.get("passages") or 0)  # mean per question if each has its own graph
        self._sets[name] = data, each if self.per_question else collection.info().counts.get("Passage", 0)
        usage = sum((r.usage if r.answer is None else r.answer.usage for r in result.records), Usage())
        self._spent.append((usage, result.marking or Usage(), sum(map(len, result.errors.values()))))

    def _options(self) -> dict[str, Any]:
        """Return further options of the table's experiment."""
        by = self.table.by or (self.table.drawn if self.table.drawn in get_args(By) else None)
        return {
            "depth": max([self.paper.setting("evaluation.depth") or _DEPTH, *map(_cut, self.table.measures)]),
            "by": () if by is None else (by,),
            "grade": "Acc" in self.table.measures,
            **self.table.options,
        }

    def systems(self, name: str, rows: Sequence[PaperRow]) -> list[str]:
        """Return the systems of rows on a data set."""
        place = self.table.data.index(name)
        return [self._system(row, place, measure) for row in rows for measure in self.table.measures]

    def prepare(self, collection: Collection, layers: Sequence[Layer], progress: Progress) -> None:
        """Make layers of the graph. Raises the error that ended it early, such as ModelError."""
        for usage, failures in prepare(collection, layers, self.threads, progress):
            self._spent.append((usage, Usage(), failures))

    def _system(self, row: PaperRow, place: int, measure: str) -> str:
        """Return the system of a row on a data set, with the values of the table filled in."""
        assert row.system is not None
        values = {"k": _cut(measure)} | {name: row_values[place] for name, row_values in self.table.values.items()}
        values |= {name: _quoted(text) for name, text in self.values.items()}
        return row.system.format(**values)

    @property
    def cells(self) -> dict[str, dict[str, dict[str, Cell]]]:
        """Label -> data set -> measure -> the paper's number and kgrag's."""
        cells: dict[str, dict[str, dict[str, Cell]]] = {}
        for row in self.rows:
            for place, name in enumerate(self.table.data):
                if name in self._sets and not self.lacks(row) and f"{row.label} ({name})" not in self._refused:
                    ours = self._values.get((row.label, name), {})
                    numbers = zip(self.table.measures, row.numbers[place], strict=True)
                    cells.setdefault(row.label, {})[name] = {m: (number, ours.get(m)) for m, number in numbers}
        return cells

    @property
    def missing(self) -> dict[str, str]:
        """The unmeasured rows -> the reason."""
        return {row.label: why for row in self.rows if (why := self.lacks(row))} | self._refused

    @property
    def problems(self) -> list[str]:
        """The failures despite an answer, such as a failed grade: a line for each row and data set."""
        return [
            f"{system} ({name}): {len(problems)} questions, such as {': '.join(next(iter(problems.items())))}"
            for name, results in self.results.items()
            for result in results
            for system, problems in result.problems.items()
            if problems
        ]

    @property
    def measured(self) -> list[str]:
        """The conditions of each row's measurement, in a line."""
        return [
            f"{label}: {', '.join(dict.fromkeys(name for names in sets.values() for name in names))}"
            for label, sets in self._systems.items()
        ]

    @property
    def usage(self) -> Usage:
        """The usage of all calls."""
        return sum((usage for usage, _, _ in self._spent), Usage()) + sum((m for _, m, _ in self._spent), Usage())

    @property
    def errors(self) -> int:
        """How many questions failed."""
        return sum(errors for _, _, errors in self._spent)

    @property
    def spent(self) -> str:
        """The usage of the calls, in a sentence."""
        total = self.usage
        cost = "cost unknown" if total.cost is None else f"cost {total.cost:.4f}"
        failed = f" {self.errors} questions failed." if self.errors else ""
        return f"{total.calls:,} calls ({total.cached:,} cached), {total.tokens:,} tokens, {cost}.{failed}"

    def frames(self) -> "dict[str, pd.DataFrame]":
        """Return a line a row and data set, and for each measure the paper's number, kgrag's and the difference."""
        lines = []
        for label, sets in self.cells.items():
            for data, cells in sets.items():
                line: dict[str, Any] = {"row": label, "data": data}
                for measure, (theirs, ours) in cells.items():
                    both = theirs is not None and ours is not None
                    difference = (ours or 0) - (theirs or 0) if both else None
                    line |= {f"{measure} paper": theirs, f"{measure} ours": ours, f"{measure} diff": difference}
                lines.append(line)
        title = f"{self.paper.name}, table {self.table.number}: {self.table.caption}"
        return {title: frame(lines, "row", "data").round(1)} if lines else {}

    def plain(self, differences: Sequence[str]) -> dict[str, Any]:
        """Return the table as plain values, with the differences from the paper."""
        return {
            "paper": self.paper.name,
            "table": self.table.number,
            "caption": self.table.caption,
            "rows": {
                label: {
                    data: {m: {"paper": theirs, "ours": ours} for m, (theirs, ours) in cells.items()}
                    for data, cells in sets.items()
                }
                for label, sets in self.cells.items()
            },
            "missing": self.missing,
            "systems": self._systems,
            "problems": self.problems,
            "differs": differences,
            "calls": self.usage.calls,
            "tokens": self.usage.tokens,
            "cost": self.usage.cost,
            "errors": self.errors,
        }

    def differences(self, settings: Settings, embedder: str) -> list[str]:
        """Return the differences from the paper, one sentence each."""
        differences = []
        model = settings.chat.model or "none"
        if model != self.paper.model:
            differences.append(f"Model: {model} here, {self.paper.model} in the paper.")
        if embedder != self.paper.setting("embedder"):
            differences.append(f"Embedder: {embedder} here, {self.paper.setting('embedder')} in the paper.")
        for name, (data, passages) in self._sets.items():
            sample = self.table.sample or self.paper.sample(name)
            if len(data.questions) != sample:
                differences.append(
                    f"{name}: {len(data.questions)} questions (seed {self.seed}), {sample} in the paper."
                )
            theirs = dict(zip(self.table.data, self.table.corpus, strict=False)).get(name)
            if theirs != passages and passages:
                corpus = f"{theirs:,} in the paper" if theirs else "another corpus in the paper"
                each = " a question" if self.per_question else ""
                differences.append(f"{name}: {passages:,} passages{each}, {corpus}: the fewer, the easier to find.")
        return [*differences, *self._unwritten, *self.paper.differs]


def _cut(measure: str) -> int:
    """Return the k of "R@k", else 5."""
    return int(measure.partition(" ")[0].rpartition("@")[2]) if "@" in measure else 5


def measured_from(result: Result, system: str, measure: str, by: str | None) -> float | None:
    """Return the value of a measure; "R@15 < 9" is the value of a group of questions, None for an empty group."""
    rows = result.rows
    if by is not None:
        measure, _, group = measure.partition(" ")
        rows = result.groups[by].get(group, {})
    if measure == "hours":
        seconds = rows[system].get("wall_s")
        return None if seconds is None else seconds / 3600
    return rows.get(system, {}).get(measure)  # empty under this name if a setting is varied


def _inputs_of(row: PaperRow) -> set[str]:
    """Return the names in braces of a row's system and settings."""
    texts = [row.system or "", *(value for value in row.settings.values() if isinstance(value, str))]
    return {name for text in texts for _, name, *_ in Formatter().parse(text) if name}


def _quoted(text: str) -> str:
    """Return a value as an expression holds it: a number or a tuple unchanged, other text in quotes."""
    try:
        literal_eval(text)
    except (ValueError, SyntaxError):
        return repr(text)
    return text
