"""Every route under every key: the roles and collections that each one requires."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from served import Served

from kgrag import KnowledgeGraph
from kgrag.server.jobs import Jobs
from kgrag.server.keys import ROLES, Role
from kgrag.values.documents import Document, Section

_NOTES, _SECRET, _NOWHERE = "notes of the coast", "letters home", "not there"
_DECISION = {"one": "Kari", "other": "Ola", "same": True}
_QUESTION = {"question": "Where was Kari born?"}
_KEYS: dict[str, tuple[Role, tuple[str, ...]]] = {
    "reads all": ("read", ()), "writes all": ("write", ()), "rules all": ("admin", ()),
    "reads notes": ("read", (_NOTES, _NOWHERE)), "writes notes": ("write", (_NOTES, _NOWHERE)),
    "rules notes": ("admin", (_NOTES, _NOWHERE)),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A route: its request, and its status for an allowed key (`then`). `all`: only for keys of all collections."""

    method: str
    path: str
    role: Role = "read"
    all: bool = False
    then: tuple[int, ...] = (200,)
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.options.get('json', '')}"


def _json(**body: Any) -> dict[str, Any]:
    return {"json": body}


_C = "/api/v1/collections/{collection}"
_ROUTES = [
    Case("GET", "/api/v1/me"),
    Case("GET", "/api/v1/collections"),
    Case("GET", "/api/v1/queries"),
    Case("GET", "/api/v1/jobs"),
    Case("GET", "/metrics", all=True),
    Case("POST", "/api/v1/cypher", "analyst", all=True, options=_json(statement="RETURN 1 AS one")),
    Case("POST", "/api/v1/queries/{name}", all=True, options=_json()),
    Case("POST", "/api/v1/search", options=_json(**_QUESTION, collections=[])),
    Case("POST", "/api/v1/ask", then=(400,), options=_json(**_QUESTION, collections=[])),  # no model is configured
    Case("GET", "/api/v1/start"),
    Case("POST", "/api/v1/turns", then=(202,), options=_json(**_QUESTION, collections=[])),
    Case("GET", "/api/v1/turns/{id}", then=(404,)),
    Case("GET", "/api/v1/turns/{id}/events", then=(404,)),
    Case("GET", "/api/v1/turns/{id}/result", then=(404,)),
    Case("GET", "/api/v1/turns/{id}/drawing", then=(404,)),
    Case("POST", "/api/v1/turns/{id}/stop", then=(404,)),
    Case("POST", "/api/v1/turns/{id}/show", then=(404,)),
    Case("POST", "/api/v1/turns/{id}/opinion", then=(404,), options=_json(good=True)),
    Case("GET", "/api/v1/conversations"),
    Case("GET", "/api/v1/conversations/{id}", then=(404,)),
    Case("PATCH", "/api/v1/conversations/{id}", then=(404,), options=_json(title="Ships")),
    Case("DELETE", "/api/v1/conversations/{id}", then=(404,)),
    Case("GET", "/api/v1/opinions", "admin", all=True),
    Case("GET", "/api/v1/spending", "admin", all=True),
    Case("GET", "/api/v1/keys", "admin", all=True),
    Case("POST", "/api/v1/keys", "admin", all=True, then=(400,), options=_json(name="rules all", role="read")),  # taken
    Case("DELETE", "/api/v1/keys/{name}", "admin", all=True, then=(404,)),
    Case("GET", _C),
    Case("DELETE", f"{_C}", "admin", then=(404,)),  # it does not exist
    Case("GET", f"{_C}/inspect"),
    Case("GET", f"{_C}/documents"),
    Case("GET", f"{_C}/document", options={"params": {"key": "Kari"}}),
    Case("POST", f"{_C}/documents", "write", then=(202,), options={"files": {"files": ("kari.md", b"Kari again.")}}),
    Case("DELETE", f"{_C}/documents", "write", then=(202,), options={"params": {"key": "nobody.md"}}),
    Case("POST", f"{_C}/texts", "write", then=(202,), options=_json(texts=[{"name": "kari.md", "text": "Kari."}])),
    Case("GET", f"{_C}/uploads"),
    Case("DELETE", f"{_C}/uploads", "write", then=(202,), options={"params": {"name": "nobody.md"}}),
    Case("POST", f"{_C}/jobs", "write", then=(202,), options=_json(kind="prune")),
    Case("GET", f"{_C}/watched"),
    Case("GET", f"{_C}/drawings/connection", options={"params": {"name": "Kari", "other": "Nils"}}),
    Case("POST", f"{_C}/search", options=_json(**_QUESTION)),
    Case("POST", f"{_C}/search", "write", options=_json(**_QUESTION, save=True)),
    Case("POST", f"{_C}/look-up", options=_json(**_QUESTION)),
    Case("POST", f"{_C}/ask", then=(400,), options=_json(**_QUESTION)),  # no language model is configured
    Case("GET", f"{_C}/passage", options={"params": {"id": "Kari"}}),
    Case("GET", f"{_C}/original", then=(404,), options={"params": {"key": "Kari"}}),  # not from a file
    Case("GET", f"{_C}/page", then=(404,), options={"params": {"passage": "Kari"}}),  # not from a PDF
    Case("GET", f"{_C}/figures/{{id}}", then=(404,)),  # documents without figures
    Case("POST", f"{_C}/queries/{{query}}", options=_json()),
    Case("GET", f"{_C}/drawings/passage", options={"params": {"id": "Kari"}}),
    Case("POST", f"{_C}/drawings/queries/{{query}}", then=(200, 400), options=_json()),
    Case("GET", f"{_C}/names", options={"params": {"q": "kari"}}),
    Case("GET", f"{_C}/name-pairs"),
    Case("POST", f"{_C}/name-pairs", "write", then=(404,), options=_json(decisions=[_DECISION])),  # not a pair
    Case("GET", f"{_C}/examples"),
    Case("GET", f"{_C}/estimates/{{kind}}", "write", then=(400,)),  # no language model is configured
    Case("GET", f"{_C}/runs"), Case("GET", f"{_C}/runs/{{run}}"), Case("DELETE", f"{_C}/runs/{{run}}", "write"),
    Case("GET", "/api/v1/jobs/{job}"), Case("GET", "/api/v1/jobs/{job}/events"),
    Case("DELETE", "/api/v1/jobs/{job}", "write"), Case("POST", "/api/v1/jobs/{job}/retry", "write"),
]  # fmt: skip


@pytest.fixture(scope="module")
def served(kg: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    for name in (_NOTES, _SECRET):
        fill(name, [Document("Kari", (Section("Kari Aune keeps a secret: she was born in Nordvika."),), "Kari")])
    with Served(kg, tmp_path_factory.mktemp("keys"), job_workers=1) as server:
        for name, (role, collections) in _KEYS.items():
            server.key(name, role, *collections)
        yield server
        _wait_for_jobs(server)


def _wait_for_jobs(server: Served) -> None:
    with server.client("rules all") as client:
        while any(job["state"] in ("queued", "running") for job in client.get("/api/v1/jobs").json()["jobs"]):
            time.sleep(0.2)


def _ask(client: httpx.Client, case: Case, kg: KnowledgeGraph, collection: str) -> httpx.Response:
    made = {"collection": collection, "name": "collections", "query": "documents", "kind": "extract"}
    made |= {"id": "none", "other": "none"}
    if "{run}" in case.path:
        made["run"] = kg[collection].save(kg[collection].search("Kari", k=1))
    if "{job}" in case.path:
        jobs = Jobs(kg, workers=0)
        made["job"] = jobs.submit("prune", collection).id
        if case.path.endswith("/events"):
            jobs.cancel(made["job"])  # otherwise the events never end
    options = dict(case.options)
    if _is_of_several(case):
        options["json"] = options["json"] | {"collections": [_NOTES, collection]}
    return client.request(case.method, case.path.format(**made), **options)


def _is_of_several(case: Case) -> bool:
    """Return whether its body names collections."""
    return "collections" in case.options.get("json", ())


@pytest.mark.parametrize("case", _ROUTES, ids=str)
def test_each_route_under_each_key(case: Case, served: Served, kg: KnowledgeGraph) -> None:
    for name in (None, "kgrag_unknown"):
        with served.client(name) as client:
            assert _ask(client, case, kg, _SECRET).status_code == 401
    about_one = "{collection}" in case.path or "{job}" in case.path or _is_of_several(case)
    for name, (role, collections) in _KEYS.items():
        with served.client(name) as client:
            for collection in (_NOTES, _SECRET):
                if case.then == (404,) and case.path == _C and not (collections and collection == _SECRET):
                    collection = _NOWHERE
                hidden = bool(collections) and collection not in collections
                reply = _ask(client, case, kg, collection)
                if about_one and hidden:
                    allowed = (403, 404) if ROLES.index(role) < ROLES.index(case.role) else (404,)
                elif ROLES.index(role) < ROLES.index(case.role) or (case.all and collections):
                    allowed = (403,)
                else:
                    allowed = case.then
                assert reply.status_code in allowed, (name, collection, reply.status_code, reply.text)
                if hidden:
                    assert "keeps a secret" not in reply.text
                if reply.status_code >= 400:
                    assert set(reply.json()) == {"error", "remedy", "kind"}


def test_the_table_has_every_route(served: Served) -> None:
    open_to_all = {("GET", "/healthz"), ("GET", "/readyz")}
    there = {
        (method, operation)
        for operation, methods in served.app.openapi()["paths"].items()
        for method in map(str.upper, methods)
        if not operation.startswith("/v1/")  # these have errors in another form
    }
    named = {(case.method, case.path.replace("{query}", "{name}").replace("{run}", "{id}").replace("{job}", "{id}"))
             for case in _ROUTES}  # fmt: skip
    assert there == named | open_to_all


def test_what_is_listed_is_what_a_key_sees(served: Served) -> None:
    with served.client("reads notes") as client:
        assert [c["name"] for c in client.get("/api/v1/collections").json()["collections"]] == [_NOTES]
        assert _SECRET not in client.get("/api/v1/jobs").text
        assert {j["collection"] for j in client.get("/api/v1/jobs").json()["jobs"]} <= {_NOTES}
        missing = client.get(f"/api/v1/collections/{_NOWHERE}")
        assert missing.status_code == 404 and _SECRET not in missing.text
        assert "collections" not in [query["name"] for query in client.get("/api/v1/queries").json()["queries"]]
    with served.client("reads all") as client:
        assert {_NOTES, _SECRET} <= {c["name"] for c in client.get("/api/v1/collections").json()["collections"]}


def test_the_last_key_that_goes_does_not_open_the_server(kg: KnowledgeGraph, tmp_path: Any) -> None:
    server = Served(kg, tmp_path)
    server.key("only", "admin")
    with server, server.client() as client:
        server.keys.remove("only")
        assert client.get("/api/v1/me").status_code == 401
        server.keys.path.unlink()
        assert client.get("/api/v1/me").status_code == 401
