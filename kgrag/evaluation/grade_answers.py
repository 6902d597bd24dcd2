"""Many answers are marked, several at a time; what was marked is kept, and compared with marks made by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from kgrag.evaluation.graders import AnswerGrader, Marks, SaidAnswer
from kgrag.evaluation.ledger import Ledger
from kgrag.indexing.ask_each import FailedPassage, Meter, ask_each
from kgrag.values.errors import InputError, ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

_STAGE = "marks"
MARKS = ("correctness", "faithfulness")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on `answers` that both marked.

    `same`: share of equal marks; `kappa`: Cohen's kappa with linear weights (Cohen, 1968), 1 at best and 0 where they
    agree as by chance; `error`: mean absolute difference; `correlation`: Pearson's. kappa and correlation are None
    where they are not defined, since one of the two gave the same mark to all.
    """

    answers: int
    same: float
    kappa: float | None
    error: float
    correlation: float | None


@dataclass(frozen=True, slots=True)
class GradeReport:
    """What was marked, `by` what.

    `means`: mark -> its mean over the answers that have it; `agreement`: mark -> with the marks made by hand, over the
    answers that both marked. `failures`: answers that the model gave nothing usable for; `left`: how many are not
    marked, these among them; `stopped`: why it ended early, if it did.
    """

    by: str
    marks: Mapping[str, Marks]
    means: Mapping[str, float] = field(default_factory=dict)
    agreement: Mapping[str, Agreement] = field(default_factory=dict)
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: ModelError | None = None


def grade_answers(
    answers: Sequence[SaidAnswer],
    grader: AnswerGrader,
    *,
    by_hand: Mapping[str, Marks] | None = None,
    out: Path | None = None,
    threads: int = 8,
    meter: Meter | None = None,
    progress: Progress,
) -> GradeReport:
    """Mark answers; with `out`, a JSON Lines file, those that it holds marks of are not marked again.

    `meter` hears of the grader's calls. Raises InputError when `out` cannot be written, or holds marks of another
    grader.
    """
    marks: dict[str, Marks] = {}
    if out is None:
        outcome = _mark(answers, grader, marks, lambda _: None, threads, progress)
    else:
        digests = {answer.digest: answer.id for answer in answers}
        with Ledger(out, {"by": grader.by}) as ledger:
            if not ledger.rows or ledger.rows[0].get("by") != grader.by:
                raise InputError(f"{out} holds other marks than those of {grader.by}.", "Name another file with --out.")
            for row in ledger.rows[1:]:
                if row.get("digest") in digests:
                    unsupported = tuple(row["unsupported"])
                    marks[digests[row["digest"]]] = Marks(row["correctness"], row["faithfulness"], unsupported)
            of = {answer.id: answer.digest for answer in answers}

            def keep(found: Mapping[str, Marks]) -> None:
                for id, its in found.items():
                    ledger.add({"id": id, "digest": of[id], **asdict(its)})

            due = [answer for answer in answers if answer.id not in marks]
            outcome = _mark(due, grader, marks, keep, threads, progress)
    report = GradeReport(
        by=grader.by,
        marks={answer.id: marks[answer.id] for answer in answers if answer.id in marks},
        failures=tuple(outcome.failures),
        left=len(answers) - len(marks),
        usage=Usage() if meter is None else meter.total,
        stopped=outcome.stopped,
    )
    return replace(report, means=_means(report.marks), agreement=_agreement(report.marks, by_hand or {}))


def _mark(
    answers: Sequence[SaidAnswer],
    grader: AnswerGrader,
    marks: dict[str, Marks],
    keep: Callable[[Mapping[str, Marks]], None],
    threads: int,
    progress: Progress,
) -> Any:
    sources = [{"id": a.id, "document": a.id, "title": "", "answer": a} for a in answers]

    def write(found: dict[str, Marks]) -> None:
        keep(found)
        marks.update(found)

    report = partial(progress, _STAGE)
    return ask_each(sources, len(sources), lambda source: grader.mark(source["answer"]), write, report, threads)


def _means(marks: Mapping[str, Marks]) -> dict[str, float]:
    found = {name: [v for its in marks.values() if (v := getattr(its, name)) is not None] for name in MARKS}
    return {name: fmean(values) for name, values in found.items() if values}


def _agreement(marks: Mapping[str, Marks], by_hand: Mapping[str, Marks]) -> dict[str, Agreement]:
    found = {}
    for name in MARKS:
        pairs = [(getattr(marks[id], name), getattr(its, name)) for id, its in by_hand.items() if id in marks]
        both = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
        agreed = agreement([ours for ours, _ in both], [theirs for _, theirs in both])
        if agreed is not None:
            found[name] = agreed
    return found


def agreement(ours: Sequence[float], theirs: Sequence[float]) -> Agreement | None:
    """The agreement of marks of the same answers in the same order; None of no answers."""
    if not ours:
        return None
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    apart = np.abs(a - b)  # (answers,)
    expected = float(np.abs(a[:, None] - b[None, :]).mean())  # by chance, with each one's own frequencies
    varied = a.std() > 0 and b.std() > 0
    return Agreement(
        answers=len(a),
        same=float((apart < 1e-9).mean()),
        kappa=1 - float(apart.mean()) / expected if expected else None,
        error=float(apart.mean()),
        correlation=float(np.corrcoef(a, b)[0, 1]) if varied else None,
    )
