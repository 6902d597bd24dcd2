"""kgrag enrich tree, communities: texts over the passages or names of a collection, of sentences or by a model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.connect import as_json as json_option
from kgrag.cli.connect import choose_collection, collection_argument, connect
from kgrag.cli.console import changed, load_settings, note, number, print_json, progress_bars
from kgrag.cli.interrupt import interruptible
from kgrag.cli.outcome import end, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.indexing.group_texts import WritingReport
    from kgrag.models.budget import Estimate
    from kgrag.values.events import Progress


_F = TypeVar("_F", bound=Callable[..., Any])


def writing_options(texts: str, size: int, sized: str) -> Callable[[_F], _F]:
    """Add the argument and the options of such a command.

    `texts`: what a model writes; `size`: its default, and help.
    """
    options = (
        collection_argument,
        click.option("--ask", is_flag=True, help=f"Have a language model write the {texts}."),
        click.option("--dry-run", is_flag=True, help="With --ask: say what that would take; ask nothing."),
        click.option(
            "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
        ),
        click.option(
            "--threads", default=8, show_default=True, type=click.IntRange(1), help="With --ask: calls side by side."
        ),
        click.option("--size", default=size, show_default=True, type=click.IntRange(2), help=sized),
        click.option("--remove", is_flag=True, help="Remove all of it; the next run makes it again."),
        json_option,
    )

    def decorate(command: _F) -> _F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def run_writing(
    options: dict[str, Any],
    noun: str,
    nothing: str,
    build: Callable[["Collection", bool, int, int, "Progress"], "WritingReport"],
    estimate: Callable[["Collection", "Progress"], "Estimate"],
    remove: Callable[["Collection"], int],
) -> None:
    """Do what the options say; `noun`: one of the texts, `nothing`: what to say where there are none."""
    from kgrag.wire import to_json

    ask, dry_run, as_json = options["ask"], options["dry_run"], options["as_json"]
    if options["remove"] and ask:
        raise click.UsageError("--remove goes without --ask.")
    if dry_run and not ask:
        raise click.UsageError("--dry-run goes with --ask: without a model there is nothing to pay.")
    settings = changed(load_settings(), "chat", budget=options["budget"])
    with interruptible(), connect(settings) as kg:
        name = choose_collection(kg, options["collection"])
        if options["remove"]:
            removed = remove(kg[name])
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, noun)} removed")
            return
        if dry_run:
            with progress_bars() as progress:
                would = estimate(kg[name], progress)
            if as_json:
                print_json(to_json(would, collection=name))
            elif would.calls:
                click.echo("\n".join((f"Collection {name}:", *would.lines(options["budget"]))))
            else:
                command = click.get_current_context().command_path
                click.echo(f"Collection {name}: no {noun} is left to a model; first run: {command} {name}")
            return
        with resumable() as progress:
            report = build(kg[name], ask, options["threads"], options["size"], progress)
    end(report, name, None if as_json else _text(report, name, noun, nothing), noun)
    if report.stale and not report.left:
        note(f"{number(report.stale, noun)} of a model out of date. Run it with --ask to have these written again.")


def _text(report: "WritingReport", collection: str, noun: str, nothing: str) -> str:
    if not report.levels:
        return f"Collection {collection}: {nothing}"
    levels = ", ".join(f"{n:,}" for n in report.levels)
    made = f"{number(sum(report.levels), noun)}, by level {levels}"
    done = f"Collection {collection}: {made}; {report.written:,} written, {report.removed:,} removed"
    return "\n".join([done, *([usage_line(report.usage)] if report.usage.calls else [])])


@click.command()
@writing_options("summaries", 8, "Members of a summary on average.")
def tree(**options: Any) -> None:
    """Sum up a collection: passages that are alike, these summaries again, up to the few topics of all.

    Without a model a summary is made of the sentences that are nearest to the middle of its passages, and is called by
    their keywords. With --ask a language model writes them, each once; it may be interrupted, and goes on when it is
    run again. After an ingest run it again, too: new passages go to the topics that they fit, and only what has changed
    is written again. `kgrag search --retriever raptor` searches the tree, `kgrag cypher topics` shows it.

    \b
    kgrag enrich tree notes
    kgrag enrich tree notes --ask --dry-run          what a model would take
    kgrag enrich tree notes --ask --budget 2
    kgrag cypher topics -c notes              the topics, the largest first
    kgrag enrich tree notes --remove
    """
    run_writing(
        options,
        "summary",
        "too few passages to sum up.",
        lambda c, ask, threads, size, progress: c.build_tree(ask=ask, threads=threads, size=size, progress=progress),
        lambda c, progress: c.estimate_tree(progress=progress),
        lambda c: c.remove_tree(),
    )


@click.command()
@writing_options("reports", 50, "Most members of a community that is not parted again.")
def communities(**options: Any) -> None:
    """Find the names that belong together: those that passages have in common and facts join, in levels.

    Each community has a report. Without a model it is made of sentences of the passages that name most of its members,
    and is called by its key names. With --ask a language model writes it, those of the parts first; each is asked for
    once, so it may be interrupted, and goes on when it is run again. After an ingest run it again, too: new names join
    the communities that they fit, and only reports whose names or texts have changed are written again. `kgrag search
    --retriever communities` searches by them, `kgrag ask --system global` answers from all reports.

    \b
    kgrag enrich communities notes
    kgrag enrich communities notes --ask --dry-run   what a model would take
    kgrag enrich communities notes --ask --budget 2
    kgrag enrich communities notes --remove
    """
    run_writing(
        options,
        "community",
        "too few names to find communities.",
        lambda c, ask, threads, size, progress: c.build_communities(
            ask=ask, threads=threads, size=size, progress=progress
        ),
        lambda c, progress: c.estimate_communities(progress=progress),
        lambda c: c.remove_communities(),
    )
