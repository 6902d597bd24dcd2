"""kgrag inspect: the shape of a collection, its faults, and their remedies."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, connect
from kgrag.cli.console import note, print_json, print_pairs, stdout_console
from kgrag.runtime.files import user_file

if TYPE_CHECKING:
    from rich.bar import Bar
    from rich.console import Console
    from rich.table import Table

    from kgrag.inspection.result import Distribution, Finding, Inspection

_BAR = 24  # columns, so that all fits in 80
_MARKS = {"error": ("✗", "bold red"), "warning": ("!", "bold yellow"), "note": ("·", "dim")}


@click.command("inspect")
@collection_argument
@click.option(
    "--near",
    default=0.98,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Score from which passages, or names, nearly say the same: (1 + cosine) / 2.",
)
@click.option(
    "--html",
    "report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a report for a web browser, too, which loads nothing from elsewhere.",
)
@click.option("--digest", "hashes", is_flag=True, help="Print hashes of its contents, and nothing else.")
@click.option("--all", "whole", is_flag=True, help="With --digest: of vectors, times, runs and all properties, too.")
@as_json
def inspect(collection: str | None, near: float, report: Path | None, hashes: bool, whole: bool, as_json: bool) -> None:
    """Inspect a collection: its counts, its shape and its health.

    It shows the numbers of nodes and edges of each kind; how many passages have mentions, keywords, triples, neighbours
    and vectors; the quantisation of vector indexes; and the degrees of nodes. It reports findings: indexes that do not
    answer, unfinished work, missing vectors, copies of a text, names that may be the same, and unconnected nodes. Each
    finding says what to do about it. Without COLLECTION it looks at "default" or the only collection. Nothing is
    written.

    \b
    kgrag inspect
    kgrag inspect demo --html demo.html
    kgrag inspect demo --near 0.95
    kgrag inspect demo --json | jq -r '.findings[] | select(.level != "note") | .message'
    kgrag inspect demo --digest
    diff <(kgrag inspect demo --digest) <(KGRAG_NEO4J_URI=bolt://other:7687 kgrag inspect demo --digest)

    --digest shows whether two collections of the same name have the same contents. There is a hash for each kind of
    node with its edges; the order of documents and interruptions do not change it. Another name changes the hashes,
    since ids depend on the name. Vectors and edges to nearest neighbours are left out. With --all they are included:
    there is a hash for each label and type of edge, and one of everything, which `kgrag export` prints.
    """
    if whole and not hashes:
        raise click.UsageError("--all goes with --digest.")
    if hashes:
        _print_hashes(collection, whole, as_json)
        return
    with connect() as kg:
        name = choose_collection(kg, collection)
        inspection = kg[name].inspect(near=near)
    if as_json:
        print_json(inspection)
    else:
        _print(inspection)
    if report is not None:
        from kgrag.inspection.result import html

        with user_file(report):
            report.write_text(html(inspection), encoding="utf-8")
        note(f"Report: {report}")


def _print_hashes(collection: str | None, whole: bool, as_json: bool) -> None:
    from kgrag.graph.collections import open_collection
    from kgrag.graph.contents import digest, fingerprint

    with connect() as kg:
        name = open_collection(kg.graph, choose_collection(kg, collection)).name
        if whole:
            contents = fingerprint(kg.graph, name)
            hashes = contents.hashes() | {"all": contents.total()}
        else:
            hashes = digest(kg.graph, name)
    if as_json:
        print_json(hashes)
    else:
        print_pairs(hashes)


def _print(inspection: "Inspection") -> None:
    from rich.columns import Columns
    from rich.text import Text

    console = stdout_console()
    head = f"  {inspection.embedder}, {inspection.dimension} dimensions, schema version {inspection.schema_version}"
    console.print(Text.assemble((inspection.collection, "bold"), (head, "dim")), soft_wrap=True)
    nodes = _table("left right", ((label, f"{number:,}") for label, number in inspection.nodes.items() if number))
    edges = _table("left right", ((f"{e.source} —{e.type}→ {e.target}", f"{e.number:,}") for e in inspection.edges))
    console.print()
    console.print(Columns([nodes, edges], padding=(0, 6)))
    coverage = [
        (c.name, _bar(c.having, c.number), f"{c.having:,} of {c.number:,}", f"{c.share:.1%}")
        for c in inspection.coverage
        if c.share is not None
    ]
    console.print()
    console.print(_table("left left right right", coverage))
    console.print()
    console.print(
        _table("left right", ((f"vector index {name}", kind) for name, kind in inspection.quantization.items()))
    )
    if inspection.readings:
        console.print()
        console.print(_table("left right", ((reading.name, f"{reading.number:,}") for reading in inspection.readings)))
    for distribution in inspection.distributions:
        _print_distribution(console, distribution)
    console.print()
    if inspection.healthy:
        console.print(Text("Healthy: all indexes answer, no work is left.", "green"), soft_wrap=True)
    for finding in inspection.findings:
        _print_finding(console, finding)


def _table(justified: str, rows: "Iterable[tuple[str | Bar, ...]]") -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for justify in justified.split():
        table.add_column(no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table


def _print_distribution(console: "Console", distribution: "Distribution") -> None:
    from rich.text import Text

    title = f"{distribution.name[:1].upper()}{distribution.name[1:]}"
    facts = f"  median {distribution.median:,}, mean {distribution.mean:.1f}, most {distribution.most:,}"
    console.print()
    console.print(Text.assemble((title, "bold"), (facts, "dim")), soft_wrap=True)
    largest = max(b.number for b in distribution.bins)
    console.print(
        _table("right left right", ((b.name, _bar(b.number, largest), f"{b.number:,}") for b in distribution.bins))
    )
    if distribution.top:
        most = ", ".join(f"{name} {number:,}" for name, number in distribution.top)
        console.print(Text(f"most: {most}", "dim"), soft_wrap=True)


def _bar(number: int, largest: int) -> "Bar":
    from rich.bar import Bar

    return Bar(largest, 0, number, width=_BAR, color="cyan")


def _print_finding(console: "Console", finding: "Finding") -> None:
    from rich.text import Text

    from kgrag.cli.evidence import print_indented

    mark, style = _MARKS[finding.level]
    console.print(Text.assemble((mark, style), " ", finding.message), soft_wrap=not console.is_terminal)
    if finding.examples:
        print_indented(console, Text("; ".join(finding.examples), "cyan"), 4)
    print_indented(console, Text(finding.remedy, "dim"), 4)
