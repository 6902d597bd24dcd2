"""The class archive and the prepared database: made in the background, used by starts, ignored when damaged."""

import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest

from kgrag.graph import collections
from kgrag.graph.connection import Graph
from kgrag.graph.local import archive, background, process
from kgrag.graph.local.archive import Archive
from kgrag.graph.local.checks import run_checks
from kgrag.graph.local.java import Java, find_java
from kgrag.graph.local.prepared import DIMENSION, PreparedStore, make_soon
from kgrag.graph.local.releases import LINES, SERVER, Line, lock_groups
from kgrag.graph.local.server import LocalServer
from kgrag.models.embed import WordLlamaEmbedder
from kgrag.runtime.jars import JarStore
from kgrag.settings import IndexingSettings, Settings

MakeSettings = Callable[..., Settings]
PATIENCE = 240.0  # seconds, for a busy machine


@pytest.fixture
def own_cache(make_settings: MakeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with an archive, and a separate cache with the jars of the shared one."""
    settings = make_settings(archive=True)
    jars = tmp_path / "cache" / "jars"
    jars.mkdir(parents=True)
    for jar in JarStore(settings.cache.expanduser().resolve() / "jars").paths(lock_groups(LINES[0])[SERVER]):
        (jars / jar.name).symlink_to(jar)
    monkeypatch.setattr("kgrag.graph.local.prepared.DELAY", 0.0)
    return settings.model_copy(update={"cache": tmp_path / "cache"})


def archive_of(settings: Settings) -> Archive:
    server = LocalServer(settings)
    found = server.home.archive(find_java(server.line().java), server.line())
    assert found is not None
    return found


def mapped(settings: Settings, path: Path) -> bool:
    """Return whether the server has mapped the file."""
    running = process.read_pid_file(LocalServer(settings).home.pid_file)
    assert running is not None
    return str(path) in Path(f"/proc/{running.pid}/maps").read_text()


def wait_for(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def said(settings: Settings) -> tuple[bool, str]:
    """Return the line of `kgrag doctor` on the archive."""
    return next((check.ok, check.detail) for check in run_checks(settings) if check.name == "Archive of classes")


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells what a process has mapped")
def test_an_archive_is_made_in_the_background_used_by_the_next_start_and_left_out_when_damaged(
    own_cache: Settings,
) -> None:
    server = LocalServer(own_cache)
    server.ensure_running()
    kept = archive_of(own_cache)
    server.stop()
    wait_for(kept.path.exists)
    wait_for(lambda: not [*kept.folder.glob("making-*")])

    server.ensure_running()
    assert mapped(own_cache, kept.path)
    assert said(own_cache)[0]
    server.stop()

    whole = kept.path.read_bytes()
    kept.path.unlink()
    kept.path.write_bytes(whole[: len(whole) // 2])
    server.ensure_running()
    assert not mapped(own_cache, kept.path)
    ok, detail = said(own_cache)
    assert not ok and str(kept.path) in detail


@pytest.mark.long
def test_a_maker_that_is_killed_leaves_no_archive_and_the_next_one_cleans_up(
    own_cache: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LocalServer(own_cache)
    server.home.root.mkdir()
    kept = archive_of(own_cache)
    kept.folder.mkdir()
    java = find_java(LINES[0].java)
    command = [sys.executable, "-m", "kgrag.graph.local.background", str(server.jars.folder), LINES[0].name]
    nowhere = ("bolt://127.0.0.1:9", "neo4j", "neo4j", "no-password")
    maker = subprocess.Popen([*command, str(java.path), str(java.version), "0", *nowhere], start_new_session=True)
    wait_for(lambda: [*kept.folder.glob("making-*/classes")])
    subprocess.run(
        [*command, str(java.path), str(java.version), "0", *nowhere], check=True, timeout=20
    )  # leaves the work to the first process
    os.killpg(maker.pid, signal.SIGKILL)
    maker.wait()
    assert not kept.path.exists() and not kept.failure.exists()
    left = [*kept.folder.glob("making-*")]
    monkeypatch.setattr(archive, "packed", lambda line: lzma.compress(b"java/lang/Object\n"))  # takes only a second
    small = archive_of(own_cache)
    monkeypatch.setattr(background, "prepare", lambda store, settings: None)
    background.make(server.jars, LINES[0], java, own_cache)
    assert small.path.exists() and left and not left[0].exists()
    assert small.refusal() is None


@pytest.mark.long
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_a_new_home_begins_with_a_prepared_database_and_keeps_one_that_is_there(
    own_cache: Settings, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.graph.local.server.make_soon", lambda *given: None)
    local = own_cache.local.model_copy(update={"version": line.name})
    settings = own_cache.model_copy(update={"local": local})
    cache = settings.cache / "jars"
    for jar in JarStore(Settings().cache.expanduser().resolve() / "jars").paths(lock_groups(line)[SERVER]):
        if not (cache / jar.name).exists():
            (cache / jar.name).symlink_to(jar)
    server = LocalServer(settings)
    prepared = PreparedStore(server.jars, line)
    prepared.path.parent.mkdir()
    killed = prepared.path.parent / "preparing-killed"
    killed.mkdir()
    background.prepare(prepared, settings)
    assert prepared.path.exists() and not killed.exists()
    assert not [*prepared.path.parent.glob("preparing-*")]

    with _counting(server) as (graph, queries):
        collections.create_collection(graph, "new", "wordllama", DIMENSION, IndexingSettings(), 0)
        assert [name for name in queries if name.startswith("schema/")] == ["schema/version"]
        created = graph.run("look_up/collections", name="new")[0]["collection"]["created"]
    server.stop()
    prepared.place(server.home.server / "data")  # existing files are never replaced
    with _counting(server) as (graph, _):
        assert graph.run("look_up/collections", name="new")[0]["collection"]["created"] == created
    assert WordLlamaEmbedder.dimension == DIMENSION


@contextmanager
def _counting(server: LocalServer) -> Iterator[tuple[Graph, list[str]]]:
    """Yield a connection to the server, which is started, and the names of the queries that run over it."""
    endpoint, queries = server.ensure_running(), list[str]()
    with (
        Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph,
        graph.listening(lambda name, parameters: queries.append(name)),
    ):
        yield graph, queries


def test_another_java_other_options_or_other_jars_have_an_archive_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JarStore(tmp_path / "jars")
    store.folder.mkdir()
    paths = store.paths(lock_groups(LINES[0])[SERVER])
    for path in paths:
        path.touch()
    java = Java(tmp_path / "java", 17, "PATH")
    java.path.touch()
    first = Archive(store, LINES[0], java).path
    assert Archive(store, LINES[0], java).path == first
    others = {first, Archive(store, LINES[0], replace(java, version=21)).path}
    os.utime(java.path, (1, 1))
    others.add(Archive(store, LINES[0], java).path)
    os.utime(paths[0], (1, 1))
    others.add(Archive(store, LINES[0], java).path)
    monkeypatch.setattr(archive, "packed", lambda line: b"another list")
    others.add(Archive(store, LINES[0], java).path)
    assert len(others) == 5


def test_a_java_that_fails_is_not_asked_again_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JarStore(tmp_path / "jars")
    store.folder.mkdir()
    for path in store.paths(lock_groups(LINES[0])[SERVER]):
        path.touch()
    java = tmp_path / "failing"
    java.write_text("#!/bin/sh\necho no such option\nexit 1\n")
    java.chmod(0o755)
    failing = Archive(store, LINES[0], Java(java, 17, "PATH"))
    failing.folder.mkdir()
    failing.make()
    assert failing.failure.read_text() == "no such option\n"
    started: list[Any] = []
    monkeypatch.setattr("kgrag.graph.local.prepared.start_detached", lambda *given, **named: started.append(given))
    PreparedStore(store, LINES[0]).path.mkdir()
    make_soon(store, LINES[0], Java(java, 17, "PATH"), ["bolt://there"])
    assert started[0][0][-2:] == ["", "bolt://there"] and failing.options() == []
    failing.failure.unlink()
    make_soon(store, LINES[0], Java(java, 17, "PATH"), ["bolt://there"])
    assert float(started[1][0][-2]) > 0  # an archive is still to be made


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_each_line_has_a_list_of_classes(line: Line) -> None:
    names = archive.class_names(line).split()
    assert {line.main_class.replace(".", "/"), "java/lang/Object"} <= set(names)
    assert len(names) > 10_000 and names == sorted(names)


@pytest.mark.long
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_the_first_login_is_the_one_of_the_password_file(make_settings: MakeSettings, line: Line) -> None:
    endpoint = LocalServer(make_settings(version=line.name)).ensure_running()
    for password, right in ((endpoint.password.get_secret_value(), True), ("neo4j", False), ("wrong password", False)):
        with neo4j.GraphDatabase.driver(endpoint.uri, auth=(endpoint.user, password)) as driver:
            assert driver.verify_authentication() is right
