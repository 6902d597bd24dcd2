"""Shared parts of all commands: consoles, progress bars, JSON on standard output, settings with readable errors."""

import logging
import re
import sys
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from kgrag.runtime.document_progress import WITHIN
from kgrag.values.errors import ConfigurationError, KgragError, without_login
from kgrag.values.events import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from kgrag.settings import Settings

BYTES = "Downloading"
"""A stage whose name begins so counts bytes; every other stage counts things."""

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SHOWN = 20  # lines of a list
_EVERY = 10.0  # seconds between two lines about the same stage
_SECONDS = "Starting"  # the stages that count the seconds of waiting
_WIDTH = 500  # characters of a line where there is no terminal


def stderr_console() -> "Console":
    """Return a rich console on standard error, for everything but the answer itself."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def stdout_console() -> "Console":
    """Return a rich console on standard output: tables and answers. It wraps lines only on a terminal.

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


def visible(text: str) -> str:
    """Return the text with control and direction signs as \u001b, line ends apart."""
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def number(count: int, thing: str) -> str:
    """Return a count with its thing: "1 passage", "1,200 passages", "2 summaries"."""
    several = f"{thing[:-1]}ies" if thing.endswith(("ry", "ty", "ly")) else f"{thing}s"
    return f"{count:,} {thing if count == 1 else several}"


def print_list(head: str, lines: Sequence[str]) -> None:
    """Print a list on standard error, the first of many lines."""
    note(head)
    for line in lines[:_SHOWN]:
        note(f"  {line}")
    if len(lines) > _SHOWN:
        note(f"  ... and {len(lines) - _SHOWN:,} more")


class _Notes(logging.Handler):
    """Writes to what standard error is at the time: progress bars stay below the lines."""

    def emit(self, record: logging.LogRecord) -> None:
        note(self.format(record))


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Log kgrag's messages (INFO) on standard error within the block, each line with time and module."""
    logger, handler = logging.getLogger("kgrag"), _Notes()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def print_error(error: KgragError) -> None:
    """Print an error and its remedy on standard error."""
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {visible(without_login(error.message))}", err=True)
    if error.remedy:
        click.echo(visible(error.remedy), err=True)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output, in the forms of kgrag.wire."""
    from kgrag.wire import dumps

    click.echo(visible(dumps(value, indent=2)))  # the same JSON


def print_pairs(rows: Mapping[str, str], after: int = 2) -> None:
    """Print names and what belongs to them in two columns on standard output."""
    width = max(map(len, rows), default=0) + after
    for name, text in rows.items():
        click.echo(f"{name:<{width}}{text}")


def print_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Container[str],
    title: str | None = None,
    dimmed: str | None = None,
) -> None:
    """Print a table on standard output; a file or a pipe has room for every column.

    The first column and those in `left` stand to the left, the others to the right; rows that end in the word `dimmed`
    are.
    """
    from rich.table import Table
    from rich.text import Text

    console = stdout_console()
    if not console.is_terminal:
        console.width = _WIDTH
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, name in enumerate(head):
        words = number == 0 or name in left
        table.add_column(Text(visible(name)), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row), style="dim" if row[-1] == dimmed else None)
    console.print(table)


def load_settings() -> "Settings":
    """Load the settings (see Settings). Raises ConfigurationError with each invalid variable.

    Unknown variables of `.env`, and those of the environment that are near to a setting, are noted.
    """
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from kgrag.cli.settings_list import near_variable, unknown_variables
    from kgrag.settings import Settings

    remedy = "Correct it in the environment, in .env or in kgrag.toml."
    try:
        settings = Settings()
    except ValidationError as error:
        problems = []
        for e in error.errors():
            path, message = [str(part) for part in e["loc"]], e["msg"]
            if e["type"] == "extra_forbidden":
                near = near_variable(path)
                message = f"there is no such setting.{f' Did you mean {near}?' if near else ''}"
            problems.append(f"KGRAG_{'__'.join(path).upper()}: {message}")
        wrong = "; ".join(problems)
        raise ConfigurationError(f"A setting is invalid. {wrong}", remedy) from error
    except SettingsError as error:
        raise ConfigurationError(f"A setting cannot be read: {error}.", remedy) from error
    for variable, hint in unknown_variables():
        note(f"{variable} is not a setting and is ignored. {hint}")
    return settings


def changed(settings: "Settings", part: str, **values: Any) -> "Settings":
    """Return the settings with other values in a part of them, such as "chat"; None leaves a value unchanged."""
    updates = {name: value for name, value in values.items() if value is not None}
    return settings.model_copy(update={part: getattr(settings, part).model_copy(update=updates)})


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
    """Return a progress that prints a line at the start of a stage, and a different one every some seconds."""
    latest: dict[str, tuple[float, str]] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        of = f" of {_amount(stage, total)}" if total else ""
        line = f"{stage}: {_amount(stage, done)}{of}"
        if stage not in latest:
            note(f"{stage}: {_amount(stage, total)}" if total else f"{stage} ...")
        elif now - latest[stage][0] < _EVERY or line == latest[stage][1]:
            return
        else:
            note(line)
        latest[stage] = now, line

    return report


def _bars(console: "Console") -> Iterator[Progress]:
    from rich.progress import BarColumn, Task, TaskID, TextColumn
    from rich.progress import Progress as Bars

    tasks: dict[str, TaskID] = {}
    starts: dict[str, tuple[float, int]] = {}
    bars = Bars(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), console=console)

    def end_open_stages(but: str) -> None:
        for task in bars.tasks:
            if task.total is None and task.description != but:
                bars.update(task.id, total=1, completed=1, text=f"{task.elapsed or 0:.0f} s")

    def text(task: Task, stage: str, done: int, total: int | None) -> str:
        start, first = starts[stage]
        elapsed = time.monotonic() - start
        rate = (done - first) / elapsed if elapsed > 0.2 else 0.0
        if total is None:
            seconds = stage.startswith(_SECONDS)
            count = f"{_amount(stage, done)}, {_amount(stage, rate)}/s, " if rate and not seconds else ""
            return f"{count}{task.elapsed or 0:.0f} s"
        left = f", {(total - done) / rate:.0f} s left" if rate and done < total else ""
        speed = f", {_amount(stage, rate)}/s" if rate else ""
        return f"{_amount(stage, done)} of {_amount(stage, total)}{speed}{left}"

    def report(stage: str, done: int, total: int | None) -> None:
        for other in [each for each in tasks if each.startswith(WITHIN) and each != stage]:
            bars.remove_task(tasks.pop(other))
        if stage not in tasks:
            if not stage.startswith(WITHIN):
                end_open_stages(stage)
            tasks[stage] = bars.add_task(stage, total=total, text="")
            starts[stage] = (time.monotonic(), done)
        task = next(task for task in bars.tasks if task.id == tasks[stage])
        bars.update(task.id, completed=done, total=total, text=text(task, stage, done, total))

    with bars:
        yield report
        end_open_stages("")


def _amount(stage: str, number: float) -> str:
    if stage.startswith(BYTES):
        return f"{number / 1e6:.1f} MB"
    if stage.startswith(_SECONDS):
        return f"{number:.0f} s"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
