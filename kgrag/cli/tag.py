"""kgrag tag: TAGME reads the passages of a collection for Wikipedia entities."""

import dataclasses
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars
from kgrag.cli.outcome import end, number

if TYPE_CHECKING:
    from kgrag.settings import Settings


@click.command()
@collection_option("Which collection; without it, default or the only one there is.")
@click.option("--token", metavar="TOKEN", help="Token of D4Science; KGRAG_TAGME__TOKEN keeps it out of sight.")
@click.option("--threshold", type=click.FloatRange(0, 1), metavar="RHO", help="How sure TAGME must be.  [default: 0.1]")
@click.option("--threads", default=4, show_default=True, type=click.IntRange(1, 64), help="Passages asked for at once.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many passages, for a try.")
@click.option("--dry-run", is_flag=True, help="Say how many passages are left, and ask nothing.")
@as_json
def tag(
    collection: str | None,
    token: str | None,
    threshold: float | None,
    threads: int,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Have TAGME name the Wikipedia articles that the passages of a collection speak of.

    They become mentions of entities, also where a text calls them by another name; passages that share one are tied by
    it: `kgrag search --retriever "kgp(edges=(tagme,))"`. What was tagged is not asked for again, so the same command
    goes on where it was after it was broken off, and takes in what was ingested since; another threshold is taken from
    replies kept on disk. KGRAG_TAGME__ENDPOINT names another server than the public one.

    \b
    kgrag tag -c notes --dry-run             how many passages are left
    kgrag tag -c notes --limit 20            a try with twenty passages
    kgrag tag -c notes --threshold 0.3       only what it is sure of
    """
    settings = _settings(token, threshold)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if dry_run:
            left = kg.untagged(name)
            due = left if limit is None else min(left, limit)
            if as_json:
                print_json({"collection": name, "passages": due, "left": left})
            else:
                click.echo(f"Collection {name}: {number(due, 'passage')} to tag, {number(due, 'call')} if none fails")
            return
        try:
            with progress_bars() as progress:
                report = kg.tag(name, threads=threads, limit=limit, progress=progress)
        except KeyboardInterrupt:
            note("Stopped; what was committed stays. Run the same command again to go on.")
            click.get_current_context().exit(130)
    if as_json:
        stopped = None if report.stopped is None else report.stopped.message
        values = dataclasses.asdict(dataclasses.replace(report, stopped=None))
        print_json({"collection": name, **values, "stopped": stopped})
    else:
        click.echo(
            f"Collection {name}: {number(report.passages, 'passage')} tagged, {report.left:,} left; "
            f"{number(report.mentions, 'mention')} in {report.seconds:.1f} s"
        )
    end(report.failures, report.left, report.stopped)


def _settings(token: str | None, threshold: float | None) -> "Settings":
    """The settings of the environment, with those of the options."""
    settings = load_settings()
    changes: dict[str, object] = {}
    if token is not None:
        from pydantic import SecretStr

        changes["token"] = SecretStr(token)
    if threshold is not None:
        changes["threshold"] = threshold
    return settings.model_copy(update={"tagme": settings.tagme.model_copy(update=changes)})
