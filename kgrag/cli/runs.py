"""kgrag list runs: the answers and searches that `--save` kept in the graph."""

import click

from kgrag.cli.connect import as_json, collection_option, connect
from kgrag.cli.console import note, print_json, stdout_console

_DIGITS = 8


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@collection_option("Only runs of this collection.")
@click.option("--rated", is_flag=True, help="Only runs that somebody rated on the pages of kgrag serve.")
@click.option("--delete", is_flag=True, help="Delete the runs that are named.")
@as_json
def runs(ids: tuple[str, ...], collection: str | None, rated: bool, delete: bool, as_json: bool) -> None:
    """List the runs that `kgrag ask --save` and `kgrag search --save` kept, newest first.

    It shows id, time, system, question and answer. 6 or more first digits of an id name a run; a named run comes with
    the Cypher that shows it in Neo4j Browser.

    \b
    kgrag list runs
    kgrag list runs 3f9a01c2
    kgrag list runs --collection demo --json | jq -r '.[].answer'
    kgrag list runs --rated --json | jq -r '.[] | select(.good == false) | .question + ": " + .remark'
    kgrag list runs --delete 3f9a01c2 77b0e4d1
    """
    if delete and not ids:
        raise click.UsageError("Say which runs to delete, by their ids: kgrag list runs --delete ID...")
    from kgrag.graph.runs import drawing, named

    with connect() as kg:
        entries = kg.delete_runs(ids) if delete else (kg if collection is None else kg[collection]).runs()
    if ids and not delete:
        entries = named(entries, ids)
    if rated and not delete:
        entries = [run for run in entries if run.good is not None]
    if as_json:
        print_json(entries)
        return
    console = stdout_console()
    if delete:
        click.echo(f"Deleted {len(entries)} {'run' if len(entries) == 1 else 'runs'}.")
        return
    from rich.text import Text

    from kgrag.retrieval.snippet import crop

    for run in entries:
        when = f"{run.created.astimezone():%Y-%m-%d %H:%M}"
        head = Text.assemble((run.id[:_DIGITS], "bold"), f"  {when}  {run.collection}  {run.system}")
        console.print(head, soft_wrap=True)
        console.print(Text(f"    {crop(run.question, 200)}", "cyan"), soft_wrap=True)
        answer = run.answer or run.problem or "(a search, without an answer)"
        console.print(Text(f"    {crop(answer, 200)}"), soft_wrap=True)
        if run.good is not None:
            rating = f"    {'good' if run.good else 'not good'}{run.remark and f': {crop(run.remark, 200)}'}"
            console.print(Text(rating, "bold"), soft_wrap=True)
        if ids:
            console.print(Text("\n".join(drawing(run.id))), soft_wrap=True)
    if not entries:
        note("No runs are kept. Keep one with: kgrag ask QUESTION --save")


def print_drawing(run: str) -> None:
    """Say under which id a run was kept, and how to draw it."""
    from kgrag.graph.runs import drawing

    parameter, statement = drawing(run)
    note(f"Kept as run {run}. In Neo4j Browser, one after the other:\n{parameter}\n{statement}")
