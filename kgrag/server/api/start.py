"""The route of the first request of a page: the visitor, the options of a question, the colours of the graph."""

from typing import Any

from fastapi import APIRouter
from pydantic import create_model

from kgrag import __version__
from kgrag.agents.system import DEFAULT_SYSTEM, STRATEGIES, check_system
from kgrag.drawing import looks
from kgrag.graph.collections import KNOWLEDGE
from kgrag.retrieval.base import DEFAULT_RETRIEVER, RETRIEVERS
from kgrag.server.api.documents import UPLOAD_FILES
from kgrag.server.failures import Reply
from kgrag.server.keys import LOCAL, Role
from kgrag.server.route_context import Called

router = APIRouter(tags=["start"])

FAST = "single+pathrank"
"""The system that reads once; the default one continues until it knows the answer."""

_PARTS = ("bridges", "common", "concat", "rrf", "top")  # retrievers that need an inner retriever
_PART: Any = create_model("PartMeaning", name=str, meaning=str)
_START = create_model(
    "Start", version=str, name=str, role=Role, all=bool, locked=bool, model=str, fast=str, thorough=str, search=str,
    systems=list[_PART], retrievers=list[_PART], collections=list[str], looks=dict[str, str], upload_files=int,
    upload_bytes=int,
)  # fmt: skip


@router.get("/start", response_model=_START)
async def start(caller: Called) -> Reply:
    """Return the first data of a page.

    `model`: the model that answers, or ""; `all`: whether the key may see all collections.
    """
    access, options = caller.access, caller.serving.options
    records = await caller.work(caller.kg.records)
    names = [record.name for record in records if record.kind != KNOWLEDGE and access.sees(record.name)]
    return Reply(
        {
            "version": __version__,
            "name": access.name,
            "role": access.role,
            "all": not access.collections,
            "locked": access is not LOCAL,
            "model": caller.kg.settings.chat.model or "",
            "fast": FAST,
            "thorough": DEFAULT_SYSTEM,
            "search": DEFAULT_RETRIEVER,
            "systems": [{"name": check_system(n), "meaning": entry.summary} for n, entry in STRATEGIES.items()],
            "retrievers": [{"name": n, "meaning": one.summary} for n, one in RETRIEVERS.items() if n not in _PARTS],
            "collections": sorted(names),
            "looks": looks(),
            "upload_files": UPLOAD_FILES,
            "upload_bytes": options.upload_mb * 900_000,
        }
    )
