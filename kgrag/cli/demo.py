"""kgrag demo: a small corpus, three questions, and where to look at the graph."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, print_json, progress_bars

if TYPE_CHECKING:
    from kgrag.demo import Question
    from kgrag.settings import Settings
    from kgrag.values.results import Ranking

QUESTIONS = 3
PASSAGES = 6
_WIDTH = 160


@click.command()
@as_json
def demo(as_json: bool) -> None:
    """Try kgrag on a small corpus on polar ships.

    Ingests the corpus, asks it three questions, and says where to look at the graph. No question can be answered from
    one article: the answer lies at the end of a chain of articles. The corpus goes into the collection "demo"; run
    again, nothing is ingested twice. The first search is kept as a run, which the guide in Neo4j Browser shows.

    \b
    kgrag demo
    kgrag search "Which king founded the birthplace of the captain of the Vega?" -c demo
    kgrag delete --collection demo --yes                  remove it again
    """
    from kgrag.demo import COLLECTION, corpus, questions

    settings = load_settings()
    asked = questions()[:QUESTIONS]
    with connect(settings) as kg:
        with corpus() as folder, progress_bars() as progress:
            report = kg[COLLECTION].ingest(folder, root=folder, progress=progress)
        retriever = kg[COLLECTION].retriever()
        rankings = [retriever.retrieve(question.question, PASSAGES) for question in asked]
        if all(run.question != asked[0].question for run in kg[COLLECTION].runs()):
            kg[COLLECTION].save(rankings[0])
    place = _browser(settings)
    if as_json:
        answers = [_answer_json(q, r) for q, r in zip(asked, rankings, strict=True)]
        print_json({"collection": COLLECTION, "ingest": report, "questions": answers, **place})
        return
    from kgrag.cli.documents import print_problems, summary

    for line in summary(report, COLLECTION):
        click.echo(line)
    print_problems(report.problems)
    for question, ranking in zip(asked, rankings, strict=True):
        _print_question(question, ranking)
    click.echo("\nLook at the graph in Neo4j Browser:")
    for title, value in place.items():
        click.echo(f"  {title.replace('_', ' '):<14}{value}")
    click.echo("  `kgrag browser` opens it, connection filled in; a guide goes through the graph in ten steps.")
    click.echo(f'\nAsk it something: kgrag search "..." -c {COLLECTION}      your own files: kgrag ingest PATH...')


def _print_question(question: "Question", ranking: "Ranking") -> None:
    """The question, its chain, and the hits up to the last that belongs to the chain."""
    from kgrag.cli.evidence import print_ranking

    click.echo("\n" + click.style(question.question, bold=True))
    found = _found(question, ranking)
    chain = " → ".join(f"{title} {'✓' if title in found else '(not found)'}" for title in question.documents)
    click.echo(f"The chain to find: {chain}, which says: {question.answer}")
    end = max((i for i, hit in enumerate(ranking, 1) if hit.passage.title in found), default=len(ranking))
    print_ranking(replace(ranking, hits=ranking.hits[:end]), marked=question.documents, width=_WIDTH, why=True)


def _answer_json(question: "Question", ranking: "Ranking") -> dict[str, Any]:
    from kgrag.wire import plain

    expected = {"answer": question.answer, "documents": question.documents, "found": _found(question, ranking)}
    return {**expected, **plain(ranking)}


def _found(question: "Question", ranking: "Ranking") -> list[str]:
    """The titles of the question's chain that are among the hits."""
    titles = {hit.passage.title for hit in ranking}
    return [title for title in question.documents if title in titles]


def _browser(settings: "Settings") -> dict[str, str]:
    """Where Neo4j Browser is, and how to log in."""
    if settings.neo4j_uri is not None:
        return {"connect_to": settings.neo4j_uri, "user": settings.neo4j_user, "password_in": "KGRAG_NEO4J_PASSWORD"}
    from kgrag.graph.local import LocalServer

    server = LocalServer(settings)
    state = server.status()
    return {
        "address": state.browser_url or "see `kgrag db status`",
        "user": "neo4j",
        "password_in": str(server.password_path),
    }
