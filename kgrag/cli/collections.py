"""kgrag collections, reembed, repair, digest, migrate: the collections as wholes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import note, print_json, progress_bars, stdout_console

if TYPE_CHECKING:
    from kgrag.types import CollectionInfo

LABELS = ("Document", "Passage", "Triple", "Entity", "Keyword", "Word")
_SOME = ("Page", "Table", "Run", "Step")  # shown where there are some
_PLURALS = {"Entity": "Entities"}


@click.command()
@as_json
def collections(as_json: bool) -> None:
    """List the collections and what they hold.

    Shown are the embedder, and how many nodes of each label and how many edges there are.

    \b
    kgrag collections
    kgrag collections --json | jq -r '.[].name'
    """
    with connect() as kg:
        found = kg.collections()
    if as_json:
        print_json(found)
    elif found:
        _print_collections(found)
    else:
        note("There are no collections yet. Make one with: kgrag ingest PATH...  or try: kgrag demo")
    for info in found:
        if not info.finished:
            note(f"{info.name} is unfinished: an ingest is at work, or was broken off and wants to be run again.")


@click.command()
@click.argument("collection")
@click.option("--embedder", required=True, metavar="NAME", help="wordllama, minilm, sbert:MODEL or openai:MODEL.")
@as_json
def reembed(collection: str, embedder: str, as_json: bool) -> None:
    """Embed a collection anew, with another embedder.

    Searches go on with the old vectors until the new ones are complete. Broken off and run again, it goes on where
    it was.

    \b
    kgrag reembed work --embedder minilm
    kgrag reembed work --embedder openai:text-embedding-3-small
    """
    with connect() as kg, progress_bars() as progress:
        info = kg.reembed(collection, embedder, progress=progress)
    if as_json:
        print_json(info)
    else:
        click.echo(f"Collection {info.name} has vectors of {info.embedder} now ({info.dimension} dimensions).")


@click.command()
@click.argument("collection", required=False)
@as_json
def repair(collection: str | None, as_json: bool) -> None:
    """Make again what a collection should have and has not.

    Indexes that were dropped, vectors that were lost, linking that was broken off. What is whole is not touched.
    Without a name, every collection. `kgrag inspect` says what is wrong.

    \b
    kgrag repair work
    kgrag repair --json
    """
    with connect() as kg, progress_bars() as progress:
        names = [collection] if collection is not None else [info.name for info in kg.collections()]
        reports = {name: kg.repair(name, progress=progress) for name in names}
    if as_json:
        print_json(reports)
        return
    for name, report in reports.items():
        made = [f"index {index}" for index in report.indexes]
        made += [f"{number:,} vectors of {what}" for what, number in report.vectors.items()]
        if report.finished:
            made.append(f"linking of {report.finished:,} nodes")
        click.echo(f"{name}: {', '.join(made) or 'nothing was missing'}.")
    if not reports:
        note("There are no collections.")


@click.command()
@click.argument("collection")
@click.option("--all", "whole", is_flag=True, help="Of everything: vectors, times, runs, every property of every edge.")
@as_json
def digest(collection: str, whole: bool, as_json: bool) -> None:
    """Print hashes of what a collection holds.

    There is one for each kind of node with its edges. Equal contents have equal hashes, in whatever order they were
    ingested and however often it was broken off. Vectors and the edges to nearest neighbours are left out. With --all
    nothing is: there is a hash for each label and each type of edge, and one of all of them, the one that `kgrag
    export` prints. It tells whether two graphs are the same, not whether they came from the same documents.

    \b
    kgrag digest work
    kgrag digest work --all
    diff <(kgrag digest work) <(kgrag digest copy-of-work)
    """
    with connect() as kg:
        from kgrag.graph.collections import open_collection
        from kgrag.graph.contents import fingerprint
        from kgrag.indexing.digest import digest as compute

        open_collection(kg.graph, collection)
        if whole:
            found = fingerprint(kg.graph, collection)
            hashes = found.hashes() | {"all": found.total()}
        else:
            hashes = compute(kg.graph, collection)
    if as_json:
        print_json(hashes)
        return
    width = max(map(len, hashes))
    for kind, value in hashes.items():
        click.echo(f"{kind:<{width}}  {value}")


@click.command()
@as_json
def migrate(as_json: bool) -> None:
    """Bring the database to the schema of this version of kgrag. Documents and vectors stay.

    Other commands say when this is needed. Broken off and run again, it goes on where it was.

    \b
    kgrag migrate
    """
    with connect() as kg:
        steps = kg.migrate()
    if as_json:
        print_json({"steps": steps})
        return
    for step in steps:
        click.echo(step)
    click.echo("Done." if steps else "The database is up to date.")


def _print_collections(found: "Iterable[CollectionInfo]") -> None:
    infos = list(found)
    labels = [label for label in LABELS if any(label in info.counts for info in infos)]
    labels += [label for label in _SOME if any(info.counts.get(label) for info in infos)]
    labels += sorted({k for info in infos for k in info.counts if not k.isupper()} - {*LABELS, *_SOME})
    rows = [["Name", "Embedder", *(_PLURALS.get(label, f"{label}s") for label in labels), "Edges"]]
    for info in infos:
        edges = sum(number for kind, number in info.counts.items() if kind.isupper())
        rows.append([info.name, info.embedder, *(f"{info.counts.get(label, 0):,}" for label in labels), f"{edges:,}"])
    _print_columns(rows)


def _print_columns(rows: list[list[str]]) -> None:
    """A table under a bold first row: two columns of text, then numbers."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    console = stdout_console()
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            set_cell_size(cell, width) if place < 2 else " " * (width - cell_len(cell)) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.print(Text("  ".join(cells).rstrip(), "bold" if number == 0 else ""), soft_wrap=True)
