"""Recall against latency, a point a system."""

from pathlib import Path
from typing import Any

from kgrag.evaluation.summary import Rows
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.installing import install_hint

FORMATS = (".png", ".svg", ".pdf")
_PREFERRED = ("R@5", "R@2", "answer@5", "answer@2")
_LEAST = 0.05  # ms: what is rounded to 0 has no place on a logarithmic axis
_MARKERS = "osD^vP"  # a new one when the colours begin again


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
