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
@collection_option("Where to; made if it does not exist.  [default: default]")
@loading_options
@click.option("--quiet", type=click.FloatRange(min=0.1), default=2.0, show_default=True, metavar="SECONDS",
              help="How long nothing must have changed before files are read.")  # fmt: skip
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
    """Keep a collection in step with folders, until Ctrl-C.

    First the folders are ingested, as `kgrag ingest FOLDER --prune` does it; then again whenever files in them were
    added, changed, renamed or deleted. A file that is being written is left alone until it has been quiet for some
    seconds. Documents of files that are gone are deleted, but not if a folder holds no file at all any more, nor if
    more than half of the documents would go at once: they are named, and stay. It may be ended in any way and started
    again: only what changed meanwhile is read. When the database does not answer, it is asked again and again.

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
                note("Stopped; what was committed stays. Run the same command again to go on.")
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
