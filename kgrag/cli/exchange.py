"""kgrag export, import: a collection as a file, and back; or facts without passages."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kgrag.cli.connect import F, as_json, choose_collection, collection_option, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars

if TYPE_CHECKING:
    from kgrag.indexing.knowledge import KnowledgeReport, Selection


def knowledge_options(command: F) -> F:
    """Add the options that select from a dump of Wikidata, or a file of facts."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option("--hops", type=click.IntRange(1, 6), default=1, show_default=True,
                     help="With one of these: also on entities within so many statements of them."),
        click.option("--about", metavar="COLLECTION",
                     help="Only facts about entities that this collection of documents names."),
        click.option("--class", "classes", multiple=True, metavar="ID",
                     help="Only facts about entities of this class of Wikidata or a subclass (P279)."),
        click.option("--ids", type=file, metavar="FILE", help="Only facts about these entities: an id (Q42) per line."),
        click.option("--property", "properties", multiple=True, metavar="ID", help="Only this property; repeatable."),
        click.option("--language", "languages", multiple=True, metavar="CODE", default=("en",), show_default=True,
                     help="For facts: language of the names; if repeated, the first that exists."),
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
    selection = Selection(languages, properties, None if ids is None else tuple(ids_in(ids)), classes, about, hops)
    _import(source, collection, selection, format, as_json)


def _import(path: Path, collection: str, selection: "Selection", format: str | None, as_json: bool) -> None:
    from kgrag.client.graph import KnowledgeGraph

    with progress_bars() as progress:
        report = KnowledgeGraph.import_knowledge(
            path, collection, format=format, selection=selection, settings=load_settings(), progress=progress
        )
    if as_json:
        print_json(report)
        return
    for line in _fact_lines(report):
        click.echo(line)
    if report.counts:
        note("Statements by reading:")
        for what, number in sorted(report.counts.items(), key=lambda item: (-item[1], item[0])):
            note(f"  {number:>12,} {what}")


def _fact_lines(report: "KnowledgeReport") -> list[str]:
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


_RDF = (".nt", ".ttl", ".rdf", ".owl", ".trig", ".n3")

if TYPE_CHECKING:
    from kgrag.exchange.export import ExportReport


@click.command()
@click.argument("target", metavar="FILE")
@collection_option("Name of the collection.")
@click.option("--format", type=click.Choice(("jsonl", "graphml")), help="By default as the name of the file says.")
@click.option("--without-embeddings", is_flag=True, help="Leave the vectors out: smaller, but it cannot be imported.")
@click.option("--overwrite", is_flag=True, help="Replace a file.")
@as_json
def export(
    target: str, collection: str | None, format: str | None, without_embeddings: bool, overwrite: bool, as_json: bool
) -> None:
    """Write a whole collection into a file.

    The file has every node and edge with all properties, vectors and runs. JSON Lines (.jsonl) is the quickest; GraphML
    (.graphml) opens in Gephi, yEd and networkx. Files whose names end in .gz are compressed; "-" is standard output.
    `kgrag import` reads JSON Lines. The digest shows that nothing was lost: `kgrag inspect --digest --all` prints the
    digest of a collection.

    \b
    kgrag export work.jsonl.gz -c work
    kgrag export work.graphml -c work --without-embeddings    for Gephi
    kgrag export - | jq -r 'select(.node == "Entity").properties.name'
    """
    with connect() as kg:
        name = choose_collection(kg, collection)
        with progress_bars() as progress:
            report = kg[name].export(
                target, format=format, embeddings=not without_embeddings, overwrite=overwrite, progress=progress
            )
    if report.left_out:
        note(f"{report.left_out:,} edges lead out of the collection and were left out.")
    if as_json and target != "-":
        print_json(report)
        return
    for line in _lines(report):
        click.echo(line, err=target == "-")


@click.command(name="import")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, allow_dash=True))
@click.option("-c", "--collection", metavar="NAME", help="For facts: the collection to import into.")
@click.option(
    "--format",
    type=click.Choice(("triples", "ntriples", "rdf", "csv", "tsv", "wikidata")),
    help="Format of facts; triples: by the ending of the file. Without it, a file of `kgrag export`.",
)
@knowledge_options
@as_json
def import_(source: str, collection: str | None, format: str | None, as_json: bool, **options: Any) -> None:
    """Import a collection that was exported, or facts of your own.

    FILE is what `kgrag export` wrote as JSON Lines. It is read through before anything is written, so a damaged or
    truncated file, or one of another kind, changes nothing. A collection of that name must not exist. After an
    interruption the same command resumes; until it is complete, nobody else sees the collection. "-" is standard input.

    \b
    kgrag import work.jsonl.gz
    kgrag export - -c work | KGRAG_HOME=/data/other kgrag import -

    With --format the file holds facts without passages, which become a collection of entities and facts. Searches of
    your documents use it with --knowledge. Ontologies and glossaries are N-Triples (names are labels of rdfs, skos,
    schema.org or foaf, else the end of an address), Turtle, RDF/XML or TriG (extra rdf; read into memory), or CSV of
    subject, predicate, object. Files may end in .gz or .bz2. From a JSON dump of Wikidata, statements with a text as
    object, without a value, or with a lower rank than another are left out; each entity keeps one alias. Left-out and
    unreadable parts are counted at the end. Into an empty local database the facts go through Neo4j's import tool, else
    in transactions. After an interruption the same command resumes.

    \b
    kgrag import --format triples glossary.csv -c glossary
    kgrag import --format triples glossary.ttl -c glossary
    kgrag import --format triples products.nt.gz -c products --language de
    kgrag import --format wikidata latest-all.json.bz2 -c wikidata
    kgrag import --format wikidata latest-all.json.gz -c wikidata --about notes --hops 2
    kgrag import --format wikidata latest-all.json.gz -c ships --class Q11446 --language de --language en
    kgrag import --format wikidata latest-all.json.gz -c few --ids ids.txt --property P31 --property P50
    """
    if format is None and any(suffix in _RDF for suffix in Path(source).suffixes):
        format = "triples"  # nothing that is exported ends so
    if format is not None:
        if collection is None:
            raise click.UsageError("--format imports facts: say where to with --collection NAME.")
        import_facts(Path(source), collection, None if format == "triples" else format, as_json, **options)
        return
    if collection is not None:
        raise click.UsageError("--collection needs --format: an exported collection keeps its own name.")
    ctx = click.get_current_context()
    for option in ctx.command.params:
        if option.name in options and ctx.get_parameter_source(option.name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{option.opts[0]} needs --format: an exported collection is imported whole.")
    with connect() as kg, progress_bars() as progress:
        report = kg.import_export(source, progress)
    if as_json:
        print_json(report)
        return
    click.echo(
        f"Collection {report.collection}: {report.nodes:,} nodes, {report.edges:,} edges in {report.seconds:.1f} s"
    )
    if report.resumed:
        click.echo(f"{report.resumed:,} of them were there from an import that was interrupted.")
    click.echo(f"digest of the export: {report.digest}")


def _lines(report: "ExportReport") -> list[str]:
    size = "" if report.bytes is None else f", {report.bytes / 1e6:,.1f} MB"
    where = "" if report.path == "-" else f" in {report.path}"
    return [
        f"Collection {report.collection}: {report.nodes:,} nodes, {report.edges:,} edges{where} "
        f"({report.format}{size}) in {report.seconds:.1f} s",
        f"digest: {report.digest}",
    ]
