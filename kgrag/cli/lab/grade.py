"""kgrag lab grade: answers are marked, by a language model or by their words, and compared with marks made by hand."""

from contextlib import ExitStack, closing
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import Field

from kgrag.cli.console import load_settings, number, print_json, print_list, print_table
from kgrag.cli.lab.measuring import Asking, options
from kgrag.cli.outcome import end_stopped, resumable, usage_line

if TYPE_CHECKING:
    from kgrag.lab.grading import GradeReport
    from kgrag.values.results import Usage

_HEADS = ("mark", "answers", "mean", "by hand", "same", "kappa", "difference", "correlation")


class _Options(Asking):
    file: Path
    lexical: bool = Field(False, description="Ask no model: mark by shared words.")
    against: Path | None = Field(None, description="Marks made by hand (id, correctness, faithfulness).")
    out: Path | None = Field(None, description="Keep marks there, and go on from them.")
    language: str = Field("en", title="CODE", description="Language of the answers, for --lexical.")
    dry_run: bool = Field(False, description="Estimate calls and cost, and ask nothing.")


@click.command()
@options
def grade(args: _Options) -> None:
    """Mark the answers in FILE for correctness and faithfulness.

    FILE has one answer per line: {"id", "question", "answers" (the right ones), "said", "shown" (the texts that it was
    written from)}, or the output of `kgrag ask --json`, to which "answers" may be added. Correctness is 0 (wrong, or no
    answer), 0.5 (partly right) or 1 (right and complete). Faithfulness is the share of an answer's claims that the
    shown texts support. --against measures the agreement with marks made by hand: share of equal marks, Cohen's kappa
    with linear weights, mean difference, correlation. --lexical asks no model, as a baseline.

    \b
    kgrag lab grade answers.jsonl --dry-run
    kgrag lab grade answers.jsonl --out marks.jsonl --budget 1
    kgrag lab grade answers.jsonl --against by-hand.jsonl
    kgrag lab grade answers.jsonl --lexical --against by-hand.jsonl --json
    """
    from kgrag.indexing.ask_each import Meter
    from kgrag.lab import grading
    from kgrag.models.openai_chat import load_chat
    from kgrag.models.prompted import PromptedModel
    from kgrag.text.languages import language_of
    from kgrag.wire import to_json

    settings = args.apply(load_settings())
    answers = grading.read_answers(args.file)
    by_hand = grading.read_marks(args.against) if args.against is not None else {}
    if args.dry_run:
        estimates = {} if args.lexical else grading.estimate(answers, settings.chat)
        if args.as_json:
            print_json(to_json({"tasks": estimates}))
            return
        click.echo(f"{args.file}: {number(len(answers), 'answer')} to mark")
        for task, calls in estimates.items():
            click.echo(f"{task}: " + "\n  ".join(calls.lines(args.budget)))
        return
    with resumable() as progress, ExitStack() as stack:
        meter = Meter()
        grader: grading.AnswerGrader = grading.LexicalGrader(language_of(args.language))
        if not args.lexical:
            model = stack.enter_context(closing(load_chat(settings)))
            grader = grading.ModelGrader(PromptedModel(model, settings.chat.prompts, listener=meter))
        report = grading.grade_answers(
            answers, grader, by_hand=by_hand, out=args.out, threads=args.threads, progress=progress
        )
    _print(report, meter.total, args.as_json)


def _print(report: "GradeReport", usage: "Usage", as_json: bool) -> None:
    from kgrag.lab.grading import MARKS
    from kgrag.wire import to_json

    if as_json:
        print_json(to_json(report, usage=usage, stopped=report.stopped and report.stopped.in_full))
    else:
        rows = []
        for name in MARKS:
            agreed = report.agreement.get(name)
            marked = [value for marks in report.marks.values() if (value := getattr(marks, name)) is not None]
            figures = [report.means.get(name), *(astuple(agreed)[1:] if agreed else ())]
            mean, *others = ("-" if figure is None else f"{figure:.2f}" for figure in figures)
            rows.append((name, str(len(marked)), mean, *((str(agreed.answers), *others) if agreed else ())))
        print_table(_HEADS if report.agreement else _HEADS[:3], rows, left=())
        click.echo(f"Marked by {report.by}")
        if usage.calls:
            click.echo(usage_line(usage))
    if report.failures:
        print_list(
            f"{number(len(report.failures), 'answer')} could not be marked:",
            [f"{f.document}: {f.reason}" for f in report.failures],
        )
    end_stopped(report.stopped, report.left, "answer")
    if report.failures:
        click.get_current_context().exit(1)
