"""What the commands that measure share: notes on a question set, and its corpus in the graph."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.console import note, print_list, print_table, progress_bars
from kgrag.values.events import Progress

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.evaluation.datasets import Dataset
    from kgrag.evaluation.report import Sheet


def print_notes(data: "Dataset") -> None:
    """Print on standard error what was left out of the data, and which gold or answers cannot be found."""
    from kgrag.evaluation.gold import unanswerable

    for text in data.notes:
        note(text)
    without_gold = [q for q in data.questions if not q.gold and q.answers]
    if without_gold and (lost := unanswerable(without_gold, data.documents())):
        head = f"{len(lost)} of {len(data.questions)} questions have answers that stand in no document of the corpus:"
        print_list(head, [f"{q.id}: {', '.join(q.answers)}" for q in lost])
    if missing := data.unreachable(data.questions):
        total = len(data.questions)
        head = f"{len(missing)} of {total} questions have gold that is not in the corpus and cannot be found:"
        print_list(head, [f"{id}: {', '.join(keys)}" for id, keys in missing.items()])


def whole_articles(data: "Dataset", extract: Path | None) -> "Dataset":
    """The data set with the whole articles of an extract of Wikipedia in place of its paragraphs; None: as it is."""
    if extract is None:
        return data
    from kgrag.evaluation.articles import articles

    with progress_bars() as progress:
        return articles(data, extract, progress)


def ingest(
    kg: "KnowledgeGraph", data: "Dataset", collection: str | None, embedder: str | None, progress: Progress
) -> "Collection":
    """Bring the collection up to date with the corpus, by default the corpus's own; say what is wrong with it."""
    done = data.ingest(kg, collection=collection, embedder=embedder, progress=progress)
    if done.report.problems:
        print_list("What could not be read:", [f"{p.place}: {p.message}" for p in done.report.problems])
    if done.others:
        name = done.collection.name
        note(
            f"Collection {name} holds {done.others} documents that the corpus does not have; they are searched, too. "
            f"`kgrag delete --collection {name}` and another run start again."
        )
    return done.collection


def print_sheet(sheet: "Sheet") -> None:
    """Print a table on standard output; what is noise is dimmed."""
    from kgrag.evaluation.report import NAMED

    print_table(sheet.head, sheet.rows, left=NAMED, title=sheet.title, dimmed="noise")


dataset_argument = click.argument("dataset", type=click.Path(path_type=Path))
limit_option = click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
sample_option = click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Only N questions, drawn by --seed from all of them."
)
at_option = click.option(
    "--at",
    type=click.IntRange(1),
    multiple=True,
    metavar="K",
    help="Give R@K and perfect@K; repeatable, replaces the usual.",
)
format_option = click.option("--format", metavar="NAME", help="Read the data as this format, whatever it looks like.")
