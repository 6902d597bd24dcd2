import json
import os
import queue
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kgrag.cli import GROUPS, SECTIONS, main
from kgrag.cli.console import print_json, progress_bars
from kgrag.graph.local.releases import LINES, locked_version
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError

Kgrag = Callable[..., Result]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder without a .env and an environment without kgrag's settings, except for the shared cache."""
    cache = Settings().cache
    for name in [name for name in os.environ if name.startswith("KGRAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KGRAG_CACHE", str(cache))
    monkeypatch.setenv("KGRAG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kgrag(elsewhere: Path) -> Kgrag:
    return lambda *args, **env: CliRunner().invoke(main, args, env=env, prog_name="kgrag")


@pytest.fixture
def running(shared: Settings, kgrag: Kgrag, monkeypatch: pytest.MonkeyPatch) -> LocalServer:
    """The command line, configured for the shared server."""
    monkeypatch.setenv("KGRAG_HOME", str(shared.home))
    return LocalServer(shared)


def test_up_says_where_the_server_is_but_not_the_password(running: LocalServer, kgrag: Kgrag) -> None:
    endpoint = running.ensure_running()
    result = kgrag("up")
    assert result.exit_code == 0
    for part in (endpoint.uri, endpoint.browser_url, str(running.password_path)):
        assert part in result.stdout
    assert endpoint.password.get_secret_value() not in result.output
    assert endpoint.password.get_secret_value() in kgrag("up", "--show-password").stdout
    answer = json.loads(kgrag("up", "--json").stdout)
    assert answer["uri"] == endpoint.uri and "password" not in answer


def test_up_mentions_that_another_server_is_set(running: LocalServer, kgrag: Kgrag) -> None:
    assert "KGRAG_NEO4J_URI is set" in kgrag("up", KGRAG_NEO4J_URI="bolt://db:7687").stderr


def test_status_and_doctor_are_content_with_a_running_server(running: LocalServer, kgrag: Kgrag) -> None:
    assert "running" in kgrag("db", "status").stdout
    status = json.loads(kgrag("db", "status", "--json").stdout)
    assert (status["answering"], status["line"], status["version"]) == (True, "5.26", locked_version(LINES[0]))
    result = kgrag("doctor")
    assert result.exit_code == 0, result.output
    assert "every SHA-256 right" in result.stdout
    assert json.loads(kgrag("doctor", "--json").stdout)["ok"] is True


def test_status_and_doctor_speak_of_the_server_that_is_set(running: LocalServer, kgrag: Kgrag) -> None:
    endpoint = running.ensure_running()
    env = {"KGRAG_NEO4J_URI": endpoint.uri, "KGRAG_NEO4J_PASSWORD": endpoint.password.get_secret_value()}
    assert json.loads(kgrag("db", "status", "--json", **env).stdout)["local"] is False
    assert "KGRAG_NEO4J_URI" in kgrag("doctor", **env).stdout
    env["KGRAG_NEO4J_PASSWORD"] = "wrong"
    result = kgrag("db", "status", **env)
    assert result.exit_code == 3
    assert "refuses the login" in result.stderr
    assert kgrag("doctor", **env).exit_code == 1


def test_logs_shows_the_end(running: LocalServer, kgrag: Kgrag) -> None:
    deadline = time.monotonic() + 30
    while "Started." not in running.log_path.read_text() and time.monotonic() < deadline:
        time.sleep(0.2)  # the server answers before the command prints it
    before = running.log_path.read_text().splitlines()
    shown = kgrag("db", "logs", "-n", "3").stdout.splitlines()
    after = running.log_path.read_text().splitlines()
    ends = [after[end - 3 : end] for end in range(len(before), len(after) + 1)]
    assert shown in ends, "the server may have written a line meanwhile"
    assert any(line.endswith("Started.") for line in kgrag("db", "logs", "-n", "1000").stdout.splitlines())


def test_logs_follows_until_ctrl_c(running: LocalServer) -> None:
    command = [sys.executable, "-c", "from kgrag.cli import main; main()", "db", "logs", "-f", "-n", "0"]
    follow = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert follow.stdout is not None
    assert follow.stderr is not None
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=lambda: lines.put(follow.stdout.readline()), daemon=True)
    reader.start()
    while lines.empty():  # wait for the start, however long; later output is shown
        with running.log_path.open("a") as log:
            log.write("a line that was added\n")
        reader.join(0.5)
    assert lines.get() == "a line that was added\n"
    follow.send_signal(signal.SIGINT)
    _, error = follow.communicate(timeout=10)
    assert (follow.returncode, error) == (130, "Interrupted.\n")


def test_doctor_names_a_remedy_for_each_thing_that_is_wrong(kgrag: Kgrag, elsewhere: Path) -> None:
    home = elsewhere / "home"
    home.mkdir()
    (home / "password").write_text("x")
    (home / "password").chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        port = somebody.getsockname()[1]
        env = {"KGRAG_CACHE": str(elsewhere / "cache"), "KGRAG_LOCAL__BOLT_PORT": str(port)}
        result = kgrag("doctor", "--json", **env)
        assert result.exit_code == 1
        checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert checks["Python"]["ok"] and checks["Java"]["ok"]
    for name in ("Jars", "Server"):
        assert not checks[name]["ok"] and "kgrag up" in checks[name]["remedy"]
    assert checks["Password file"]["remedy"] == f"chmod 600 {home / 'password'}"
    assert checks["Ports"]["ok"]
    assert str(port) in checks["Ports"]["detail"] and "taken by another program" in checks["Ports"]["detail"]
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o644, "doctor changes nothing"
    assert "FAIL  Jars" in kgrag("doctor", **env).stdout


def test_without_a_server_status_down_and_logs_say_so(kgrag: Kgrag) -> None:
    result = kgrag("db", "status")
    assert (result.exit_code, result.stdout) == (3, "Not running (Neo4j 5.26). Start it with: kgrag up\n")
    assert json.loads(kgrag("db", "status", "--json").stdout)["running"] is False
    assert kgrag("down").stdout == "It was not running.\n"
    result = kgrag("db", "logs")
    assert result.exit_code == 4
    assert "never started" in result.stderr


def test_errors_go_to_stderr_with_their_remedy_and_code(kgrag: Kgrag) -> None:
    result = kgrag("up", "--plugin", "nonsense")
    assert result.exit_code == 2
    assert result.stderr == "Error: There is no plugin 'nonsense'.\nKnown: gds.\n"
    result = kgrag("db", "status", KGRAG_LOCAL__BOLT_PORT="many")
    assert result.exit_code == 2
    assert "KGRAG_LOCAL__BOLT_PORT" in result.stderr
    assert kgrag("db", "status", KGRAG_LOCAL="{").exit_code == 2
    result = kgrag("statsu")
    assert result.exit_code == 2
    assert "Did you mean 'db status'?" in result.stderr


def test_a_defect_shows_its_traceback_only_on_request(kgrag: Kgrag, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(settings: Settings) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("kgrag.graph.local.server.LocalServer", fail)
    result = kgrag("down")
    assert result.exit_code == 1
    assert "Unexpected ZeroDivisionError: by nought" in result.stderr and "--debug" in result.stderr
    assert isinstance(kgrag("--debug", "down").exception, ZeroDivisionError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_is_one_line_and_130(kgrag: Kgrag, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def interrupt(settings: Settings) -> None:
        raise error

    monkeypatch.setattr("kgrag.graph.local.server.LocalServer", interrupt)
    result = kgrag("down")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


def test_the_help_teaches_with_an_example(kgrag: Kgrag) -> None:
    for name in ("up", "down", "db status", "db logs", "doctor", "completion"):
        result = kgrag(*name.split(), "--help")
        assert result.exit_code == 0
        assert f"kgrag {name}" in result.stdout.split("\n", 1)[1]
    text = kgrag("--help").stdout
    for part in (*SECTIONS, *GROUPS, "Exit codes", "130"):
        assert part in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(kgrag: Kgrag, shell: str) -> None:
    assert "_KGRAG_COMPLETE" in kgrag("completion", shell).stdout


def test_completion_knows_the_commands(kgrag: Kgrag) -> None:
    result = kgrag(_KGRAG_COMPLETE="bash_complete", COMP_WORDS="kgrag do", COMP_CWORD="1")
    assert {"plain,down", "plain,doctor"} <= set(result.stdout.split())


def _imported(*words: str) -> str:
    """Return the packages that a command imports; omitted ones must still be importable afterwards."""
    code = (
        f"import sys; from kgrag.cli import main\n"
        f"try: main({list(words)!r})\n"
        "except SystemExit: print([m for m in ('neo4j', 'spacy', 'wordllama', 'jgo', 'httpx', 'numpy', 'pandas', "
        "'pyarrow', 'torch') if m in sys.modules], file=sys.stderr)\n"
        "import pandas, pyarrow; assert pandas.Series([3]).sum() == 3"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stderr.splitlines()[-1]


def test_help_imports_nothing_heavy() -> None:
    assert _imported("--help") == "[]"


def test_the_driver_is_imported_without_what_only_others_use() -> None:
    assert _imported("search", "x", "--retriever", "none") == "['neo4j', 'numpy']"


def test_progress_without_a_terminal_is_a_line_a_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars() as progress:
        for done in range(3):
            progress("Downloading Neo4j", done, 2_000_000)
        progress("Reading", 1, 20)
        progress("Starting Neo4j", 0, None)
    assert capsys.readouterr().err == "Downloading Neo4j: 2.0 MB\nReading: 20\nStarting Neo4j ...\n"
    with progress_bars(quiet=True) as progress:
        progress("Reading", 1, 20)
    assert capsys.readouterr().err == ""


def test_json_understands_our_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"path": Path("a"), "tuple": ("é",), "status": LocalServer(Settings()).jars.folder.name})
    assert json.loads(capsys.readouterr().out) == {"path": "a", "tuple": ["é"], "status": "jars"}


def test_the_error_classes_keep_their_codes() -> None:
    assert NotFoundError("x").exit_code == 4
