"""Requests generated from the schema, valid and invalid, never make the server fail."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from served import Served

from kgrag import KnowledgeGraph
from kgrag.server.jobs import Jobs
from kgrag.values.documents import Document, Section

_NAME = "made-up requests"
_EXAMPLES = 15  # per route
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def served(kg: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    fill(_NAME, [Document("ship", (Section("The ship is in the harbour."),), "ship")])
    server = Served(kg, tmp_path_factory.mktemp("keys"), concurrency=4)
    server.key("writer", "write")
    with server:
        yield server
        jobs = Jobs(kg, workers=0)
        for job in jobs.list((_NAME,), limit=1000):
            jobs.cancel(job.id)


def test_no_request_makes_the_server_fail(served: Served) -> None:
    with served.client("writer") as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    headers = {"Authorization": f"Bearer {served.tokens['writer']}"}
    for operation in schema.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @settings(max_examples=_EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def answers(case: Any) -> None:
            if "collection" in (case.path_parameters or {}):
                case.path_parameters["collection"] = _NAME
            reply = case.call(base_url=served.url, headers=headers, timeout=60)
            late = reply.status_code == 504 and "deadline" in (case.body or {})  # its own deadline is too short
            assert reply.status_code < 500 or reply.status_code == 503 or late, (case.as_curl_command(), reply.text)
            assert "Traceback" not in reply.text

        answers()


def test_the_schema_says_how_errors_look_and_that_there_are_keys(served: Served) -> None:
    with served.client("writer") as client:
        schema = client.get("/openapi.json").json()
        refused = client.post("/api/v1/search", json={"question": 5}).json()
    assert schema["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    form = schema["components"]["schemas"]["ErrorReply"]
    assert refused.keys() == form["properties"].keys() == set(form["required"])
    operations = {f"{method} {path}": its for path, routes in schema["paths"].items() for method, its in routes.items()}
    assert len({its["operationId"] for its in operations.values()}) == len(operations) > 35
    for name, its in operations.items():
        if "/api/" in name:
            assert its["security"] == [{"HTTPBearer": []}], name
            for status in ("4XX", "5XX"):
                (reply,) = its["responses"][status]["content"].values()
                assert reply["schema"]["$ref"].endswith("/ErrorReply"), name
            assert "422" not in its["responses"], name
