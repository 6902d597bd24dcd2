"""kgrag lab ranks: the tables of an evaluation from the ranks that it kept."""

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
@click.option("--changes", type=click.IntRange(1), metavar="K",
              help="With --baseline: questions with more or less gold among the first K than there.")  # fmt: skip
@as_json
def ranks(
    file: Path,
    baseline: str | None,
    at: tuple[int, ...],
    seed: int,
    markdown: bool,
    changes: int | None,
    as_json: bool,
) -> None:
    """Print the tables of `kgrag lab eval ... --ranks FILE` again, from that file alone.

    \b
    kgrag lab ranks docs/ranks/2wiki.jsonl.gz --baseline hybrid
    kgrag lab ranks docs/ranks/2wiki.jsonl.gz --at 2 --at 5 --json
    kgrag lab ranks reranked.jsonl.gz --baseline pathrank --changes 5      what a reranker gains and loses, by question
    """
    if markdown and (as_json or changes is not None):
        raise click.UsageError("--markdown excludes --json and --changes.")
    if changes is not None and baseline is None:
        raise click.UsageError("--changes are those against a --baseline.")
    from kgrag.evaluation.ranks import changes as changed
    from kgrag.evaluation.ranks import changes_sheet, read_ranks

    found = read_ranks(file, baseline=baseline, at=at, seed=seed)
    if as_json:
        more = {} if changes is None else {"changes": changed(found, changes)}
        print_json({**found.values(), **more})
    elif markdown:
        click.echo(found.markdown(*found.notes))
    else:
        for text in found.notes:
            note(f"Made by: {text}")
        for sheet in (*found.sheets(), *(() if changes is None else (changes_sheet(found, changes),))):
            print_sheet(sheet)
