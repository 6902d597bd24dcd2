"""Limits of one caller: requests, time, sizes. Internal errors stay private."""

import errno
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from served import Served

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

_NOTES = "limited notes"
_ASK = {"question": "Where is the ship?", "system": "single+bm25"}
_C = f"/api/v1/collections/{_NOTES}"


Start = Callable[..., Served]


@pytest.fixture(scope="module")
def notes(fill: Callable[..., str]) -> str:
    return fill(_NOTES, [Document("ship", (Section("The ship is in the harbour."),), "ship")])


@pytest.fixture
def start(asking: KnowledgeGraph, notes: str, tmp_path: Path) -> Iterator[Start]:
    started: list[Served] = []

    def begin(**options: Any) -> Served:
        started.append(Served(asking, tmp_path, **options).__enter__())
        return started[-1]

    yield begin
    for server in started:
        server.__exit__(None, None, None)


def test_too_much_at_once_is_told_to_come_back(start: Start, scripted: Scripted) -> None:
    scripted.say("answer", "In the harbour [1].")
    scripted.delay(60)
    server = start(concurrency=1, waiting=1)
    asks = server.app.state.serving.asks
    replies = []
    with server.client() as one, server.client() as other:

        def ask() -> None:
            replies.append(one.post(f"{_C}/ask", json=_ASK))

        asking = [threading.Thread(target=ask) for _ in range(2)]
        asking[0].start()
        while not scripted.attempts:
            time.sleep(0.01)
        asking[1].start()
        while not asks._waiting:
            time.sleep(0.01)
        refused = other.post(f"{_C}/ask", json=_ASK)  # one runs, another waits
        assert refused.status_code == 503 and int(refused.headers["retry-after"]) >= 1
        assert refused.json()["kind"] == "BusyError" and "1 more wait" in refused.json()["error"]
        assert other.post(f"{_C}/ask", json=_ASK, headers={"Accept": "text/event-stream"}).status_code == 503
        assert other.get(_C).status_code == 200  # other requests have their own slots
        scripted.delay(0)
        for thread in asking:
            thread.join()
        assert [reply.status_code for reply in replies] == [200, 200]
        assert other.post(f"{_C}/ask", json=_ASK).status_code == 200


def test_a_request_ends_at_its_deadline(start: Start, scripted: Scripted) -> None:
    scripted.say("answer", "In the harbour [1].")
    scripted.delay(60)
    with start(deadline=0.5).client() as client:
        began = time.monotonic()
        late = client.post(f"{_C}/ask", json=_ASK)
        assert (late.status_code, late.json()["kind"]) == (504, "DeadlineError")
        assert time.monotonic() - began < 30
    scripted.delay(0)  # the running call ends


def test_a_key_that_asks_too_often_waits(start: Start) -> None:
    server = start(rate=60)
    server.key("hasty", "read")
    server.key("calm", "read")
    with server.client("hasty") as hasty, server.client("calm") as calm:
        replies = [hasty.get("/api/v1/me") for _ in range(30)]
        refused = [reply for reply in replies if reply.status_code == 429]
        assert 5 <= len(refused) <= 10
        assert int(refused[0].headers["retry-after"]) >= 1
        assert calm.get("/api/v1/me").status_code == 200
        assert hasty.get("/healthz").status_code == 200


def test_large_requests_are_refused_before_they_are_read(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.server.throttle.BODY_KB", 4)
    with start(upload_mb=1).client() as client:
        large = {"question": "x" * 5000}
        assert client.post(f"{_C}/search", json=large).status_code == 413
        parts = (b" " * 1000 for _ in range(20))  # without a length
        chunked = client.post(f"{_C}/search", content=parts, headers={"Content-Type": "application/json"})
        assert chunked.status_code == 413
        file = {"files": ("large.txt", b"x" * 2_000_000)}
        assert client.post(f"{_C}/documents", files=file).status_code == 413
        assert client.get(f"{_C}/uploads").json() == {"uploads": []}


def test_uploads_have_a_quota(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.server.api.documents.UPLOAD_FILES", 2)
    server = start(held_mb=1)
    with server.client() as client:
        three = client.post(f"{_C}/documents", files=[("files", (f"{i}.txt", b"text")) for i in range(3)])
        assert (three.status_code, three.json()["kind"]) == (413, "TooLargeError")
        texts = {"texts": [{"name": f"{i}.txt", "text": "text"} for i in range(3)]}
        assert client.post(f"{_C}/texts", json=texts).status_code == 413
        full = client.post(f"{_C}/documents", files={"files": ("large.txt", b"x" * 1_000_001)})
        assert (full.status_code, full.json()["kind"]) == (507, "FullError")
        assert "KGRAG_SERVE__HELD_MB" in full.json()["remedy"]
        assert client.get(f"{_C}/uploads").json() == {"uploads": []}


def test_a_slow_request_is_given_up(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.server.throttle.BODY_SECONDS", 0.5)
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
        slow.sendall(
            f"POST {_C.replace(' ', '%20')}/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            'Content-Length: 50\r\n\r\n{"question"'.encode()
        )
        assert slow.recv(1000).startswith(b"HTTP/1.1 408")


def test_an_unexpected_error_is_logged_not_told(
    start: Start, asking: KnowledgeGraph, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise ZeroDivisionError("password=hunter2")

    monkeypatch.setattr(asking, "collections", fails)
    with start().client() as client:
        reply = client.get("/api/v1/collections")
    assert reply.status_code == 500 and "hunter2" not in reply.text and "ZeroDivision" not in reply.text
    assert "hunter2" in caplog.text


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_as_such(
    start: Start, asking: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def full(*_: Any) -> None:
        raise OSError(error, "No room", "/private/place")

    monkeypatch.setattr("kgrag.server.uploads.Uploads.keep", full)
    with start().client() as client:
        reply = client.post(f"{_C}/documents", files={"files": ("a.txt", b"text")})
    assert (reply.status_code, reply.json()["kind"]) == (507, "FullError")
    assert "private" not in reply.text


def test_the_log_names_no_key_and_no_question(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kgrag.server.access")
    server = start()
    token = server.key("anna", "read")
    with server.client("anna", cookies={"kgrag_session": server.session("anna")}) as client:
        client.get(f"{_C}/names", params={"q": "a private matter", "key": token})
    end = time.monotonic() + 10
    while not (lines := [r.getMessage() for r in caplog.records if r.name == "kgrag.server.access"]):
        assert time.monotonic() < end
        time.sleep(0.01)  # the log line follows the reply
    assert len(lines) == 1 and "GET" in lines[0] and "'anna'" in lines[0]
    assert token not in lines[0] and "private" not in lines[0]
