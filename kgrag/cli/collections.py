"""kgrag collections, reembed, repair: the collections as wholes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import note, print_json, print_table, progress_bars

if TYPE_CHECKING:
    from kgrag.values.results import CollectionInfo

_COLUMNS = ("Document", "Passage", "Triple", "Entity", "Keyword", "Word")


@click.command()
@as_json
def collections(as_json: bool) -> None:
    """List the collections and what they hold.

    It shows the embedder and the numbers of nodes of each label and of edges.

    \b
    kgrag collections
    kgrag collections --json | jq -r '.[].name'
    """
    with connect() as kg:
        infos = kg.collections()
    if as_json:
        print_json(infos)
    elif infos:
        _print_collections(infos)
    else:
        note("There are no collections yet. Make one with: kgrag ingest PATH...  or try: kgrag demo")
    for info in infos:
        if not info.finished:
            note(f"{info.name} is unfinished: an ingest is at work, or was interrupted and must be run again.")


@click.command()
@click.argument("collection")
@click.option(
    "--embedder", required=True, metavar="NAME", help="wordllama, minilm, onnx:MODEL, sbert:MODEL or openai:MODEL."
)
@as_json
def reembed(collection: str, embedder: str, as_json: bool) -> None:
    """Embed a collection again, with another embedder.

    Searches use the old vectors until the new ones are complete. Interrupted and run again, it resumes.

    \b
    kgrag db reembed work --embedder minilm
    kgrag db reembed work --embedder openai:text-embedding-3-small
    """
    with connect() as kg, progress_bars() as progress:
        info = kg[collection].reembed(embedder, progress=progress)
    if as_json:
        print_json(info)
    else:
        click.echo(f"Collection {info.name} has vectors of {info.embedder} now ({info.dimension} dimensions).")


@click.command()
@click.argument("collection")
@click.option("--language", required=True, metavar="CODE", help="en, de, zh, ...; xx: several languages.")
@as_json
def relanguage(collection: str, language: str, as_json: bool) -> None:
    """Read a collection in another language.

    Words, names, mentions and keywords are made again; passages, vectors and facts stay. Interrupted and run again, it
    resumes. Afterwards run `kgrag enrich resolve`, `tag` and `communities` again if you use them.

    \b
    kgrag db relanguage work --language de
    """
    with connect() as kg, progress_bars() as progress:
        info = kg[collection].relanguage(language, progress=progress)
    if as_json:
        print_json(info)
    else:
        click.echo(f"Collection {info.name} is read in the language {language} now.")


@click.command()
@click.argument("collection", required=False)
@as_json
def repair(collection: str | None, as_json: bool) -> None:
    """Repair collections: restore what is missing or was interrupted.

    It upgrades a database of an older kgrag to the present schema. It restores dropped indexes and lost vectors,
    replaces vector indexes that keep one bit per number, resumes interrupted linking, and stems words again if another
    stemmer stemmed them. Sound parts are not touched. Without a name it repairs every collection. `kgrag inspect` finds
    faults.

    \b
    kgrag db repair work
    kgrag db repair --json
    """
    from kgrag.cli.documents import print_problems
    from kgrag.graph.schema import SCHEMA_VERSION, upgrade

    with connect() as kg, progress_bars() as progress:
        upgraded = upgrade(kg.graph)
        names = [collection] if collection is not None else [record.name for record in kg.records()]
        reports = {name: kg[name].repair(progress=progress) for name in names}
    if upgraded:
        note(f"The database has schema {SCHEMA_VERSION} now.")
    if as_json:
        print_json(reports)
        return
    for name, report in reports.items():
        parts = [f"index {index}" for index in report.indexes]
        parts += [f"{number:,} vectors of {what}" for what, number in report.vectors.items()]
        if report.finished:
            parts.append(f"linking of {report.finished:,} nodes")
        click.echo(f"{name}: {', '.join(parts) or 'nothing was missing'}.")
        print_problems(report.problems)
    if not reports:
        note("There are no collections.")


def _print_collections(collections: "Iterable[CollectionInfo]") -> None:
    from kgrag.graph.description import describe

    infos = list(collections)
    others = [label for label in describe().labels("held") if label not in _COLUMNS]  # shown where there are some
    labels = [*_COLUMNS, *(label for label in others if any(info.counts.get(label) for info in infos))]
    plurals = [describe().node(label).plural.capitalize() for label in labels]
    rows = []
    for info in infos:
        edges = sum(number for kind, number in info.counts.items() if kind.isupper())
        rows.append([info.name, info.embedder, *(f"{info.counts.get(label, 0):,}" for label in labels), f"{edges:,}"])
    print_table(["Name", "Embedder", *plurals, "Edges"], rows, left=("Embedder",))
