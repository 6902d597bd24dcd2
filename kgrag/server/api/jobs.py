"""Routes of jobs: work on collections that the server does in the background."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, JsonValue, create_model

from kgrag.client.verbs import operations
from kgrag.graph.jobs import Job, State, no_job
from kgrag.models.budget import Estimate
from kgrag.server.api.forms import RequestForm, versioned
from kgrag.server.events import Events, EventStream
from kgrag.server.failures import Reply, words_for
from kgrag.server.jobs.kinds import KINDS, Kind
from kgrag.server.keys import Role
from kgrag.server.route_context import Called, Caller, Named
from kgrag.wire import to_json

router = APIRouter(tags=["jobs"])

JOB = versioned(Job)
_LISTED = 20  # items of a parameter that a list of jobs shows
_LOOKS = 10  # checks of a watched folder; all but the last are pending or cancelled
_PROBLEM: Any = create_model("FileProblem", place=str, message=str)
_LOOK = 0.5  # seconds between polls of a followed job
_VERBS = operations()
_ESTIMATED = [name for name, verb in _VERBS.items() if verb.estimate]
Estimated = Annotated[
    str, Path(pattern=f"^({'|'.join(_ESTIMATED)})$", description="kind of job", json_schema_extra={"enum": _ESTIMATED})
]
Id = Annotated[str, Path(min_length=1, max_length=64, description="id of a job")]


def _told(name: str, kind: Kind) -> str:
    fields = kind.options.model_fields.items()
    options = "; ".join(f"`{key}`: {field.description}" for key, field in fields if field.description)
    summary = f"{_VERBS[name].summary} " if name in _VERBS else ""
    return f"- `{name}`: {summary}{options or ', '.join(key for key, _ in fields) or 'no options'}"


class JobRequest(RequestForm):
    """A job with its options."""

    kind: Annotated[str, Field(min_length=1, max_length=50, json_schema_extra={"enum": list(KINDS)})]
    parameters: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="The options of the kind:\n\n" + "\n".join(_told(name, kind) for name, kind in KINDS.items()),
    )


@router.post("/collections/{collection}/jobs", status_code=202, response_model=JOB)
async def submit_job(caller: Called, collection: Named, body: JobRequest) -> Reply:
    """Submit a job (role write; admin to delete a collection)."""
    return await caller.work(lambda: submitted(caller, collection, body.kind, body.parameters))


@router.get(
    "/collections/{collection}/estimates/{kind}",
    response_model=create_model("EstimateReply", kind=str, calls=int, tokens=int, cost=float | None, lines=list[str]),
)
async def estimate(caller: Called, collection: Named, kind: Estimated) -> Reply:
    """Estimate the maximum tokens and cost of a job without calling the model (role write).

    A tree and communities must exist first, with texts that no model wrote. `tokens` counts input and output; `cost` is
    null without prices; `lines` words the estimate.
    """

    def estimated() -> Reply:
        target = caller.collection(collection, "write")
        caller.kg.language_model()  # raises at once without a model
        calls: Estimate = getattr(target, _VERBS[kind].estimate)()
        lines = calls.lines(caller.kg.settings.chat.budget) if calls.calls else [_VERBS[kind].nothing_left]
        numbers = {
            "calls": calls.calls,
            "tokens": calls.prompt_tokens[1] + calls.completion_tokens[1],
            "cost": None if calls.cost is None else calls.cost[1],
        }
        return Reply({"kind": kind, **numbers, "lines": list(lines)})

    return await caller.work(estimated)


@router.get("/jobs", response_model=create_model("Jobs", jobs=list[Job]))
async def jobs(
    caller: Called,
    collection: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    state: State | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Reply:
    """Return the jobs of the collections that the key may see, newest first.

    A list among the parameters is cut to its first 20 items; its name with `_number` holds the full count. `GET
    /jobs/{id}` has all items.
    """
    names = caller.access.collections if collection is None else caller.seen((collection,))
    listed = await caller.work(lambda: caller.serving.jobs.list(names, state, limit))
    return Reply({"jobs": [_readable(caller, replace(job, parameters=_brief(job.parameters))) for job in listed]})


def _readable(caller: Caller, job: Job) -> Job:
    """Return a job with its failures worded for the rights of the reader."""
    say = words_for(caller.access)
    problems = [{**one, "message": say(one["message"])} for one in job.result.get("problems", ())]
    result = {**job.result, **({"problems": problems} if problems else {})}
    return replace(job, error=say(job.error), remedy=say(job.remedy), result=result)


def _brief(parameters: Mapping[str, Any]) -> dict[str, Any]:
    long = {
        name: value for name, value in parameters.items() if isinstance(value, list | tuple) and len(value) > _LISTED
    }
    cut = {name: value[:_LISTED] for name, value in long.items()}
    return {**parameters, **cut, **{f"{name}_number": len(value) for name, value in long.items()}}


@router.get("/jobs/{id}", response_model=JOB)
async def job(caller: Called, id: Id) -> Reply:
    """Return the current state of a job."""
    return Reply(to_json(await caller.work(lambda: _readable(caller, _seen(caller, id)))))


@router.get("/jobs/{id}/events", responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}})
async def job_events(caller: Called, id: Id) -> Response:
    """Stream the job and its changes as server-sent events until it ends."""
    await caller.work(lambda: _seen(caller, id))
    return EventStream(_changes(caller, id))


@router.delete("/jobs/{id}", response_model=JOB)
async def cancel_job(caller: Called, id: Id) -> Reply:
    """Cancel a job; committed results stay (role write)."""
    return Reply(to_json(await caller.work(lambda: caller.serving.jobs.cancel(_seen(caller, id, "write").id))))


@router.post("/jobs/{id}/retry", response_model=JOB)
async def retry_job(caller: Called, id: Id) -> Reply:
    """Resume a job that failed or was cancelled (role write)."""
    return Reply(to_json(await caller.work(lambda: caller.serving.jobs.retry(_seen(caller, id, "write").id))))


@router.get(
    "/collections/{collection}/watched",
    response_model=create_model(
        "Watched", folder=str | None, present=bool, looked=str, looking=str, documents=int, unsettled=int, failed=int,
        problems=list[_PROBLEM], error=str,
    ),
)  # fmt: skip
async def watched(caller: Called, collection: Named) -> Reply:
    """Return the folder that the server watches for a collection, null for none, and the result of the last check.

    `looked`: when that check ended; `looking`: the id of the pending or running check. Submit a job `watched` to check
    at once. `unsettled`: files that changed a moment ago and wait for the next check; `failed`: unreadable files, with
    reasons in `problems`.
    """

    def state() -> Reply:
        caller.collection(collection, new=True)
        folder = caller.kg.settings.serve.watch.get(collection)
        looks = caller.serving.jobs.list([collection], limit=_LOOKS, kind="watched")
        last = next((_readable(caller, job) for job in looks if job.state in ("done", "failed")), None)
        result = last.result if last else {}
        return Reply(
            {
                "folder": None if folder is None else folder.name,
                "present": folder is not None and folder.is_dir(),
                "looked": last.ended if last else "",
                "looking": next((job.id for job in looks if not job.over), ""),
                "documents": sum(result.get(name, 0) for name in ("added", "changed", "unchanged")),
                "unsettled": result.get("unsettled", 0),
                "failed": result.get("failed", 0),
                "problems": result.get("problems", []),
                "error": f"{last.error} {last.remedy}".strip() if last else "",
            }
        )

    return await caller.work(state)


def submitted(caller: Caller, collection: str, kind: str, parameters: Mapping[str, Any], seconds: int = 0) -> Reply:
    """Submit a job of the caller that starts after `seconds`. Raises as `Caller.collection` and `Jobs.submit` do."""
    whole = kind == "delete" and parameters.get("documents") is None
    caller.collection(collection, "admin" if whole else "write", new=kind in ("ingest", "watched"))
    return Reply(to_json(caller.serving.jobs.submit(kind, collection, parameters, caller.access.name, seconds)), 202)


def _seen(caller: Caller, id: str, role: Role = "read") -> Job:
    """Return a job on a collection that the caller may use. Deleting a collection requires the role admin."""
    job = caller.serving.jobs.get(id)
    if not caller.access.sees(job.collection):
        raise no_job(id)
    whole = job.kind == "delete" and job.parameters.get("documents") is None
    caller.access.check("admin" if whole and role != "read" else role)
    return job


async def _changes(caller: Caller, id: str) -> Events:
    """Yield changes by polling, since a thread for each follower would be too many."""
    seen = None
    while seen is None or not seen.over:
        now = await asyncio.to_thread(_seen, caller, id)
        if now != seen:
            seen = now
            yield "job", to_json(_readable(caller, now))
        else:
            await asyncio.sleep(_LOOK)
