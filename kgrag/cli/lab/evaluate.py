"""kgrag lab eval: how well retrievers find what the questions of a set need, and systems answer."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource
from pydantic import Field

from kgrag.cli.connect import connect
from kgrag.cli.console import load_settings, note, number, print_json, print_list, progress_bars
from kgrag.cli.lab.measuring import (
    Asking,
    Compared,
    OnSample,
    as_paper,
    ingest,
    options,
    print_frames,
    print_notes,
    whole_articles,
)
from kgrag.values.errors import ConfigurationError, KgragError

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.lab.datasets import Dataset
    from kgrag.lab.experiment import Experiment
    from kgrag.lab.report import Result


class _RanksOptions(Compared):
    file: Path
    changes: int | None = Field(
        None,
        ge=1,
        title="K",
        description="With --baseline: questions with more or less gold among the first K than there.",
    )


@click.command()
@options
def ranks(args: _RanksOptions) -> None:
    """Print the tables of `kgrag lab eval ... --ranks FILE` again, from that file alone.

    \b
    kgrag lab ranks docs/ranks/2wiki-1000.jsonl.gz --baseline hybrid
    kgrag lab ranks docs/ranks/2wiki-1000.jsonl.gz --at 2 --at 5 --json
    kgrag lab ranks reranked.jsonl.gz --baseline pathrank --changes 5      what a reranker gains and loses, by question
    """
    if args.markdown and (args.as_json or args.changes is not None):
        raise click.UsageError("--markdown excludes --json and --changes.")
    if args.changes is not None and args.baseline is None:
        raise click.UsageError("--changes are those against a --baseline.")
    from kgrag.lab.records import changes as changed
    from kgrag.lab.records import read_ranks
    from kgrag.lab.report import frame

    result = read_ranks(args.file, baseline=args.baseline, at=args.at, seed=args.seed)
    if args.as_json:
        more = {} if args.changes is None else {"changes": changed(result, args.changes)}
        print_json({**result.values(), **more})
    elif args.markdown:
        click.echo(result.markdown(*result.notes))
    else:
        for text in result.notes:
            note(f"Made by: {text}")
        print_frames(result.frames())
        rows = [] if args.changes is None else changed(result, args.changes)
        if rows:
            print_frames({f"ranks of gold that change against {args.baseline}": frame(rows, "system", "question")})
        elif args.changes is not None:
            note(f"No gold comes among the first {args.changes}, or leaves them, against {args.baseline}.")


_PASSED_ON = {
    "baseline", "depth", "by", "threads", "out", "grade", "perturb", "vary", "per_question", "seed", "at", "anyway",
}  # fmt: skip


class _Options(OnSample, Compared, Asking):
    retriever: tuple[str, ...] = Field(
        (),
        title="-r --retriever EXPR",
        description="Retriever to measure, a name or an expression such as 'rrf(bm25, pathrank)'; repeatable.  "
        "[default, without --system: the retrievers that need the graph alone]",
    )
    system: tuple[str, ...] = Field(
        (),
        description="System to measure, such as gear+pathrank or single+hybrid; golden, golden-facts, "
        "closed-book, look-up as baselines; repeatable.",
    )
    over: tuple[str, ...] = Field(
        (),
        title="EXPR",
        description="Put each --system that names a strategy alone over this retriever; repeatable: all over all.",
    )
    grade: bool = Field(False, description="Let a language model mark the answers of systems, too (Acc).")
    vary: str | None = Field(
        None,
        title="OPTION=VALUES",
        description="Measure what has this setting with each of the values, such as branch=1..10; --plot draws "
        "against it.",
    )
    embedder: str | None = Field(None, description="wordllama, minilm, onnx:MODEL, sbert:MODEL or openai:MODEL.")
    depth: int = Field(15, ge=1, le=1000, title="K", description="Number of hits per search, also for latency.")
    by: tuple[Literal["type", "hops", "density"], ...] = Field((), description="Break the table down; repeatable.")
    perturb: Literal["typo", "lower"] | None = Field(
        None, description="Misspell a name in each question, or write it in lower case."
    )
    anyway: bool = Field(False, description="Measure also what lacks a layer, such as triples: it does without.")
    join: int | None = Field(None, ge=2, description="Join every N documents into a long one.")
    with_: tuple[Path, ...] = Field((), title="DATASET", description="Search this, too; repeatable.")
    out: Path | None = Field(
        None, title="DIR", description="Keep each question's record there, and resume from these records."
    )
    ranks: Path | None = Field(None, description="Keep the ranks of the gold there, small: `kgrag lab ranks FILE`.")
    ragas: Path | None = Field(None, title="DIR", description="Write samples for RAGAS there, a file for each system.")


@click.command("eval")
@options
def evaluate(args: _Options) -> None:
    """Measure retrievers and systems on a question set.

    DATASET is a folder with corpus.jsonl (id, title, text), queries.jsonl (id, question, gold: ids of the corpus, and
    perhaps answers, type, steps, structure) and perhaps triples.jsonl (passage, subject, predicate, object), in place
    of corpus.jsonl a folder documents of PDF, office and other files, whose ids are their paths; or the published files
    of HotpotQA, 2WikiMultiHopQA, MuSiQue, IIRC, QuALITY, PopQA, BEIR or IRCoT, recognised by their content. The corpus
    is ingested into a collection of its own, eval-EMBEDDER-HASH, once for all question sets over it; --paper and
    settings of indexing that are not the usual ones add to the name. With -c a corpus that has changed since is brought
    up to date there, but documents that it no longer has stay: `kgrag delete --collection NAME` to start again.

    R@k is the mean share, in per cent, of a question's gold among the first k documents (with --join or --sentences,
    passages: gold is found where half of its text is); perfect@8 the share of questions with all gold among the first
    8; MRR the mean of 1 / rank of the first gold; nDCG@10 weighs gold by its rank. A document counts once, where its
    first passage stands. Without gold, but answers, answer@k is the share of questions whose answer stands in one of
    the first k passages (top-k accuracy of DPR). Latency is one search (--depth), embedding of the question included,
    after 10 questions to warm up, one at a time; of systems, that under the load of all threads.

    A --system answers each question in a few words. EM is the share of answers that are a known one, F1 the overlap of
    their words (SQuAD), Acc (--grade) the share of those that the model set for the task grade marked as right, in per
    cent; calls and tokens are those of a question without its mark, cost that of all calls that were not in the cache;
    wall_s the seconds in which any question was under way. A second table is by iteration. Struct-EM is the share of
    questions with a structure (the text of the page, table or section that they name) whose structures were looked up
    as they stand. golden answers from the passages of the gold alone, golden-facts from the sentences that support the
    answer, closed-book from nothing; look-up answers questions of structure alone, and asks no model. A question
    without an answer is reported with the reason, and asked again by the next run with --out. The exit code is 1 when
    every question of a retriever or system failed.

    A retriever or system that needs a missing layer of the graph (triples, keywords of a language model, mentions of
    TAGME, a tree, communities) is listed with the command that makes the layer.

    --baseline gives mean differences on the same questions with their 95 % intervals, by a paired bootstrap of 10,000
    resamples (where one includes 0, the difference is noise), and the questions that it and each other get right, one
    alone, or neither. --by density groups questions by the triples of a gold passage. --per-question N ingests the N
    documents of one question after the other into a collection that is deleted in the end (KGP, appendix A.1). What
    --ragas writes EvaluationDataset.from_jsonl of RAGAS reads. --articles takes JSON Lines with title and text, .gz or
    .bz2 as well, or a folder of WikiExtractor's files; missing articles are counted.

    \b
    kgrag lab eval musique.jsonl
    kgrag lab eval hotpot_dev_distractor_v1.json -r bm25 -r 'rrf(bm25, pathrank)' --baseline bm25 --by type
    kgrag lab eval 2wiki.json --perturb typo --out runs/ --plot recall.png
    kgrag lab eval musique.jsonl --with 2wiki.json --with hotpot.json --join 10 --markdown
    kgrag lab eval musique.jsonl --system gear+pathrank --system ircot+ppr --by hops --out runs/ --budget 2
    kgrag lab eval musique.jsonl --system single+kgp --system golden --system closed-book --grade --out runs/
    kgrag lab eval musique.jsonl -r kgp -r bm25 --vary branch=1..10 --depth 30 --plot branch.png
    kgrag lab eval musique.jsonl --system gear --system ircot --over hybrid --over ppr --sample 20 --seed 1
    kgrag lab eval musique.jsonl --paper gear --system gear+hybrid --embedder minilm
    kgrag lab eval hotpot.json --per-question 12 --depth 30 -r bm25 -r 'kgp(tfidf, hops=2, similarity=tfidf, cap=0)'
    kgrag lab eval hotpot_dev_distractor_v1.json --paper kgp --per-question 12 --articles extracted/ --sentences
    kgrag lab eval musique.jsonl --system single+pathrank --sample 50 --ragas samples/
    kgrag lab eval musique.jsonl --limit 20 --json | jq '.systems.hybrid."R@5"'
    """
    if args.markdown and args.as_json:
        raise click.UsageError("--json and --markdown exclude each other.")
    if args.ragas is not None and args.per_question is not None:
        raise click.UsageError("--ragas needs the passages of one collection: leave out --per-question.")
    from kgrag.lab.report import check_plot

    settings, paper = as_paper(load_settings(), args.paper)
    if paper is not None:  # its sample, depth and documents a question are the defaults
        own = {"sample": paper.sample(args.dataset.resolve().name)}
        own |= {name: paper.setting(f"evaluation.{name}") for name in ("depth", "per_question")}
        own = {name: value for name, value in own.items() if value and name not in args.model_fields_set}
        alone = not args.system and not args.retriever
        args = args.model_copy(update={**own, **({"system": (paper.system,)} if alone else {})})
    settings = args.apply(settings)
    experiment = _experiment(args, settings.max_file_mb)
    if args.plot is not None:
        check_plot(args.plot)
    if experiment.asks:
        from kgrag.models.openai_chat import load_chat

        load_chat(settings).close()
    data = experiment.dataset
    print_notes(data)
    if args.per_question is not None and args.embedder is not None:
        settings = settings.model_copy(update={"embedder": args.embedder})
    with connect(settings) as kg, progress_bars() as progress:
        name = args.collection
        if name is None and (paper is not None or args.per_question is not None):
            embedder = args.embedder or settings.embedder
            name = data.collection(embedder, settings.max_file_mb, settings.indexing, paper)
        if args.per_question is None:
            collection = ingest(kg, data, name, args.embedder, progress)
        else:
            assert name is not None
            collection = kg[name]
        try:
            result = experiment.run(progress, collection=collection)
        except BaseException:
            if args.out is not None:
                note(f"What was measured so far is in {args.out}; the same command goes on from there.")
            raise
        if args.ragas is not None:
            _write_samples(args.ragas, result, experiment.dataset, collection)
    _print(args, result)
    if result.refused and not result.rows:
        raise ConfigurationError(
            "Nothing could be measured.", "Run the commands above, or measure all the same: --anyway."
        )
    if result.failed:
        systems = "; ".join(f"{system}: {error}" for system, error in result.failed.items())
        raise KgragError(f"Every question failed. {systems}", "Fix that, and run the same command again.")


def _experiment(args: _Options, max_file_mb: int) -> "Experiment":
    """Return the experiment.

    Raises NotFoundError, ConfigurationError, InputError; no graph is read.
    """
    from kgrag.agents.system import check_system
    from kgrag.lab.ask_systems import BASELINES
    from kgrag.lab.experiment import Experiment
    from kgrag.lab.readers import read_dataset
    from kgrag.lab.variants import join, merge
    from kgrag.retrieval.base import RETRIEVERS, check_retriever

    simple = [name for name, entry in RETRIEVERS.items() if not entry.several and not entry.needs]
    names = [check_retriever(name) for name in args.retriever or ([] if args.system else simple)]
    for name in args.system:
        over = [f"{name}+{other}" for other in args.over if name.strip() not in BASELINES and "+" not in name]
        names += [name] if name.strip() in BASELINES else list(map(check_system, over or [name]))

    data = read_dataset(args.dataset, args.format)
    if args.with_:
        data = merge(data, [read_dataset(other) for other in args.with_])
    data = whole_articles(data, args.articles)
    if args.join is not None:
        data = join(data, args.join, max_file_mb)
    return Experiment(names, args.draw(data), **args.model_dump(include=_PASSED_ON))


def _print(args: _Options, result: "Result") -> None:
    for text in result.notes:
        note(text)
    if result.refused:
        print_list("Not measured:", [f"{name}: {why}" for name, why in result.refused.items()])
    for failed, text in (
        (result.errors, "failed on {} questions, which count as finding nothing:"),
        (result.problems, "answered {} questions although a step failed:"),
    ):
        for system, by_question in failed.items():
            print_list(
                f"{system} {text.format(len(by_question))}", [f"{id}: {error}" for id, error in by_question.items()]
            )
    marking = result.marking
    if marking is not None and marking.calls:
        cost = "cost unknown" if marking.cost is None else f"cost {marking.cost:.4f}"
        note(f"Marking took {marking.calls:,} calls ({marking.cached:,} cached), {marking.tokens:,} tokens, {cost}.")
    if args.ranks is not None:
        from kgrag.lab.records import write_ranks

        write_ranks(args.ranks, result, _command())
        note(f"Ranks: {args.ranks}")
    if args.plot is not None:
        result.plot(args.plot)
        note(f"Drawn: {args.plot}")
    if args.as_json:
        print_json(result.values())
    elif args.markdown:
        click.echo(result.markdown(_command()))
    else:
        print_frames(result.frames())


def _write_samples(folder: Path, result: "Result", data: "Dataset", collection: "Collection") -> None:
    from kgrag.lab.records import write_samples

    files, without = write_samples(folder, result.records, data, collection)
    note(f"Samples for RAGAS: {', '.join(map(str, files))}")
    if without:
        note(f"{number(without, 'record')} of --out, made before these named their passages, left out there.")


def _command() -> str:
    """Return the command as typed, options in the order of the help."""
    context = click.get_current_context()
    words = [context.command_path]
    for parameter in sorted(context.command.params, key=lambda parameter: isinstance(parameter, click.Option)):
        value = context.params.get(parameter.name or "")
        if context.get_parameter_source(parameter.name or "") is not ParameterSource.COMMANDLINE:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            flag = [] if isinstance(parameter, click.Argument) else [parameter.opts[-1]]
            words.append(shlex.join([*flag, *([] if one is True else [str(one)])]))
    return " ".join(words)
