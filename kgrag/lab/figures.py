"""Pictures: recall against latency, sweeps, and the figures of papers, measured again and drawn as there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.lab.papers import PaperTable
from kgrag.lab.summary import Rows
from kgrag.lab.sweep import Sweep, said
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.installing import install_hint

if TYPE_CHECKING:
    from kgrag.lab.report import Result

FORMATS = (".png", ".svg", ".pdf")
_PREFERRED = ("R@5", "R@2", "answer@5", "answer@2")
_LEAST = 0.05  # ms: what is rounded to 0 has no place on a logarithmic axis
_MARKERS = "osD^vP"  # a new one when the colours begin again

Series = Mapping[str, Sequence[tuple[str | float, float]]]
"""What is drawn -> its points, by what stands below and what beside the axes."""


def check_plot(path: Path) -> None:
    """Raises ConfigurationError for a file that cannot be drawn, or without matplotlib; drawing comes long after."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigurationError(f"{path} is not a picture that can be drawn.", f"Name a file in {', '.join(FORMATS)}.")
    drawing()


def plot(rows: Rows, title: str, path: Path) -> None:
    """Draw recall@5 (the deepest there is, of shallower rankings) against the median latency, both with units.

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
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    figure.legend(loc="outside right upper", fontsize=10)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write a picture. Raises InputError when the file cannot be written."""
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Name another file with --plot.") from error


def drawing() -> tuple[Any, Any]:
    """The class of a figure without a window, and the module of ticks. Raises ConfigurationError without matplotlib."""
    try:
        from matplotlib import ticker
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError(
            "A plot needs matplotlib, which is not installed.", f"Install it: {install_hint('plot')}"
        ) from error
    return Figure, ticker


def plot_sweep(sweep: Sweep, rows: Rows, title: str, path: Path) -> None:
    """Draw the deepest recall, and EM where there is one, and the median latency against the values of the setting.

    What is not varied is a level line. Raises ConfigurationError, InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, _ = drawing()
    figure = figure_class(figsize=(11, 5), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    figure.suptitle(title)
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in sweep.values)
    x = list(sweep.values) if numbers else list(map(said, sweep.values))
    measured = next(iter(rows.values()), {})
    recall = [m for m in measured if m.startswith(("R@", "answer@"))][-1:]
    agreed = ["EM"] if any("EM" in row for row in rows.values()) else []
    lines = {name: [rows[n] for n in named.values()] for name, named in sweep.lines.items()}
    varied = {n for named in sweep.lines.values() for n in named.values()}
    for number, name in enumerate([*lines, *(n for n in rows if n not in varied)]):
        found = lines.get(name, [rows.get(name, {})] * len(x))
        style = {"color": f"C{number % 10}", "marker": "o" if name in lines else ""}
        dash = "-" if name in lines else "--"
        for axes, measures in ((left, [*recall, *agreed]), (right, ["p50_ms"])):
            for measure in measures:
                heights = [(place, row.get(measure)) for place, row in zip(x, found, strict=True)]
                known = [(place, height) for place, height in heights if height is not None]
                dotted = ":" if measure == "EM" else dash
                label = name if measure != "EM" else None
                axes.plot([p for p, _ in known], [h for _, h in known], dotted, label=label, **style)
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
    series = points(figure, result)
    if not any(series.values()):
        raise ConfigurationError(f"Figure {figure.number} has nothing to draw.", "Its tables say what was measured.")
    made, _ = drawing()
    picture = made(figsize=(9, 5), layout="constrained", dpi=150)
    axes = picture.add_subplot()
    below = {"iterations": "iteration", "ranks": "k", "points": "calls"}.get(figure.drawn, figure.drawn)
    axes.set(title=title, xlabel=below, ylabel=figure.measures[0])
    places = list(dict.fromkeys(x for its in series.values() for x, _ in its))
    width = 0.8 / max(1, len(series))
    for number, (name, its) in enumerate(series.items()):
        if figure.drawn in ("iterations", "ranks"):
            axes.plot([x for x, _ in its], [y for _, y in its], "o-", color=f"C{number % 10}", label=name)
        elif figure.drawn == "points":
            axes.plot([x for x, _ in its], [y for _, y in its], "o", color=f"C{number % 10}", label=name)
        else:
            at = [places.index(x) + number * width for x, _ in its]
            axes.bar(at, [y for _, y in its], width, color=f"C{number % 10}", label=name)
    if figure.drawn not in ("iterations", "ranks", "points"):
        axes.set_xticks([i + 0.4 - width / 2 for i in range(len(places))], list(map(str, places)))
    axes.grid(True, axis="y", alpha=0.3)
    picture.legend(loc="outside right upper", fontsize=9)
    save(picture, path)


def points(figure: PaperTable, result: "Result") -> Series:
    """What a figure shows of each system: its measure by iteration, rank, number of calls, or group of questions."""
    measure = figure.measures[0]
    if figure.drawn == "iterations":
        return {name: _by_iteration(rows, measure) for name, rows in result.iterations.items()}
    if figure.drawn == "ranks":
        cuts = [m for m in next(iter(result.rows.values()), {}) if m.startswith("R@")]
        return {name: [(float(m[2:]), row[m] or 0.0) for m in cuts] for name, row in result.rows.items()}
    if figure.drawn == "points":
        return {name: [(row.get("calls") or 0.0, row[measure] or 0.0)] for name, row in result.rows.items()}
    if figure.drawn == "alone":
        return {
            name: [(way, float(row[way])) for way in row if way not in ("by", "questions")]
            for name, row in result.overlaps.items()
        }
    if figure.drawn == "systems":
        return {name: [("", row[measure] or 0.0)] for name, row in result.rows.items()}
    found: dict[str, list[tuple[str | float, float]]] = {}
    for group, rows in result.groups[figure.drawn].items():
        for name, row in rows.items():
            found.setdefault(name, []).append((group, row.get(measure) or 0.0))
    return found


def _by_iteration(rows: Sequence[Mapping[str, float | str | None]], measure: str) -> list[tuple[str | float, float]]:
    """A measure by iteration; tokens are those of all questions up to it (GEAR, figure 4)."""
    found: list[tuple[str | float, float]] = []
    total = 0.0
    for row in rows:
        if row["iteration"] != "after":
            value = float(row[measure] or 0)
            total += value * float(row["questions"] or 0)
            found.append((float(row["iteration"] or 0), total if measure == "tokens" else value))
    return found
