"""kgrag eval: how well and how fast the retrievers find what the questions of a set need."""

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars, stdout_console

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kgrag.client import KnowledgeGraph
    from kgrag.evaluation.datasets import Dataset
    from kgrag.evaluation.experiment import Record
    from kgrag.evaluation.report import Sheet
    from kgrag.types import Document, Problem, Progress

_SHOWN = 10  # lines of a list of complaints
_PATH = click.Path(path_type=Path)


@click.command("eval")
@click.argument("dataset", type=_PATH)
@click.option(
    "-r",
    "--retriever",
    "names",
    multiple=True,
    metavar="EXPR",
    help="What to measure, a name or an expression such as 'rrf(bm25, pathrank)'; repeatable.  "
    "[default: those that need nothing but the graph]",
)
@click.option("--embedder", metavar="NAME", help="wordllama, minilm, sbert:MODEL or openai:MODEL.")
@click.option("-c", "--collection", metavar="NAME", help="Where to ingest.  [default: one of the corpus's own]")
@click.option("--format", "format", metavar="NAME", help="Read the data as this format, whatever it looks like.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option(
    "--depth",
    type=click.IntRange(1, 1000),
    metavar="K",
    default=15,
    show_default=True,
    help="How deep to look, and what latency is of.",
)
@click.option("--by", type=click.Choice(["type", "hops"]), multiple=True, help="Break the table down; repeatable.")
@click.option("--baseline", metavar="EXPR", help="Compare each retriever with this one; say what is noise.")
@click.option(
    "--seed", type=int, metavar="N", default=0, show_default=True, help="Of the resampling and of the misspellings."
)
@click.option(
    "--perturb",
    type=click.Choice(["typo", "lower"]),
    help="Misspell a name in each question, or write it in lower case.",
)
@click.option("--join", type=click.IntRange(2), metavar="N", help="Join every N documents into a long one.")
@click.option("--with", "others", type=_PATH, multiple=True, metavar="DATASET", help="Search this, too; repeatable.")
@click.option("--out", type=_PATH, metavar="DIR", help="Keep each question's record there, and go on from them.")
@click.option("--plot", "picture", type=_PATH, metavar="FILE", help="Draw recall against latency: .png, .svg or .pdf.")
@click.option("--markdown", is_flag=True, help="Print Markdown: tables, the command, the machine.")
@as_json
@click.pass_context
def evaluate(
    context: click.Context,
    dataset: Path,
    names: tuple[str, ...],
    embedder: str | None,
    collection: str | None,
    format: str | None,
    limit: int | None,
    depth: int,
    by: tuple[str, ...],
    baseline: str | None,
    seed: int,
    perturb: str | None,
    join: int | None,
    others: tuple[Path, ...],
    out: Path | None,
    picture: Path | None,
    markdown: bool,
    as_json: bool,
) -> None:
    """Measure retrievers on a question set.

    DATASET is a folder with corpus.jsonl (id, title, text), queries.jsonl (id, question, gold: ids of the corpus, and
    perhaps answers, type, steps) and perhaps triples.jsonl (passage, subject, predicate, object); or the published
    files of HotpotQA, 2WikiMultiHopQA, MuSiQue, IIRC, QuALITY, PopQA or BEIR, recognised by their content. What is not
    there yet is ingested into a collection of its own, eval-NAME-EMBEDDER-HASH; later runs pass over what did not
    change. Documents that were since taken out of the corpus stay: `kgrag delete --collection NAME` to start anew.

    R@k is the mean share, in per cent, of a question's gold among the first k documents; perfect@8 the share of
    questions with all gold among the first 8; MRR the mean of 1 / rank of the first gold; nDCG@10 weighs gold by its
    rank. A document counts once, where its first passage stands. Latency is one search for 15 passages (--depth),
    embedding of the question included, after 10 questions to warm up, one at a time.

    --baseline gives the mean difference of each retriever on the same questions with its 95 % interval, by a paired
    bootstrap of 10,000 resamples; where the interval includes 0, the difference is noise. With --join, k counts
    passages, and gold is found where half of its text is.

    \b
    kgrag eval bench/musique
    kgrag eval hotpot_dev_distractor_v1.json -r bm25 -r 'rrf(bm25, pathrank)' --baseline bm25 --by type
    kgrag eval bench/2wiki --perturb typo --out runs/ --plot recall.png
    kgrag eval bench/musique --with bench/2wiki --with bench/hotpotqa --join 10 --markdown
    kgrag eval bench/musique --limit 20 --json | jq '.systems.hybrid."R@5"'
    """
    if markdown and as_json:
        raise click.UsageError("--json and --markdown exclude each other.")
    from kgrag.evaluation import plot, records, report, variants
    from kgrag.evaluation.readers import read_dataset
    from kgrag.retrieval.registry import RETRIEVERS, check_retriever

    plain = (name for name, entry in RETRIEVERS.items() if not entry.several and not entry.needs)
    expressions = [check_retriever(name) for name in names or plain]
    if baseline is not None:
        baseline = check_retriever(baseline)
        expressions = [*expressions, baseline]
    expressions = list(dict.fromkeys(expressions))
    if picture is not None:
        plot.check_plot(picture)
    if out is not None:
        records.check_folder(out)
    data = read_dataset(dataset, format)
    if others:
        data = variants.merge(data, [read_dataset(other) for other in others])
    if join is not None:
        data = variants.join(data, join)
    _report_dataset(data, limit)
    if perturb is not None:
        change = variants.PERTURBATIONS[perturb]
        data = data.with_questions(change(question, seed) for question in data.questions)
    settings = load_settings()
    with connect(settings) as kg:
        collection = collection or data.collection(embedder or settings.embedder)
        with progress_bars() as progress:
            subject = _ingest(kg, data, collection, embedder, progress)
            answered = _run(kg, data.first(limit), collection, expressions, depth, out, subject, progress)
        machine = report.machine(str(kg.graph.run("schema/server_version")[0]["version"]))
    title = f"{data.name}: {len(data.first(limit).questions)} questions, {subject['embedder']}"
    title += f", {perturb} (seed {seed})" if perturb == "typo" else ", lower case" if perturb else ""
    found = report.Report.of(title, answered, depth, by, baseline, seed)
    for system, failed in found.errors.items():
        _complain(
            f"{system} failed on {len(failed)} questions, which count as finding nothing:",
            [f"{id}: {error}" for id, error in failed.items()],
        )
    if picture is not None:
        plot.plot(found.rows, title, picture)
        note(f"Drawn: {picture}")
    if as_json:
        head = {"dataset": data.name, "embedder": subject["embedder"], "collection": collection}
        conditions = {"depth": depth, "seed": seed, "perturb": perturb, "machine": machine}
        print_json({**head, **found.values(), **conditions})
    elif markdown:
        click.echo(report.markdown(found.sheets(), _command(context), machine))
    else:
        _print(found.sheets())


def _ingest(
    kg: "KnowledgeGraph", data: "Dataset", collection: str, embedder: str | None, progress: "Progress"
) -> dict[str, Any]:
    """Bring the collection up to date with the corpus; returns what is searched and how, down to the settings."""
    from kgrag import __version__
    from kgrag.graph.collections import describe, open_collection
    from kgrag.identity import content_hash
    from kgrag.types import Document

    digest = 0

    def documents() -> "Iterator[Document | Problem]":
        nonlocal digest
        for item in data.documents(kg.settings.max_file_mb):
            if isinstance(item, Document):  # a sum, so that the order does not matter
                digest = (digest + int(content_hash(item), 16)) % 2**128
            yield item

    report = kg.ingest(documents(), collection, embedder=embedder, progress=progress)
    if report.problems:
        _complain("What could not be read:", [f"{p.place}: {p.message}" for p in report.problems])
    opened = open_collection(kg.graph, collection)
    total = describe(kg.graph, opened).counts.get("Document", 0)
    others = total - report.added - report.changed - report.unchanged
    if others > 0:
        note(
            f"Collection {collection} holds {others} documents that the corpus does not have; they are searched, too. "
            f"`kgrag delete --collection {collection}` and another run start anew."
        )
    return {
        "kgrag": __version__,
        "embedder": opened.embedder,
        "documents": total,
        "corpus": f"{digest:032x}",
        "indexing": opened.indexing.model_dump(mode="json"),
        "retrieval": kg.settings.retrieval.model_dump(mode="json"),
    }


def _run(
    kg: "KnowledgeGraph",
    data: "Dataset",
    collection: str,
    expressions: "Sequence[str]",
    depth: int,
    out: Path | None,
    subject: dict[str, Any],
    progress: "Progress",
) -> "list[Record]":
    from kgrag.evaluation.experiment import run
    from kgrag.evaluation.records import RecordFile

    systems = {name: kg.retriever(name, collection) for name in expressions}
    subject = {**subject, "dataset": data.name, "depth": depth, "gold": "text" if data.gold_texts else "document"}
    with ExitStack() as stack:
        logs = {n: stack.enter_context(RecordFile(out, n, subject)) for n in expressions} if out is not None else {}
        known = sum(log.find(q) is not None for log in logs.values() for q in data.questions)
        if known:
            note(f"{known} of {len(systems) * len(data.questions)} records are in {out} already.")
        try:
            return run(systems, data.questions, progress, depth=depth, gold_texts=data.gold_texts, logs=logs)
        except BaseException:
            if logs:
                note(f"What was measured so far is in {out}; the same command goes on from there.")
            raise


def _report_dataset(data: "Dataset", limit: int | None) -> None:
    for text in data.notes:
        note(text)
    questions = data.questions[:limit]
    missing = data.unreachable(questions)
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


def _command(context: click.Context) -> str:
    """The command as it was given, options in the order of the help."""
    words = [context.command_path]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if context.get_parameter_source(parameter.name or "") is not click.core.ParameterSource.COMMANDLINE:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            flag = [] if isinstance(parameter, click.Argument) else [parameter.opts[-1]]
            words.append(shlex.join([*flag, *([] if one is True else [str(one)])]))
    return " ".join(words)


def _print(sheets: "Sequence[Sheet]") -> None:
    from rich import box
    from rich.table import Table

    console = stdout_console()
    if not console.is_terminal:
        console.width = 500  # a file or a pipe has room for every column
    for sheet in sheets:
        shown = Table(title=sheet.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for number, name in enumerate(sheet.head):
            left = number == 0 or name in ("retriever", "verdict")
            shown.add_column(name, justify="left" if left else "right", overflow="fold")
        for row in sheet.rows:
            shown.add_row(*row, style="dim" if row[-1] == "noise" else None)
        console.print(shown)
