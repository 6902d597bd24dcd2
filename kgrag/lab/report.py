"""The result of an experiment: plain values, data frames of pandas, pictures, the machine it ran on."""

import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.lab import summary
from kgrag.lab.measures import Difference
from kgrag.lab.papers import PaperTable
from kgrag.lab.retrieving import Record
from kgrag.lab.summary import Group, Iterations, Overlaps, Rows, Sweep, digits, literal
from kgrag.runtime.files import user_file
from kgrag.values.errors import ConfigurationError
from kgrag.values.forms import plain
from kgrag.values.installing import require_extra
from kgrag.values.results import Usage
from kgrag.wire import VERSION

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

FORMATS = (".png", ".svg", ".pdf")
_PREFERRED = ("R@5", "R@2", "answer@5", "answer@2")
_LEAST = 0.05  # ms: a logarithmic axis cannot show a value rounded to 0
_MARKERS = "osD^vP"  # the next one when the colours start over


def check_plot(path: Path) -> None:
    """Check early that a figure can be drawn.

    Raises ConfigurationError for an unknown kind of file, or without matplotlib.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigurationError(f"{path} is not a picture that can be drawn.", f"Name a file in {', '.join(FORMATS)}.")
    drawing()


def plot(rows: Rows, title: str, path: Path) -> None:
    """Draw recall@5 (for shallower rankings the deepest recall) against the median latency, both with units.

    Latency is on a logarithmic axis. Raises ConfigurationError, InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, ticker = drawing()
    measure = next((m for m in _PREFERRED if rows and m in next(iter(rows.values()))), "MRR")
    figure = figure_class(figsize=(8, 5), layout="constrained", dpi=150)
    axes = figure.add_subplot()
    axes.set(title=title, xlabel="median latency, ms", ylabel=f"{measure}, %" if measure != "MRR" else measure)
    axes.set_xscale("log")
    axes.grid(True, which="major", alpha=0.3)
    for number, (name, row) in enumerate(rows.items()):
        if (p50 := row["p50_ms"]) is not None:
            marker = _MARKERS[number // 10 % len(_MARKERS)]
            axes.plot(max(_LEAST, p50), row[measure], marker, markersize=8, color=f"C{number % 10}", label=name)
    number_ticks(axes.xaxis, ticker)
    figure.legend(loc="outside right upper", fontsize=10)
    save(figure, path)


def number_ticks(axis: Any, ticker: Any) -> None:
    """Use plain numbers on a logarithmic axis."""
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def save(figure: Any, path: Path) -> None:
    """Write a picture. Raises InputError when the file cannot be written."""
    with user_file(path):
        figure.savefig(path)


def drawing() -> tuple[Any, Any]:
    """Import matplotlib's figure class, which needs no window, and its ticks. Raises ConfigurationError without it."""
    with require_extra("plot", "A plot needs matplotlib, which is not installed."):
        from matplotlib import ticker
        from matplotlib.figure import Figure
    return Figure, ticker


def plot_sweep(sweep: Sweep, rows: Rows, title: str, path: Path) -> None:
    """Draw the deepest recall, and EM where there is one, and the median latency against the values of the setting.

    Unvaried systems are horizontal lines. Raises ConfigurationError, InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, _ = drawing()
    figure = figure_class(figsize=(11, 5), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    figure.suptitle(title)
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in sweep.values)
    x = list(sweep.values) if numbers else list(map(literal, sweep.values))
    measured = next(iter(rows.values()), {})
    recall = [m for m in measured if m.startswith(("R@", "answer@"))][-1:]
    agreed = ["EM"] if any("EM" in row for row in rows.values()) else []
    lines = {name: [rows[n] for n in named.values()] for name, named in sweep.lines.items()}
    varied = {n for named in sweep.lines.values() for n in named.values()}
    for number, name in enumerate([*lines, *(n for n in rows if n not in varied)]):
        series = lines.get(name, [rows.get(name, {})] * len(x))
        style = {"color": f"C{number % 10}", "marker": "o" if name in lines else ""}
        dash = "-" if name in lines else "--"
        for axes, measures in ((left, [*recall, *agreed]), (right, ["p50_ms"])):
            for measure in measures:
                heights = [(place, row.get(measure)) for place, row in zip(x, series, strict=True)]
                points_of_line = [(place, height) for place, height in heights if height is not None]
                dotted = ":" if measure == "EM" else dash
                label = name if measure != "EM" else None
                axes.plot([p for p, _ in points_of_line], [h for _, h in points_of_line], dotted, label=label, **style)
    marks = [f"{m} (solid)" for m in recall] + [f"{m} (dotted)" for m in agreed]
    left.set(xlabel=sweep.option, ylabel=f"%, {', '.join(marks)}")
    right.set(xlabel=sweep.option, ylabel="median latency, ms")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.grid(True, alpha=0.3)
    left.legend(fontsize=8)
    save(figure, path)


def draw(figure: PaperTable, result: "Result", title: str, path: Path) -> None:
    """Draw a figure: lines over iterations, ranks or values of a setting, bars by group, or points.

    Raises ConfigurationError without matplotlib or anything to draw, InputError when the file cannot be written.
    """
    if figure.drawn == "vary":
        assert result.sweep is not None
        plot_sweep(result.sweep, result.rows, title, path)
        return
    check_plot(path)
    table = points(figure, result)
    if table.isna().all(axis=None):
        raise ConfigurationError(f"Figure {figure.number} has nothing to draw.", "Its tables hold the values.")
    figure_class, _ = drawing()
    picture = figure_class(figsize=(9, 5), layout="constrained", dpi=150)
    axes = picture.add_subplot()
    line = {"iterations": "o-", "ranks": "o-", "points": "o"}.get(figure.drawn)
    table.plot(ax=axes, legend=False, **({"kind": "bar", "rot": 0} if line is None else {"style": line}))
    below = {"iterations": "iteration", "ranks": "k", "points": "calls"}.get(figure.drawn, figure.drawn)
    axes.set(title=title, xlabel=below, ylabel=figure.measures[0])
    axes.grid(True, axis="y", alpha=0.3)
    picture.legend(loc="outside right upper", fontsize=9)
    save(picture, path)


def points(figure: PaperTable, result: "Result") -> "pd.DataFrame":
    """Return the measure of a figure, a column a system, by iteration, rank, number of calls, or group of questions.

    Tokens are the sum over all questions up to an iteration (GEAR, figure 4). Raises ConfigurationError without pandas.
    """
    measure, kind, rows = figure.measures[0], figure.drawn, result.rows
    series: dict[str, dict[Any, Any]] = {}
    if kind == "iterations":
        for name, steps in result.iterations.items():
            loop: list[Mapping[str, Any]] = [step for step in steps if step["iteration"] != "after"]
            series[name] = {
                float(s["iteration"]): s[measure] * (s["questions"] if measure == "tokens" else 1) for s in loop
            }
    elif kind == "ranks":
        series = {name: {float(m[2:]): row[m] for m in row if m.startswith("R@")} for name, row in rows.items()}
    elif kind in ("points", "systems"):
        series = {name: {row.get("calls", 0.0) if kind == "points" else "": row[measure]} for name, row in rows.items()}
    elif kind == "alone":
        for name, shares in result.overlaps.items():
            series[name] = {way: shares[way] for way in shares if way not in ("by", "questions")}
    else:
        for group, by_system in result.groups[kind].items():
            for name, row in by_system.items():
                series.setdefault(name, {})[group] = row.get(measure)
    places = dict.fromkeys(place for values in series.values() for place in values)
    lines = [{"place": place, **{name: values.get(place) for name, values in series.items()}} for place in places]
    table = frame(lines or [{"place": 0}], "place").astype(float)
    return table.cumsum() if measure == "tokens" else table


NOISE = "noise: the 95 % interval, by a paired bootstrap over the questions, includes 0"


@dataclass(frozen=True, repr=False)
class Result:
    """The results of an experiment. `print` and notebooks show its tables; `frames` gives them as data frames.

    `rows`: system -> measure -> value. `groups`: type, hops or density -> group -> such rows. `differences`: system ->
    measure -> difference from the `baseline` with its 95 % interval. `errors` and `problems`: system -> question ->
    why there is no answer, or what failed although there is one. `about`: data set, embedder, collection; `conditions`:
    the conditions of the measurement. `overlaps`: shares that only a system or only the baseline gets right.
    `marking`: the usage for grading, None if nothing was graded. `notes`: sentences. `refused`: unmeasured system ->
    the missing parts of the collection.
    """

    title: str
    records: tuple[Record, ...]
    rows: Rows
    iterations: Iterations
    groups: Mapping[str, Mapping[str, Rows]]
    baseline: str | None
    differences: Mapping[str, Mapping[str, Difference]]
    errors: Mapping[str, Mapping[str, str]]
    problems: Mapping[str, Mapping[str, str]]
    about: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    marking: Usage | None = None
    sweep: Sweep | None = None
    notes: tuple[str, ...] = ()
    overlaps: Overlaps = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        title: str,
        records: Sequence[Record],
        depth: int,
        by: Mapping[str, Mapping[str, Group]] | None = None,
        baseline: str | None = None,
        seed: int = 0,
        at: Sequence[int] = (),
        **more: Any,
    ) -> "Result":
        """Make the result of some records; `baseline` is one of their systems, `by` the grouping -> `groups`.

        `at`: see `summary.measures`. `more`: the other fields.
        """
        return cls(
            title,
            tuple(records),
            summary.table(records, depth, at),
            summary.iterations(records, depth),
            {what: summary.tables_by(records, groups, depth, at) for what, groups in (by or {}).items()},
            baseline,
            summary.differences(records, baseline, depth, seed, at) if baseline is not None else {},
            summary.errors(records),
            summary.problems(records),
            overlaps=summary.overlaps(records, baseline, depth) if baseline is not None else {},
            **more,
        )

    def frames(self) -> "dict[str, pd.DataFrame]":
        """Return the tables as data frames by their titles, the most important first; NaN where there is no value.

        Raises ConfigurationError without pandas.
        """
        if not self.rows:
            return {}
        who = "system" if self.iterations else "retriever"
        tables = {self.title: frame([{who: name, **row} for name, row in self.rows.items()], who)}
        steps = [{who: name, **step} for name, steps in self.iterations.items() for step in steps]
        if steps:
            tables["by iteration; recall is of all that was found up to it"] = frame(steps, who, "iteration")
        for what, groups in self.groups.items():
            lines = [{what: group, who: name, **row} for group, rows in groups.items() for name, row in rows.items()]
            tables[f"by {what}"] = frame(lines, what, who)
        pairs = [(name.split("+", 1), row) for name, row in self.rows.items() if "+" in name]
        for measure in [m for m in ("F1", "R@5") if pairs and all(m in row for _, row in pairs)][:1]:
            lines = [{"strategy": s, "retriever": r, measure: row[measure]} for (s, r), row in pairs]
            grid = frame(lines, "strategy", "retriever")[measure].unstack()
            if min(grid.shape) > 1 and grid.notna().all(axis=None):
                tables[f"{measure} by strategy and retriever"] = grid
        if self.baseline is not None and self.differences:
            lines = [
                {who: name, "measure": measure, **{k: round(v, digits(measure)) for k, v in asdict(d).items()},
                 "verdict": d.verdict}
                for name, measures in self.differences.items() for measure, d in measures.items()
            ]  # fmt: skip
            tables[f"against {self.baseline}; {NOISE}"] = frame(lines, who, "measure")
        if self.overlaps:
            lines = [{who: name, **row} for name, row in self.overlaps.items()]
            tables[f"% correct, compared with {self.baseline}"] = frame(lines, who)
        return tables

    def markdown(self, command: str = "") -> str:
        """Return the tables in Markdown, followed by their command, if there is one, and the machine."""
        tables = self.frames().items()
        parts = [f"{title}:\n\n{table.reset_index().to_markdown(index=False)}" for title, table in tables]
        if command:
            parts.append(f"```console\n$ {command}\n```")
        return "\n\n".join([*parts, *filter(None, [self.conditions.get("machine")])])

    def values(self) -> dict[str, Any]:
        """Return the wire form: everything but the records, as plain values."""
        marking = {} if self.marking is None else {"marking": {**plain(self.marking), "tokens": self.marking.tokens}}
        return {
            "version": VERSION,
            **self.about,
            **marking,
            "systems": self.rows,
            "iterations": self.iterations,
            "by": self.groups,
            "baseline": self.baseline,
            "differences": {
                system: {
                    measure: {"difference": d.value, "low": d.low, "high": d.high, "noise": d.noise}
                    for measure, d in measures.items()
                }
                for system, measures in self.differences.items()
            },
            "overlaps": self.overlaps,
            "refused": self.refused,
            "errors": self.errors,
            "problems": self.problems,
            **self.conditions,
        }

    def plot(self, path: Path | str) -> None:
        """Draw recall against latency, or against the varied setting, to a .png, .svg or .pdf.

        Raises ConfigurationError without matplotlib, InputError when the file cannot be written.
        """
        if self.sweep is not None:
            plot_sweep(self.sweep, self.rows, self.title, Path(path))
        else:
            plot(self.rows, self.title, Path(path))

    @property
    def failed(self) -> dict[str, str]:
        """The systems that failed on every question -> their most frequent error."""
        return {
            system: Counter(failed.values()).most_common(1)[0][0]
            for system, failed in self.errors.items()
            if len(failed) == self.rows[system]["questions"]
        }

    def __str__(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Result of {self.title}>"

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(title)}</p>{table.to_html()}" for title, table in self.frames().items())


def frame(rows: Iterable[Mapping[str, Any]], *index: str) -> "pd.DataFrame":
    """Return rows as a data frame indexed by some of their columns. Raises ConfigurationError without pandas."""
    with require_extra("lab", "Tables of experiments need pandas."):
        import pandas as pd
    return pd.DataFrame(rows).set_index(list(index))


def machine(neo4j: str = "") -> str:
    """Return a line on the machine: cores, memory, versions; `neo4j` is the version of the server, if known."""
    import psutil

    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        cores = os.cpu_count() or 1
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{platform.system()} {platform.machine()}, {cores} cores, {memory:.0f} GiB of memory, "
        f"Python {platform.python_version()}" + (f", Neo4j {neo4j}" if neo4j else "")
    )
