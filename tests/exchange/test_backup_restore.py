"""Backups contain the whole database; a restore brings it back, or keeps the present one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from graph_rows import rows
from own_server import own_server
from whole_graph import make_whole

from kgrag import KnowledgeGraph
from kgrag.graph import schema
from kgrag.graph.contents import fingerprint
from kgrag.graph.local import bulk
from kgrag.graph.local.backup import backup, check_backup, restore
from kgrag.graph.local.server import LocalServer
from kgrag.runtime.files import megabytes
from kgrag.settings import Settings
from kgrag.values.errors import InputError, LocalServerError, MismatchError, NotFoundError
from kgrag.values.events import no_progress

pytestmark = pytest.mark.long

DATABASE = "neo4j"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A separate server with the complete graph."""
    settings = own_server(tmp_path_factory.mktemp("a home, with späces"))
    try:
        with KnowledgeGraph.local(settings) as kg:
            make_whole(kg, "whole")
        yield settings
    finally:
        LocalServer(settings).stop()


def _state(settings: Settings) -> str:
    with KnowledgeGraph.local(settings) as kg:
        return fingerprint(kg.graph, "whole").total()


def test_only_backups_are_restored(tmp_path: Path) -> None:
    server = LocalServer(own_server(tmp_path / "home"))
    (tmp_path / "x.dump").write_text("no backup")
    with pytest.raises(InputError, match="is no backup"):
        restore(server, DATABASE, tmp_path / "x.dump", no_progress)
    with pytest.raises(InputError, match="cannot be read"):
        check_backup(tmp_path / "y.dump")
    with pytest.raises(NotFoundError, match="never started"):
        backup(server, DATABASE, tmp_path / "z.dump", no_progress, overwrite=False)
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_there_and_back(own: Settings, tmp_path: Path) -> None:
    before = _state(own)
    server, file = LocalServer(own), tmp_path / "a backup, no. 1.dump"
    password = server.password_path.read_text()
    report = backup(server, DATABASE, file, no_progress, overwrite=False)
    assert server.status().answering  # it ran before
    assert report.bytes == file.stat().st_size > 10_000
    assert [p.name for p in tmp_path.iterdir()] == [file.name]
    with pytest.raises(InputError, match="already"):
        backup(server, DATABASE, file, no_progress, overwrite=False)
    with KnowledgeGraph.local(own) as kg:
        kg["whole"].delete()
        rows(kg, "CREATE (:Mine)")
    found = restore(server, DATABASE, file, no_progress)
    assert found.collections == ("whole",)
    assert found.dump is not None
    assert _state(own) == before
    assert server.password_path.read_text() == password
    with KnowledgeGraph.local(own) as kg:
        assert kg["whole"].search("Tromsø").hits

    server.stop()
    backup(server, DATABASE, file, no_progress, overwrite=True)
    assert not server.status().running  # it did not run before

    other = own_server(tmp_path / "other")
    try:
        assert restore(LocalServer(other), DATABASE, file, no_progress).dump is None
        assert _state(other) == before
    finally:
        LocalServer(other).stop()


@pytest.mark.slow
def test_a_restore_that_fails_brings_back_what_was_there(
    own: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _state(own)
    server, file, cut = LocalServer(own), tmp_path / "x.dump", tmp_path / "cut.dump"
    backup(server, DATABASE, file, no_progress, overwrite=False)
    content = file.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    with pytest.raises(LocalServerError, match="the database is unchanged"):
        restore(server, DATABASE, cut, no_progress)
    assert server.status().answering
    cut.write_bytes(content[:8])
    with pytest.raises(InputError, match="damaged"):
        restore(server, DATABASE, cut, no_progress)
    assert server.status().answering
    with monkeypatch.context() as patch:
        patch.setattr(schema, "READABLE", ())
        with pytest.raises(MismatchError, match="backup was made by"):
            restore(server, DATABASE, file, no_progress)
    assert _state(own) == before
    monkeypatch.setattr("kgrag.graph.local.backup.free_bytes", lambda _: 10)
    with pytest.raises(InputError, match=megabytes(10)):
        backup(server, DATABASE, tmp_path / "y.dump", no_progress, overwrite=False)
    assert server.status().answering
    assert bulk.read_note(server.home) is None


@pytest.mark.slow
@pytest.mark.parametrize("command", ["backup", "restore"])
def test_killed_it_can_be_run_again(own: Settings, tmp_path: Path, command: str) -> None:
    before = _state(own)
    server, file = LocalServer(own), tmp_path / "x.dump"
    if command == "restore":
        backup(server, DATABASE, file, no_progress, overwrite=False)
    env = {
        "KGRAG_HOME": str(own.home),
        "KGRAG_LOCAL__BOLT_PORT": str(own.local.bolt_port),
        "KGRAG_LOCAL__HTTP_PORT": str(own.local.http_port),
    }
    run = [sys.executable, "-m", "kgrag", "db", command, str(file), *(["--yes"] if command == "restore" else [])]
    step = "dump" if command == "backup" else "import"
    process = subprocess.Popen(run, env=os.environ | env)
    deadline = time.monotonic() + 120
    while (note := bulk.read_note(server.home)) is None or note.step != step:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if command == "restore":
        assert _state(own) == before  # the next start of the server rolls it back
    subprocess.run(run, env=os.environ | env, check=True)
    assert server.status().answering
    assert _state(own) == before
    assert bulk.read_note(server.home) is None
