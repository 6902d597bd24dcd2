"""Routes of names: completions of a prefix, and pairs of names that may mean one entity, for review."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field, create_model

from kgrag.server.api.forms import RequestForm
from kgrag.server.failures import Reply
from kgrag.server.route_context import Called, Named
from kgrag.values.errors import NotFoundError

router = APIRouter(tags=["names"])

Name = Annotated[str, Field(min_length=1, max_length=2000)]
_NAME: Any = create_model("FoundName", name=str, passages=int)
_PAIR: Any = create_model(
    "ListedPair", one=str, other=str, score=float, evidence=str, kind=str, by=str, contexts=tuple[str, str]
)


class Decision(RequestForm):
    """A decision on two names: whether they mean one entity (`same`); null withdraws the decision."""

    one: Name
    other: Name
    same: bool | None


class DecisionsRequest(RequestForm):
    """Decisions on listed pairs."""

    decisions: Annotated[tuple[Decision, ...], Field(min_length=1, max_length=500)]


@router.get("/collections/{collection}/names", response_model=create_model("Names", names=list[_NAME]))
async def names(
    caller: Called,
    collection: Named,
    q: Annotated[str, Query(max_length=200, description="words of a name; the last may be a prefix")],
    limit: Annotated[int, Query(ge=1, le=100)] = 8,
) -> Reply:
    """Return names with these words; exact matches first, then by number of passages."""
    rows = await caller.work(lambda: caller.collection(collection).names(q, limit=limit))
    return Reply({"names": [{"name": name, "passages": passages} for name, passages in rows]})


@router.get(
    "/collections/{collection}/name-pairs",
    response_model=create_model("NamePairs", names=int, number=int, pairs=list[_PAIR]),
)
async def name_pairs(
    caller: Called,
    collection: Named,
    filter: Annotated[str, Query(max_length=200, description="part of either name")] = "",
    kind: Annotated[
        Literal["doubtful", "same", "apart"],
        Query(description="same: surely one entity, or decided so; apart: decided to be two"),
    ] = "doubtful",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Reply:
    """Return pairs of names that may mean one entity, the surest first, without rejected pairs.

    `names`: number of names compared; `number`: number of pairs; `by`: who decided: rules, model or person.
    """

    def listed() -> Reply:
        target, part = caller.collection(collection), filter.casefold()
        resolution = target.resolve()
        fits = [
            pair for pair in getattr(resolution, kind) if part in pair.one.casefold() or part in pair.other.casefold()
        ]
        page = fits[offset : offset + limit]
        texts = target.name_contexts(page)
        pairs = [
            {name: getattr(pair, name) for name in _PAIR.model_fields if name != "contexts"} | {"contexts": contexts}
            for pair, contexts in zip(page, texts, strict=True)
        ]
        return Reply({"names": resolution.names, "number": len(fits), "pairs": pairs})

    return await caller.work(listed)


@router.post("/collections/{collection}/name-pairs", response_model=create_model("Decided", decided=int))
async def decide_name_pairs(caller: Called, collection: Named, body: DecisionsRequest) -> Reply:
    """Decide whether the names of pairs mean one entity (role write); later searches for pairs respect it."""

    def decided() -> Reply:
        target = caller.collection(collection, "write")
        resolution = target.resolve()
        by_names = {
            frozenset((pair.one, pair.other)): pair
            for pair in (*resolution.doubtful, *resolution.same, *resolution.apart)
        }
        decisions = {
            frozenset((decision.one, decision.other)): decision for decision in body.decisions
        }  # the last decision on a pair wins
        for key, decision in decisions.items():
            if key not in by_names:
                raise NotFoundError(
                    f"{decision.one!r} and {decision.other!r} are no pair of this collection now. Nothing was decided.",
                    "List the pairs again: somebody told them apart, or documents have changed.",
                )
        for same in (True, False, None):
            if pairs := [by_names[key] for key, decision in decisions.items() if decision.same is same]:
                target.decide(pairs, same=same)
        return Reply({"decided": len(decisions)})

    return await caller.work(decided)
