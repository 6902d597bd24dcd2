"""Attacks on keys, scopes, paths, uploads, cross-site pages, headers and messages all fail."""

import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from served import Served

from kgrag import KnowledgeGraph
from kgrag.server.jobs import Jobs
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

_MINE, _SECRET = "attacked notes", "attacked letters"
_CODE = "7777-3141"
_API = "/api/v1"
_C = f"{_API}/collections/{_MINE.replace(' ', '%20')}"
_S = f"{_API}/collections/{_SECRET.replace(' ', '%20')}"
_JSON = "application/json"
_EVIL = "http://evil.example"


@pytest.fixture(scope="module")
def graph(kg: KnowledgeGraph, fill: Callable[..., str]) -> dict[str, str]:
    """Ids of other people's data, which an attacker may know."""
    fill(_MINE, [Document("mine", (Section("The harbour is open to all."),), "mine")])
    fill(_SECRET, [Document("theirs", (Section(f"The code of the vault is {_CODE}."),), "theirs")])
    found = kg[_SECRET].search("vault code", k=1)
    return {
        "passage": found[0].passage.id,
        "run": kg[_SECRET].save(found),
        "job": Jobs(kg, workers=0).submit("prune", _SECRET).id,
    }


@pytest.fixture(scope="module")
def locked(kg: KnowledgeGraph, graph: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(kg, tmp_path_factory.mktemp("keys"), job_workers=1, upload_mb=4)
    server.key("reader", "read", _MINE)
    server.key("writer", "write", _MINE)
    server.key("owner", "admin")
    with server:
        yield server


@pytest.fixture(scope="module")
def unlocked(kg: KnowledgeGraph, graph: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(kg, tmp_path_factory.mktemp("none")) as server:
        yield server


def _raw(server: Served, text: str | bytes) -> tuple[int, str]:
    """Return the status and the rest of the reply to a literal request; 0 for a closed connection."""
    data = text if isinstance(text, bytes) else text.replace("\n", "\r\n").encode("latin-1")
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        with suppress(ConnectionError):  # closed before everything was sent
            connection.sendall(data)
        with suppress(ConnectionError, TimeoutError):
            while part := connection.recv(65536):
                answer += part
                connection.settimeout(1)  # the connection may stay open
    status = answer.split(b" ")[1] if answer.startswith(b"HTTP/1.1 ") else b"0"
    return int(status), answer.decode("utf-8", "replace")


def _get(path: str, *headers: str, method: str = "GET", host: str = "127.0.0.1") -> str:
    return "\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", ""])


_KEYS: dict[str, str] = {
    "no key": _get(f"{_S}/documents"),
    "an empty key": _get(f"{_S}/documents", "Authorization: Bearer "),
    "no kind": _get(f"{_S}/documents", "Authorization: {owner}"),
    "another kind": _get(f"{_S}/documents", "Authorization: Basic {owner}"),
    "in the address": _get(f"{_S}/documents?key={{owner}}&access_token={{owner}}"),
    "cut short": _get(f"{_S}/documents", "Authorization: Bearer {cut}"),
    "with one more": _get(f"{_S}/documents", "Authorization: Bearer {owner}A"),
    "in capitals": _get(f"{_S}/documents", "Authorization: Bearer {capitals}"),
    "its hash": _get(f"{_S}/documents", "Authorization: Bearer {hash}"),
    "two of them": _get(f"{_S}/documents", "Authorization: Bearer nothing", "Authorization: Bearer {owner}"),
    "one in another header": _get(f"{_S}/documents", "X-Api-Key: {owner}", "Proxy-Authorization: Bearer {owner}"),
    "a wrong cookie": _get(f"{_S}/documents", "Cookie: kgrag_session=nothing"),
    "a wrong key beside a cookie": _get(
        f"{_S}/documents", "Authorization: Bearer x", "Cookie: kgrag_session={session}"
    ),
    "a cookie of other names": _get(f"{_S}/documents", "Cookie: Kgrag_Session={session}; id={session}; key={owner}"),
    "a key for a cookie": _get(f"{_S}/documents", "Cookie: kgrag_session={owner}"),
    "from here, it says": _get(f"{_S}/documents", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"),
    "another path, it says": _get("/healthz", "X-Original-URL: {secret}", "X-Rewrite-URL: {secret}"),
    "dots": _get(f"/healthz/..{_S}/documents"),
    "escaped dots": _get(f"/assets/%2e%2e{_S}/documents"),
    "two slashes": _get(f"/{_S}/documents"),
    "an escaped letter": _get(f"{_S}/documents".replace("api", "%61pi")),
    "capitals in the path": _get(f"{_S}/documents".replace("api", "API")),
    "an open path before it": _get(f"/login{_S}/documents"),
    "a semicolon": _get(f"{_S}/documents;/healthz"),
    "a whole address": _get(f"{_EVIL}{_S}/documents"),
    "no host": f"GET {_S}/documents HTTP/1.1\nConnection: close\n\n",
    "two hosts": _get(f"{_S}/documents", "Host: localhost"),
    "HTTP/1.0": f"GET {_S}/documents HTTP/1.0\n\n",
    "TRACE": _get(f"{_S}/documents", method="TRACE"),
    "OPTIONS": _get(f"{_S}/documents", f"Origin: {_EVIL}", "Access-Control-Request-Method: GET", method="OPTIONS"),
    "HEAD": _get(f"{_S}/documents", method="HEAD"),
    "metrics": _get("/metrics"),
    "the schema": _get("/openapi.json"),
    "tools": _get("/mcp", method="POST"),
    "tools, one slash more": _get("/mcp/", method="POST"),
    "a socket": _get(f"{_API}/me", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
}  # fmt: skip


@pytest.mark.parametrize("attack", _KEYS)
def test_nothing_opens_without_a_key(attack: str, locked: Served) -> None:
    owner = locked.tokens["owner"]
    made = {
        "{owner}": owner, "{session}": locked.session("owner"),
        "{cut}": owner[:-1], "{capitals}": owner.upper(), "{secret}": f"{_S}/documents",
        "{hash}": hashlib.sha256(owner.encode()).hexdigest(),
    }  # fmt: skip
    text = _KEYS[attack]
    for name, value in made.items():
        text = text.replace(name, value)
    status, answer = _raw(locked, text)
    if attack == "another path, it says":
        assert status == 200 and '{"status":"ok"}' in answer.replace(" ", "")
    else:
        assert status in (0, 400, 401, 403, 404, 405), answer
    assert "theirs" not in answer and "access-control-allow" not in answer.lower()


_SMUGGLED = f"GET {_S}/documents HTTP/1.1\nHost: 127.0.0.1\n\n"


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\nTransfer-Encoding: chunked", "Content-Length: 0\nContent-Length: 90",
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding : chunked", "Content-Length: -1",
        "Content-Length: 1e3", "X: " + "a" * 200_000, "X-Request-ID: a\rSet-Cookie: kgrag_key=b",
        "Expect: 100-continue\nContent-Length: 99999999999999999999",
    ],
)  # fmt: skip
def test_requests_are_not_smuggled(head: str, locked: Served) -> None:
    text = (
        f"POST {_C}/search HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer {locked.tokens['reader']}\n{head}\n\n0\n\n"
    )
    status, answer = _raw(locked, text + _SMUGGLED)
    assert status in (0, 400, 413, 422, 431), answer
    assert "theirs" not in answer and "\nset-cookie" not in answer.lower()


def _asked(question: str = "vault code", **more: Any) -> dict[str, Any]:
    return {"json": {"question": question, **more}}


_SCOPES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", f"{_S}", {}), ("POST", f"{_API}/search", _asked(collections=[_MINE, _SECRET])),
    ("POST", f"{_API}/ask", _asked(collections=[_MINE, _SECRET])),
    ("POST", f"{_API}/search", _asked(collections=[f"{_MINE},{_SECRET}"])),
    ("GET", f"{_API}/collections/{_MINE}%2F..%2F{_SECRET}", {}),
    ("GET", f"{_API}/collections/{_MINE}/../{_SECRET}/documents", {}),
    ("GET", f"{_API}/collections/{_SECRET.upper()}", {}), ("GET", f"{_API}/collections/{_SECRET}%20", {}),
    ("GET", f"{_API}/collections/{_SECRET}%00", {}), ("GET", f"{_API}/collections/*/documents", {}),
    ("GET", f"{_API}/collections/%22%20OR%201=1/documents", {}), ("POST", f"{_S}/search", _asked()),
    ("POST", f"{_C}/search", _asked(knowledge=[_SECRET])), ("POST", f"{_C}/search", _asked(collection=_SECRET)),
    ("POST", f"{_C}/search?collection={_SECRET}", _asked()),
    ("POST", f"{_C}/search", _asked(retriever=f"bridges(bm25, knowledge=('{_SECRET}',))")),
    ("POST", f"{_C}/search", _asked(retriever="rerank(bm25, url='http://127.0.0.1:1/v1/rerank')")),
    ("POST", f"{_C}/search", _asked(retriever="gfm(weights='/etc/passwd')")),
    ("POST", f"{_C}/search", _asked(retriever="__import__('os').system('id')")),
    ("POST", f"{_C}/search", _asked(retriever="(" * 400)), ("POST", f"{_C}/search", _asked(k=10**9)),
    ("POST", f"{_C}/search", _asked(save=True)), ("POST", f"{_C}/search", _asked(filter={"source": "' OR 1=1 //"})),
    ("POST", f"{_C}/search", _asked(filter={"where": {"collection": _SECRET, "` OR 1=1 //": 1}})),
    ("POST", f"{_C}/search", _asked(question="vault} ) RETURN 1 //", retriever="bm25")),
    ("POST", f"{_C}/search", _asked(question="passage_text:* OR collection:*", retriever="bm25")),
    ("POST", f"{_C}/ask", _asked(system=f"gears(knowledge=('{_SECRET}',))+hybrid")),
    ("POST", f"{_C}/ask", _asked(system="single+rerank(bm25, model='/tmp/model')")),
    ("POST", f"{_C}/ask", _asked(knowledge=[_SECRET])), ("GET", f"{_C}/passage?id={{passage}}", {}),
    ("GET", f"{_C}/passage?id=theirs", {}), ("GET", f"{_C}/page?passage={{passage}}", {}),
    ("GET", f"{_C}/page?passage=../../../../etc/passwd", {}), ("GET", f"{_C}/drawings/passage?id={{passage}}", {}),
    ("GET", f"{_C}/runs/{{run}}", {}), ("DELETE", f"{_C}/runs/{{run}}", {}),
    ("POST", f"{_C}/queries/run", {"json": {"parameters": {"run": "{run}"}}}),
    ("POST", f"{_C}/queries/documents", {"json": {"parameters": {"collection": _SECRET}}}),
    ("POST", f"{_C}/queries/documents", {"json": {"parameters": {"embeddings": True, "plan": "profile"}}}),
    ("POST", f"{_C}/queries/collections", {"json": {}}),
    ("POST", f"{_C}/queries/..%2Fsearch%2Fall_nodes", {"json": {}}),
    ("POST", f"{_API}/queries/collections", {"json": {}}),
    ("POST", f"{_API}/cypher", {"json": {"statement": "MATCH (p:Passage) RETURN p.text"}}),
    ("POST", f"{_API}/cypher", {"json": {"statement": "MATCH (p:Passage) RETURN p.text", "collection": _MINE}}),
    ("GET", f"{_API}/jobs/{{job}}", {}), ("GET", f"{_API}/jobs/{{job}}/events", {}),
    ("DELETE", f"{_API}/jobs/{{job}}", {}), ("GET", f"{_API}/jobs?collection={_SECRET}", {}),
    ("POST", f"{_C}/jobs", {"json": {"kind": "prune"}}), ("DELETE", f"{_S}/documents?key=theirs", {}),
    ("DELETE", f"{_S}", {"headers": {"X-HTTP-Method-Override": "GET"}}),
    ("GET", f"{_S}", {"headers": {"X-HTTP-Method-Override": "DELETE"}}), ("GET", "/metrics", {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(_SCOPES)), ids=lambda n: f"{_SCOPES[n][0]} {_SCOPES[n][1][:60]} {n}")
def test_a_reader_of_one_collection_reaches_no_other(
    number: int, locked: Served, graph: dict[str, str], kg: KnowledgeGraph
) -> None:
    method, path, options = _SCOPES[number]
    for name, value in graph.items():
        path = path.replace(f"{{{name}}}", value)
        options = json.loads(json.dumps(options).replace(f"{{{name}}}", value))
    with locked.client("reader") as client:
        reply = client.request(method, path, **options)
        assert reply.status_code < 500, reply.text
        assert _CODE not in reply.text and "theirs" not in reply.text.replace(path, "").replace("'theirs'", "")
        if reply.status_code == 200:
            assert _SECRET not in reply.text.replace(json.dumps(options), "")
    assert kg[_SECRET].info().counts["Document"] == 1
    assert [run.id for run in kg[_SECRET].runs()] == [graph["run"]]
    assert kg[_MINE].runs() == []
    assert Jobs(kg, workers=0).get(graph["job"]).state != "cancelled"


_MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("search", {"question": "vault code", "collection": _SECRET}),
    ("search", {"question": "vault code", "collection": f"{_MINE}, {_SECRET}"}),
    ("ask", {"question": "vault code", "collection": f"{_MINE},{_SECRET}"}),
    ("search", {"question": "vault code", "retriever": f"bridges(bm25, knowledge=('{_SECRET}',))"}),
    ("passage", {"id": "{passage}"}), ("passage", {"id": "{passage}", "collection": _SECRET}),
    ("saved_query", {"name": "documents", "parameters": {"collection": _SECRET}}),
    ("saved_query", {"name": "collections"}), ("read-cypher", {"query": "MATCH (p:Passage) RETURN p.text"}),
    ("cypher", {"statement": "MATCH (p:Passage) RETURN p.text"}), ("delete", {"collection": _SECRET}),
    ("look_up", {"question": "What is on page 1?", "collection": _SECRET}), ("describe", {}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments"), _MESSAGES, ids=lambda value: str(value)[:40])
def test_tools_keep_to_the_collections_of_a_key(
    tool: str, arguments: dict[str, Any], locked: Served, graph: dict[str, str]
) -> None:
    given = json.loads(json.dumps(arguments).replace("{passage}", graph["passage"]))
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
    with locked.client("reader") as client:
        reply = client.post("/mcp", json=call, headers={"Accept": f"{_JSON}, text/event-stream"})
    assert reply.status_code == 200 and reply.headers["content-type"].startswith(_JSON)
    assert _CODE not in reply.text
    if tool == "describe":
        assert _SECRET not in reply.text and _MINE in reply.text
    else:
        assert reply.json().get("error") or reply.json()["result"]["isError"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"{", b"[]", b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', b"[" * 50_000,
        b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kgrag://attacked letters/passage/t"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', b'{"jsonrpc":"2.0","method":"tools/call","params":7}',
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', b"\xff\xfe\x00",
    ],
    ids=lambda body: repr(body[:40]),
)  # fmt: skip
def test_messages_that_are_none_do_no_harm(body: bytes, locked: Served) -> None:
    headers = {"Content-Type": _JSON, "Accept": f"{_JSON}, text/event-stream"}
    with locked.client("reader") as client:
        for path in ("/mcp", f"{_C}/search"):
            reply = client.post(path, content=body, headers=headers)
            assert reply.status_code < 500, reply.text
            assert "root:" not in reply.text and _CODE not in reply.text and "Traceback" not in reply.text
        assert client.get(f"{_API}/me").status_code == 200


_PAGES: dict[str, str] = {
    "a name that was bound anew": _get(f"{_C}/documents", host="evil.example"),
    "a name that begins so": _get(f"{_C}/documents", host="127.0.0.1.evil.example"),
    "a name with a user": _get(f"{_C}/documents", host="127.0.0.1@evil.example"),
    "a name with a mark": _get(f"{_C}/documents", host="evil.example#127.0.0.1"),
    "any address": _get(f"{_C}/documents", host="0.0.0.0"),
    "an empty name": _get(f"{_C}/documents", host=""),
    "another origin": _get(f"{_C}/documents", f"Origin: {_EVIL}"),
    "no origin at all": _get(f"{_C}/documents", "Origin: null"),
    "an origin on another port": _get(f"{_C}/documents", "Origin: http://127.0.0.1:1"),
    "an origin that ends so": _get(f"{_C}/documents", "Origin: http://evil127.0.0.1"),
    "a script of another site": _get(f"{_C}/documents", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"),
    "a picture of another site": _get(f"{_C}/page?passage=mine", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"),
    "a frame that posts": _get(f"{_C}/documents", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
                               method="POST"),
    "a form": _get(f"{_C}/search", f"Origin: {_EVIL}", "Content-Type: text/plain", "Content-Length: 17",
                   method="POST") + '{"question":"a"} ',
    "a socket": _get("/anything", f"Origin: {_EVIL}", "Upgrade: websocket", "Connection: Upgrade",
                     "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
}  # fmt: skip


@pytest.mark.parametrize("attack", _PAGES)
def test_pages_of_other_sites_reach_nothing(attack: str, unlocked: Served, locked: Served) -> None:
    status, answer = _raw(unlocked, _PAGES[attack])
    assert status in (400, 403), answer
    assert '"mine"' not in answer
    if "rigin" in _PAGES[attack] or "Sec-Fetch" in _PAGES[attack]:  # a visitor's cookie does not help
        cookie = f"Connection: close\r\nCookie: kgrag_session={locked.session('owner')}"
        assert _raw(locked, _PAGES[attack].replace("Connection: close", cookie))[0] in (400, 403)


def test_the_cookie_lets_its_own_pages_in(locked: Served) -> None:
    cookie = f"Cookie: kgrag_session={locked.session('owner')}"
    own = f"Origin: http://127.0.0.1:{locked.port}"
    request = _get(f"{_API}/me", cookie, own, "Sec-Fetch-Site: same-origin", host=f"127.0.0.1:{locked.port}")
    assert _raw(locked, request)[0] == 200


def test_a_form_of_another_kind_is_no_json(unlocked: Served) -> None:
    with unlocked.client() as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            reply = client.post(f"{_C}/search", content=b'{"question":"a"}', headers={"Content-Type": kind})
            assert reply.status_code in (400, 415, 422), kind


def test_many_slow_callers_keep_nobody_out(locked: Served) -> None:
    head = f"POST {_C}/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n".encode()
    slow = [socket.create_connection(("127.0.0.1", locked.port)) for _ in range(100)]
    try:
        for connection in slow:
            connection.sendall(head)
        with locked.client("reader") as client:
            assert client.get(f"{_API}/me").status_code == 200
    finally:
        for connection in slow:
            connection.close()
