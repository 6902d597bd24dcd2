"""kgrag tree: summaries over the passages of a collection, and over these."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect
from kgrag.cli.console import changed, load_settings, note, number, print_error, print_json, progress_bars
from kgrag.cli.interrupt import interruptible

if TYPE_CHECKING:
    from kgrag.indexing.writing import WritingEstimate, WritingReport


@click.command()
@click.argument("named", metavar="[COLLECTION]", required=False)
@collection_option("The same as COLLECTION.")
@click.option("--ask", is_flag=True, help="Have a language model write the summaries.")
@click.option("--dry-run", is_flag=True, help="With --ask: say what that would take; ask nothing.")
@click.option(
    "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
)
@click.option("--threads", default=8, show_default=True, type=click.IntRange(1), help="With --ask: calls side by side.")
@click.option("--size", default=8, show_default=True, type=click.IntRange(2), help="Members of a summary on average.")
@click.option("--remove", is_flag=True, help="Remove the tree. To make it anew: remove it first.")
@as_json
def tree(
    named: str | None,
    collection: str | None,
    ask: bool,
    dry_run: bool,
    budget: float | None,
    threads: int,
    size: int,
    remove: bool,
    as_json: bool,
) -> None:
    """Sum up a collection: passages that are alike, these summaries again, up to the few topics of all.

    Without a model a summary is made of the sentences that are nearest to the middle of its passages, and is called by
    their keywords. With --ask a language model writes them, each once; it may be interrupted, and goes on when it is
    run again. After an ingest run it again, too: new passages go to the topics that they fit, and only what has changed
    is written again. `kgrag search --retriever raptor` searches the tree, `kgrag cypher topics` shows it.

    \b
    kgrag tree notes
    kgrag tree notes --ask --dry-run          what a model would take
    kgrag tree notes --ask --budget 2
    kgrag cypher topics -c notes              the topics, the largest first
    kgrag tree notes --remove
    """
    from kgrag.wire import to_json

    if remove and ask:
        raise click.UsageError("--remove goes without --ask.")
    if dry_run and not ask:
        raise click.UsageError("--dry-run goes with --ask: without a model there is nothing to pay.")
    settings = changed(load_settings(), "chat", budget=budget)
    with interruptible(), connect(settings) as kg:
        name = choose_collection(kg, named or collection)
        if remove:
            removed = kg[name].remove_tree()
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, 'summary')} removed")
            return
        if dry_run:
            with progress_bars() as progress:
                would = kg[name].estimate_tree(progress=progress)
            if as_json:
                print_json(to_json(would, collection=name))
            else:
                _print_estimate(would, name)
            return
        with progress_bars() as progress:
            report = kg[name].build_tree(ask=ask, threads=threads, size=size, progress=progress)
    if as_json:
        print_json(to_json(report, collection=name, stopped=report.stopped and report.stopped.message))
    else:
        _print(report, name)
    if report.stopped is not None:
        print_error(report.stopped)
        click.get_current_context().exit(report.stopped.exit_code)


def _print(report: "WritingReport", collection: str) -> None:
    if not report.levels:
        click.echo(f"Collection {collection}: too few passages to sum up.")
        return
    levels = ", ".join(f"{n:,}" for n in report.levels)
    click.echo(f"Collection {collection}: {number(sum(report.levels), 'summary')}, by level {levels}; "
               f"{report.written:,} written, {report.removed:,} removed")  # fmt: skip
    if report.usage.calls:
        price = "unknown price" if report.usage.cost is None else f"cost {report.usage.cost:.4f}"
        click.echo(f"{number(report.usage.calls, 'call')} ({report.usage.cached:,} from the cache), {price}")
    if report.left:
        note(f"{number(report.left, 'summary')} left to the model. Run the same command again to go on.")
    for failure in report.failures[:5]:
        note(f"{failure.title}: {failure.reason} {failure.remedy}")


def _print_estimate(would: "WritingEstimate", collection: str) -> None:
    if not would.calls:
        click.echo(
            f"Collection {collection}: no summary is left to a model; first make the tree: kgrag tree {collection}"
        )
        return
    read, written = (f"{least:,} to {most:,}" for least, most in (would.prompt_tokens, would.completion_tokens))
    price = "unknown price" if would.cost is None else f"{would.cost[0]:.2f} to {would.cost[1]:.2f}"
    model = would.model or "a model that is not set yet"
    click.echo(f"Collection {collection}: {number(would.calls, 'call')} of {model}, {price}")
    click.echo(f"Tokens: read {read}, written {written}")
