"""kgrag enrich extract, tag, resolve, tree, communities: what a collection gains after its documents."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, collection_option, connect
from kgrag.cli.connect import as_json as json_option
from kgrag.cli.console import changed, load_settings, note, number, print_json, print_table, progress_bars
from kgrag.cli.outcome import end, end_stopped, interruptible, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.client.operations import Parameter
    from kgrag.indexing.extraction import ExtractionReport
    from kgrag.indexing.group_texts import WritingReport
    from kgrag.indexing.resolution.resolve import NamePair, Resolution
    from kgrag.models.budget import Estimate


_MADE_BY = {int: click.IntRange, float: click.FloatRange}


class VerbCommand(click.Command):
    """A command of a verb. The options of the verb are read when the command is used: the client takes time to import.

    `verb`: its name.
    """

    def __init__(self, *args: Any, verb: str, **others: Any) -> None:
        self._verb = verb
        super().__init__(*args, **others)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the verb, then those of the command."""
        from kgrag.client.verbs import operations

        own = super().get_params(ctx)
        names = {param.name for param in own}
        return [*(_option(each) for each in operations()[self._verb].parameters if each.name not in names), *own]


def _option(parameter: "Parameter") -> click.Option:
    from kgrag.client.operations import MANY, bounds

    plain, least, most = bounds(parameter.kind)
    name, text = f"--{parameter.name.replace('_', '-')}", f"{parameter.help[:1].upper()}{parameter.help[1:]}"
    if plain is bool:
        return click.Option([name], is_flag=True, help=text)
    kind = _MADE_BY[plain](least, None if most == MANY else most) if plain in _MADE_BY else plain
    default = parameter.default
    return click.Option([name], type=kind, default=default, show_default=default is not None, metavar="N", help=text)


@click.command(cls=VerbCommand, verb="extract")
@collection_option()
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost, and ask nothing.")
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="Stop before it costs more than this.")
@as_json
def extract(collection: str | None, dry_run: bool, budget: float | None, as_json: bool, **options: Any) -> None:
    """Have a language model extract facts (triples) from the passages of a collection.

    The model reads each passage once, and returns its named entities and its facts as subject, predicate and object.
    Retrievers that follow triples then find passages that share no word with the question. The same command resumes
    after an interruption, and reads passages that were ingested since. Failed passages are listed; the next run tries
    only these. KGRAG_CHAT__MODEL names the model, and KGRAG_CHAT__PRICES its prices.

    With --batch the passages are sent as files, and the replies are written when they arrive. After an interruption the
    same command, on any machine, resumes the same batches. Failed passages are listed and go into the next batch.
    KGRAG_CHAT__BATCH_PRICE is the price of a batch as a share of the usual price.

    With --rules no model is asked. Patterns find facts in English texts: what somebody or something is, and when, where
    and by whom it was born, founded or made. In any language they read lines such as "Capital: Oslo" and rows of
    tables. A passage has the facts of the run that read it last: facts of rules replace facts of a model, and the other
    way round.

    \b
    kgrag enrich extract --dry-run                  how many calls and tokens, and what they cost
    kgrag enrich extract -c work --limit 20         a try with twenty passages
    kgrag enrich extract -c work --budget 5         stop before it costs more than 5
    kgrag enrich extract -c work --batch            at half the price, within a day
    kgrag enrich extract -c work --rules            what patterns find, for nothing
    kgrag enrich extract -c wiki --linked           one entity an article, whatever the texts call it
    """
    from kgrag.wire import to_json

    settings = load_settings()
    settings = changed(settings, "chat", concurrency=max(options["threads"], settings.chat.concurrency), budget=budget)
    limit, linked, batch = options["limit"], options["linked"], options["batch"]
    if options["cancel"] and dry_run:
        raise click.UsageError("--cancel goes without --dry-run.")
    if options["rules"] and (dry_run or linked or batch or options["cancel"] or budget is not None):
        raise click.UsageError("--rules asks no model: --dry-run, --linked, --batch, --cancel and --budget go without.")
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if dry_run:
            with progress_bars() as progress:
                estimate = kg[name].estimate_extraction(limit=limit, linked=linked, batch=batch, progress=progress)
            if as_json:
                print_json(to_json(estimate, collection=name))
                return
            click.echo(f"Collection {name}: {number(estimate.calls, 'passage')} to extract")
            if estimate.calls:
                click.echo("\n".join(estimate.lines(budget)))
            return
        with resumable() as progress:
            report = kg[name].extract(**options, progress=progress)
    end(report, name, None if as_json else _extraction(report, name))


def _extraction(report: "ExtractionReport", collection: str) -> str:
    from kgrag.models.prompted import LONGER

    dropped = sum(report.dropped.values())
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in sorted(report.dropped.items(), key=lambda item: -item[1]))
    left_out = f", {dropped:,} left out ({reasons})" if dropped else ""
    lines = [f"Collection {collection}: {number(report.passages, 'passage')} extracted, {report.left:,} left"]
    rate = f", {report.passages / report.seconds:,.1f} passages/s" if report.passages >= 10 and report.seconds else ""
    lines.append(f"{number(report.triples, 'triple')} written{left_out} in {report.seconds:.1f} s{rate}")
    if report.dates:
        lines.append(f"{number(report.dates, 'date')} left out: not in the passage.")
    if report.cut:
        lines.append(f"{number(report.cut, 'reply')} cut off; their complete items were used. {LONGER}")
    return "\n".join(lines + ([usage_line(report.usage)] if report.usage.calls else []))


@click.command(cls=VerbCommand, verb="tag")
@collection_option()
@click.option("--local", is_flag=True, help="Ask no server: link to the titles of the collection's own documents.")
@click.option("--dry-run", is_flag=True, help="Say how many passages are left, and ask nothing.")
@as_json
def tag(collection: str | None, local: bool, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Have TAGME name the Wikipedia articles that the passages of a collection mention.

    The articles become mentions of entities, even if a text calls them by another name. Passages that share an article
    are tied by it: `kgrag search --retriever "kgp(edges=(tagme,))"`. Tagged passages are not sent again, so the same
    command resumes after an interruption and includes later ingests. Another KGRAG_TAGME__THRESHOLD is applied to the
    replies kept on disk. KGRAG_TAGME__TOKEN is the token of D4Science; KGRAG_TAGME__ENDPOINT names another server.

    --local (KGRAG_TAGME__ENDPOINT=titles) asks no server and needs no token. It links to the titles of the collection's
    own documents, by TAGME's votes and rho, counted in the collection. If documents were added since, everything is
    tagged again.

    \b
    kgrag enrich tag -c notes --dry-run             how many passages are left
    kgrag enrich tag -c notes --limit 20            a try with twenty passages
    kgrag enrich tag -c notes --local               by the titles of its own documents
    """
    from kgrag.models.tagme import TITLES

    settings = changed(load_settings(), "tagme", endpoint=TITLES if local else None)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if dry_run:
            left = kg[name].untagged()
            due = left if options["limit"] is None else min(left, options["limit"])
            calls = "no call" if settings.tagme.endpoint == TITLES else f"{number(due, 'call')} if none fails"
            if as_json:
                print_json({"collection": name, "passages": due, "left": left})
            else:
                click.echo(f"Collection {name}: {number(due, 'passage')} to tag, {calls}")
            return
        with resumable() as progress:
            report = kg[name].tag(**options, progress=progress)
    by = " by the titles of its own documents" if settings.tagme.endpoint == TITLES else ""
    done = f"{number(report.passages, 'passage')} tagged{by}, {report.left:,} left"
    text = f"Collection {name}: {done}; {number(report.mentions, 'mention')} in {report.seconds:.1f} s"
    end(report, name, None if as_json else text)


@click.command(cls=VerbCommand, verb="resolve")
@collection_argument
@click.option("--undo", is_flag=True, help="Take back all that was tied.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="Pairs of each kind to print.")
@click.option(
    "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
)
@as_json
def resolve(
    collection: str | None, undo: bool, limit: int, budget: float | None, as_json: bool, **options: Any
) -> None:
    """Find duplicate entities: abbreviations, initials, titles, acronyms.

    It prints sure and doubtful pairs, each with its evidence, and writes nothing without --apply. Then SAME_AS edges
    tie the names, and searches follow them from one name to the other. No node is merged or removed, and --undo removes
    the edges. An ambiguous name, and titles of different documents, stay apart. Run it again after an ingest: it writes
    only what has changed.

    \b
    kgrag enrich resolve notes                      the pairs that it would tie
    kgrag enrich resolve notes --apply
    kgrag enrich resolve notes --ask --budget 1     a language model decides the doubtful pairs
    kgrag enrich resolve notes --undo
    kgrag enrich resolve notes --json | jq -r '.same[] | [.score, .one, .other] | @tsv'
    """
    from kgrag.wire import to_json

    if undo and (options["apply"] or options["ask"]):
        raise click.UsageError("--undo goes with neither --apply nor --ask.")
    settings = changed(load_settings(), "chat", budget=budget)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if undo:
            removed = kg[name].unresolve()
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, 'edge')} removed")
            return
        with resumable() as progress:
            resolution = kg[name].resolve(**options, progress=progress)
    if as_json:
        print_json(to_json(resolution, collection=name, stopped=resolution.stopped and resolution.stopped.in_full))
    else:
        _print(resolution, name, limit)
    end_stopped(resolution.stopped, len(resolution.doubtful), "doubtful pair")


def _print(resolution: "Resolution", collection: str, limit: int) -> None:
    compared = f"{number(resolution.names, 'name')} compared"
    tied = f"{number(len(resolution.same), 'pair')} in {number(resolution.groups, 'group')}"
    click.echo(f"Collection {collection}: {compared}, {tied} are the same, {len(resolution.doubtful):,} doubtful")
    _print_pairs("The same", resolution.same, limit)
    _print_pairs("Doubtful, left out", resolution.doubtful, limit)
    if resolution.usage.calls:
        click.echo(usage_line(resolution.usage) + (f", {resolution.failed:,} failed" if resolution.failed else ""))
    if resolution.applied:
        click.echo(f"{number(resolution.written, 'edge')} written, {resolution.removed:,} removed")
        return
    if resolution.same:
        note(f"Nothing is written yet. To tie them: kgrag enrich resolve {collection} --apply")
    if resolution.estimate.calls:
        note("To have a model decide the doubtful ones (--ask): " + "; ".join(resolution.estimate.lines()))


def _print_pairs(head: str, pairs: "tuple[NamePair, ...]", limit: int) -> None:
    if not pairs or not limit:
        return
    more = f", the first {limit:,} of {len(pairs):,}" if len(pairs) > limit else ""
    click.echo(f"\n{head}{more}:")
    rows = [(f"{x.score:.2f}", x.one, x.other, x.evidence) for x in pairs[:limit]]
    print_table(("score", "name", "other name", "what speaks for it"), rows, left=("name", "other name",
                "what speaks for it"))  # fmt: skip


_F = TypeVar("_F", bound=Callable[..., Any])


def writing_options(command: _F) -> _F:
    """Add the argument and the options of a command whose texts a language model may write."""
    for option in (
        json_option,
        click.option("--remove", is_flag=True, help="Remove all of it; the next run makes it again."),
        click.option(
            "--budget", type=click.FloatRange(0), metavar="X", help="With --ask: stop before it costs more than this."
        ),
        click.option("--dry-run", is_flag=True, help="With --ask: say what that would take; ask nothing."),
        collection_argument,
    ):
        command = option(command)
    return command


def run_writing(
    collection: str | None, dry_run: bool, budget: float | None, remove: bool, as_json: bool,
    options: dict[str, Any], noun: str, nothing: str,
) -> None:  # fmt: skip
    """Do what the options say; `noun`: one of the texts, `nothing`: what to say where there are none."""
    from kgrag.client.verbs import operations
    from kgrag.wire import to_json

    if remove and options["ask"]:
        raise click.UsageError("--remove goes without --ask.")
    if dry_run and not options["ask"]:
        raise click.UsageError("--dry-run goes with --ask: without a model there is nothing to pay.")
    verb = operations()[click.get_current_context().command.name or ""]
    with interruptible(), connect(changed(load_settings(), "chat", budget=budget)) as kg:
        name = choose_collection(kg, collection)
        if remove:
            removed = getattr(kg[name], f"remove_{verb.name}")()
            if as_json:
                print_json({"collection": name, "removed": removed})
            else:
                click.echo(f"Collection {name}: {number(removed, noun)} removed")
            return
        if dry_run:
            with progress_bars() as progress:
                would: Estimate = getattr(kg[name], verb.estimate)(progress=progress)
            if as_json:
                print_json(to_json(would, collection=name))
            elif would.calls:
                click.echo("\n".join((f"Collection {name}:", *would.lines(budget))))
            else:
                command = click.get_current_context().command_path
                click.echo(f"Collection {name}: no {noun} is left to a model; first run: {command} {name}")
            return
        with resumable() as progress:
            report: WritingReport = verb.method(kg[name], **options, progress=progress)
    end(report, name, None if as_json else _text(report, name, noun, nothing), noun)
    if report.stale and not report.left:
        note(f"{number(report.stale, noun)} of a model out of date. Run it with --ask to have these written again.")


def _text(report: "WritingReport", collection: str, noun: str, nothing: str) -> str:
    if not report.levels:
        return f"Collection {collection}: {nothing}"
    levels = ", ".join(f"{n:,}" for n in report.levels)
    counts = f"{number(sum(report.levels), noun)}, by level {levels}"
    done = f"Collection {collection}: {counts}; {report.written:,} written, {report.removed:,} removed"
    return "\n".join([done, *([usage_line(report.usage)] if report.usage.calls else [])])


@click.command(cls=VerbCommand, verb="tree")
@writing_options
def tree(
    collection: str | None, dry_run: bool, budget: float | None, remove: bool, as_json: bool, **options: Any
) -> None:
    """Summarise groups of similar passages, then groups of these summaries, up to a few topics.

    Without a model a summary consists of the sentences nearest to the centre of its passages, and is named by their
    keywords. With --ask a language model writes each summary once; after an interruption the same command resumes. Run
    it again after an ingest: new passages go to the topics that they fit, and only changed parts are written again.
    `kgrag search --retriever raptor` searches the tree; `kgrag cypher topics` shows it.

    \b
    kgrag enrich tree notes
    kgrag enrich tree notes --ask --dry-run          estimate the model's calls
    kgrag enrich tree notes --ask --budget 2
    kgrag cypher topics -c notes              the topics, the largest first
    kgrag enrich tree notes --remove
    """
    run_writing(collection, dry_run, budget, remove, as_json, options, "summary", "too few passages to sum up.")


@click.command(cls=VerbCommand, verb="communities")
@writing_options
def communities(
    collection: str | None, dry_run: bool, budget: float | None, remove: bool, as_json: bool, **options: Any
) -> None:
    """Group entities that share passages or facts into communities, in levels.

    Each community has a report. Without a model the report consists of sentences of the passages that name most of its
    members, and is named by its key names. With --ask a language model writes each report once, beginning with the
    lowest level; after an interruption the same command resumes. Run it again after an ingest: new names join the
    communities that they fit, and only reports whose names or texts have changed are written again. `kgrag search
    --retriever communities` searches by them; `kgrag ask --system global` answers from all reports.

    \b
    kgrag enrich communities notes
    kgrag enrich communities notes --ask --dry-run   estimate the model's calls
    kgrag enrich communities notes --ask --budget 2
    kgrag enrich communities notes --remove
    """
    run_writing(collection, dry_run, budget, remove, as_json, options, "community", "too few names to find any.")


def derived_command(verb: str) -> click.Command:
    """Return the command of a verb that has none of its own: it runs the verb, and prints the counts of the report."""
    from kgrag.client.verbs import operations

    operation = operations()[verb]

    @click.command(verb, cls=VerbCommand, verb=verb, help=(operation.method.__doc__ or "").partition("\n\n")[0])
    @collection_argument
    @json_option
    def command(collection: str | None, as_json: bool, **options: Any) -> None:
        from kgrag.values.forms import plain
        from kgrag.wire import to_json

        with connect(load_settings()) as kg:
            name = choose_collection(kg, collection)
            with resumable() as progress:
                report = operation.method(kg[name], **options, progress=progress)
        if as_json:
            print_json(to_json(report, collection=name))
        else:
            counts = (f"{key} {value:,}" for key, value in plain(report).items() if isinstance(value, int | float))
            click.echo(f"Collection {name}: {', '.join(counts)}")

    return command
