"""A Neo4j that dies under `kgrag serve` is restarted; meanwhile readers get an error at once, without its address."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer, Supervisor
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

MakeSettings = Callable[..., Settings]
pytestmark = pytest.mark.long


def _pid(server: LocalServer) -> int:
    pid = server.status().pid
    assert pid is not None
    return pid


def test_a_server_that_died_is_started_again(make_settings: MakeSettings, tmp_path: Path) -> None:
    settings = make_settings()
    server = LocalServer(settings)
    with KnowledgeGraph.local(settings) as kg:
        kg["ships"].ingest([Document("ship", (Section("The ship is in the harbour."),), "ship")])
    env = {
        **os.environ,
        "KGRAG_HOME": str(settings.home),
        "KGRAG_LOCAL__HEAP": "512m",
        "KGRAG_LOCAL__PAGE_CACHE": "64m",
    }
    command = [sys.executable, "-m", "kgrag", "serve", "--port", "0"]
    log = tmp_path / "log"
    with log.open("w") as stderr, subprocess.Popen(command, env=env, stderr=stderr) as process:
        try:
            while not (serving := re.search("Serving on (.*?) ", log.read_text())):
                assert process.poll() is None
                time.sleep(0.1)
            with httpx.Client(base_url=serving[1], trust_env=False, timeout=60) as client:

                def search() -> httpx.Response:
                    return client.post("/api/v1/collections/ships/search", json={"question": "Where is the ship?"})

                assert search().json()["hits"]
                before = _pid(server)
                os.kill(before, signal.SIGKILL)
                took, replies = [], []
                until = time.monotonic() + 90
                while time.monotonic() < until and not (replies and replies[-1].status_code == 200):
                    began = time.monotonic()
                    replies.append(search())
                    took.append(time.monotonic() - began)
                    time.sleep(0.2)
                assert replies[-1].status_code == 200, log.read_text()
                assert replies[-1].json()["hits"]
                refused = [reply for reply in replies if reply.status_code != 200]
                assert refused and {reply.status_code for reply in refused} == {503}
                assert max(took) < 8, took
                for reply in refused:
                    assert "bolt" not in reply.text and "KGRAG_" not in reply.text and "retry-after" in reply.headers
                assert client.get("/readyz").status_code == 200
            assert _pid(server) != before
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_one_that_was_stopped_rests(make_settings: MakeSettings) -> None:
    settings = make_settings()
    server = LocalServer(settings)
    endpoint = server.ensure_running()
    with Supervisor(settings):
        server.stop()
        time.sleep(3)
        assert not server.status().running
        assert server.ensure_running().uri == endpoint.uri
        os.kill(_pid(server), signal.SIGKILL)
        until = time.monotonic() + 60
        while not server.status().answering and time.monotonic() < until:
            time.sleep(0.2)
        assert server.status().uri == endpoint.uri
