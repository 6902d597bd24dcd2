"""kgrag import --format wikidata or triples: facts without passages, as a collection of kind knowledge."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import F
from kgrag.cli.console import load_settings, note, print_json, progress_bars

if TYPE_CHECKING:
    from kgrag.indexing.knowledge import KnowledgeReport, Selection


def knowledge_options(command: F) -> F:
    """Add the options that select from a dump of Wikidata, or a file of facts."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option("--hops", type=click.IntRange(1, 6), default=1, show_default=True,
                     help="With one of these: and on what is within so many statements of them."),
        click.option("--about", metavar="COLLECTION",
                     help="Only facts on what the names of this collection of documents stand for."),
        click.option("--class", "classes", multiple=True, metavar="ID",
                     help="Only on entities of this class of Wikidata or below (P279)."),
        click.option("--ids", type=file, metavar="FILE", help="Only on these entities: an id (Q42) on each line."),
        click.option("--property", "properties", multiple=True, metavar="ID", help="Only this property; repeatable."),
        click.option("--language", "languages", multiple=True, metavar="CODE", default=("en",), show_default=True,
                     help="Of names of facts; repeated, the first that there is."),
    ):  # fmt: skip
        command = option(command)
    return command


def import_facts(
    source: Path,
    collection: str,
    format: str | None,
    as_json: bool,
    languages: tuple[str, ...],
    properties: tuple[str, ...],
    ids: Path | None,
    classes: tuple[str, ...],
    about: str | None,
    hops: int,
) -> None:
    """Import a file of facts; None: of the format that its name says."""
    from kgrag.indexing.knowledge import Selection, ids_in

    if format != "wikidata" and (ids or classes or about):
        raise click.UsageError("--ids, --class and --about choose from Wikidata: they go with --format wikidata.")
    chosen = Selection(languages, properties, None if ids is None else tuple(ids_in(ids)), classes, about, hops)
    _import(source, collection, chosen, format, as_json)


def _import(path: Path, collection: str, selection: "Selection", format: str | None, as_json: bool) -> None:
    from kgrag.client.graph import KnowledgeGraph

    with progress_bars() as progress:
        report = KnowledgeGraph.import_knowledge(
            path, collection, format=format, selection=selection, settings=load_settings(), progress=progress
        )
    if as_json:
        print_json(report)
        return
    for line in _lines(report):
        click.echo(line)
    if report.counts:
        note("What was read, and what was left out:")
        for what, number in sorted(report.counts.items(), key=lambda item: (-item[1], item[0])):
            note(f"  {number:>12,} {what}")


def _lines(report: "KnowledgeReport") -> list[str]:
    if report.known:
        return [f"Collection {report.collection} holds this already: the same file and options were imported before."]
    rate = f", {report.facts / report.seconds:,.0f} facts/s" if report.facts >= 10_000 else ""
    way = "by Neo4j's import tool" if report.bulk else "in transactions"
    lines = [
        f"Collection {report.collection}: {report.facts:,} facts on {report.entities:,} entities "
        f"in {report.seconds:.1f} s{rate}, {way}"
    ]
    if report.unnamed:
        lines.append(f"{report.unnamed:,} facts were left out: one of their ends has no name in the source.")
    if report.resumed:
        lines.append(f"{report.resumed:,} lines had been read by an import that was interrupted.")
    return lines
