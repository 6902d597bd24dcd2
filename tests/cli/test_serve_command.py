"""kgrag keys and kgrag serve, as an operator uses them."""

import json
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from command_line import CommandLine


@pytest.fixture
def here(neo4j_env: dict[str, str], tmp_path: Path) -> CommandLine:
    """The command line with a home of its own."""
    return CommandLine({**neo4j_env, "KGRAG_HOME": str(tmp_path)})


def test_a_key_is_shown_once_and_kept_as_a_hash(here: CommandLine, tmp_path: Path) -> None:
    token = here("keys", "add", "anna", "--role", "write", "-c", "notes").stdout.strip()
    other = here.json("keys", "add", "bo")["key"]
    assert token.startswith("kgrag_") and len(token) > 40 and token != other
    file = tmp_path / "keys.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert token not in file.read_text() and token not in here("keys", "list").stdout
    kept = here.json("keys", "list")
    assert [(key["name"], key["role"], key["collections"]) for key in kept] == [
        ("anna", "write", ["notes"]),
        ("bo", "read", []),
    ]
    assert "sha256" not in kept[0]
    assert "already" in here("keys", "add", "anna", code=5).output
    here("keys", "remove", "anna")
    assert [key["name"] for key in here.json("keys", "list")] == ["bo"]
    assert "kgrag keys list" in here("keys", "remove", "anna", code=4).output
    file.write_text("{}x")
    assert "cannot be read" in here("keys", "list", code=2).output


def test_what_would_fail_is_said_before(here: CommandLine) -> None:
    checks = {check["name"]: check for check in here.json("serve", "--check", "--port", "0")["checks"]}
    assert checks["Keys"]["ok"] and checks["Uploads"]["ok"] and checks["Schema"]["ok"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = here.json("serve", "--check", "--host", "0.0.0.0", "--port", port, code=1)
    failed = {check["name"]: check["remedy"] for check in found["checks"] if not check["ok"]}
    assert "kgrag keys add" in failed["Keys"] and "--port" in failed["Port"]
    assert "kgrag keys add" in here("serve", "--host", "0.0.0.0", code=2).output


def test_it_serves_until_it_is_interrupted(here: CommandLine) -> None:
    token = here("keys", "add", "me").stdout.strip()
    with here.start("serve", "--port", "0", stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = next(line for line in iter(process.stderr.readline, b"") if line.startswith(b"Serving on "))
        address = line.split()[2].decode()
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            assert client.get("/readyz").json() == {"status": "ok"}
            assert client.get("/api/v1/me").status_code == 401
            mine = client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
            assert json.loads(mine.text)["name"] == "me"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read().decode()
        assert process.wait(30) in (0, 130)
    assert "GET /api/v1/me 200" in rest and token not in rest and "Traceback" not in rest


@pytest.mark.long
def test_uploads_leave_nothing_in_its_memory(here: CommandLine, collection_name: str, tmp_path: Path) -> None:
    """Large uploads with little text leave nothing in memory; the first ones' one-time costs do not count."""
    token, log = here("keys", "add", "me", "--role", "write").stdout.strip(), tmp_path / "log"
    with log.open("wb") as out, here.start("serve", "--port", "0", stderr=out) as process:
        while b"Serving on " not in (said := log.read_bytes()):
            assert process.poll() is None, said
            time.sleep(0.1)
        address, headers = said.partition(b"Serving on ")[2].split()[0].decode(), {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{address}/api/v1", headers=headers, trust_env=False, timeout=60) as client:

            def upload(number: int) -> None:
                padding = f"<!-- {number} {'x' * 1_000_000} -->"
                page = f"<html><title>Boat {number}</title><body><p>She sailed.</p>{padding}</body></html>"
                files = [("files", (f"{number}.html", page.encode()))]
                job: Any = client.post(f"/collections/{collection_name}/documents", files=files).json()
                while job["state"] in ("queued", "running"):
                    time.sleep(0.25)  # requests of one key are limited
                    job = client.get(f"/jobs/{job['id']}").json()
                assert job["result"]["added"] == 1

            try:
                for number in range(8):
                    upload(number)
                used = psutil.Process(process.pid).memory_info().rss
                for number in range(8, 24):
                    upload(number)
                grown = psutil.Process(process.pid).memory_info().rss - used
            finally:
                process.send_signal(signal.SIGINT)
    assert grown < 8e6  # 16 MB were sent
