"""A figure of a paper, measured again and drawn as there: what it shows is read off an experiment."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kgrag.evaluation.plot import check_plot, drawing, save
from kgrag.evaluation.report import Result
from kgrag.evaluation.sweep import plot_sweep
from kgrag.papers import PaperTable
from kgrag.values.errors import ConfigurationError

Series = Mapping[str, Sequence[tuple[str | float, float]]]
"""What is drawn -> its points, by what stands below and what beside the axes."""


def draw(figure: PaperTable, result: Result, title: str, path: Path) -> None:
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


def points(figure: PaperTable, result: Result) -> Series:
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
