"""What a request gives is used or refused: no parameter and no key of JSON is given twice, or unknown."""

import json
from collections import Counter
from typing import Any

from fastapi import Request, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute

from kgrag.client.arguments import unknown_argument
from kgrag.server.record import API
from kgrag.values.errors import InputError


async def check_given(request: Request) -> None:
    """Check the parameters of a request and the keys of its JSON.

    Clients of OpenAI's API may send parameters that kgrag does not know.

    Raises:
        ConfigurationError: a parameter is unknown.
        InputError: a parameter or a key is given twice.
    """
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and request.query_params and request.url.path.startswith(API):
        flat = get_flat_params(route.dependant)
        fields = {field.alias: field.field_info for field in flat if isinstance(field.field_info, params.Query)}
        for name, times in Counter(key for key, _ in request.query_params.multi_items()).items():
            if name not in fields:
                raise unknown_argument(f"{request.method} {route.path}", name, list(fields))
            if times > 1 and not str(fields[name].annotation).startswith("list"):
                raise _twice(name)
    if "json" in request.headers.get("content-type", ""):
        json.loads(await request.body() or b"null", object_pairs_hook=_checked)


def _checked(pairs: list[tuple[str, Any]]) -> None:
    if len(dict.fromkeys(key for key, _ in pairs)) < len(pairs):
        raise _twice(next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1))


def _twice(name: str) -> InputError:
    return InputError(f"{name!r} is given twice.", "Give it once.")
