"""Runs: answers and searches that are kept as a subgraph, so that anybody can look at how they came about.

(Run)-[:HAS_STEP]->(Step)-[:NEXT]->(Step); a Step RETRIEVED passages, its facts are LINKED to triples; a Run CITES
passages, and FOUND is its final ranking.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.queries import catalogue
from kgrag.graph.schema import check_schema
from kgrag.text.tokens import caption
from kgrag.values.documents import Triple
from kgrag.values.errors import NotFoundError
from kgrag.values.events import (
    Answer,
    Chained,
    Event,
    Failed,
    Filtered,
    HypotheticalPassage,
    Judged,
    Linked,
    Noted,
    Read,
    Recognised,
    Remembered,
    Retrieved,
    Rewritten,
    SubAnswered,
    Thought,
    Verified,
)
from kgrag.values.forms import read
from kgrag.values.identity import node_id
from kgrag.values.results import Ranking

_Row = dict[str, Any]
_SHORTEST = 6  # digits of a run's id that name it


@dataclass(frozen=True, slots=True)
class Run:
    """A kept run at a glance; `cost` is None where a price was unknown, `problem` says what failed, if anything.

    `good`: what somebody thinks of the answer, None where nobody said so, and `remark` why.
    """

    id: str
    collection: str
    question: str
    system: str
    answer: str
    found: bool
    problem: str
    created: datetime
    steps: int
    seconds: float
    calls: int
    tokens: int
    cost: float | None
    good: bool | None = None
    remark: str = ""


def save_run(graph: Graph, collection: str, answer: Answer | Ranking) -> str:
    """Keep an answer with its steps in one transaction; returns the run's id. What a search found is a run of one step.

    Passages and triples that were removed meanwhile are left out. Raises NotFoundError when the collection was.
    """
    if isinstance(answer, Ranking):
        answer = _of_search(answer)
    id = uuid.uuid4().hex
    values = {field.name: getattr(answer, field.name) for field in fields(answer)}
    own = {name: value for name, value in values.items() if isinstance(value, str | int | float)}
    properties = {
        "name": caption(answer.question),
        "answer": own.pop("text"),
        **own,
        "calls": answer.usage.calls,
        "tokens": answer.usage.tokens,
        "cost": answer.usage.cost,
    }
    ranking = _ranked((hit.passage.id, hit.score) for hit in answer.ranking)
    cited = [{"id": c.passage.id, "number": c.number} for c in answer.citations]
    steps = step_rows(id, answer)

    def work(tx: Transaction) -> bool:
        result = tx.run(
            "write/run", id=id, collection=collection, properties=properties, found=list(ranking.values()), cited=cited
        )
        if result and steps:
            tx.run("write/run_steps", run=id, rows=steps)
        return bool(result)

    if not graph.write(work):
        raise NotFoundError(f"Collection {collection!r} was removed meanwhile.", "`kgrag collections` lists them.")
    return id


def _of_search(ranking: Ranking) -> Answer:
    search = Retrieved(step=1, query=ranking.query, hits=ranking.hits)
    return Answer(ranking.query, "", False, ranking.retriever, ranking, trace=(search,))


def list_runs(graph: Graph, collection: str | None = None) -> list[Run]:
    """Return the saved runs of a collection, or of all, newest first."""
    return [_run(r["run"], r["steps"]) for r in graph.run("look_up/runs", collection=collection)]


def rate_run(graph: Graph, collection: str, id: str, good: bool | None, remark: str) -> None:
    """Note what somebody thinks of a run of a collection. Raises NotFoundError for one that is not kept."""
    if not graph.run("write/rate_run", id=id, collection=collection, good=good, remark=remark or None):
        raise NotFoundError(f"There is no run {id!r}.", "`kgrag list runs` lists the ids.")


def list_all(graph: Graph) -> list[Run]:
    """Return the saved runs of the database, newest first. Raises MismatchError."""
    check_schema(graph)
    return list_runs(graph)


def remove_runs(graph: Graph, ids: Iterable[str]) -> list[Run]:
    """Remove runs, each named by (the first 6 or more digits of) its id; returns them.

    Raises NotFoundError for one that does not exist or is not the only one, before anything is removed.
    """
    selection = named(list_all(graph), ids)
    if selection:
        graph.run("write/remove_runs", ids=[run.id for run in selection])
    return selection


def named(runs: Sequence[Run], ids: Iterable[str]) -> list[Run]:
    """Return the runs that these beginnings of ids name. Raises NotFoundError for an unknown or ambiguous one."""
    matches: dict[str, Run] = {}
    for beginning in ids:
        fits = [run for run in runs if len(beginning) >= _SHORTEST and run.id.startswith(beginning.lower())]
        if len(fits) != 1:
            raise NotFoundError(
                f"{'More than one run is' if fits else 'There is no run'} {beginning!r}.",
                f"`kgrag list runs` lists the ids; the first {_SHORTEST} digits or more name one.",
            )
        matches[fits[0].id] = fits[0]
    return list(matches.values())


def drawing(id: str) -> tuple[str, str]:
    """Return the Browser command that sets the parameter of a run, and the statement that shows it."""
    return f":param id => '{id}'", catalogue()["look_up/run"].text


def step_rows(run: str, answer: Answer) -> list[_Row]:
    """Return a row for each step of the loop, as `cypher/write/run_steps.cypher` expects."""
    numbers = sorted({event.step for event in answer.trace if event.step > 0})
    rows: list[_Row] = []
    for number in numbers:
        events = [event for event in answer.trace if event.step == number]
        rows.append(
            {
                "id": node_id(run, "step", number),
                "previous": rows[-1]["id"] if rows else None,
                "properties": _properties(number, events),
                "passages": _retrieved(events),
                "triples": [
                    {"id": e.id, "fact": _fact(e.fact), "score": e.score} for e in events if isinstance(e, Linked)
                ],
            }
        )
    return rows


def _properties(number: int, events: Sequence[Event]) -> _Row:
    searched = [event for event in events if isinstance(event, Retrieved)]
    queries = [event.query for event in events if isinstance(event, Rewritten | Retrieved | Read)]
    query = queries[0] if queries else ""
    properties: _Row = {"queries": [event.query for event in searched], "roles": [event.role for event in searched]}
    facts = dict[str, None]()
    for event in events:
        match event:
            case Read(triples=triples) | Remembered(triples=triples) | Recognised(kept=triples):
                facts |= dict.fromkeys(map(_fact, triples))
            case Judged(answerable=answerable, why=why, answer=answer):
                properties |= {"verdict": "answerable" if answerable else "not yet", "why": why or answer}
            case Thought(text=text):
                properties["thought"] = text
            case SubAnswered(question=question, answer=answer):
                properties.setdefault("sub_answers", []).append(f"{question} | {answer}")
            case HypotheticalPassage(text=text):
                properties.setdefault("imagined", []).append(text)
            case Chained(text=text):
                properties["chain"] = text
            case Verified(ids=ids):
                properties["verified"] = list(ids)
            case Filtered(kept=selection, dropped=dropped):
                properties |= {"kept": list(selection), "dropped": list(dropped)}
            case Noted(points=points):
                properties.setdefault("points", []).extend(f"{score:g} | {text}" for text, score in points)
            case Failed(problem=problem):
                properties["problem"] = problem
    name = query or properties.get("thought")
    name = caption(f"{number}. {name}") if name else f"step {number}"
    return {"number": number, "name": name, "query": query, "facts": list(facts), **properties}


def _retrieved(events: Iterable[Event]) -> list[_Row]:
    """Return the passages of a step, for each of its queries."""
    rows: dict[tuple[str, str], _Row] = {}
    for event in events:
        if isinstance(event, Retrieved):
            for id, row in _ranked((hit.passage.id, hit.score) for hit in event.hits).items():
                rows.setdefault((event.query, id), {**row, "query": event.query, "role": event.role})
    return list(rows.values())


def _ranked(scored: Iterable[tuple[str, float]]) -> dict[str, _Row]:
    return {id: {"id": id, "rank": rank, "score": score} for rank, (id, score) in enumerate(scored, 1)}


def _fact(triple: Triple) -> str:
    return f"{triple.subject} | {triple.predicate} | {triple.object}"


def _run(properties: _Row, steps: int) -> Run:
    return read(Run, {"cost": None, **properties, "created": properties["created"].to_native(), "steps": steps})
