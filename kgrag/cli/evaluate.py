"""kgrag eval: how well and how fast retrievers find what the questions of a set need, and how well systems answer."""

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli import measuring
from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars, stdout_console
from kgrag.errors import KgragError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgrag.evaluation.report import Report, Sheet
    from kgrag.settings import Settings

_PATH = click.Path(path_type=Path)


@click.command("eval")
@click.argument("dataset", type=_PATH)
@click.option(
    "-r",
    "--retriever",
    "retrievers",
    multiple=True,
    metavar="EXPR",
    help="What to measure, a name or an expression such as 'rrf(bm25, pathrank)'; repeatable.  "
    "[default, without --system: those that need nothing but the graph]",
)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME",
    help="What is to answer the questions, such as gear+pathrank or single+hybrid; golden, closed-book, look-up as "
    "baselines; repeatable.",
)
@click.option("--grade", is_flag=True, help="Let a language model mark the answers of systems, too (Acc).")
@click.option(
    "--vary",
    metavar="OPTION=VALUES",
    help="Measure what has this setting with each of the values, such as branch=1..10; --plot draws against it.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    metavar="N",
    default=8,
    show_default=True,
    help="Questions that a system is asked at once.",
)
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="What the language models may cost, at most.")
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
@click.option(
    "--by", type=click.Choice(["type", "hops", "density"]), multiple=True, help="Break the table down; repeatable."
)
@click.option("--baseline", metavar="EXPR", help="Compare the others with this retriever or system; say what is noise.")
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
    retrievers: tuple[str, ...],
    systems: tuple[str, ...],
    grade: bool,
    vary: str | None,
    threads: int,
    budget: float | None,
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
    """Measure retrievers and systems on a question set.

    DATASET is a folder with corpus.jsonl (id, title, text), queries.jsonl (id, question, gold: ids of the corpus, and
    perhaps answers, type, steps, structure) and perhaps triples.jsonl (passage, subject, predicate, object); or the
    published files of HotpotQA, 2WikiMultiHopQA, MuSiQue, IIRC, QuALITY, PopQA or BEIR, recognised by their content. In
    place of corpus.jsonl a folder documents may hold PDF, office and other files: their ids are their paths in it.
    What is not there yet is ingested into a collection of its own, eval-NAME-EMBEDDER-HASH; later runs pass over what
    did not change. Documents that were since taken out of the corpus stay: `kgrag delete --collection NAME` to start
    anew.

    R@k is the mean share, in per cent, of a question's gold among the first k documents; perfect@8 the share of
    questions with all gold among the first 8; MRR the mean of 1 / rank of the first gold; nDCG@10 weighs gold by its
    rank. A document counts once, where its first passage stands. Latency is one search for 15 passages (--depth),
    embedding of the question included, after 10 questions to warm up, one at a time.

    A --system answers each question in a few words, --threads questions at once. EM is the share of answers that are
    a known one, F1 the overlap of their words (SQuAD), both in per cent; calls and tokens are those of a question, cost
    is that of all calls that were not in the cache. A second table tells recall, calls and tokens by iteration. With
    --by density questions are grouped by the triples of a gold passage. Latency is that under the load of all threads;
    wall_s are the seconds in which any question was under way. A question that ends without an answer is told with the
    reason, and with --out it is asked again by the next run.

    With --grade the model set for the task grade marks each answer as right or wrong by the known ones: Acc is the
    share that is right, in per cent, of the answers that it marked. Its calls count towards --budget, but not towards
    those of a system; what they took is told apart. Struct-EM is the share of questions with a structure (the text of
    the page, table or section that they name) whose structures were looked up as they stand. Among the systems golden
    answers from the gold itself and nothing else, an upper bound; closed-book from nothing; look-up answers questions
    of structure alone, and asks no model.

    --vary OPTION=1,2,5 measures each retriever or system that has this setting with each value; 1..10 are ten values,
    and those without the setting are measured once. Then --plot draws recall, EM and latency against the setting.

    --baseline gives the mean difference of each retriever on the same questions with its 95 % interval, by a paired
    bootstrap of 10,000 resamples; where the interval includes 0, the difference is noise. With --join, k counts
    passages, and gold is found where half of its text is.

    \b
    kgrag eval bench/musique
    kgrag eval hotpot_dev_distractor_v1.json -r bm25 -r 'rrf(bm25, pathrank)' --baseline bm25 --by type
    kgrag eval bench/2wiki --perturb typo --out runs/ --plot recall.png
    kgrag eval bench/musique --with bench/2wiki --with bench/hotpotqa --join 10 --markdown
    kgrag eval bench/musique --system gear+pathrank --system ircot+ppr --by hops --out runs/ --budget 2
    kgrag eval bench/musique --system single+kgp --system golden --system closed-book --grade --out runs/
    kgrag eval bench/musique -r kgp -r bm25 --vary branch=1..10 --depth 30 --plot branch.png
    kgrag eval bench/musique --limit 20 --json | jq '.systems.hybrid."R@5"'
    """
    if markdown and as_json:
        raise click.UsageError("--json and --markdown exclude each other.")
    from kgrag.evaluation import plot, records, report, variants
    from kgrag.evaluation.baselines import BASELINES
    from kgrag.evaluation.readers import read_dataset
    from kgrag.evaluation.sweep import Sweep, plot_sweep

    settings = _settings(threads, budget)
    plan, baseline = _plan(retrievers, systems, baseline, settings, depth, threads, out, grade)
    sweep = None
    if vary is not None:
        sweep = Sweep.of(vary, plan.retrievers, [name for name in plan.systems if name not in BASELINES])
        plan = replace(plan, retrievers=sweep.names(plan.retrievers), systems=sweep.names(plan.systems))
        if baseline is not None and baseline not in plan.names:
            raise click.UsageError(f"--vary replaces the baseline {baseline}.")
    if picture is not None:
        plot.check_plot(picture)
    if out is not None:
        records.check_folder(out)
    data = read_dataset(dataset, format)
    if others:
        data = variants.merge(data, [read_dataset(other) for other in others])
    if join is not None:
        data = variants.join(data, join, settings.max_file_mb)
    measuring.report_dataset(data, limit)
    if perturb is not None:
        change = variants.PERTURBATIONS[perturb]
        data = data.with_questions(change(question, seed) for question in data.questions)
    with connect(settings) as kg:
        collection = collection or data.collection(embedder or settings.embedder)
        asked = data.first(limit)
        with progress_bars() as progress:
            subject = measuring.ingest(kg, data, collection, embedder, progress)
            groups = measuring.groups(kg, asked, collection, by)
            answered, marking = measuring.measure(kg, asked, collection, plan, subject, progress)
        machine = report.machine(str(kg.graph.run("schema/server_version")[0]["version"]))
    title = f"{data.name}: {len(asked.questions)} questions, {subject['embedder']}"
    title += f", {perturb} (seed {seed})" if perturb == "typo" else ", lower case" if perturb else ""
    title += f", {threads} threads" if systems else ""
    found = report.Report.of(title, answered, depth, groups, baseline, seed)
    _tell_failures(found)
    if marking is not None and marking.calls:
        cost = "cost unknown" if marking.cost is None else f"cost {marking.cost:.4f}"
        note(f"Marking took {marking.calls:,} calls ({marking.cached:,} cached), {marking.tokens:,} tokens, {cost}.")
    if picture is not None:
        if sweep is not None:
            plot_sweep(sweep, found.rows, title, picture)
        else:
            plot.plot(found.rows, title, picture)
        note(f"Drawn: {picture}")
    if as_json:
        head = {"dataset": data.name, "embedder": subject["embedder"], "collection": collection}
        conditions = {"depth": depth, "threads": threads, "seed": seed, "perturb": perturb, "machine": machine}
        if marking is not None:
            head["marking"] = {**asdict(marking), "tokens": marking.tokens}
        print_json({**head, **found.values(), **conditions})
    elif markdown:
        click.echo(report.markdown(found.sheets(), _command(context), machine))
    else:
        _print(found.sheets())


def _settings(threads: int, budget: float | None) -> "Settings":
    """The settings, with that budget, and as many calls at once as there are threads unless they say otherwise."""
    settings = load_settings()
    changes: dict[str, Any] = {} if budget is None else {"budget": budget}
    if "concurrency" not in settings.chat.model_fields_set:
        changes["concurrency"] = max(threads, settings.chat.concurrency)
    return settings.model_copy(update={"chat": settings.chat.model_copy(update=changes)})


def _plan(
    retrievers: tuple[str, ...],
    systems: tuple[str, ...],
    baseline: str | None,
    settings: "Settings",
    depth: int,
    threads: int,
    out: Path | None,
    grade: bool,
) -> tuple[measuring.Plan, str | None]:
    """What is measured, and the baseline in standard spelling; a retriever's name alone is the retriever.

    Raises NotFoundError, ConfigurationError, the latter also where a system is to be asked but no model is configured.
    """
    from kgrag.agents.system import check_system
    from kgrag.evaluation.baselines import BASELINES
    from kgrag.retrieval.registry import RETRIEVERS, check_retriever

    def standard(name: str) -> str:
        return name.strip() if name.strip() in BASELINES else check_system(name)

    plain = [name for name, entry in RETRIEVERS.items() if not entry.several and not entry.needs]
    asked = [standard(name) for name in systems]
    searched = [check_retriever(name) for name in retrievers or ([] if systems else plain)]
    if baseline is not None:
        try:
            baseline = check_retriever(baseline)
            searched.append(baseline)
        except KgragError:
            baseline = standard(baseline)
            asked.append(baseline)
    if grade and not asked:
        raise click.UsageError("--grade marks the answers of systems: name one with --system.")
    if grade or any(name not in BASELINES or BASELINES[name].asks for name in asked):
        from kgrag.models.openai_chat import load_chat

        load_chat(settings).close()
    names = tuple(dict.fromkeys(searched)), tuple(dict.fromkeys(asked))
    return measuring.Plan(*names, depth, threads, out, grade), baseline


def _tell_failures(found: "Report") -> None:
    for told, text in (
        (found.errors, "failed on {} questions, which count as finding nothing:"),
        (found.problems, "answered {} questions although a step failed:"),
    ):
        for system, failed in told.items():
            lines = [f"{id}: {error}" for id, error in failed.items()]
            measuring.complain(f"{system} {text.format(len(failed))}", lines)


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

    from kgrag.evaluation.report import NAMED

    console = stdout_console()
    if not console.is_terminal:
        console.width = 500  # a file or a pipe has room for every column
    for sheet in sheets:
        shown = Table(title=sheet.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for number, name in enumerate(sheet.head):
            left = number == 0 or name in NAMED
            shown.add_column(name, justify="left" if left else "right", overflow="fold")
        for row in sheet.rows:
            shown.add_row(*row, style="dim" if row[-1] == "noise" else None)
        console.print(shown)
