"""kgrag lab reproduce: the tables of the papers, with their numbers beside the numbers that are measured here."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import Field

from kgrag.cli.connect import connect
from kgrag.cli.console import load_settings, note, print_json, print_list, print_pairs, progress_bars
from kgrag.cli.lab.measuring import Asking, ingest, options, print_frames, print_notes, whole_articles
from kgrag.cli.profiles import apply_profile
from kgrag.values.errors import ConfigurationError

if TYPE_CHECKING:
    from kgrag.lab.datasets import Dataset
    from kgrag.lab.papers import Paper, PaperTable
    from kgrag.lab.reproduction import Reproduction
    from kgrag.settings import Settings


class _Options(Asking):
    paper: str
    table: str | None = Field(None, title="N", description="Number of the table; without it they are listed.")
    figure: str | None = Field(None, title="N", description="Number of the figure.")
    plot: Path | None = Field(None, description="Draw the figure: .png, .svg or .pdf.")
    data: tuple[str, ...] = Field(
        (), title="NAME=DATASET", description="One of the table's data sets, as of `kgrag lab eval`; repeatable."
    )
    row: tuple[str, ...] = Field((), title="LABEL", description="Only this row; repeatable.")
    sample: int | None = Field(None, ge=1, description="Questions of each set.  [default: the paper's]")
    seed: int = Field(0, description="Seed for drawing questions.")
    set_: tuple[str, ...] = Field(
        (),
        title="NAME=VALUE",
        description="Value that a row needs, such as weights=FILE; repeatable. The list of tables shows which.",
    )
    prepare: bool = Field(False, description="First make what rows require: triples, mentions, trees, communities.")
    dry_run: bool = Field(False, description="With --prepare: say what that takes and costs, and measure nothing.")
    embedder: str | None = Field(None, description="Embedder in place of the paper's.")
    articles: Path | None = Field(None, description="Whole Wikipedia articles, as for `kgrag lab eval`.")
    collection: str | None = Field(None, title="-c", description="Collection of the one data set, ingested if needed.")
    out: Path | None = Field(
        None, title="DIR", description="Keep each question's record there, and resume from these records."
    )


@click.command()
@options
def reproduce(args: _Options) -> None:
    """Measure a table of a paper again, and print its numbers beside ours.

    Every setting is the paper's (`kgrag list systems --paper PAPER`), unless the environment or an option says
    otherwise. The paper's model is only named; your model is asked (KGRAG_CHAT__MODEL). Differences are listed below
    the table: the model, the embedder, the sample, the corpus, and differences of kgrag. Costs are counted, and
    --budget limits them; the same command with --out resumes. For a table with Acc a model marks the answers.

    A row is listed, not measured, if its system needs a missing layer (triples or keywords by a model, mentions of
    TAGME, a tree, communities) or something that you have to give (weights, an encoder: --set). --prepare makes the
    missing layers first, prints their cost before, and resumes after an interruption. Without --table it does so for
    all tables of these data sets, and measures none.

    \b
    kgrag lab reproduce gear                                          its tables
    kgrag lab reproduce gear --data musique=musique.jsonl --prepare --dry-run      what triples would cost
    kgrag lab reproduce bdtr --table 1 --data musique=musique.jsonl --row 'GFM-RAG: original' --set weights=gfm.pt
    kgrag lab reproduce gear --figure 2 --data musique=musique.jsonl --plot iterations.png
    kgrag lab reproduce gear --table 2 --data musique=musique.jsonl --sample 44 --embedder minilm --out runs/
    kgrag lab reproduce bdtr --table 1 --data hotpotqa=hotpot.json --data musique=musique.jsonl --budget 5 --out runs/
    """
    from kgrag.lab.papers import find_paper
    from kgrag.lab.report import check_plot, draw, frame

    source = find_paper(args.paper)
    if args.dry_run and not args.prepare:
        raise click.UsageError("--dry-run goes with --prepare.")
    if args.table is not None and args.figure is not None:
        raise click.UsageError("--table and --figure exclude each other.")
    if args.plot is not None:
        if args.figure is None or len(args.data) > 1:
            raise click.UsageError("--plot draws one --figure of one data set.")
        check_plot(args.plot)
    part = None
    if args.table is not None:
        part = source.table(args.table)
        if part.command:
            lines = [
                {"row": row.label, "data": data, **dict(zip(part.measures, numbers, strict=True))}
                for row in part.rows
                for data, numbers in zip(part.data, row.numbers, strict=True)
            ]
            print_frames({f"{part.caption}, as printed": frame(lines, "row", "data")})
            click.echo(f"Of your own: {part.command}")
            return
    elif args.figure is not None:
        part = source.figure(args.figure)
        if part.command:
            click.echo(f"{part.caption}: {part.command}")
            return
    elif not args.prepare:
        _list(source, as_json=args.as_json)
        return
    settings = args.apply(apply_profile(load_settings(), source))
    settings = settings.model_copy(update={"embedder": args.embedder or settings.embedder})
    names = [text.partition("=")[0] for text in args.data]
    if part is None:
        prices = set[tuple[str, str]]()
        for table in (*source.tables.values(), *source.figures.values()):
            if set(names) & set(table.data):
                sets = tuple(text for text in args.data if text.partition("=")[0] in table.data)
                own = args.model_copy(update={"data": sets, "set_": ()})
                _run(source, table, settings, own, measure=False, prices=prices)
        return
    run = _run(source, part, settings, args, measure=not args.dry_run)
    if args.dry_run:
        return
    differences = run.differences(settings, settings.embedder)
    for name, results in run.results.items() if part.drawn else ():
        if args.plot is not None and results[0].rows:
            draw(part, results[0], f"{source.name}, figure {part.number}: {part.caption} ({name})", args.plot)
            note(f"Drawn: {args.plot}")
    if args.as_json:
        shown_too = {
            name: [result_of_row.values() for result_of_row in results] for name, results in run.results.items()
        }
        print_json(run.plain(differences) | ({"results": shown_too} if part.drawn else {}))
    else:
        if part.drawn:
            for result_of_row in (result_of_row for results in run.results.values() for result_of_row in results):
                print_frames(result_of_row.frames())
        else:
            print_frames(run.frames())
        print_list("What was measured:", run.measured)
        print_list("What differs from the paper:", differences)
    if run.problems:
        print_list("Answered although a step failed, or not marked:", run.problems)
    if run.missing:
        print_list("Not measured:", [f"{label}: {why}." for label, why in run.missing.items()])
    note(run.spent)
    if not run.measured:
        raise ConfigurationError(
            "Nothing could be measured.", "Add the missing parts; --prepare makes layers of the graph."
        )


def _run(
    paper: "Paper",
    table: "PaperTable",
    settings: "Settings",
    args: _Options,
    *,
    measure: bool,
    prices: set[tuple[str, str]] | None = None,
) -> "Reproduction":
    """Prepare and measure a table, on each of its data sets that are given; `prices`: layers whose price was said."""
    from kgrag.lab.layers import price, required
    from kgrag.lab.reproduction import Reproduction

    sets = _sets(args.data, table.data)
    if args.collection is not None and len(sets) > 1:
        raise click.UsageError("--collection is of one data set; there are several.")
    inputs = _pairs(args.set_, "--set")
    if args.embedder is not None:  # replaces every encoder that the paper names
        own = {name: paper.inputs[name][1] or "" for name in Reproduction(paper, table).inputs}
        inputs = {name: args.embedder for name, value in own.items() if value.startswith("sbert:")} | inputs
    run = Reproduction(paper, table, args.row, inputs, seed=args.seed, threads=args.threads, out=args.out)
    if run.asks and not args.dry_run:
        from kgrag.models.openai_chat import load_chat

        load_chat(settings).close()  # before anything is ingested
    trained_on = run.trained_on
    for name, data in sets.items():
        sample = data.without(trained_on).sample(args.sample or table.sample or paper.sample(name), args.seed)
        sets[name] = whole_articles(sample, args.articles)
        print_notes(sets[name])
    try:
        with progress_bars() as progress:
            for name, data in sets.items():
                for special, rows in run.parts():
                    value = special(settings)
                    with connect(value) as kg:
                        try:
                            kg.embedder()
                        except ConfigurationError as error:  # a package that is missing must not lose the other rows
                            run.refuse(rows, name, error.in_full)
                            continue
                        where = data.collection(value.embedder, settings.max_file_mb, value.indexing, paper)
                        if value.embedder == settings.embedder:  # rows that have another have their own
                            where = args.collection or where
                        target = kg[where] if run.per_question else ingest(kg, data, where, value.embedder, progress)
                        if args.prepare and not run.per_question:
                            layers = required(run.systems(name, rows), target)
                            due = [layer for layer in layers if prices is None or (target.name, layer) not in prices]
                            for line in price(target, due, args.budget, progress):
                                note(line)
                            if prices is not None:
                                prices |= {(target.name, layer) for layer in due}
                            if not args.dry_run:
                                run.prepare(target, layers, progress)
                        if measure:
                            run.measure(name, data, target, rows, progress)
    except BaseException:
        if args.out is not None:
            note(f"What was measured so far is in {args.out}; the same command goes on from there.")
        raise
    return run


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """Return names and values of an option that is repeatable. Raises click.BadParameter."""
    for text in texts:
        if not all(text.partition("=")):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
    return dict(text.split("=", 1) for text in texts)


def _list(paper: "Paper", *, as_json: bool) -> None:
    from kgrag.lab.reproduction import Reproduction

    listed: list[dict[str, Any]] = [
        {
            kind: t.number,
            "caption": t.caption,
            "data": list(t.data),
            "measures": list(t.measures),
            "takes": Reproduction(paper, t).inputs,
        }
        for kind, entry in (("table", paper.tables), ("figure", paper.figures))
        for t in entry.values()
    ]
    if as_json:
        print_json(listed)
        return
    for entry in listed:
        number = f"table {entry['table']}" if "table" in entry else f"figure {entry['figure']}"
        takes = f"; takes {', '.join(entry['takes'])}" if entry["takes"] else ""
        measures = ", ".join(filter(None, entry["measures"])) or "see --figure"
        click.echo(f"{number}: {entry['caption']} ({measures}; {', '.join(entry['data'])}{takes})")
    if inputs := {name: what for entry in listed for name, what in entry["takes"].items()}:
        click.echo("\nRows take what you have, by --set NAME=VALUE:")
        print_pairs(inputs)
    if not listed:
        click.echo("None of its tables is here.")


def _sets(texts: tuple[str, ...], allowed: tuple[str, ...]) -> "dict[str, Dataset]":
    """Return the named data sets. Raises ConfigurationError for one that the table lacks, or none at all."""
    from kgrag.lab.readers import read_dataset

    named = _pairs(texts, "--data")
    if not named or not set(named) <= set(allowed):
        wrong = ", ".join(sorted(named.keys() - set(allowed)))
        raise ConfigurationError(
            f"The table has no data set {wrong}." if wrong else "There is nothing to measure on.",
            f"Write --data NAME=DATASET with one of: {', '.join(allowed)}.",
        )
    return {name: read_dataset(Path(path)) for name, path in named.items()}
