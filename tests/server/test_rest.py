"""The routes do the same as the Collection objects, over HTTP."""

import base64
import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from made_pdfs import Maker
from PIL import Image
from scripted import Scripted
from served import SHIPS, Served

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section
from kgrag.values.events import Answer, Event
from kgrag.values.results import Ranking
from kgrag.wire import from_json, to_json

_SHIPS = "ships over http"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_C = f"/api/v1/collections/{_SHIPS}"


@pytest.fixture(scope="module")
def served(
    asking: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    fill(_SHIPS, [Document(title, (Section(text),), title) for title, text in SHIPS.items()])
    with Served(asking, tmp_path_factory.mktemp("keys")) as server:
        yield server


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as its:
        yield its


def _done(client: httpx.Client, reply: httpx.Response) -> dict[str, Any]:
    """Return the requested job when it has ended, by its events."""
    assert reply.status_code == 202, reply.text
    with client.stream("GET", f"/api/v1/jobs/{reply.json()['id']}/events") as events:
        forms = [json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: ")]
    return dict(forms[-1])


def test_a_search_is_the_one_of_the_collection(client: httpx.Client, kg: KnowledgeGraph) -> None:
    here = kg[_SHIPS].search(_QUESTION, k=2, retriever="pathrank(cap=20)")
    there = client.post(f"{_C}/search", json={"question": _QUESTION, "k": 2, "retriever": "pathrank(cap=20)"})
    assert there.json() == json.loads(json.dumps(to_json(here, run=None)))
    assert from_json(Ranking, there.json()) == here
    only = {"question": _QUESTION, "filter": {"source": "nowhere"}}
    assert client.post(f"{_C}/search", json=only).json()["hits"] == []


def test_an_answer_comes_whole_or_step_by_step(client: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    asked = {"question": _QUESTION, "system": "single+pathrank", "save": True}
    whole = client.post(f"{_C}/ask", json=asked)
    answer = from_json(Answer, whole.json())
    assert (answer.text, answer.found) == ("In Nordvika [2].", True)
    assert [citation.passage.title for citation in answer.citations] == ["Ole Brandvik"]
    with client.stream("POST", f"{_C}/ask", json=asked, headers={"Accept": "text/event-stream"}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        blocks = [block.split("\n") for block in stream.read().decode().strip().split("\n\n")]
    names = [block[0].removeprefix("event: ") for block in blocks]
    forms = [json.loads(block[1].removeprefix("data: ")) for block in blocks]
    assert names[-1] == "Answer" and {"Retrieved", "Answered"} <= set(names)
    assert [type(from_json(Event, form)).__name__ for form in forms[:-1]] == names[:-1]
    assert from_json(Answer, forms[-1]).text == answer.text
    written = [form for form in forms[:-1] if form["type"] == "Answered" and not form["whole"]]
    assert len(written) > 1 and {form["after"] for form in written[1:]} != {0}
    assert "".join(form["text"] for form in written) == answer.text
    runs = client.get(f"{_C}/runs").json()["runs"]
    assert {run["id"] for run in runs} == {whole.json()["run"], forms[-1]["run"]}
    assert client.get(f"{_C}/runs/{runs[0]['id'][:8]}").json()["answer"] == answer.text
    drawn = client.post(f"{_C}/drawings/queries/run", json={"parameters": {"run": runs[0]["id"]}}).json()
    assert {"Run", "Step", "Passage"} <= {node["label"] for node in drawn["nodes"]}
    for run in runs:
        assert client.delete(f"{_C}/runs/{run['id']}").json()["id"] == run["id"]
    assert client.get(f"{_C}/runs/{runs[0]['id']}").status_code == 404


def test_an_error_while_an_answer_is_streamed_is_its_last_event(client: httpx.Client, scripted: Scripted) -> None:
    scripted.fail(*["quota"] * 9)
    asked = {"question": _QUESTION, "system": "single+pathrank"}
    with client.stream("POST", f"{_C}/ask", json=asked, headers={"Accept": "text/event-stream"}) as stream:
        last = stream.read().decode().strip().split("\n\n")[-1]
    assert "quota" in last or "problem" in last
    assert "Traceback" not in last


@pytest.mark.long
def test_a_client_that_leaves_stops_the_agent(served: Served, scripted: Scripted) -> None:
    scripted.say("think", "Where is Nordvika?")
    scripted.delay(0.4)
    asked = {"question": _QUESTION, "system": "ircot(steps=20)+bm25"}
    tool = {"name": "ask", "arguments": asked | {"collection": _SHIPS}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    for path, form, accepted in (
        (f"{_C}/ask", asked, "text/event-stream"),
        (f"{_C}/ask", asked, "application/json"),
        ("/mcp", call, "application/json, text/event-stream"),
    ):
        before = len(scripted.calls)
        with served.client(timeout=httpx.Timeout(30, read=1.0)) as client:
            try:
                with client.stream("POST", path, json=form, headers={"Accept": accepted}) as stream:
                    next(stream.iter_lines())
            except httpx.ReadTimeout:
                pass
        after = -1
        while after != len(scripted.calls):  # however long a busy server needs to notice that the client has left
            after = len(scripted.calls)
            time.sleep(1.5)
        assert after < before + 10


def test_files_become_documents_and_go(client: httpx.Client, kg: KnowledgeGraph, collection_name: str) -> None:
    base = f"/api/v1/collections/{collection_name}"
    texts = {
        "log/fram.md": "# Fram\n\nThe Fram was built by Colin Archer.",
        "log/maud.txt": "The Maud was built at Vollen.",
        "broken.pdf": "%PDF-1.4 this is none",
    }
    files = [("files", (name, text.encode())) for name, text in texts.items()]
    done = _done(client, client.post(f"{base}/documents", files=files))
    assert done["state"] == "done" and done["result"]["added"] == 2
    assert [problem["place"] for problem in done["result"]["problems"]] == ["broken.pdf"]
    first = client.get(f"{base}/documents", params={"limit": 1}).json()
    assert [d["key"] for d in first["documents"]] == ["log/fram.md"]
    rest = client.get(f"{base}/documents", params={"limit": 5, "after": first["after"]}).json()
    assert ([d["key"] for d in rest["documents"]], rest["after"]) == (["log/maud.txt"], None)
    assert [(d["title"], d["passages"]) for d in first["documents"] + rest["documents"]] == [("Fram", 1), ("maud", 1)]
    hits = client.post(f"{base}/search", json={"question": "Who built the Fram?"}).json()["hits"]
    assert hits[0]["passage"]["document"] == "log/fram.md"

    again = {"texts": [{"name": "log/maud.txt", "text": "The Maud was built by Christian Jensen at Vollen."}]}
    assert _done(client, client.post(f"{base}/texts", json=again))["result"]["changed"] == 1
    assert len(client.get(f"{base}/uploads").json()["uploads"]) == 2
    _done(client, client.request("DELETE", f"{base}/documents", params={"key": "log/fram.md"}))
    _done(client, client.request("DELETE", f"{base}/uploads", params={"name": ["log/maud.txt"]}))
    assert client.get(f"{base}/documents").json()["documents"] == []
    assert client.get(f"{base}/uploads").json()["uploads"] == []
    _done(client, client.delete(base))
    assert client.get(base).status_code == 404
    assert collection_name not in {c.name for c in kg.collections()}


def test_a_page_is_drawn_with_the_boxes_of_a_passage(
    client: httpx.Client, collection_name: str, tmp_path: Path
) -> None:
    maker = Maker(tmp_path / "log.pdf")
    maker.text("The lantern of the Maud was lit at Vollen in the winter of 1916 by Christian Jensen.")
    maker.canvas.save()
    base = f"/api/v1/collections/{collection_name}"
    files = {"files": ("ship/log.pdf", (tmp_path / "log.pdf").read_bytes())}
    assert _done(client, client.post(f"{base}/documents", files=files))["state"] == "done"
    found = client.get(f"{base}/page", params={"passage": "ship/log.pdf"})
    assert found.headers["content-type"] == "image/png", found.text
    width, height = Image.open(io.BytesIO(found.content)).size
    assert width > 800 and height > width
    form = client.get(f"{base}/page", params={"passage": "ship/log.pdf"}, headers={"Accept": "application/json"}).json()
    assert base64.b64decode(form["png"]) == found.content and form["pages"] == 1
    x0, y0, x1, y1 = form["boxes"][0]
    assert 0.1 < x0 < x1 < 0.9 and 0.05 < y0 < y1 < 0.2
    assert client.get(f"{base}/page", params={"passage": "ship/log.pdf", "number": 9}).status_code == 400


def test_cypher_and_saved_queries_give_rows(client: httpx.Client) -> None:
    statement = "MATCH (d:Document {collection: $collection}) RETURN d.key AS key ORDER BY key"
    rows = client.post("/api/v1/cypher", json={"statement": statement, "collection": _SHIPS}).json()
    assert rows["rows"] == [{"key": "Fjord Queen"}, {"key": "Ole Brandvik"}]
    assert client.post("/api/v1/cypher", json={"statement": statement, "collection": "no"}).status_code == 404
    refused = client.post("/api/v1/cypher", json={"statement": "MATCH (n) DETACH DELETE n"})
    assert (refused.status_code, refused.json()["kind"]) == (422, "RefusedError")
    for statement in ("RETURN nobody", "MATCH (n) RETRUN n", "RETURN 1 / 0 AS one", "RETURN $missing AS one"):
        wrong = client.post("/api/v1/cypher", json={"statement": statement})
        assert (wrong.status_code, wrong.json()["kind"]) == (400, "StatementError"), wrong.text
    queries = {query["name"]: query for query in client.get("/api/v1/queries").json()["queries"]}
    (since, limit) = queries["changes"]["parameters"]
    assert (since["name"], since["type"], since["default"]) == ("since", "STRING", "'2020-01-01'")
    assert limit["meaning"] and queries["names"]["of_a_collection"]
    names = client.post(f"{_C}/queries/names", json={"parameters": {"name": "brandvik"}}).json()
    assert "Ole Brandvik" in str(names["rows"])
    for unreadable in ("a/b", "(", "a:b:c", "[1 TO"):
        wrong = client.post(f"{_C}/queries/names", json={"parameters": {"name": unreadable}})
        assert (wrong.status_code, wrong.json()["kind"]) == (400, "InputError"), wrong.text
        assert "lucene" not in wrong.text and "backslash" in wrong.json()["remedy"]
    since = {"parameters": {"since": "2020-01-01T00:00:00+00:00"}}
    assert client.post(f"{_C}/queries/changes", json=since).status_code == 200
    assert client.post(f"{_C}/queries/nothing", json={}).status_code == 404
    assert client.post("/api/v1/queries/names", json={}).status_code == 422


def test_what_is_around_a_passage(client: httpx.Client) -> None:
    opened = client.get(f"{_C}/passage", params={"id": "Fjord Queen"}).json()
    assert opened["passage"]["title"] == "Fjord Queen"
    assert "Ole Brandvik" in [edge["name"] for edge in opened["edges"] if edge["type"] == "MENTIONS"]
    drawn = client.get(f"{_C}/drawings/passage", params={"id": opened["passage"]["id"]}).json()
    ids = {node["id"] for node in drawn["nodes"]}
    assert all({edge["start"], edge["end"]} <= ids for edge in drawn["edges"]) and len(drawn["edges"]) > 2


def test_whoever_watches_over_it_is_told(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == client.get("/readyz").json() == {"status": "ok"}
    client.get(_C)
    told = client.get("/metrics").text
    assert 'kgrag_requests_total{method="GET",route="/api/v1/collections/{collection}",status="200"}' in told
    values = dict(line.rsplit(" ", 1) for line in told.splitlines() if not line.startswith("#"))
    held = client.get(_C).json()["counts"]["Passage"]
    collection = _C.rpartition("/")[2]
    assert float(values[f'kgrag_nodes{{collection="{collection}",label="Passage"}}']) == held > 0
    live, most = (float(values[f"kgrag_neo4j_heap_{kind}_bytes"]) for kind in ("live", "limit"))
    assert 0 < live < most
    assert 0 < float(values["kgrag_neo4j_files"]) < float(values["kgrag_neo4j_files_limit"])
    assert float(values["kgrag_home_free_bytes"]) > 0 and values["kgrag_database_up"] == "1.0"


def test_every_answer_has_an_id_and_headers_for_browsers(client: httpx.Client) -> None:
    for path in ("/api/v1/me", "/nothing", "/api/v1/collections/none", "/openapi.json"):
        headers = client.get(path, headers={"X-Request-ID": "mine-1"}).headers
        assert headers["x-request-id"] == "mine-1"
        assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers and "server" not in headers
    assert client.get("/api/v1/me", headers={"X-Request-ID": "a b\tc"}).headers["x-request-id"] != "a b\tc"


def test_more_files_than_can_be_read_at_once_are_refused_with_what_to_do(client: httpx.Client) -> None:
    files = [("files", (f"{number}.txt", b"A ship.")) for number in range(1001)]
    reply = client.post(f"{_C}/documents", files=files)
    assert (reply.status_code, reply.json()["kind"]) == (413, "TooLargeError")
    assert reply.json()["remedy"].startswith("Send them in parts")
