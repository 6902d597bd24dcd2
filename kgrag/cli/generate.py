"""kgrag lab generate-questions: a question set made from the passages of a collection."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, connect
from kgrag.cli.console import changed, load_settings, note, number, print_json, progress_bars
from kgrag.cli.outcome import end, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.evaluation.generating import GenerationReport


@click.command("generate-questions")
@collection_argument
@click.option("-n", "wanted", default=100, show_default=True, type=click.IntRange(1, 100_000), help="How many.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where to.  [default: questions-COLLECTION]"
)
@click.option("--templates", is_flag=True, help="Ask no model: facts, tables and sentences with a gap.")
@click.option("--seed", default=0, show_default=True, type=int, metavar="N", help="Of all that is drawn.")
@click.option("--dry-run", is_flag=True, help="Say what it would take and cost, and ask nothing.")
@click.option("--threads", default=8, show_default=True, type=click.IntRange(1, 256), help="Questions made at once.")
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="Stop before it costs more than this.")
@as_json
def generate_questions(
    collection: str | None,
    wanted: int,
    out: Path | None,
    templates: bool,
    seed: int,
    dry_run: bool,
    threads: int,
    budget: float | None,
    as_json: bool,
) -> None:
    """Make questions from COLLECTION, with answers and gold passages, as a question set for `kgrag lab eval`.

    A language model writes each question from one passage, or from two that a name ties in the graph; who asks, the
    form, a premise and the kind of answer are drawn by the weights of a taxonomy (Millions of GEAR-s, table 1). A
    second call checks it. Questions that give their answer away, were asked before, or need fewer passages are dropped
    and counted. The folder holds the passages, too, so that it can be measured as it is. What was said is kept there:
    the same command goes on where it was. With --templates no model is asked: facts, tables and sentences with a gap
    are put into English frames, which is not how people ask.

    \b
    kgrag lab generate-questions manuals -n 200 --dry-run      calls, tokens and cost
    kgrag lab generate-questions manuals -n 200 --budget 2     questions-manuals/
    kgrag lab eval questions-manuals --by type
    kgrag lab generate-questions manuals -n 50 --templates --out quick --json
    """
    from kgrag.evaluation.generating import estimate, generate
    from kgrag.wire import to_json

    settings = load_settings()
    settings = changed(settings, "chat", concurrency=max(threads, settings.chat.concurrency), budget=budget)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        folder = out or Path(f"questions-{name}")
        if dry_run:
            with progress_bars() as progress:
                found = {} if templates else estimate(kg[name], wanted, seed=seed, progress=progress)
            if as_json:
                print_json(to_json({"tasks": found}, collection=name))
                return
            click.echo(f"Collection {name}: {number(wanted, 'question')} to make")
            for task, calls in found.items():
                click.echo(f"{task}: " + "\n  ".join(calls.lines(budget)))
            return
        with resumable() as progress:
            report = generate(
                kg[name], folder, wanted, seed=seed, ask=not templates, threads=threads, progress=progress
            )
    end(report, name, None if as_json else _text(report, folder), "question")
    if report.left:
        note(f"{number(report.left, 'question')} missing: the collection gives no more that can be used.")


def _text(report: "GenerationReport", folder: Path) -> str:
    types = ", ".join(f"{n} {name}" for name, n in report.by_type.items())
    lines = [f"{folder}: {number(report.questions, 'question')}" + (f" ({types})" if types else "")]
    if report.dropped:
        lines.append("Dropped: " + ", ".join(f"{n:,} {why}" for why, n in sorted(report.dropped.items())))
    return "\n".join(lines + ([usage_line(report.usage)] if report.usage.calls else []))
