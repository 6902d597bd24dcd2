"""Keys, the guard and the throttle, without a server: access, and its rate limits."""

import asyncio
import itertools
import socket
import stat
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from kgrag.server.authentication import Guard, access_of, is_open
from kgrag.server.keys import LOCAL, ROLES, Access, Keys, Role, hashed
from kgrag.server.sessions import Sessions
from kgrag.server.throttle import Throttle, _Body
from kgrag.settings import ServeOptions
from kgrag.values.errors import AccessError, BusyError, InputError, NotFoundError, TooLargeError


async def nothing(*_: Any) -> None:
    pass


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "home" / "keys.json")


def test_each_role_may_what_those_before_it_may() -> None:
    assert [[Access("a", role).may(wanted) for wanted in ROLES] for role in ROLES] == [
        [True, False, False, False], [True, True, False, False], [True, True, True, False], [True, True, True, True],
    ]  # fmt: skip
    some, all_ = Access("a", "write", ("notes",)), Access("b", "read")
    assert [access.sees(name) for access in (some, all_) for name in ("notes", "letters")] == [True, False, True, True]
    some.check("write", "notes")
    all_.check_all()
    with pytest.raises(AccessError, match="its role is write, and this takes admin"):
        some.check("admin", "notes")
    with pytest.raises(NotFoundError, match="no collection 'letters'") as error:
        some.check("read", "letters")
    assert "letters" not in error.value.remedy
    with pytest.raises(AccessError, match="one of some collections"):
        some.check_all()


def test_only_the_token_opens(keys: Keys) -> None:
    anna, ben = keys.add("anna", "read", ["notes", "letters", "notes"]), keys.add("ben", "write")
    assert keys.resolve(anna) == Access("anna", "read", ("letters", "notes"), hashed(anna))
    assert keys.resolve(ben) == Access("ben", "write", key=hashed(ben))
    kept = keys.path.read_text()
    assert anna not in kept and ben not in kept
    for wrong in ("", "kgrag_x", anna[:-1], f"{anna} ", anna.upper(), keys.all()[0].sha256):
        assert keys.resolve(wrong) is None
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700
    for name in ("ben", "", " ", "a\nb", "x" * 65):
        with pytest.raises(InputError):
            keys.add(name, "admin")


def test_a_change_by_another_process_counts_at_once(keys: Keys) -> None:
    assert keys.holds(LOCAL)
    token = keys.add("anna", "read")
    other = Keys(keys.path)
    access = other.resolve(token)
    assert access is not None and other.holds(access) and not other.holds(LOCAL)
    assert other.add("ben", "read") and len(keys) == 2
    assert keys.remove("anna").name == "anna"
    assert other.resolve(token) is None and not other.holds(access)
    with pytest.raises(NotFoundError):
        keys.remove("anna")


def _let_in(keys: Keys, *headers: tuple[str, str], unlocked: bool = False, hosts: Sequence[str] = ()) -> Access | None:
    sent = [(name.encode(), value.encode()) for name, value in headers]
    if not any(name == "host" for name, _ in headers):
        sent.append((b"host", b"127.0.0.1:8000"))
    scope = {"type": "http", "method": "POST", "path": "/api/v1/me", "headers": sent}
    return Guard(nothing, keys, hosts, unlocked=unlocked)._access(HTTPConnection(scope))


def test_a_key_in_a_header_or_a_cookie(keys: Keys) -> None:
    token = keys.add("anna", "read")
    session = Sessions(keys).open(token)
    bearer, cookie = ("authorization", f"Bearer {token}"), ("cookie", f"kgrag_session={session}")
    for headers in ((bearer,), (cookie,), (bearer, ("origin", "http://evil.example"))):
        found = _let_in(keys, *headers)
        assert found is not None and found.name == "anna"
    for headers in ((), (("authorization", f"Basic {token}"),), (bearer, bearer), (("cookie", f"other={token}"),)):
        assert _let_in(keys, *headers) is None
    assert _let_in(keys, ("authorization", "Bearer x"), cookie) is None
    assert _let_in(keys, cookie, ("origin", "http://127.0.0.1:8000")) is not None


@pytest.mark.parametrize(
    "header",
    [
        ("origin", "http://evil.example"),
        ("origin", "http://127.0.0.1:9000"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ],
)
def test_pages_of_other_sites_are_kept_out(keys: Keys, header: tuple[str, str]) -> None:
    with pytest.raises(AccessError, match="another site"):
        _let_in(keys, header, unlocked=True)
    token = keys.add("anna", "read")
    with pytest.raises(AccessError, match="another site"):
        _let_in(keys, header, ("cookie", f"kgrag_session={Sessions(keys).open(token)}"))


def test_names_of_the_host(keys: Keys) -> None:
    for host in ("localhost", "127.0.0.1:8000", "[::1]:8000"):
        assert _let_in(keys, ("host", host), unlocked=True) is LOCAL
    for host in ("evil.example", "localhost.evil.example", "a@localhost", ""):
        with pytest.raises(AccessError, match="name of a host"):
            _let_in(keys, ("host", host), unlocked=True)
    with pytest.raises(AccessError, match="name of a host"):
        _let_in(keys, ("host", "localhost"), ("host", "localhost"), unlocked=True)
    assert _let_in(keys, ("host", "graph.example"), unlocked=True, hosts=["Graph.example"]) is LOCAL
    keys.add("anna", "read")
    assert _let_in(keys, unlocked=True) is None  # a key was made meanwhile
    for host in ("localhost", "10.1.2.3:8000", "[fe80::1]", socket.gethostname()):
        assert _let_in(keys, ("host", host)) is None
    for host in ("evil.example", "10.1.2.3.evil.example", "10.1.2", ""):
        with pytest.raises(AccessError, match="name of a host"):
            _let_in(keys, ("host", host))


def test_open_pages() -> None:
    opened = ("/healthz", "/readyz", "/login", "/assets/app.js")
    closed = ("/", "/healthz/x", "/api/v1/me", "/assets", "/assetsx/1.js", "/login/x", "/metrics")
    assert [is_open(path) for path in (*opened, *closed)] == [True] * 4 + [False] * 7
    with pytest.raises(AccessError):
        access_of(HTTPConnection({"type": "http", "headers": [], "state": {"access": None}}))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("kgrag.server.throttle.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_key_has_its_requests_a_minute(clock: list[float]) -> None:
    throttle = Throttle(nothing, ServeOptions(rate=120))  # two a second, thirty at once
    assert [throttle._wait("anna") for _ in range(31)] == [0.0] * 30 + [0.5]
    assert throttle._wait("ben") == 0
    clock[0] += 1
    assert [throttle._wait("anna") for _ in range(3)] == [0.0, 0.0, 0.5]
    clock[0] += 3600
    assert [throttle._wait("anna") for _ in range(31)] == [0.0] * 30 + [0.5]
    few = Throttle(nothing, ServeOptions(rate=4))
    assert [few._wait("anna") for _ in range(21)] == [0.0] * 20 + [15.0]


def _scope(path: str = "/api/v1/me", role: Role = "read", **headers: str) -> dict[str, Any]:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    access = None if path == "/login" else Access("anna", role)
    return {"type": "http", "method": "POST", "path": path, "headers": sent, "state": {"access": access}}


def test_what_is_counted_and_what_is_too_large(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.server.throttle.BODY_KB", 4)
    throttle = Throttle(nothing, ServeOptions(rate=4, upload_mb=1))
    for _ in range(50):
        assert throttle._refused(_scope("/healthz")) == (None, None)
    found = [throttle._refused(_scope()) for _ in range(21)]
    assert found[:20] == [(None, None)] * 20
    error, status = found[20]
    assert isinstance(error, BusyError) and status == 429
    clock[0] += 3600
    assert throttle._refused(_scope(content_length="4096")) == (None, None)
    assert isinstance(throttle._refused(_scope(content_length="4097"))[0], TooLargeError)
    uploads = "/api/v1/collections/notes/documents"
    assert throttle._refused(_scope(uploads, "write", content_length="1048576")) == (None, None)
    for large in (
        _scope(uploads, "write", content_length="1048577"),
        _scope(uploads, "read", content_length="4097"),
        _scope(f"{uploads}/x", "write", content_length="4097"),
        _scope(content_length="4097", content_type="multipart/form-data; boundary=x"),
        _scope("/login", content_length="4097", content_type="multipart/form-data; boundary=x"),
    ):
        assert isinstance(throttle._refused(large)[0], TooLargeError)


def test_a_body_without_a_length_ends_where_it_is_too_much() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 10, "more_body": True}

    async def read() -> tuple[list[str], _Body]:
        body = _Body(receive, 25, 5.0, in_parts=False)  # type: ignore[arg-type]
        return [(await body.receive())["type"] for _ in range(4)], body

    kinds, body = asyncio.run(read())
    assert kinds == ["http.request", "http.request", "http.disconnect", "http.disconnect"]
    assert body.failed is not None and isinstance(body.failed[0], TooLargeError)


def test_requests_may_not_come_drop_by_drop(monkeypatch: pytest.MonkeyPatch) -> None:
    """All parts of a request share the time limit; for uploads each part has it. Each part takes 0.2 s of the clock."""
    clock = itertools.count()
    monkeypatch.setattr("kgrag.server.throttle.time", SimpleNamespace(monotonic=lambda: 0.2 * next(clock)))

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def read(in_parts: bool) -> list[str]:
        body = _Body(receive, 25, 0.5, in_parts=in_parts)  # type: ignore[arg-type]
        return [(await body.receive())["type"] for _ in range(4)]

    assert asyncio.run(read(True)) == ["http.request"] * 4
    assert asyncio.run(read(False)) == ["http.request", "http.request", "http.disconnect", "http.disconnect"]


def test_a_session_ends_with_its_key_or_at_the_log_out(keys: Keys) -> None:
    sessions = Sessions(keys)
    assert sessions.open("nothing") is None and sessions.resolve("nothing") is None
    token = keys.add("anna", "read")
    one, other = sessions.open(token), sessions.open(token)
    assert one is not None and other is not None and len({one, other, token}) == 3
    kept = keys.path.with_name("sessions.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not any(secret in kept.read_text() for secret in (one, other, token))
    assert Sessions(keys).resolve(one) == keys.resolve(token)  # sessions survive a restart
    assert sessions.resolve(token) is None  # a key is not a session
    sessions.close(one)
    assert sessions.resolve(one) is None and sessions.resolve(other) is not None
    access = sessions.resolve(other)
    keys.remove("anna")
    keys.add("anna", "read")
    assert sessions.resolve(other) is None
    assert access is not None and not keys.holds(access)  # another key with that name cannot reopen an open page
    kept.write_text("no JSON")
    assert sessions.resolve(other) is None
    assert sessions.open(keys.add("ben", "read")) is not None
