"""Routes of evaluations: what was measured, one of it question by question, and two of them beside each other."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path

from kgrag.evaluation.baselines import BASELINES
from kgrag.evaluation.kept import Kept, differ, differences, kept, shared
from kgrag.evaluation.report import differences_sheet
from kgrag.evaluation.retrieving import Record
from kgrag.server.api.shapes import holds, shape
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Caller
from kgrag.values.errors import NotFoundError

router = APIRouter(tags=["evaluations"])

Id = Annotated[str, Path(min_length=1, max_length=500, description="id of an evaluation: the name of its file")]
_EVALUATION: Any = shape(
    "Evaluation",
    id=str,
    system=str,
    dataset=str,
    collection=str,
    embedder=str,
    questions=int,
    when=datetime,
    measures=dict[str, float | None],
)
_TOLD: Any = shape("Told", ranks=list[int | None], said=str)
_RECORD: Any = shape(
    "EvaluatedQuestion",
    question=str,
    answers=list[str],
    ranks=list[int | None],
    said=str,
    error=str,
    system=str,
    search=bool,
)
_ROW: Any = shape(
    "MeasureBeside",
    measure=str,
    one=float | None,
    other=float | None,
    difference=str,
    interval=str,
    verdict=str,
)
_UNLIKE: Any = shape("QuestionBeside", question=str, answers=list[str], one=_TOLD, other=_TOLD)


@router.get("/evaluations", responses=holds("Evaluations", evaluations=list[_EVALUATION], folder=bool))
async def evaluations(caller: Called) -> Reply:
    """What was measured on the collections that the key may see, newest first.

    `folder`: whether the server was told where evaluations are kept. What is of no collection is for keys of all.
    """
    found = await caller.work(lambda: [_form(its) for its in _seen(caller).values()])
    return Reply({"evaluations": found, "folder": caller.serving.options.evaluations is not None})


@router.get("/evaluations/{id}", responses=holds("EvaluationReply", evaluation=_EVALUATION, records=list[_RECORD]))
async def evaluation(caller: Called, id: Id) -> Reply:
    """One of them, question by question.

    `system`: what can be asked the question again, as a search if `search`; empty where nothing can.
    """

    def found() -> Reply:
        its = _found(_seen(caller), id)
        system = its.system if its.collection and its.system not in BASELINES else ""
        search = all(record.answer is None for record in its.records)
        records = [
            {**_asked(record), **_told(record), "error": record.error or "", "system": system, "search": search}
            for record in its.records
        ]
        return Reply({"evaluation": _form(its), "records": records})

    return await caller.work(found)


@router.get(
    "/evaluations/{id}/beside/{other}",
    responses=holds(
        "EvaluationsBeside",
        one=_EVALUATION,
        other=_EVALUATION,
        rows=list[_ROW],
        shared=int,
        questions=list[_UNLIKE],
    ),
)
async def evaluations_beside(caller: Called, id: Id, other: Id) -> Reply:
    """Two on the questions that both were asked, `shared` of them, and those in which they differ.

    `difference`, `interval` and `verdict` are of the first against the other; empty where that is not known.
    """

    def compared() -> Reply:
        known = _seen(caller)
        one, two = _found(known, id), _found(known, other)
        pairs = shared(one, two)
        between = differences(pairs, min(one.depth, two.depth)) if pairs else {}
        apart = {row[1]: row[2:] for row in differences_sheet(two.system, {one.system: between}).rows}
        theirs = two.measures
        names = ("measure", "one", "other", "difference", "interval", "verdict")
        rows = [
            dict(zip(names, (name, value, theirs.get(name), *apart.get(name, ("", "", ""))), strict=True))
            for name, value in one.measures.items()
        ]
        unlike = [{**_asked(a), "one": _told(a), "other": _told(b)} for a, b in pairs if differ(a, b)]
        forms = {"one": _form(one), "other": _form(two)}
        return Reply({**forms, "rows": rows, "shared": len(pairs), "questions": unlike})

    return await caller.work(compared)


def _seen(caller: Caller) -> dict[str, Kept]:
    """Id -> what was measured on collections that the key may see, newest first; of one id the newest."""
    folder = caller.serving.options.evaluations
    found: dict[str, Kept] = {}
    for its in kept(folder) if folder is not None else ():
        if caller.access.sees(its.collection):
            found.setdefault(its.id, its)
    return found


def _found(known: dict[str, Kept], id: str) -> Kept:
    if id not in known:
        raise NotFoundError(f"There is no evaluation {id!r}.", "Choose one of the list.")
    return known[id]


def _form(its: Kept) -> dict[str, Any]:
    own = {name: getattr(its, name) for name in ("id", "system", "dataset", "collection", "embedder", "measures")}
    return {**own, "questions": len(its.records), "when": its.written}


def _asked(record: Record) -> dict[str, Any]:
    return {"question": record.question.text, "answers": record.question.answers}


def _told(record: Record) -> dict[str, Any]:
    """The ranks of the gold, and what was answered."""
    return {"ranks": record.ranks, "said": "" if record.answer is None else record.answer.text}
