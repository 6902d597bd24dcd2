"""Recall against latency, a point a system."""

from pathlib import Path
from typing import Any

from kgrag.errors import ConfigurationError, InputError
from kgrag.evaluation.summary import Rows

FORMATS = (".png", ".svg", ".pdf")
_PREFERRED = ("R@5", "R@2")
_LINE = 13.0  # points between the baselines of two labels


def check_plot(path: Path) -> None:
    """Raises ConfigurationError for a file that cannot be drawn, or without matplotlib; drawing comes long after."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigurationError(f"{path} is no picture that can be drawn.", f"Name a file in {', '.join(FORMATS)}.")
    drawing()


def plot(rows: Rows, title: str, path: Path) -> None:
    """Draw recall@5 (the deepest there is, of shallower rankings) against the median latency, both with units.

    Latency is on a logarithmic axis. A label that would cover another one is moved up. Raises ConfigurationError,
    InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, ticker = drawing()
    points = [(name, row, row["p50_ms"]) for name, row in rows.items() if row["p50_ms"] is not None]
    measure = next((m for m in _PREFERRED if rows and m in next(iter(rows.values()))), "MRR")
    figure = figure_class(figsize=(8, 5), layout="constrained", dpi=150)
    axes = figure.add_subplot()
    axes.set(title=title, xlabel="median latency, ms", ylabel=f"{measure}, %" if measure != "MRR" else measure)
    axes.set_xscale("log")
    axes.grid(True, which="major", alpha=0.3)
    axes.margins(x=0.25, y=0.15)
    colours = {name: f"C{number % 10}" for number, name in enumerate(rows)}
    for name, row, latency in points:
        axes.plot(latency, row[measure], "o", markersize=8, color=colours[name])
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    figure.draw_without_rendering()
    _label(axes, [(name, float(latency), float(row[measure] or 0)) for name, row, latency in points], colours)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write a picture. Raises InputError when the file cannot be written."""
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Name another file with --plot.") from error


def _label(axes: Any, points: list[tuple[str, float, float]], colours: dict[str, str]) -> None:
    """Write each name beside its point, from the lowest up, each clear of the other points and of labels beneath it."""
    scale = 72 / axes.figure.dpi  # pixels to points of 1/72 inch
    where = {name: (axes.transData.transform((x, y)) * scale).tolist() for name, x, y in points}
    placed: list[tuple[float, float, float]] = [(left - 5, left + 5, height) for left, height in where.values()]
    edge = axes.bbox.x1 * scale
    for name, x, y in sorted(points, key=lambda p: p[2]):
        at, bottom = where[name]
        width, height = 6.0 * len(name), bottom
        before = at + 8 + width > edge  # on the other side where the picture ends
        left = at - 8 - width if before else at + 8
        while any(a < left + width and left < b and abs(height - h) < _LINE for a, b, h in placed):
            height += 1
        placed.append((left, left + width, height))
        shift = height - bottom
        line = {"arrowstyle": "-", "alpha": 0.4, "shrinkA": 0, "shrinkB": 4, "relpos": (float(before), 0.5)}
        axes.annotate(
            name,
            (x, y),
            xytext=(-8 if before else 8, shift),
            textcoords="offset points",
            ha="right" if before else "left",
            va="center",
            fontsize=10,
            color=colours[name],
            arrowprops=line if shift > 4 else None,
        )


def drawing() -> tuple[Any, Any]:
    """The class of a figure without a window, and the module of ticks. Raises ConfigurationError without matplotlib."""
    try:
        from matplotlib import ticker
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError(
            "A plot needs matplotlib, which is not installed.", "Install it with: python -m pip install 'kgrag[plot]'"
        ) from error
    return Figure, ticker
