"""What the commands share that ask a service about passages: how they are interrupted, what failed, how they end."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kgrag.cli.console import note, number, print_error, print_json, print_list, progress_bars

if TYPE_CHECKING:
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.types import Progress


@contextmanager
def resumable() -> Iterator["Progress"]:
    """Progress bars around work that goes on where it was when it is interrupted and run again."""
    try:
        with progress_bars() as progress:
            yield progress
    except KeyboardInterrupt:
        note("Stopped; what was committed stays. Run the same command again to go on.")
        click.get_current_context().exit(130)


def end(report: "ExtractionReport | TaggingReport", collection: str, text: str | None) -> None:
    """Print a report as `text`, without it as JSON, and what failed; end with an exit code where something did."""
    stopped = report.stopped
    if text is None:
        from kgrag.wire import to_json

        print_json(to_json(report, collection=collection, stopped=stopped and stopped.in_full))
    else:
        click.echo(text)
    if report.failures:
        print_list(
            f"{number(len(report.failures), 'passage')} failed; run the same command again to try just these:",
            [
                f"{f.document}{f' ({f.title})' if f.title and f.title != f.document else ''}: {f.reason}"
                for f in report.failures
            ],
        )
        for remedy in dict.fromkeys(f.remedy for f in report.failures if f.remedy):
            note(remedy)
    if stopped is not None:
        print_error(stopped)
        note(f"{number(report.left, 'passage')} left; run the same command again to go on.")
        click.get_current_context().exit(stopped.exit_code)
    if report.failures:
        click.get_current_context().exit(1)
