"""Routes for monitoring: whether the server is alive and ready, and its metrics."""

import asyncio
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import create_model

from kgrag.runtime import limits
from kgrag.server.failures import Reply, response
from kgrag.server.metrics import Gauges
from kgrag.server.route_context import Called, serving_of
from kgrag.values.errors import DatabaseError

router = APIRouter(tags=["health"])

_OK = create_model("Alive", status=Literal["ok"])
_READY = 3.0  # seconds within which the database must answer


@router.get("/healthz", response_model=_OK)
async def alive() -> Reply:
    """Report that the process is alive."""
    return Reply({"status": "ok"})


@router.get("/readyz", response_model=_OK)
async def ready(request: Request) -> Response:
    """Report whether the database answers, too; 503 if not."""
    serving = serving_of(request)
    try:
        with limits.limited(_READY):
            await asyncio.wait_for(asyncio.to_thread(serving.kg.graph.run, "inspect/ping"), _READY)
    except (DatabaseError, TimeoutError):
        return response(DatabaseError("The database does not answer.", "The log of the server says more."))
    return Reply({"status": "ok"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(caller: Called) -> Response:
    """Return requests and limits in the form of Prometheus (a key of all collections)."""
    caller.access.check_all()
    serving = caller.serving
    gauges = Gauges(serving.kg, serving.jobs.uploads, serving.options.held_mb)
    now = await asyncio.to_thread(gauges.text)  # even if the server is at its limit
    return Response(serving.metrics.text() + now, media_type=CONTENT_TYPE_LATEST)
