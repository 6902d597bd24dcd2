"""kgrag search, show: questions, and what lies around a passage."""

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import (
    as_json,
    choose_collection,
    choose_collections,
    collection_option,
    connect,
    filter_options,
    import_driver,
    knowledge_option,
    question_argument,
)
from kgrag.cli.console import note, print_json, print_table
from kgrag.cli.runs import print_drawing

if TYPE_CHECKING:
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.values.results import Passage, Range, Scalar
    from kgrag.values.rows import Rows

_OPERATORS = re.compile(r'"[^"]*"|(?:^|\s)-\w|\b(?:AND|OR|NOT)\b|\w\*')


@click.command()
@question_argument
@collection_option()
@click.option("-r", "--retriever", metavar="NAME", help="Retriever, or several composed: see `kgrag list retrievers`.")
@click.option("-k", default=8, show_default=True, type=click.IntRange(1), help="Number of passages.")
@filter_options
@knowledge_option
@click.option("--why", is_flag=True, help="Show the trail that led to each passage.")
@click.option("--save", is_flag=True, help="Keep the search and its passages in the graph, for Neo4j Browser.")
@as_json
def search(
    question: str,
    collection: str | None,
    retriever: str | None,
    k: int,
    where: "list[tuple[str, Scalar | Range]]",
    source: str | None,
    since: str | None,
    as_of: str,
    knowledge: tuple[str, ...],
    why: bool,
    save: bool,
    as_json: bool,
) -> None:
    """Find the passages that answer a question.

    Each hit shows its title, id and score, and the most relevant part of its text with the question's words marked;
    with --why also the trail through the graph that led to it. Scores are comparable only within one search. A question
    has no operators: quotes, -, *, AND, OR and NOT are ignored or ordinary words. Exclude documents with --where.

    \b
    kgrag search "Who designed the Fram?"
    kgrag search "Who designed the Fram?" -c demo -k 3 --retriever bm25
    kgrag search "Who designed the Fram?" --why            and the trail that led to each passage
    kgrag search "Who designed the Fram?" -c "ships, people"             of several collections, ranked together
    kgrag search "Who designed the Fram?" -r "rrf(hybrid, pathrank(cap=20))"
    kgrag search "sea ice" --where author=Nansen --where year=1897
    kgrag search "sea ice" --where year=1890..1899 --where date=..1897-06
    kgrag search "sea ice" --source reports/ --since 2024-05
    kgrag search "Who was prime minister?" --as-of 1905-06       leaves out what did not hold then, by a schema of facts
    kgrag search "Who designed the Fram?" --knowledge wikidata
    kgrag search "Who designed the Fram?" --save           then `kgrag list runs`, or the Cypher that it prints
    kgrag search "Who designed the Fram?" --json | jq -r '.hits[].passage.title'
    """
    import_driver()
    from kgrag.retrieval.base import DEFAULT_RETRIEVER, check_retriever
    from kgrag.values.results import Filter

    retriever = check_retriever(retriever or DEFAULT_RETRIEVER)
    only = Filter(where, source, since, as_of)
    with connect() as kg:
        searched = choose_collections(kg, collection, save=save)
        name = searched.name
        searcher = searched.retriever(retriever)
        started = time.monotonic()
        ranking = searched.search(question, k=k, retriever=searcher, filter=only, knowledge=knowledge)
        seconds = time.monotonic() - started
        run = kg[name].save(ranking) if save else None
    from kgrag.cli.evidence import print_ranking
    from kgrag.wire import to_json

    if as_json:
        print_json(to_json(ranking, collection=name, seconds=round(seconds, 4), **({"run": run} if save else {})))
        return
    print_ranking(ranking, why=why)
    if len(ranking):
        count = "1 passage" if len(ranking) == 1 else f"{len(ranking)} passages"
        note(f"{count} of {name} by {ranking.retriever} in {seconds * 1000:.0f} ms")
    else:
        hint = "perhaps no document fits --where, --source and --since." if only else "try other words."
        note(f"Nothing found in {name}; {hint}")
    if _OPERATORS.search(question):
        note("A question has no operators: quotes, -, *, AND, OR and NOT are ignored or words like others.")
    if run is not None:
        print_drawing(run)


@click.command()
@click.argument("passage")
@collection_option("Look only in this collection.")
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1), help="Maximum number of edges of each kind."
)
@click.option("--figures", is_flag=True, help="The figures of the document PASSAGE, and where their pictures are.")
@click.option("--history", is_flag=True, help="The facts about the name PASSAGE in the order of time.")
@click.option("--as-of", metavar="DATE", help="With --history: only what held then (1912, 1912-03 or 1912-03-07).")
@as_json
def show(
    passage: str, collection: str | None, limit: int, figures: bool, history: bool, as_of: str | None, as_json: bool
) -> None:
    """Show a passage and its surroundings, or a name's history.

    It shows the text, its source, and the connected nodes by kind of edge.

    PASSAGE is an id that `kgrag search` shows (6 or more of its first digits), or the key or title of a document, which
    means its first passage. Without --collection every collection is searched.

    \b
    kgrag show eea138ef
    kgrag show "Fram (ship)" --collection demo
    kgrag show eea138ef --json
    kgrag show report.pdf --figures
    kgrag show "Colin Archer" --history --as-of 1892     facts that held then (kgrag enrich schema)
    """
    from kgrag.cli.evidence import print_passage
    from kgrag.wire import VERSION

    if as_of and not history:
        raise click.UsageError("--as-of goes with --history.")
    with connect() as kg:
        if history:
            name = choose_collection(kg, collection)
            _print_history(kg[name].history(passage, as_of=as_of or ""), passage, name, as_of, as_json)
            return
        match = kg.passage(passage, collection)
        if figures:
            _print_figures(kg, match, as_json)
            return
        edges = kg.neighbourhood(match.id, limit)
    if as_json:
        print_json({"version": VERSION, "passage": match, "edges": edges})
    else:
        print_passage(match, edges)


def _print_figures(kg: "KnowledgeGraph", of: "Passage", as_json: bool) -> None:
    """Print the figures of the document of a passage, one a line, with the files of their pictures."""
    from kgrag.indexing.figure_files import FigureFiles
    from kgrag.values.forms import plain

    files = FigureFiles(kg.settings.home, of.collection)
    figures = kg[of.collection].document(of.document).figures
    rows = [(figure, str(files.path_of(kg.graph, figure.id) or "")) for figure in figures]
    if as_json:
        print_json({"document": of.document, "figures": [{**plain(figure), "file": file} for figure, file in rows]})
        return
    cells = [(str(each.number), str(each.page or ""), each.caption, file) for each, file in rows]
    print_table(("figure", "page", "caption", "picture"), cells, left=("caption", "picture"))


def _print_history(rows: "Rows", name: str, collection: str, as_of: str | None, as_json: bool) -> None:
    """Print the facts about a name, one a line, with since and until when."""
    records = list(rows)
    if as_json:
        print_json({"collection": collection, "name": name, "facts": records})
        return
    if not records:
        more = "leave out --as-of for the whole history" if as_of else "`kgrag enrich schema` and `extract` find facts"
        note(f"Nothing is known of {name} {f'as of {as_of}' if as_of else 'there'}; {more}.")
        return

    def until(record: Mapping[str, Any]) -> str:
        ended_by = record["ended_by"]
        return (record["valid_to"] or "") + (f" (then {ended_by})" if ended_by else "")

    def since(record: Mapping[str, Any]) -> str:
        return record["valid_from"] or (f"stated {record['stated_at']}" if record["stated_at"] else "")

    head = ("subject", "predicate", "object", "since", "until", "passages")
    print_table(
        head,
        [(r["subject"], r["predicate"], r["object"], since(r), until(r), str(len(r["passages"]))) for r in records],
        left=head[:-1],
    )
    if rows.cut:
        note(rows.cut)
