"""kgrag watch: a collection is kept in step with folders."""

import signal
import time
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import collection_option, connect
from kgrag.cli.console import note, number, print_error, progress_bars
from kgrag.cli.documents import loading_options, print_changes, print_problems
from kgrag.cli.outcome import interruptible
from kgrag.values.errors import DatabaseError

if TYPE_CHECKING:
    from types import FrameType

    from kgrag.values.documents import Problem
    from kgrag.values.events import Progress
    from kgrag.values.results import IngestReport

_AGAIN = 10.0  # seconds after which a database that failed is asked again


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
@collection_option("Target collection; it is made if it does not exist.  [default: default]")
@loading_options
@click.option("--quiet", type=click.FloatRange(min=0.1), default=2.0, show_default=True, metavar="SECONDS",
              help="Time without changes before files are read.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the documents of files that are gone.")
def watch(
    folders: tuple[str, ...],
    collection: str | None,
    embedder: str | None,
    language: str | None,
    root: str | None,
    key_column: str | None,
    title_column: str | None,
    text_column: str | None,
    quiet: float,
    keep: bool,
) -> None:
    """Keep a collection up to date with folders, until Ctrl-C.

    It ingests the folders like `kgrag ingest FOLDER --prune`, and again whenever files are added, changed, renamed or
    deleted. A file that is being written is read once it has been unchanged for some seconds. Documents of deleted
    files are deleted, unless a folder has no files left or more than half of the documents would go at once: these are
    listed, and stay. After any stop, the next start reads only what changed meanwhile. If the database does not answer,
    it tries again until it does.

    \b
    kgrag watch notes/                          into the collection "default"
    kgrag watch /srv/wiki --root /srv/wiki -c wiki
    kgrag watch inbox/ -c mail --quiet 30       for files that are copied slowly
    """
    from kgrag.client.graph import DEFAULT_COLLECTION
    from kgrag.client.watching import watch as watch_folders
    from kgrag.loaders import Columns

    columns = Columns(key=key_column, title=title_column, text=text_column)
    name = DEFAULT_COLLECTION if collection is None else collection
    before = signal.signal(signal.SIGTERM, _interrupt)
    click.get_current_context().call_on_close(lambda: signal.signal(signal.SIGTERM, before))
    problems: set[Problem] = set()
    active: list[Progress] = []  # the progress display of the first load only

    def progress(stage: str, done: int, total: int | None) -> None:
        for bars in active:
            bars(stage, done, total)

    with connect() as kg:
        while True:
            try:
                with interruptible():
                    reports = watch_folders(
                        kg[name], folders, embedder=embedder, language=language, columns=columns, root=root,
                        prune=not keep, quiet=quiet,
                        progress=progress,
                    )  # fmt: skip
                    with progress_bars() as bars:
                        active = [bars]
                        first = next(reports)
                    active = []
                    _print(first, name, problems, always=True)
                    note(f"Watching {', '.join(folders)} for collection {name}; Ctrl-C ends it.")
                    for report in reports:
                        _print(report, name, problems)
            except KeyboardInterrupt:
                note("Stopped; committed data stays. Run the same command again to resume.")
                click.get_current_context().exit(130)
            except DatabaseError as error:
                print_error(error)
                note(f"Trying again in {_AGAIN:.0f} seconds.")
                time.sleep(_AGAIN)


def _interrupt(number: int, frame: "FrameType | None") -> None:
    raise KeyboardInterrupt


def _print(report: "IngestReport", collection: str, printed: "set[Problem]", always: bool = False) -> None:
    """Print what changed, if anything did, and the problems that were not printed yet."""
    changes = {"added": report.added, "changed": report.changed, "deleted": report.pruned}
    if always or any(changes.values()):
        counts = ", ".join(f"{count:,} {what}" for what, count in changes.items())
        rest = f", {number(report.unchanged, 'document')} unchanged" if always else ""
        click.echo(f"{time.strftime('%H:%M:%S')}  {collection}: {counts}{rest} ({report.seconds:.1f} s)")
        print_changes(report, prune=report.pruned > 0)
    print_problems([problem for problem in report.problems if problem not in printed])
    printed.update(report.problems)
