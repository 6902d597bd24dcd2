import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from own_server import query

from kgrag.graph.local import config, process
from kgrag.graph.local.java import find_java
from kgrag.graph.local.server import LocalServer
from kgrag.settings import LocalSettings, Settings
from kgrag.values.errors import ConfigurationError, DatabaseError, LocalServerError

pytestmark = pytest.mark.long

MakeSettings = Callable[..., Settings]
NO_NETWORK = "http://127.0.0.1:9"


def server_process(settings: Settings) -> psutil.Process:
    running = process.read_pid_file(settings.home / "server.pid")
    assert running is not None
    return psutil.Process(running.pid)


def with_local(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update={"local": settings.local.model_copy(update=values)})


def wait_until_stopped(found: psutil.Process) -> None:
    """Wait until every thread has received the signal; a thread that has not may still answer."""
    threads = Path(f"/proc/{found.pid}/task")
    if not threads.exists():
        return
    until = time.monotonic() + 10
    while any((thread / "stat").read_text().rsplit(")", 1)[1].split()[0] != "T" for thread in threads.iterdir()):
        assert time.monotonic() < until, "the server goes on"
        time.sleep(0.01)


@contextmanager
def suspended(found: psutil.Process) -> Iterator[None]:
    found.suspend()
    try:
        wait_until_stopped(found)
        yield
    finally:
        found.resume()


def test_a_running_server_answers_queries_and_serves_the_browser(shared: Settings) -> None:
    endpoint = LocalServer(shared).ensure_running()
    assert query(endpoint, "RETURN 1") == 1
    with urllib.request.urlopen(endpoint.browser_url, timeout=10) as response:
        assert b"<html" in response.read().lower()


def test_a_second_start_is_quick_needs_no_network_and_finds_the_same_server(shared: Settings) -> None:
    before = server_process(shared).pid
    begin = time.monotonic()
    LocalServer(with_local(shared, maven_repository=NO_NETWORK)).ensure_running()
    assert time.monotonic() - begin < 5  # a start takes ten seconds or more
    assert server_process(shared).pid == before


def test_taken_ports_are_left_alone(shared: Settings) -> None:
    status = LocalServer(shared).status()
    assert status.answering
    assert status.uri != f"bolt://127.0.0.1:{shared.local.bolt_port}"
    assert str(shared.local.http_port) not in (status.browser_url or "")


def test_only_this_machine_is_listened_to(shared: Settings) -> None:
    listening = [c.laddr for c in server_process(shared).net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    assert len(listening) == 2
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_the_password_is_kept_from_others(shared: Settings) -> None:
    server = LocalServer(shared)
    endpoint = server.ensure_running()
    password = endpoint.password.get_secret_value()
    assert stat.S_IMODE(server.password_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.home.stat().st_mode) == 0o700
    assert password not in repr(endpoint) + repr(server.status())
    assert password not in " ".join(server_process(shared).cmdline())
    for log in (server.home.server / "logs").iterdir():
        assert password not in log.read_text(errors="replace")


def test_secrets_of_the_environment_do_not_reach_the_server(shared: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGRAG_NEO4J_PASSWORD", "hidden")
    monkeypatch.setenv("OPENAI_API_KEY", "hidden")
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert "hidden" not in process.clean_environment().values()
    assert process.clean_environment()["LANG"] == "C.UTF-8"


def test_a_wrong_password_file_is_named_with_its_remedy(shared: Settings) -> None:
    server = LocalServer(shared)
    right = server.password_path.read_text()
    server.password_path.write_text("something else\n")
    try:
        with pytest.raises(DatabaseError, match="refuses the password") as caught:
            server.ensure_running()
        assert str(server.password_path) in caught.value.message
        status = server.status()
        assert status.running and not status.answering
        server.password_path.unlink()
        with pytest.raises(LocalServerError, match="missing or empty"):
            server.ensure_running()
    finally:
        server.password_path.write_text(right)
        server.password_path.chmod(0o600)
    assert server.status().answering


def test_a_server_whose_up_was_killed_early_is_found_again(shared: Settings) -> None:
    server = LocalServer(shared)
    before = server_process(shared).pid
    server.home.pid_file.unlink()
    assert not server.status().running
    server.ensure_running()
    assert server_process(shared).pid == before


def test_a_server_that_hangs_is_one_clear_error(shared: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.graph.local.probe.TIMEOUT", 1.0)
    with suspended(server_process(shared)), pytest.raises(LocalServerError, match="has not answered") as caught:
        LocalServer(with_local(shared, start_timeout=1.0)).ensure_running()
    assert "kgrag down" in caught.value.remedy
    assert LocalServer(shared).status().answering


def test_admin_is_refused_while_the_server_runs(shared: Settings) -> None:
    with pytest.raises(LocalServerError, match="is running"):
        LocalServer(shared).admin("database", "info")


def test_an_unknown_plugin_is_refused(shared: Settings) -> None:
    for name in ("nonsense", "server"):
        with pytest.raises(ConfigurationError, match=name):
            LocalServer(shared).ensure_running(plugins=[name])


@pytest.mark.slow
def test_a_life_of_starts_stops_and_kills_keeps_the_data(make_settings: MakeSettings, tmp_path: Path) -> None:
    settings = make_settings(maven_repository=NO_NETWORK)
    server = LocalServer(settings)
    nodes = tmp_path / "nodes.csv"
    nodes.write_text(":ID,name\n1,imported\n")
    assert "IMPORT DONE" in server.admin("database", "import", "full", "neo4j", f"--nodes=Thing={nodes}")
    query(server.ensure_running(), "CREATE (n:Thing {name: 'kept'}) RETURN 1")
    server_process(settings).kill()
    server_process(settings).wait(30)
    assert not server.status().running

    assert query(server.ensure_running(), "MATCH (n:Thing) RETURN collect(n.name)") == ["imported", "kept"]
    assert server.stop() == "cleanly"
    assert server.stop() is None


def test_a_server_that_does_not_stop_is_ended_by_force_and_keeps_its_data(
    make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.graph.local.server.STOP_SECONDS", 1.0)
    settings = make_settings()
    server = LocalServer(settings)
    query(server.ensure_running(), "CREATE (n:Thing {name: 'kept'}) RETURN 1")
    hanging = server_process(settings)
    hanging.suspend()
    wait_until_stopped(hanging)
    assert server.stop() == "by force"
    assert not server.status().running
    assert query(server.ensure_running(), "MATCH (n:Thing) RETURN collect(n.name)") == ["kept"]


def test_a_home_that_others_can_read_keeps_the_data_from_them(make_settings: MakeSettings) -> None:
    settings = make_settings()
    (settings.home / "server").mkdir(parents=True)
    settings.home.chmod(0o755)
    with pytest.raises(LocalServerError):  # it creates files before it runs
        LocalServer(settings).admin("database", "info")
    assert stat.S_IMODE((settings.home / "server").stat().st_mode) == 0o700
    assert stat.S_IMODE((settings.home / "password").stat().st_mode) == 0o600


def test_ports_that_another_server_took_on_the_way_up_are_given_up_for_others(
    shared: Settings, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other server answers at both ports, and refuses kgrag's password, so the start takes other ports."""
    settings = make_settings()
    running = process.read_pid_file(LocalServer(shared).home.pid_file)
    assert running is not None
    choose = config.choose_ports
    lost = iter([running.ports])
    monkeypatch.setattr(config, "choose_ports", lambda *given: next(lost, None) or choose(*given))
    assert LocalServer(settings).ensure_running().uri.endswith(str(settings.local.bolt_port))
    assert next(lost, None) is None


def test_two_ups_at_once_give_one_server(make_settings: MakeSettings) -> None:
    settings = make_settings()
    code = (
        "from kgrag.graph.local.server import LocalServer; from kgrag.settings import Settings; import sys; "
        "s = LocalServer(Settings.model_validate_json(sys.argv[1])); print(s.ensure_running().uri, s.status().pid)"
    )
    ups = [
        subprocess.Popen([sys.executable, "-c", code, settings.model_dump_json()], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [up.communicate(timeout=120)[0] for up in ups]
    assert answers[0] == answers[1] != ""


def test_a_pid_file_of_another_life_is_not_believed(make_settings: MakeSettings) -> None:
    settings = make_settings()
    server = LocalServer(settings)
    settings.home.mkdir()
    stale = process.Running(os.getpid(), psutil.Process().create_time() - 1000, 1, 2)
    process.write_pid_file(server.home.pid_file, stale)
    assert not server.status().running
    assert not server.stop()
    assert not server.home.pid_file.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', json.dumps({"pid": "x", "plugins": None})])
def test_a_damaged_pid_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.pid").write_text(text)
    assert process.read_pid_file(tmp_path / "server.pid") is None


@pytest.mark.parametrize(
    ("setting", "value", "error", "words"),
    [
        ("heap", "1k", LocalServerError, "memory setting"),
        ("heap", "much", ConfigurationError, "KGRAG_LOCAL__HEAP"),
        ("page_cache", "much", LocalServerError, "memory setting"),
    ],
)
def test_invalid_memory_is_named(
    make_settings: MakeSettings, setting: str, value: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        LocalServer(make_settings(**{setting: value})).ensure_running()


def test_a_failed_admin_command_says_why(make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # Java's output then begins with a note on it
    with pytest.raises(LocalServerError, match=r"database info failed.*must point to a directory"):
        LocalServer(make_settings()).admin("database", "info")


def test_neo4j_admin_may_reach_what_the_server_does(make_settings: MakeSettings) -> None:
    """neo4j-admin may access the same JDK packages as the server; without, imports of Neo4j 2026 fail on Java 25."""
    server = LocalServer(make_settings())
    java = find_java(server.line().java)
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "java.io", "sun.nio.ch")]
    for command in (server.home.admin_command("database", "import"), server.home.start_command(java, server.line())):
        assert set(opened) <= set(command)


def test_a_home_that_cannot_be_made_is_named(make_settings: MakeSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = make_settings().model_copy(update={"home": tmp_path / "file" / "home"})
    with pytest.raises(LocalServerError, match="cannot be written") as caught:
        LocalServer(settings).ensure_running()
    assert "KGRAG_HOME" in caught.value.remedy


def test_data_without_its_password_is_never_overwritten(make_settings: MakeSettings) -> None:
    settings = make_settings()
    (settings.home / "server" / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(LocalServerError, match="missing or empty") as caught:
        LocalServer(settings).ensure_running()
    assert "move" in caught.value.remedy


def test_a_password_file_that_others_can_read_is_made_private(tmp_path: Path) -> None:
    file = config.PasswordFile(tmp_path / "password")
    file.create()
    file.path.chmod(0o644)
    assert not file.is_private()
    file.make_private()
    assert file.is_private()


def test_the_next_free_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        port = somebody.getsockname()[1]
        assert not config.port_is_free(port)
        assert config.free_port(port) > port
        free = config.free_port(port)
        assert config.free_port(port, but=free) > free
    assert config.port_is_free(port)


def test_the_ports_of_a_server_that_was_killed_are_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ending:
        held = config.Ports(ending.getsockname()[1], config.free_port(20_000))
        threading.Timer(0.3, ending.close).start()
        assert config.choose_ports(LocalSettings(bolt_port=held.bolt, http_port=held.http), held) == held


@pytest.mark.slow
def test_gds_is_added_remembered_and_taken_over_a_running_server(make_settings: MakeSettings) -> None:
    server = LocalServer(make_settings())
    server.ensure_running()
    endpoint = server.ensure_running(plugins=["gds"])
    assert str(query(endpoint, "RETURN gds.version()")).startswith("2.13")
    assert server.status().plugins == ("gds",)
    server.stop()
    assert query(server.ensure_running(), "RETURN gds.version()")


@pytest.mark.slow
def test_an_up_killed_while_it_waits_leaves_a_server_that_the_next_up_takes(make_settings: MakeSettings) -> None:
    settings = make_settings()
    code = (
        "from kgrag.graph.local.server import LocalServer; from kgrag.settings import Settings; import sys; "
        "LocalServer(Settings.model_validate_json(sys.argv[1])).ensure_running()"
    )
    up = subprocess.Popen([sys.executable, "-c", code, settings.model_dump_json()])
    pid_file = LocalServer(settings).home.pid_file
    deadline = time.monotonic() + 60
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    up.send_signal(signal.SIGKILL)
    up.wait()
    before = server_process(settings).pid
    LocalServer(settings).ensure_running()
    assert server_process(settings).pid == before
