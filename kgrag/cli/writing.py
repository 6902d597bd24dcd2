"""What `kgrag tree` and `kgrag communities` share: texts that are made of sentences, or that a model writes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.connect import as_json as json_option
from kgrag.cli.connect import choose_collection, collection_option, connect
from kgrag.cli.console import changed, load_settings, note, number, print_error, print_json, progress_bars
from kgrag.cli.interrupt import interruptible

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.indexing.writing import WritingEstimate, WritingReport
    from kgrag.types import Progress

_F = TypeVar("_F", bound=Callable[..., Any])


def writing_options(texts: str, size: int, sized: str) -> Callable[[_F], _F]:
    """The argument and the options of such a command; `texts`: what a model writes; `size`: its default, and help."""
    options = (
        click.argument("named", metavar="[COLLECTION]", required=False),
        collection_option("The same as COLLECTION."),
        click.option("--ask", is_flag=True, help=f"Have a language model write the {texts}."),
        click.option("--dry-run", is_flag=True, help="With --ask: say what that would take; ask nothing."),
        click.option(
            "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
        ),
        click.option(
            "--threads", default=8, show_default=True, type=click.IntRange(1), help="With --ask: calls side by side."
        ),
        click.option("--size", default=size, show_default=True, type=click.IntRange(2), help=sized),
        click.option("--remove", is_flag=True, help="Remove all of it. To make it anew: remove it first."),
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
    estimate: Callable[["Collection", "Progress"], "WritingEstimate"],
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
        name = choose_collection(kg, options["named"] or options["collection"])
        if options["remove"]:
            removed = remove(kg[name])
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, noun)} removed")
            return
        with progress_bars() as progress:
            if dry_run:
                would = estimate(kg[name], progress)
            else:
                report = build(kg[name], ask, options["threads"], options["size"], progress)
    if dry_run:
        if as_json:
            print_json(to_json(would, collection=name))
        else:
            _print_estimate(would, name, noun)
        return
    if as_json:
        print_json(to_json(report, collection=name, stopped=report.stopped and report.stopped.message))
    else:
        _print(report, name, noun, nothing)
    if report.stopped is not None:
        print_error(report.stopped)
        click.get_current_context().exit(report.stopped.exit_code)


def _print(report: "WritingReport", collection: str, noun: str, nothing: str) -> None:
    if not report.levels:
        click.echo(f"Collection {collection}: {nothing}")
        return
    levels = ", ".join(f"{n:,}" for n in report.levels)
    click.echo(f"Collection {collection}: {number(sum(report.levels), noun)}, by level {levels}; "
               f"{report.written:,} written, {report.removed:,} removed")  # fmt: skip
    if report.usage.calls:
        price = "unknown price" if report.usage.cost is None else f"cost {report.usage.cost:.4f}"
        click.echo(f"{number(report.usage.calls, 'call')} ({report.usage.cached:,} from the cache), {price}")
    if report.left:
        note(f"{number(report.left, noun)} left to the model. Run the same command again to go on.")
    elif report.stale:
        note(f"{number(report.stale, noun)} of a model out of date. Run it with --ask to have these written again.")
    for failure in report.failures[:5]:
        note(f"{failure.title}: {failure.reason} {failure.remedy}")


def _print_estimate(would: "WritingEstimate", collection: str, noun: str) -> None:
    if not would.calls:
        command = click.get_current_context().command_path
        click.echo(f"Collection {collection}: no {noun} is left to a model; first run: {command} {collection}")
        return
    read, written = (f"{least:,} to {most:,}" for least, most in (would.prompt_tokens, would.completion_tokens))
    price = "unknown price" if would.cost is None else f"{would.cost[0]:.2f} to {would.cost[1]:.2f}"
    model = would.model or "a model that is not set yet"
    click.echo(f"Collection {collection}: {number(would.calls, 'call')} of {model}, {price}")
    click.echo(f"Tokens: read {read}, written {written}")
