"""kgrag tree: summaries over the passages of a collection, and over these."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, connect
from kgrag.cli.console import changed, load_settings, number, print_json, progress_bars
from kgrag.cli.interrupt import interruptible
from kgrag.cli.outcome import end, estimate_lines, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.indexing.tree.tree import TreeReport


@click.command()
@collection_argument
@click.option("--ask", is_flag=True, help="Have a language model write the summaries.")
@click.option("--dry-run", is_flag=True, help="With --ask: say what that would take; ask nothing.")
@click.option(
    "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
)
@click.option("--threads", default=8, show_default=True, type=click.IntRange(1), help="With --ask: calls side by side.")
@click.option("--size", default=8, show_default=True, type=click.IntRange(2), help="Members of a summary on average.")
@click.option("--remove", is_flag=True, help="Remove the tree; the next run makes another.")
@as_json
def tree(
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
        name = choose_collection(kg, collection)
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
            elif would.calls:
                click.echo("\n".join((f"Collection {name}:", *estimate_lines(would, budget))))
            else:
                click.echo(f"Collection {name}: no summary is left to a model; first make the tree: kgrag tree {name}")
            return
        with resumable() as progress:
            report = kg[name].build_tree(ask=ask, threads=threads, size=size, progress=progress)
    end(report, name, None if as_json else _text(report, name), "summary")


def _text(report: "TreeReport", collection: str) -> str:
    if not report.levels:
        return f"Collection {collection}: too few passages to sum up."
    levels = ", ".join(f"{n:,}" for n in report.levels)
    made = f"{number(sum(report.levels), 'summary')}, by level {levels}"
    done = f"Collection {collection}: {made}; {report.written:,} written, {report.removed:,} removed"
    return "\n".join([done, *([usage_line(report.usage)] if report.usage.calls else [])])
