"""kgrag lab generate-questions: a question set made from the passages of a collection."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import Field

from kgrag.cli.connect import choose_collection, collection_argument, connect
from kgrag.cli.console import load_settings, note, number, print_json, progress_bars
from kgrag.cli.lab.measuring import Asking, options
from kgrag.cli.outcome import end, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.lab.generating import GenerationReport


class _Options(Asking):
    number: int = Field(100, ge=1, le=100_000, title="-n", description="Number of questions.")
    out: Path | None = Field(None, title="DIR", description="Target folder.  [default: questions-COLLECTION]")
    templates: bool = Field(False, description="Ask no model: facts, tables and sentences with a gap.")
    seed: int = Field(0, description="Seed for everything drawn at random.")
    from_opinions: bool = Field(False, description="Ask no model: the answers that people called good.")
    dry_run: bool = Field(False, description="Estimate calls and cost, and ask nothing.")


@click.command("generate-questions")
@collection_argument
@options
def generate_questions(args: _Options, collection: str | None) -> None:
    """Make questions from COLLECTION, with answers and gold passages, as a question set for `kgrag lab eval`.

    A language model writes each question from one passage, or from two that a name ties in the graph; who asks, the
    form, a premise and the kind of answer are drawn by the weights of a taxonomy (Millions of GEAR-s, table 1). A
    second call checks it. Questions that give their answer away, were asked before, or need fewer passages are dropped
    and counted. The folder holds the passages, too, so that it can be measured as it is. What was said is kept there:
    the same command resumes. With --templates no model is asked: facts, tables and sentences with a gap
    are put into English frames, which is not how people ask. With --from-opinions the questions are those whose answers
    people called good, and gold the passages that these cite.

    \b
    kgrag lab generate-questions manuals -n 200 --dry-run      calls, tokens and cost
    kgrag lab generate-questions manuals -n 200 --budget 2     questions-manuals/
    kgrag lab eval questions-manuals --by type
    kgrag lab generate-questions manuals -n 50 --templates --out quick --json
    kgrag lab generate-questions manuals --from-opinions --out rated
    """
    from kgrag.lab.generating import estimate, from_opinions, generate
    from kgrag.wire import to_json

    with connect(args.apply(load_settings())) as kg:
        name = choose_collection(kg, collection)
        folder = args.out or Path(f"questions-{name}")
        if args.from_opinions:
            report = from_opinions(kg[name], folder)
            end(report, name, None if args.as_json else _text(report, folder), "question")
            return
        if args.dry_run:
            with progress_bars() as progress:
                estimates = {} if args.templates else estimate(kg[name], args.number, seed=args.seed, progress=progress)
            if args.as_json:
                print_json(to_json({"tasks": estimates}, collection=name))
                return
            click.echo(f"Collection {name}: {number(args.number, 'question')} to make")
            for task, calls in estimates.items():
                click.echo(f"{task}: " + "\n  ".join(calls.lines(args.budget)))
            return
        with resumable() as progress:
            report = generate(
                kg[name],
                folder,
                args.number,
                seed=args.seed,
                ask=not args.templates,
                threads=args.threads,
                progress=progress,
            )
    end(report, name, None if args.as_json else _text(report, folder), "question")
    if report.left:
        note(f"{number(report.left, 'question')} missing: the collection gives no more that can be used.")


def _text(report: "GenerationReport", folder: Path) -> str:
    types = ", ".join(f"{n} {name}" for name, n in report.by_type.items())
    lines = [f"{folder}: {number(report.questions, 'question')}" + (f" ({types})" if types else "")]
    if report.dropped:
        lines.append("Dropped: " + ", ".join(f"{n:,} {why}" for why, n in sorted(report.dropped.items())))
    return "\n".join(lines + ([usage_line(report.usage)] if report.usage.calls else []))
