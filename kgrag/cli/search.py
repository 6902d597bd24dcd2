"""kgrag search, show, retrievers: questions, and what lies around a passage."""

import time
from contextlib import suppress
from datetime import datetime

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect
from kgrag.cli.console import note, print_json


def parse_since(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A day or a moment in ISO form, local time without a zone; a year or a month stand for their first day."""
    if value is None:
        return None
    for rest in ("", "-01", "-01-01"):
        with suppress(ValueError):
            return datetime.fromisoformat(f"{value.strip()}{rest}")
    raise click.BadParameter(f"{value!r} is not a date; write 2024, 2024-05-31 or 2024-05-31T12:00+02:00.")


def parse_where(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Conditions key=value as a map."""
    conditions = {}
    for value in values:
        key, sign, wanted = value.partition("=")
        if not sign or not key.strip():
            raise click.BadParameter(f"{value!r} is not of the form key=value.")
        conditions[key.strip()] = wanted.strip()
    return conditions


@click.command()
@click.argument("question", nargs=-1, required=True)
@collection_option("Which collection; without it, default or the only one there is.")
@click.option(
    "-r", "--retriever", metavar="NAME", help="How to search: one that `kgrag retrievers` lists, or several composed."
)
@click.option("-k", default=8, show_default=True, type=click.IntRange(1), help="How many passages.")
@click.option(
    "--where",
    multiple=True,
    callback=parse_where,
    metavar="KEY=VALUE",
    help="Only documents with this metadata; repeated, all of it.",
)
@click.option("--source", metavar="TEXT", help="Only documents whose source (path or address) contains this.")
@click.option(
    "--since", callback=parse_since, metavar="DATE", help="Only documents written to the graph at or after this time."
)
@as_json
def search(
    question: tuple[str, ...],
    collection: str | None,
    retriever: str | None,
    k: int,
    where: dict[str, str],
    source: str | None,
    since: datetime | None,
    as_json: bool,
) -> None:
    """Find the passages that answer a question.

    Each hit shows its rank, score, id, title, the part of its text that says most, with the question's words marked,
    and the trail that led to it. Scores are comparable only within one search.

    \b
    kgrag search "Who designed the Fram?"
    kgrag search "Who designed the Fram?" -c demo -k 3 --retriever bm25
    kgrag search "Who designed the Fram?" -r "rrf(hybrid, pathrank(cap=20))"
    kgrag search "sea ice" --where author=Nansen --where year=1897
    kgrag search "sea ice" --source reports/ --since 2024-05
    kgrag search "Who designed the Fram?" --json | jq -r '.hits[].passage.title'
    """
    text = " ".join(question).strip()
    if not text:
        raise click.UsageError("The question is empty.")
    from kgrag.retrieval.base import Query
    from kgrag.retrieval.registry import DEFAULT_RETRIEVER, check_retriever
    from kgrag.types import Filter

    retriever = check_retriever(retriever or DEFAULT_RETRIEVER)
    only = Filter(where, source, since)
    with connect() as kg:
        name = choose_collection(kg, collection)
        searcher = kg.retriever(retriever, name)
        started = time.monotonic()
        ranking = searcher.retrieve(Query(text, only), k)
        seconds = time.monotonic() - started
    from kgrag.cli.evidence import print_ranking, ranking_json

    if as_json:
        print_json({**ranking_json(ranking), "collection": name, "seconds": round(seconds, 4)})
        return
    print_ranking(ranking)
    if len(ranking):
        found = "1 passage" if len(ranking) == 1 else f"{len(ranking)} passages"
        note(f"{found} of {name} by {ranking.retriever} in {seconds * 1000:.0f} ms")
    else:
        hint = "perhaps no document fits --where, --source and --since." if only else "try other words."
        note(f"Nothing found in {name}; {hint}")


@click.command()
@click.argument("passage")
@collection_option("Look only there.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many edges of each kind.")
@as_json
def show(passage: str, collection: str | None, limit: int, as_json: bool) -> None:
    """Show a passage and its surroundings in the graph.

    That is its text, where it comes from, and the nodes it is connected to, by kind of edge.

    PASSAGE is (the first 6 or more digits of) an id that `kgrag search` shows, or a document's key or title, which
    stands for its first passage. Every collection is looked through unless one is named.

    \b
    kgrag show eea138ef
    kgrag show "Fram (ship)" --collection demo
    kgrag show eea138ef --json
    """
    from kgrag.cli.evidence import print_passage

    with connect() as kg:
        found = kg.passage(passage, collection)
        edges = kg.neighbourhood(found.id, limit)
    if as_json:
        print_json({"passage": found, "edges": edges})
    else:
        print_passage(found, edges)


@click.command()
@as_json
def retrievers(as_json: bool) -> None:
    """List the ways to search, for `kgrag search --retriever NAME`.

    They compose: NAME(OTHER, ...) works on what others find, and OPTION=VALUE sets one of its constants (those of
    kgrag/settings/) for this search alone.

    \b
    kgrag retrievers
    kgrag search "..." --retriever "rrf(hybrid, pathrank)"
    kgrag search "..." --retriever "rrf(bm25, pathrank(cap=20, omega=0), rrf=30)"
    """
    from kgrag.retrieval.registry import DEFAULT_RETRIEVER, RETRIEVERS

    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "summary": entry.summary,
                    "over": list(entry.over),
                    "default": name == DEFAULT_RETRIEVER,
                }
                for name, entry in RETRIEVERS.items()
            ]
        )
        return
    width = max(map(len, RETRIEVERS))
    for name, entry in RETRIEVERS.items():
        click.echo(f"{name:<{width}}  {entry.summary}{' (the default)' if name == DEFAULT_RETRIEVER else ''}")
