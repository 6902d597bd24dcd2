"""Every route's reply matches OpenAPI, with exactly the documented keys."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from made_figures import png
from made_pdfs import Maker
from scripted import Scripted
from served import Served

from kgrag import KnowledgeGraph
from kgrag.loaders.figures import figure_of
from kgrag.values.documents import Document, Section
from kgrag.values.errors import NotFoundError

_NAME = "replies"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_C, _J = f"/collections/{_NAME}", "/jobs/"
_ASKED = {"question": _QUESTION, "system": "gear+pathrank"}
_CHAT = {"model": f"{_NAME}:single+bm25", "messages": [{"role": "user", "content": _QUESTION}]}


@pytest.fixture(scope="module")
def served(asking: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("pdf") / "queen.pdf"
    maker = Maker(path)
    maker.text("The Fjord Queen was a steamer. Her captain was Ole Brandvik, of whom page 1 says no more.")
    maker.page()
    maker.canvas.save()
    born = Document("Ole Brandvik", (Section("Ole Brandvik was born in Nordvika."),), "Ole Brandvik")
    maps = Document("Ada Maria Lund", (Section("Ada Maria Lund was a maker of maps."),), "Ada Maria Lund")
    port = Document("Hvalvik", (Section("Its first chart was drawn by Ada M. Lund for the navy."),), "Hvalvik")
    asking[_NAME].ingest(path)
    hull = replace(figure_of(png(1), "Figure 1: The hull"), number=1)
    asking[_NAME].ingest(
        [born, maps, port, Document("Hull", (Section("Figure 1: The hull"),), "Hull", figures=(hull,))]
    )
    with Served(asking, tmp_path_factory.mktemp("keys")) as server:
        server.key("ruler", "admin")
        yield server
    with suppress(NotFoundError):
        asking[_NAME].delete()


def test_every_reply_is_of_its_documented_shape(served: Served, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [1].")
    scripted.say("read", {"triples": []})
    with served.client("ruler") as client:
        document = client.get("/openapi.json").json()
        asked = _asked(client)
        routes = {f"{m.upper()} {path}" for path, methods in document["paths"].items() for m in methods}
        assert set(asked) == routes
        wrong = {}
        for route, (path, given) in asked.items():
            method, place = route.split()
            reply = client.request(method, path, **given)
            assert reply.is_success, (route, reply.text)
            said = document["paths"][place][method.lower()]["responses"][str(reply.status_code)]["content"]
            schema = said[reply.headers["content-type"].partition(";")[0]].get("schema", {})
            if "json" in reply.headers["content-type"]:
                assert schema.get("$ref"), route
                problems = [f"{e.json_path}: {e.message}" for e in _strict(schema, document).iter_errors(reply.json())]
                if problems:
                    wrong[route] = problems[:3]
        for job in client.get("/api/v1/jobs").json()["jobs"]:
            with client.stream("GET", f"/api/v1/jobs/{job['id']}/events") as events:
                events.read()  # a running job would disturb tests that run alone
        assert wrong == {}


def test_errors_are_of_their_documented_shape(served: Served) -> None:
    with served.client("ruler") as client:
        document = client.get("/openapi.json").json()
        for method, place, given in (
            ("POST", "/api/v1/search", {"json": {"question": 5}}),
            ("GET", "/v1/models/{model}", {}),
            ("POST", "/v1/chat/completions", {"json": {"model": 5}}),
        ):
            reply = client.request(method, place, **given)
            assert 400 <= reply.status_code < 500
            said = document["paths"][place][method.lower()]["responses"]
            assert "422" not in said
            _strict(said["4XX"]["content"]["application/json"]["schema"], document).validate(reply.json())


def _asked(client: httpx.Client) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return a request to each route: its address and body."""
    run = client.post(f"/api/v1{_C}/search", json={"question": _QUESTION, "save": True}).json()["run"]
    job = client.post(f"/api/v1{_C}/jobs", json={"kind": "tree"}).json()["id"]
    with client.stream("GET", f"/api/v1{_J}{job}/events") as events:
        events.read()  # until it has ended
    passage = client.post(f"/api/v1{_C}/search", json={"question": "Fjord Queen"}).json()["hits"][0]["passage"]
    figure = client.get(f"/api/v1{_C}/document", params={"key": "Hull"}).json()["figures"][0]["id"]
    begun = client.post(
        "/api/v1/turns", json={"question": _QUESTION, "collections": [_NAME], "system": "single+bm25"}
    ).json()
    turn, talk = begun["id"], begun["conversation"]
    with client.stream("GET", f"/api/v1/turns/{turn}/events") as events:
        events.read()
    pairs = {"kind": "same"}
    pair = client.get(f"/api/v1{_C}/name-pairs", params=pairs).json()["pairs"][0]
    decision = {"one": pair["one"], "other": pair["other"], "same": True}
    drawn, take = {"parameters": {"run": run}}, {"Accept": "application/json"}
    api: dict[str, tuple[str, dict[str, Any]]] = {
        "GET /me": ("/me", {}),
        "GET /start": ("/start", {}),
        "POST /turns": ("/turns", {"json": {"question": _QUESTION, "collections": [_NAME], "retriever": "bm25"}}),
        "GET /turns/{id}": (f"/turns/{turn}", {}),
        "GET /turns/{id}/events": (f"/turns/{turn}/events", {}),
        "GET /turns/{id}/result": (f"/turns/{turn}/result", {}),
        "GET /turns/{id}/drawing": (f"/turns/{turn}/drawing", {}),
        "POST /turns/{id}/stop": (f"/turns/{turn}/stop", {}),
        "POST /turns/{id}/show": (f"/turns/{turn}/show", {}),
        "POST /turns/{id}/opinion": (f"/turns/{turn}/opinion", {"json": {"good": True}}),
        "GET /conversations": ("/conversations", {}),
        "GET /conversations/{id}": (f"/conversations/{talk}", {}),
        "GET /opinions": ("/opinions", {}),
        "GET /spending": ("/spending", {}),
        "PATCH /conversations/{id}": (f"/conversations/{talk}", {"json": {"title": "Ships"}}),
        "DELETE /conversations/{id}": (f"/conversations/{talk}", {}),
        "GET /collections": ("/collections", {}),
        "GET /collections/{collection}": (_C, {}),
        "GET /collections/{collection}/inspect": (f"{_C}/inspect", {}),
        "GET /collections/{collection}/document": (f"{_C}/document", {"params": {"key": "Ole Brandvik"}}),
        "GET /collections/{collection}/documents": (f"{_C}/documents", {"params": {"limit": 1}}),
        "POST /collections/{collection}/search": (f"{_C}/search", {"json": {"question": _QUESTION, "save": True}}),
        "POST /search": ("/search", {"json": {"question": _QUESTION, "collections": [_NAME]}}),
        "POST /collections/{collection}/look-up": (f"{_C}/look-up", {"json": {"question": "What is on page 1?"}}),
        "POST /collections/{collection}/ask": (f"{_C}/ask", {"json": {**_ASKED, "save": True}}),
        "POST /ask": ("/ask", {"json": {**_ASKED, "system": "single+bm25", "collections": [_NAME]}}),
        "GET /collections/{collection}/passage": (f"{_C}/passage", {"params": {"id": passage["id"]}}),
        "GET /collections/{collection}/page": (f"{_C}/page", {"params": {"passage": passage["id"]}, "headers": take}),
        "GET /collections/{collection}/original": (f"{_C}/original", {"params": {"key": passage["document"]}}),
        "GET /collections/{collection}/figures/{id}": (f"{_C}/figures/{figure}", {}),
        "POST /cypher": ("/cypher", {"json": {"statement": "MATCH p = (:Document)-->() RETURN p, 1 AS one LIMIT 2"}}),
        "GET /queries": ("/queries", {}),
        "POST /queries/{name}": ("/queries/collections", {"json": {}}),
        "POST /collections/{collection}/queries/{name}": (f"{_C}/queries/names", {"json": {}}),
        "GET /collections/{collection}/watched": (f"{_C}/watched", {}),
        "GET /collections/{collection}/drawings/connection": (
            f"{_C}/drawings/connection",
            {"params": {"name": "Ole Brandvik", "other": "Tveit"}},
        ),
        "GET /collections/{collection}/drawings/passage": (f"{_C}/drawings/passage", {"params": {"id": passage["id"]}}),
        "POST /collections/{collection}/drawings/queries/{name}": (f"{_C}/drawings/queries/run", {"json": drawn}),
        "GET /collections/{collection}/names": (f"{_C}/names", {"params": {"q": "ole"}}),
        "GET /collections/{collection}/name-pairs": (f"{_C}/name-pairs", {"params": pairs}),
        "POST /collections/{collection}/name-pairs": (f"{_C}/name-pairs", {"json": {"decisions": [decision]}}),
        "GET /collections/{collection}/examples": (f"{_C}/examples", {}),
        "GET /collections/{collection}/estimates/{kind}": (f"{_C}/estimates/extract", {}),
        "GET /keys": ("/keys", {}),
        "POST /keys": ("/keys", {"json": {"name": "guest", "role": "read"}}),
        "DELETE /keys/{name}": ("/keys/guest", {}),
        "GET /collections/{collection}/runs": (f"{_C}/runs", {}),
        "GET /collections/{collection}/runs/{id}": (f"{_C}/runs/{run}", {}),
        "DELETE /collections/{collection}/runs/{id}": (f"{_C}/runs/{run}", {}),
        "POST /collections/{collection}/documents": (f"{_C}/documents", {"files": {"files": ("a.txt", b"A boat.")}}),
        "POST /collections/{collection}/texts": (
            f"{_C}/texts",
            {"json": {"texts": [{"name": "b.txt", "text": "A ship."}]}},
        ),
        "GET /collections/{collection}/uploads": (f"{_C}/uploads", {}),
        "POST /collections/{collection}/jobs": (f"{_C}/jobs", {"json": {"kind": "resolve"}}),
        "GET /jobs": ("/jobs", {}), "GET /jobs/{id}": (f"{_J}{job}", {}),
        "GET /jobs/{id}/events": (f"{_J}{job}/events", {}), "DELETE /jobs/{id}": (f"{_J}{job}", {}),
        "POST /jobs/{id}/retry": (f"{_J}{job}/retry", {}),
        "DELETE /collections/{collection}/documents": (f"{_C}/documents", {"params": {"key": "Ole Brandvik"}}),
        "DELETE /collections/{collection}/uploads": (f"{_C}/uploads", {"params": {"name": "a.txt"}}),
        "DELETE /collections/{collection}": (_C, {}),
    }  # fmt: skip
    others: dict[str, tuple[str, dict[str, Any]]] = {
        "GET /healthz": ("/healthz", {}),
        "GET /readyz": ("/readyz", {}),
        "GET /v1/models": ("/v1/models", {}),
        "GET /v1/models/{model}": (f"/v1/models/{_NAME}", {}),
        "POST /v1/chat/completions": ("/v1/chat/completions", {"json": _CHAT}),
        "GET /metrics": ("/metrics", {}),
    }
    prefixed = {route.replace(" ", " /api/v1", 1): (f"/api/v1{path}", given) for route, (path, given) in api.items()}
    return others | prefixed


def _strict(schema: dict[str, Any], document: dict[str, Any]) -> Draft202012Validator:
    """Return a schema's strict version, in which an object has exactly the documented keys."""
    whole = json.loads(json.dumps({**schema, "components": document["components"]}))
    for its in whole["components"]["schemas"].values():
        if "properties" in its:
            its["additionalProperties"] = False
            its["required"] = list(its["properties"])
    return Draft202012Validator(whole)
