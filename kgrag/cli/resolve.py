"""kgrag enrich resolve: which names of a collection are one entity's, and to tie them."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, connect
from kgrag.cli.console import changed, load_settings, note, number, print_json, print_table
from kgrag.cli.outcome import end_stopped, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.indexing.resolution.resolve import NamePair, Resolution


@click.command()
@collection_argument
@click.option("--apply", is_flag=True, help="Tie the names by SAME_AS edges, and untie those that no longer hold.")
@click.option("--undo", is_flag=True, help="Take back all that was tied.")
@click.option("--ask", is_flag=True, help="Let a language model decide the doubtful pairs.")
@click.option(
    "--score",
    default=0.8,
    show_default=True,
    type=click.FloatRange(0.5, 1),
    help="How sure a pair must be, from 0 to 1.",
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="Pairs of each kind to print.")
@click.option(
    "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
)
@as_json
def resolve(
    collection: str | None,
    apply: bool,
    undo: bool,
    ask: bool,
    score: float,
    limit: int,
    budget: float | None,
    as_json: bool,
) -> None:
    """Find duplicate entities: abbreviations, initials, titles, acronyms.

    It prints the pairs that are sure and those that are doubtful, each with what speaks for it; nothing is written
    without --apply. Then SAME_AS edges tie the names, and searches go over them from one name to the other. No node is
    merged or removed, and --undo takes the edges back. Names that may be two others, and titles of different documents,
    stay apart. After an ingest, run it again: it writes just what has changed.

    \b
    kgrag enrich resolve notes                      what it would tie
    kgrag enrich resolve notes --apply
    kgrag enrich resolve notes --ask --budget 1     a language model decides what is doubtful
    kgrag enrich resolve notes --undo
    kgrag enrich resolve notes --json | jq -r '.same[] | [.score, .one, .other] | @tsv'
    """
    from kgrag.wire import to_json

    if undo and (apply or ask):
        raise click.UsageError("--undo goes with neither --apply nor --ask.")
    settings = changed(load_settings(), "chat", budget=budget)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if undo:
            removed = kg[name].unresolve()
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, 'edge')} removed")
            return
        with resumable() as progress:
            found = kg[name].resolve(apply=apply, ask=ask, score=score, progress=progress)
    if as_json:
        print_json(to_json(found, collection=name, stopped=found.stopped and found.stopped.in_full))
    else:
        _print(found, name, limit)
    end_stopped(found.stopped, len(found.doubtful), "doubtful pair")


def _print(found: "Resolution", collection: str, limit: int) -> None:
    compared = f"{number(found.names, 'name')} compared"
    tied = f"{number(len(found.same), 'pair')} in {number(found.groups, 'group')}"
    click.echo(f"Collection {collection}: {compared}, {tied} are the same, {len(found.doubtful):,} doubtful")
    _print_pairs("The same", found.same, limit)
    _print_pairs("Doubtful, left out", found.doubtful, limit)
    if found.usage.calls:
        click.echo(usage_line(found.usage) + (f", {found.failed:,} failed" if found.failed else ""))
    if found.applied:
        click.echo(f"{number(found.written, 'edge')} written, {found.removed:,} removed")
        return
    if found.same:
        note(f"Nothing is written yet. To tie them: kgrag enrich resolve {collection} --apply")
    if found.estimate.calls:
        note("To have a model decide the doubtful ones (--ask): " + "; ".join(found.estimate.lines()))


def _print_pairs(head: str, pairs: "tuple[NamePair, ...]", limit: int) -> None:
    if not pairs or not limit:
        return
    more = f", the first {limit:,} of {len(pairs):,}" if len(pairs) > limit else ""
    click.echo(f"\n{head}{more}:")
    rows = [(f"{x.score:.2f}", x.one, x.other, x.evidence) for x in pairs[:limit]]
    print_table(("score", "name", "other name", "what speaks for it"), rows, left=("name", "other name",
                "what speaks for it"))  # fmt: skip
