"""kgrag eval: how well and how fast the retrievers find what the questions of a set need."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars, stdout_console
from kgrag.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgrag.client import KnowledgeGraph
    from kgrag.evaluation.datasets import Dataset, Question
    from kgrag.types import Progress

_SHOWN = 10  # lines of a list of complaints


@click.command("eval")
@click.argument("dataset_dir", type=click.Path(path_type=Path))
@click.option(
    "-r", "--retriever", "names", multiple=True, metavar="NAME", help="What to measure; repeatable.  [default: all]"
)
@click.option("--embedder", metavar="NAME", help="wordllama, minilm, sbert:MODEL or openai:MODEL.")
@click.option("-c", "--collection", metavar="NAME", help="Where to ingest.  [default: one of the set's own]")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@as_json
def evaluate(
    dataset_dir: Path,
    names: tuple[str, ...],
    embedder: str | None,
    collection: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Measure retrievers on a question set.

    DATASET_DIR holds corpus.jsonl (id, title, text), queries.jsonl (id, question, gold: ids of the corpus) and perhaps
    triples.jsonl (passage, subject, predicate, object). What is not there yet is ingested into a collection of its
    own, eval-FOLDER-EMBEDDER-HASH; later runs pass over what did not change. Documents that were since taken out of
    the corpus stay in the collection: delete it with `kgrag delete --collection NAME` to start anew.

    R@k is the mean share, in per cent, of a question's gold among the first k documents; perfect@8 the share of
    questions with all gold among the first 8. A document counts once, where its first passage stands. Latency is one
    search for 15 passages, embedding of the question included, after 10 questions to warm up, one at a time.

    \b
    kgrag eval bench/musique
    kgrag eval bench/musique --retriever bm25 --retriever hybrid --embedder minilm
    kgrag eval bench/musique --limit 20 --json | jq '.systems.hybrid."R@5"'
    """
    from kgrag.evaluation.datasets import read_dataset
    from kgrag.evaluation.experiment import run, table
    from kgrag.retrieval.registry import RETRIEVERS

    names = tuple(dict.fromkeys(names or RETRIEVERS))
    unknown = [name for name in names if name not in RETRIEVERS]
    if unknown:
        raise NotFoundError(f"There is no retriever {unknown[0]!r}.", f"Choose one of: {', '.join(RETRIEVERS)}.")
    dataset = read_dataset(dataset_dir)
    questions = dataset.questions[:limit]
    _report_unreachable(dataset, questions)
    settings = load_settings()
    with connect(settings) as kg, progress_bars() as progress:
        collection = collection or dataset.collection(embedder or settings.embedder)
        embedder = _ingest(kg, dataset, collection, embedder, progress)
        systems = {name: kg.retriever(name, collection) for name in names}
        rows = table(run(systems, questions, progress))
    if as_json:
        print_json({"dataset": dataset.name, "embedder": embedder, "systems": rows})
    else:
        _print_table(f"{dataset.name}: {len(questions)} questions, {embedder}", rows)


def _ingest(
    kg: "KnowledgeGraph", dataset: "Dataset", collection: str, embedder: str | None, progress: "Progress"
) -> str:
    """Bring the collection up to date with the corpus; returns the name of its embedder."""
    from kgrag.graph.collections import describe, open_collection

    documents = dataset.documents(kg.settings.max_file_mb)
    report = kg.ingest(documents, collection, embedder=embedder, progress=progress)
    if report.problems:
        _complain("What could not be read:", [f"{p.place}: {p.message}" for p in report.problems])
    info = describe(kg.graph, open_collection(kg.graph, collection))
    others = info.counts.get("Document", 0) - report.added - report.changed - report.unchanged
    if others > 0:
        note(
            f"Collection {collection} holds {others} documents that the corpus does not have; they are searched, too. "
            f"`kgrag delete --collection {collection}` and another run start anew."
        )
    return info.embedder


def _report_unreachable(dataset: "Dataset", questions: "Sequence[Question]") -> None:
    missing = dataset.unreachable(questions)
    if missing:
        head = f"{len(missing)} of {len(questions)} questions have gold that is not in the corpus and cannot be found:"
        _complain(head, [f"{id}: {', '.join(keys)}" for id, keys in missing.items()])


def _complain(head: str, lines: "Sequence[str]") -> None:
    """Print a list on standard error, the first of many lines."""
    note(head)
    for line in lines[:_SHOWN]:
        note(f"  {line}")
    if len(lines) > _SHOWN:
        note(f"  ... and {len(lines) - _SHOWN:,} more")


def _print_table(title: str, rows: dict[str, dict[str, float]]) -> None:
    from rich.table import Table

    shown = Table(title=title, title_justify="left")
    measures = [measure for measure in next(iter(rows.values())) if measure != "questions"]
    shown.add_column("retriever")
    for measure in measures:
        shown.add_column(measure, justify="right")
    for name, row in rows.items():
        shown.add_row(name, *(f"{row[m]:.3f}" if m.startswith("perfect") else f"{row[m]:.1f}" for m in measures))
    stdout_console().print(shown)
