"""kgrag demo: a small corpus, three questions, and where to look at the graph."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
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

    It ingests the corpus, asks three questions, and says where to look at the graph. No question can be answered from
    one article: the answer is in the last of a chain of articles. The corpus goes into the collection "demo"; a second
    run ingests nothing twice. The first search is kept as a run, which the guide in Neo4j Browser shows.

    \b
    kgrag demo
    kgrag search "Which king founded the birthplace of the captain of the Vega?" -c demo
    kgrag delete --collection demo --yes                  remove it again
    """
    from kgrag.demo import COLLECTION, corpus, questions

    settings = load_settings()
    examples = questions()[:QUESTIONS]
    with connect(settings) as kg:
        with corpus() as folder, progress_bars() as progress:
            report = kg[COLLECTION].ingest(folder, root=folder, progress=progress)
        retriever = kg[COLLECTION].retriever()
        rankings = [retriever.retrieve(question.question, PASSAGES) for question in examples]
        if all(run.question != examples[0].question for run in kg[COLLECTION].runs()):
            kg[COLLECTION].save(rankings[0])
    place = _browser(settings)
    if as_json:
        answers = [_answer_json(q, r) for q, r in zip(examples, rankings, strict=True)]
        print_json({"collection": COLLECTION, "ingest": report, "questions": answers, **place})
        return
    from kgrag.cli.documents import print_problems, summary

    click.echo(next(summary(report, COLLECTION)))
    print_problems(report.problems)
    for question, ranking in zip(examples, rankings, strict=True):
        _print_question(question, ranking)
    click.echo("\nLook at the graph in Neo4j Browser:")
    for title, value in place.items():
        click.echo(f"  {title.replace('_', ' '):<14}{value}")
    program = _program()
    click.echo(f"  `{program} browser` opens it, connection filled in; a guide goes through the graph in ten steps.")
    click.echo(f'\nAsk it something: {program} search "..." -c {COLLECTION}')
    click.echo(f"Your own files:   {program} ingest PATH... -c NAME")


def _print_question(question: "Question", ranking: "Ranking") -> None:
    """Print the question, how far the search gets on the way to its answer, and the hits up to there.

    The excerpt of the article that holds the answer is the part that says it.
    """
    from kgrag.cli.evidence import print_ranking

    click.echo("\n" + click.style(question.question, bold=True))
    titles = _titles_in_hits(question, ranking)
    click.echo(progress_of(question, titles))
    end = max((i for i, hit in enumerate(ranking, 1) if hit.passage.title in titles), default=len(ranking))
    part = replace(ranking, query=f"{question.question} {question.answer}", hits=ranking.hits[:end])
    print_ranking(part, marked=question.documents, width=_WIDTH, why=True)


def progress_of(question: "Question", titles: Sequence[str]) -> str:
    """Return a sentence that tells how many articles of the chain to the answer the search found.

    Args:
        question: the question with the titles of the articles that lead to its answer.
        titles: those of these titles that are among the first passages, in the same order.
    """
    way = " → ".join(titles)
    if len(titles) == len(question.documents):
        return f"Known answer: {question.answer}. The search finds each article on the way to it (✓): {way}"
    if not titles:
        return f"None of the articles that lead to the answer is among the first {PASSAGES} passages."
    missing = "the article with the answer" if question.documents[-1] not in titles else "every article on the way"
    return f"Among the first {PASSAGES} passages the search finds {way} (✓), but not {missing}."


def _program() -> str:
    """Return how to call kgrag: by its name where the shell finds it, else by its path."""
    path = Path(sys.argv[0])
    return "kgrag" if path.name != "kgrag" or shutil.which("kgrag") else str(path)


def _answer_json(question: "Question", ranking: "Ranking") -> dict[str, Any]:
    from kgrag.values.forms import plain

    expected = {"answer": question.answer, "documents": question.documents, "found": _titles_in_hits(question, ranking)}
    return {**expected, **plain(ranking)}


def _titles_in_hits(question: "Question", ranking: "Ranking") -> list[str]:
    """Return the titles of the question's chain that are among the hits."""
    titles = {hit.passage.title for hit in ranking}
    return [title for title in question.documents if title in titles]


def _browser(settings: "Settings") -> dict[str, str]:
    """Return the address of Neo4j Browser, and the login."""
    if settings.neo4j_uri is not None:
        return {"connect_to": settings.neo4j_uri, "user": settings.neo4j_user, "password_in": "KGRAG_NEO4J_PASSWORD"}
    from kgrag.graph.local.server import LocalServer

    server = LocalServer(settings)
    state = server.status()
    return {
        "address": state.browser_url or "see `kgrag db status`",
        "user": "neo4j",
        "password_in": str(server.password_path),
    }
