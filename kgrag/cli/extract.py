"""kgrag enrich extract: a language model reads the passages of a collection for entities and triples."""

from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect, engine_options
from kgrag.cli.console import changed, load_settings, number, print_json, progress_bars
from kgrag.cli.outcome import end, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.indexing.extraction import ExtractionReport


@click.command()
@collection_option()
@click.option("--dry-run", is_flag=True, help="Say what it would take and cost, and ask nothing.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many passages, the most telling first.")
@click.option(
    "--threads", default=8, show_default=True, type=click.IntRange(1, 256), help="Passages asked for at once."
)
@click.option("--linked", is_flag=True, help="Ask for Wikipedia articles, too, and merge entities that have the same.")
@click.option("--batch", is_flag=True, help="Through the server's Batch API: at half the price, within a day.")
@click.option("--cancel", is_flag=True, help="End the batches that are under way, and write what they gave.")
@engine_options
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="Stop before it costs more than this.")
@as_json
def extract(
    collection: str | None,
    dry_run: bool,
    limit: int | None,
    threads: int,
    linked: bool,
    batch: bool,
    cancel: bool,
    engine: dict[str, Any],
    budget: float | None,
    as_json: bool,
) -> None:
    """Have a language model extract facts (triples) from the passages of a collection.

    Each passage is asked for once: its named entities, and what it states as subject, predicate and object. The
    retrievers that walk over triples then find what no text says in the question's words. What was extracted is not
    asked for again, so the same command resumes after an interruption, and takes in what was ingested
    since. Passages that fail are listed; running it again tries just these. KGRAG_CHAT__MODEL names the model, and
    KGRAG_CHAT__PRICES what it costs.

    With --batch the passages are sent as files, and their replies are written when they are there. Whoever interrupts
    that and runs it again, on any machine, resumes the same batches. What a batch fails at is listed, and is part
    of the next. KGRAG_CHAT__BATCH_PRICE says what share of the prices it costs.

    \b
    kgrag enrich extract --dry-run                  how many calls and tokens, and what they cost
    kgrag enrich extract -c work --limit 20         a try with twenty passages
    kgrag enrich extract -c work --budget 5         stop before it costs more than 5
    kgrag enrich extract -c work --batch            at half the price, within a day
    kgrag enrich extract -c wiki --linked           one entity an article, whatever the texts call it
    """
    from kgrag.wire import to_json

    settings = load_settings()
    settings = changed(settings, "chat", concurrency=max(threads, settings.chat.concurrency), budget=budget)
    settings = changed(settings, "engine", **engine)
    if cancel and dry_run:
        raise click.UsageError("--cancel goes without --dry-run.")
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
            report = kg[name].extract(
                threads=threads, limit=limit, linked=linked, batch=batch, cancel=cancel, progress=progress
            )
    end(report, name, None if as_json else _text(report, name))


def _text(report: "ExtractionReport", collection: str) -> str:
    from kgrag.models.tasks import LONGER

    dropped = sum(report.dropped.values())
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in sorted(report.dropped.items(), key=lambda item: -item[1]))
    left_out = f", {dropped:,} left out ({reasons})" if dropped else ""
    lines = [f"Collection {collection}: {number(report.passages, 'passage')} extracted, {report.left:,} left"]
    rate = f", {report.passages / report.seconds:,.1f} passages/s" if report.passages >= 10 and report.seconds else ""
    lines.append(f"{number(report.triples, 'triple')} written{left_out} in {report.seconds:.1f} s{rate}")
    if report.cut:
        lines.append(f"{number(report.cut, 'reply')} cut off; what was whole was used. {LONGER}")
    return "\n".join(lines + ([usage_line(report.usage)] if report.usage.calls else []))
