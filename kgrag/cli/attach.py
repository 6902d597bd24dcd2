"""kgrag attach: a collection over a graph that lies in the same database already."""

from pathlib import Path

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import note, print_json
from kgrag.cli.documents import print_changes, print_problems, summary
from kgrag.cli.outcome import interruptible, resumable


@click.command()
@click.argument("name")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--labels", metavar="A,B", help="Propose for nodes with these labels alone.")
@click.option("--yes", is_flag=True, help="Accept the proposal unchanged.")
@as_json
def attach(name: str, file: Path | None, labels: str | None, yes: bool, as_json: bool) -> None:
    """Search and ask over another graph in the same database.

    Each of its nodes becomes a document of collection NAME. The node's name is the title; its texts, facts and
    relationships, in words, are the text. kgrag only reads your graph. Without FILE a proposal is printed as TOML, made
    from counts and samples: which property is the name, which are texts or facts, and which relationships count. Edit
    it, and give it as FILE. If the collection is attached already, it is brought up to date: changed nodes are read
    again, and documents of removed nodes are deleted. `kgrag delete -c NAME` leaves your graph as it was.

    \b
    kgrag attach films > films.toml                    a proposal to edit
    kgrag attach films --labels Film,Person            for these labels
    kgrag attach films films.toml                      do it
    kgrag attach films                                 later: bring it in step
    kgrag attach films --labels Film,Person --yes      the proposal as it is
    """
    if file is not None and (labels or yes):
        raise click.UsageError("FILE says all: leave out --labels and --yes.")
    selection = None if labels is None else [label.strip() for label in labels.split(",") if label.strip()]
    with interruptible(), connect() as kg:
        from kgrag.graph.collections import find_collection

        record = find_collection(kg.graph, name)
        if file is None and not yes and (selection is not None or record is None or not record.attachment):
            proposal = kg.propose_attachment(selection)
            if as_json:
                print_json(proposal.model_dump(by_alias=True, exclude_defaults=True))
            else:
                click.echo(proposal.to_toml(), nl=False)
            note(f"Nothing is attached yet. Edit this as a file, then: kgrag attach {name} FILE; or as it is: --yes")
            return
        with resumable() as progress:
            report = kg[name].attach(file, labels=selection, progress=progress)
    if as_json:
        from kgrag.wire import to_json

        print_json(to_json(report, collection=name))
    else:
        for line in summary(report, name):
            click.echo(line)
    print_changes(report, prune=True)
    print_problems(report.problems)
