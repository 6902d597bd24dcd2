"""Shared parts of long commands: how they stop, their estimates and failures, and Ctrl-C that is not lost."""

import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Protocol

import click

from kgrag.cli.console import note, number, print_error, print_json, print_list, progress_bars

if TYPE_CHECKING:
    from kgrag.indexing.ask_each import FailedPassage
    from kgrag.values.errors import ModelError
    from kgrag.values.events import Progress
    from kgrag.values.results import Check, Usage


_AGAIN = 0.7  # seconds


@contextmanager
def interruptible() -> Iterator[None]:
    """Repeat a Ctrl-C until the block has ended.

    Python raises KeyboardInterrupt wherever the program happens to be. In a finaliser, a callback of the garbage
    collector, or the code of some extension modules, it is printed and dropped, and the program would go on. What
    tidies up in the block must stand being interrupted itself.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    ended = threading.Event()
    again = threading.Event()  # the next signal is ours
    lock = threading.Lock()

    def repeat() -> None:
        while not ended.wait(_AGAIN):
            with lock:
                if not ended.is_set():
                    again.set()
                    _send()

    def interrupt(number: int, frame: FrameType | None) -> None:
        ours = again.is_set()
        again.clear()
        if ours and _tidying_up():
            return
        if not repeating.is_alive() and not ended.is_set():
            repeating.start()
        raise KeyboardInterrupt

    repeating = threading.Thread(target=repeat, name="kgrag-interrupt", daemon=True)
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        with lock:
            ended.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _tidying_up() -> bool:
    """Return whether an interrupt runs this code: in an `except`, `finally` or `__exit__`."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _send() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # it ends a wait, too
    else:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def resumable() -> Iterator["Progress"]:
    """Show progress bars around work that resumes when it is interrupted and run again."""
    try:
        with progress_bars() as progress:
            yield progress
    except KeyboardInterrupt:
        note("Stopped; committed data stays. Run the same command again to resume.")
        click.get_current_context().exit(130)


def end_with_checks(checks: Iterable["Check"], as_json: bool) -> None:
    """Print checks as they are made, or all as JSON; end with 1 if one of them failed."""
    results = []
    for check in checks:
        results.append(check)
        if not as_json:
            mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
            click.echo(f"{mark}  {check.name}: {check.detail}")
            if check.remedy and not check.ok:
                click.echo(f"      {check.remedy}")
    failed = [check for check in results if not check.ok]
    if as_json:
        print_json({"ok": not failed, "checks": results})
    if failed:
        click.get_current_context().exit(1)


class Report(Protocol):
    """The result of work on many items, such as an extraction."""

    @property
    def failures(self) -> "Sequence[FailedPassage]":
        """Items that failed."""
        ...

    @property
    def left(self) -> int:
        """Items that are missing."""
        ...

    @property
    def stopped(self) -> "ModelError | None":
        """The error that stopped the work early, if one did."""
        ...


def end(report: Report, collection: str, text: str | None, item: str = "passage") -> None:
    """Print a report as `text`, without it as JSON, and what failed; end with an exit code where something did."""
    if text is None:
        from kgrag.wire import to_json

        print_json(to_json(report, collection=collection, stopped=report.stopped and report.stopped.in_full))
    else:
        click.echo(text)
    if report.failures:
        print_list(
            f"{number(len(report.failures), item)} failed; run the same command again to try just these:",
            [
                f"{f.document}{f' ({f.title})' if f.title and f.title != f.document else ''}: {f.reason}"
                for f in report.failures
            ],
        )
        for remedy in dict.fromkeys(f.remedy for f in report.failures if f.remedy):
            note(remedy)
    end_stopped(report.stopped, report.left, item)
    if report.failures:
        click.get_current_context().exit(1)


def end_stopped(stopped: "ModelError | None", left: int, item: str) -> None:
    """End with the error that stopped the work early, if one did, and print the remaining work."""
    if stopped is not None:
        print_error(stopped)
        note(f"{number(left, item)} left; run the same command again to go on.")
        click.get_current_context().exit(stopped.exit_code)


def usage_line(usage: "Usage") -> str:
    """Return the usage of a model in a line."""
    cached = f" ({usage.cached:,} from the cache)" if usage.cached else ""
    from kgrag.models.budget import money

    cost = "unknown price" if usage.cost is None else f"cost {money(usage.cost)}"
    tokens = f"{usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out"
    return f"{number(usage.calls, 'call')}{cached}, {tokens}, {cost}"
