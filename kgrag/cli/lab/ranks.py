"""kgrag lab ranks: the tables of an evaluation from the ranks that it kept."""

from pathlib import Path

import click
from pydantic import Field

from kgrag.cli.console import note, print_json
from kgrag.cli.lab.measuring import Compared, print_sheet
from kgrag.cli.lab.options import options


class _Given(Compared):
    file: Path
    changes: int | None = Field(
        None,
        ge=1,
        title="K",
        description="With --baseline: questions with more or less gold among the first K than there.",
    )


@click.command()
@options
def ranks(given: _Given) -> None:
    """Print the tables of `kgrag lab eval ... --ranks FILE` again, from that file alone.

    \b
    kgrag lab ranks docs/ranks/2wiki.jsonl.gz --baseline hybrid
    kgrag lab ranks docs/ranks/2wiki.jsonl.gz --at 2 --at 5 --json
    kgrag lab ranks reranked.jsonl.gz --baseline pathrank --changes 5      what a reranker gains and loses, by question
    """
    if given.markdown and (given.as_json or given.changes is not None):
        raise click.UsageError("--markdown excludes --json and --changes.")
    if given.changes is not None and given.baseline is None:
        raise click.UsageError("--changes are those against a --baseline.")
    from kgrag.lab.records import changes as changed
    from kgrag.lab.records import changes_sheet, read_ranks

    found = read_ranks(given.file, baseline=given.baseline, at=given.at, seed=given.seed)
    if given.as_json:
        more = {} if given.changes is None else {"changes": changed(found, given.changes)}
        print_json({**found.values(), **more})
    elif given.markdown:
        click.echo(found.markdown(*found.notes))
    else:
        for text in found.notes:
            note(f"Made by: {text}")
        for sheet in (*found.sheets(), *(() if given.changes is None else (changes_sheet(found, given.changes),))):
            print_sheet(sheet)
