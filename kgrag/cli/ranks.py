"""kgrag ranks: the tables of an evaluation from the ranks that it kept."""

from pathlib import Path

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import note, print_json
from kgrag.cli.measuring import at_option, print_sheet


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--baseline", metavar="EXPR", help="Compare the others with this retriever or system; say what is noise.")
@at_option
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Of the resampling.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@as_json
def ranks(file: Path, baseline: str | None, at: tuple[int, ...], seed: int, markdown: bool, as_json: bool) -> None:
    """Print the tables of `kgrag eval ... --ranks FILE` again, from that file alone.

    \b
    kgrag ranks docs/ranks/2wiki.jsonl.gz --baseline hybrid
    kgrag ranks docs/ranks/2wiki.jsonl.gz --at 2 --at 5 --json
    """
    if markdown and as_json:
        raise click.UsageError("--json and --markdown exclude each other.")
    from kgrag.evaluation.ranks import read_ranks

    found = read_ranks(file, baseline=baseline, at=at, seed=seed)
    if as_json:
        print_json(found.values())
    elif markdown:
        click.echo(found.markdown(*found.notes))
    else:
        for text in found.notes:
            note(f"Made by: {text}")
        for sheet in found.sheets():
            print_sheet(sheet)
