"""Every number in a request has bounds, and a number outside them is refused by name."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from kgrag.agents.system import STRATEGIES
from kgrag.retrieval.base import RETRIEVERS, VectorOptions
from kgrag.runtime.options import Options, resolve
from kgrag.server import openai
from kgrag.server.api import health
from kgrag.server.app import _ROUTERS
from kgrag.server.jobs.kinds import KINDS
from kgrag.values.errors import ConfigurationError

_PARTS = {kind.__name__: kind for parts in (RETRIEVERS, STRATEGIES) for kind in (parts[name].options for name in parts)}


def _unbounded(schema: Any, where: str) -> Iterator[str]:
    """Yield places in a JSON schema with an unbounded number, or a list without a maximum length."""
    if isinstance(schema, dict):
        number = schema.get("type") in ("integer", "number") and not schema.keys() & {"enum", "const"}
        if number and not all(schema.keys() & {end, f"exclusive{end.title()}"} for end in ("minimum", "maximum")):
            yield where
        if schema.get("type") == "array" and "maxItems" not in schema:
            yield where
        for key, value in schema.items():
            if key != "default" and not where.endswith("properties.where"):  # filters compare it as text
                yield from _unbounded(value, f"{where}.{key}")
    elif isinstance(schema, list):
        for value in schema:
            yield from _unbounded(value, where)


@pytest.mark.parametrize("options", _PARTS.values(), ids=_PARTS)
def test_options_of_retrievers_and_strategies(options: type[Options]) -> None:
    assert list(_unbounded(options.model_json_schema(), options.__name__)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_options_of_jobs(kind: str) -> None:
    assert list(_unbounded(KINDS[kind].options.model_json_schema(), kind)) == []


def test_requests() -> None:
    app = FastAPI()
    for router in (*_ROUTERS, openai.router, health.router):
        app.include_router(router)
    schema = app.openapi()
    forms, found = schema["components"]["schemas"], []
    sent: set[str] = set()
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            found += _unbounded([p["schema"] for p in operation.get("parameters", ())], path)
            found += _unbounded(operation.get("requestBody", {}), path)
            sent |= _named(operation.get("requestBody", {}), forms)
    assert {"SearchRequest", "AskRequest", "Chat", "CypherRequest"} < sent
    assert found + [place for form in sent for place in _unbounded(forms[form], form)] == []


def _named(schema: Any, forms: dict[str, Any]) -> set[str]:
    """Return the forms that a schema names, and the forms that these name."""
    names = set(re.findall(r'#/components/schemas/([^"]+)', json.dumps(schema)))
    return names.union(*(_named(forms[name], forms) for name in names))


@pytest.mark.parametrize("value", [0, 10_001, 10**30, float("nan"), float("inf"), "many"])
def test_what_is_out_of_bounds_is_refused_with_the_bound(value: object) -> None:
    with pytest.raises(ConfigurationError, match=r"over_fetch=.* is invalid: Input should be .*") as refused:
        resolve(VectorOptions, "dense", {"over_fetch": value}, {}, {})
    if isinstance(value, int):
        assert ("10000" if value else "1") in refused.value.message
