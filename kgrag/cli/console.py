"""What every command shares: the consoles, progress bars, JSON on standard output, settings with readable errors."""

import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.errors import ConfigurationError, KgragError
from kgrag.types import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from kgrag.settings import Settings

BYTES = "Downloading"
"""A stage whose name begins so counts bytes; every other stage counts things."""


def stderr_console() -> "Console":
    """A rich console on standard error, where everything goes that is not the answer itself."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout_console() -> "Console":
    """A rich console on standard output: tables and answers. It wraps lines only on a terminal.

    Characters that its encoding does not have become question marks.
    """
    from rich.console import Console

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, soft_wrap=True)


def note(message: str) -> None:
    """Print a line on standard error."""
    click.echo(message, err=True)


def print_error(error: KgragError) -> None:
    """Print an error and its remedy on standard error."""
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {error.message}", err=True)
    if error.remedy:
        click.echo(error.remedy, err=True)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output; dataclasses, paths and times are understood."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, Path) else str(value)


def load_settings() -> "Settings":
    """The settings of the environment and .env. Raises ConfigurationError naming each variable that makes no sense."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from kgrag.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(
            f"KGRAG_{'__'.join(str(part) for part in e['loc']).upper()}: {e['msg']}" for e in error.errors()
        )
        raise ConfigurationError(
            f"A setting makes no sense. {wrong}", "Correct it in the environment or in .env."
        ) from error
    except SettingsError as error:
        raise ConfigurationError(
            f"A setting cannot be read: {error}", "Correct it in the environment or in .env."
        ) from error


@contextmanager
def progress_bars(*, quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar a stage on standard error, with rate and time left.

    Where standard error is no terminal, each stage is one line; `quiet` says nothing at all.
    """
    console = stderr_console()
    if quiet:
        yield lambda stage, done, total: None
    elif console.is_terminal:
        yield from _bars(console)
    else:
        yield _lines()


def _lines() -> Progress:
    seen: set[str] = set()

    def report(stage: str, done: int, total: int | None) -> None:
        if stage not in seen:
            seen.add(stage)
            note(f"{stage}: {_amount(stage, total)}" if total else f"{stage} ...")

    return report


def _bars(console: "Console") -> Iterator[Progress]:
    from rich.progress import BarColumn, Task, TaskID, TextColumn
    from rich.progress import Progress as Bars

    tasks: dict[str, TaskID] = {}
    begun: dict[str, tuple[float, int]] = {}
    bars = Bars(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), console=console)

    def end_open_stages(but: str) -> None:
        for task in bars.tasks:
            if task.total is None and task.description != but:
                bars.update(task.id, total=1, completed=1, text=f"{task.elapsed or 0:.0f} s")

    def text(task: Task, stage: str, done: int, total: int | None) -> str:
        start, first = begun[stage]
        elapsed = time.monotonic() - start
        rate = (done - first) / elapsed if elapsed > 0.2 else 0.0
        if total is None:
            count = f"{_amount(stage, done)}, {_amount(stage, rate)}/s, " if rate else ""
            return f"{count}{task.elapsed or 0:.0f} s"
        left = f", {(total - done) / rate:.0f} s left" if rate and done < total else ""
        speed = f", {_amount(stage, rate)}/s" if rate else ""
        return f"{_amount(stage, done)} of {_amount(stage, total)}{speed}{left}"

    def report(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            end_open_stages(stage)
            tasks[stage] = bars.add_task(stage, total=total, text="")
            begun[stage] = (time.monotonic(), done)
        task = next(task for task in bars.tasks if task.id == tasks[stage])
        bars.update(task.id, completed=done, total=total, text=text(task, stage, done, total))

    with bars:
        yield report
        end_open_stages("")


def _amount(stage: str, number: float) -> str:
    if stage.startswith(BYTES):
        return f"{number / 1e6:.1f} MB"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
