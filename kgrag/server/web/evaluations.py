"""The pages of evaluations: what was measured, and one of it question by question, also beside another."""

from fastapi import Request
from nicegui import ui

from kgrag.evaluation.baselines import BASELINES
from kgrag.evaluation.kept import FIRST, Kept, differ, differences, shared
from kgrag.evaluation.report import differences_sheet
from kgrag.evaluation.retrieving import Record
from kgrag.server.route_context import Serving
from kgrag.server.web.addresses import address
from kgrag.server.web.choices import SEARCH
from kgrag.server.web.frame import frame, heading
from kgrag.server.web.tables import table
from kgrag.values.errors import NotFoundError
from kgrag.values.rows import Rows

_SHOWN = ("R@5", "R@10", "answer@5", "EM", "F1", "Acc", "tokens", "cost", "p50_ms")
"""Measures of the table of all runs, as far as any of them has them."""


def add(serving: Serving) -> None:
    """Serve the pages."""

    @ui.page("/evaluations")
    async def evaluations(request: Request) -> None:
        async with frame(serving, request, "Evaluations") as session:
            found = await session.evaluations()
            if not found:
                ui.label("Nothing was measured yet: kgrag lab eval DATASET --out DIR.").classes("quiet")
                return
            rows = [its.measures for its in found]
            names = [name for name in _SHOWN if any(name in row for row in rows)]
            table(
                Rows(
                    ("system", "data set", "collection", "questions", *names, "when"),
                    tuple(
                        (its.system, its.dataset, its.collection, len(its.records), *map(row.get, names), _when(its))
                        for its, row in zip(found, rows, strict=True)
                    ),
                ),
                [address("evaluations", its.id) for its in found],
            )

    @ui.page("/evaluations/{id}")
    async def evaluation(request: Request, id: str, beside: str = "") -> None:
        async with frame(serving, request, "Evaluation") as session:
            found = {its.id: its for its in await session.evaluations()}
            one = _found(found, id)
            heading(one.system)
            said = f"{one.dataset}, {one.collection or 'a collection for each question'}, {one.embedder}, {_when(one)}"
            ui.label(said).classes("quiet text")
            others = {
                its.id: f"{its.system}, {_when(its)}"
                for its in found.values()
                if its.dataset == one.dataset and its.id != id
            }
            if others:
                choice = ui.select(others, value=beside or None, label="Beside", clearable=True).classes("w-full")
                choice.on_value_change(
                    lambda: ui.navigate.to(address("evaluations", id, beside=str(choice.value or "")))
                )
            if beside:
                _compared(one, _found(found, beside))
            else:
                _measured(one)


def _found(known: dict[str, Kept], id: str) -> Kept:
    if id not in known:
        raise NotFoundError(f"There is no evaluation {id!r}.", "Choose one of the list.")
    return known[id]


def _measured(one: Kept) -> None:
    """The measures of one, and its questions."""
    table(Rows(("measure", one.system), tuple(one.measures.items())))
    heading("Questions")
    rows = [(its.question.text, "; ".join(its.question.answers), *_told(its)) for its in one.records]
    table(Rows(("question", "answer", "ranks", "said"), tuple(rows)), [_trail(one, its) for its in one.records])


def _compared(one: Kept, other: Kept) -> None:
    """Two on the questions that both were asked: their measures, and those questions in which they differ."""
    pairs = shared(one, other)
    unlike = [pair for pair in pairs if differ(*pair)]
    if not pairs:
        ui.label("They were not asked the same questions.").classes("quiet")
        return
    between, others = differences(pairs, min(one.depth, other.depth)), other.measures
    apart = {row[1]: row[2:] for row in differences_sheet(other.system, {one.system: between}).rows}
    rows = [(name, value, others.get(name), *apart.get(name, ("", "", ""))) for name, value in one.measures.items()]
    head = ("measure", f"1: {one.system}", f"2: {other.system}", "1 - 2", "95 % interval", "1 is")
    table(Rows(head, tuple(rows)))
    heading(f"Questions in which they differ: {len(unlike):,} of {len(pairs):,}")
    ui.label(f"Other gold is among the first {FIRST}, or the answer is another one.").classes("quiet")
    questions = []
    for a, b in unlike:
        (ranks_1, said_1), (ranks_2, said_2) = _told(a), _told(b)
        known = "; ".join(a.question.answers)
        questions.append((a.question.text, known, ranks_1, ranks_2, said_1, said_2))
    table(
        Rows(("question", "answer", "ranks 1", "ranks 2", "said 1", "said 2"), tuple(questions)),
        [_trail(one, a) for a, _ in unlike],
    )


def _told(record: Record) -> tuple[str, str]:
    """The ranks of the gold, and what was answered, or why not."""
    ranks = ", ".join("-" if rank is None else str(rank) for rank in record.ranks)
    return ranks, record.error or ("" if record.answer is None else record.answer.text)


def _trail(of: Kept, record: Record) -> str:
    """Where the system answers the question, step by step; empty where it cannot be asked."""
    if not of.collection or of.system in BASELINES:
        return ""
    system = of.system if record.answer is not None else f"{SEARCH}{of.system}"
    return address("ask", collection=of.collection, q=record.question.text, system=system)


def _when(its: Kept) -> str:
    return f"{its.written.astimezone():%Y-%m-%d %H:%M}"
