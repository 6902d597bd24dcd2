"""kgrag import-wikidata, import-triples: facts without passages, as a collection of kind knowledge."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import F, as_json
from kgrag.cli.console import load_settings, note, print_json, progress_bars

if TYPE_CHECKING:
    from kgrag.indexing.knowledge import KnowledgeReport, Selection


def _shared(command: F) -> F:
    for option in (
        click.option("--property", "properties", multiple=True, metavar="ID", help="Only this property; repeatable."),
        click.option("--language", "languages", multiple=True, metavar="CODE", default=("en",), show_default=True,
                     help="Of names; repeated, the first that there is."),
        click.option("-c", "--collection", required=True, metavar="NAME", help="Where to; made if it does not exist."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(name="import-wikidata")
@click.argument("dump", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_shared
@click.option("--ids", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Only statements on these entities: an id (Q42) on each line.")  # fmt: skip
@click.option("--class", "classes", multiple=True, metavar="ID", help="Only on entities of this class or below (P279).")
@click.option("--about", metavar="COLLECTION", help="Only on what the names of this collection of documents stand for.")
@click.option("--hops", type=click.IntRange(1, 6), default=1, show_default=True,
              help="With one of these: and on what is within so many statements of them.")  # fmt: skip
@as_json
def import_wikidata(
    dump: Path,
    collection: str,
    languages: tuple[str, ...],
    properties: tuple[str, ...],
    ids: Path | None,
    classes: tuple[str, ...],
    about: str | None,
    hops: int,
    as_json: bool,
) -> None:
    """Import facts from a JSON dump of Wikidata (.json, .json.gz, .json.bz2).

    The collection holds entities and facts, and neither passages nor vectors: searches of your documents use it beside
    them, by --knowledge. Statements whose object is a text, deprecated ones and those without a value are left out; of
    each entity one alias is kept. What was left out, and what could not be read, is counted at the end. Into an empty
    database of this machine it goes through Neo4j's import tool, else in transactions. Interrupted and run again, it
    goes on where it was.

    \b
    kgrag import-wikidata latest-all.json.bz2 -c wikidata
    kgrag import-wikidata latest-all.json.gz -c wikidata --about notes --hops 2
    kgrag import-wikidata latest-all.json.gz -c ships --class Q11446 --language de --language en
    kgrag import-wikidata latest-all.json.gz -c few --ids ids.txt --property P31 --property P50
    """
    from kgrag.indexing.knowledge import Selection, ids_in

    chosen = Selection(languages, properties, None if ids is None else tuple(ids_in(ids)), classes, about, hops)
    _import(dump, collection, chosen, "wikidata", as_json)


@click.command(name="import-triples")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_shared
@click.option(
    "--format", type=click.Choice(("ntriples", "csv", "tsv")), help="By default as the name of the file says."
)
@as_json
def import_triples(
    file: Path,
    collection: str,
    languages: tuple[str, ...],
    properties: tuple[str, ...],
    format: str | None,
    as_json: bool,
) -> None:
    """Import facts of your own: an ontology or a glossary as N-Triples, or CSV of subject, predicate, object.

    The collection is as one of `kgrag import-wikidata`. In N-Triples names are labels (rdfs, skos, schema.org, foaf),
    else the end of an address; in CSV the cells themselves. Files may end in .gz or .bz2.

    \b
    kgrag import-triples glossary.csv -c glossary
    kgrag import-triples products.nt.gz -c products --language de
    """
    from kgrag.indexing.knowledge import Selection

    _import(file, collection, Selection(languages, properties), format, as_json)


def _import(path: Path, collection: str, selection: "Selection", format: str | None, as_json: bool) -> None:
    from kgrag.client import KnowledgeGraph

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
