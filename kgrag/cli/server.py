"""kgrag up, down, doctor, db status, logs, backup, restore: the Neo4j of this machine."""

import sys
import time
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import changed, load_settings, note, print_json, print_pairs, progress_bars
from kgrag.cli.outcome import end_with_checks
from kgrag.values.errors import ConfigurationError, NotFoundError, without_login

if TYPE_CHECKING:
    from kgrag.graph.local.server import LocalServer, ServerStatus
    from kgrag.settings import Settings


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace a file of that name.")
@as_json
def backup(file: Path, overwrite: bool, as_json: bool) -> None:
    """Back up the whole database of this machine's Neo4j into a file.

    The file is a dump of neo4j-admin. The server stops meanwhile (some seconds for a few gigabytes), and starts again
    if it ran before. For one collection, or for another server, use `kgrag export`.

    \b
    kgrag db backup before-upgrade.dump
    kgrag db backup /mnt/backups/kgrag-$(date +%F).dump
    """
    from kgrag.graph.local import backup as dumps

    settings = load_settings()
    server = _local_server("backup")
    with progress_bars() as progress:
        report = dumps.backup(server, settings.neo4j_database, file, progress, overwrite=overwrite)
    if as_json:
        print_json(report)
    else:
        size = f"{report.bytes / 1e6:,.1f} MB of {report.store_bytes / 1e6:,.1f} MB"
        click.echo(f"{report.path} ({size}) in {report.seconds:.1f} s")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
def restore(file: Path, yes: bool, as_json: bool) -> None:
    """Replace the whole database of this machine's Neo4j by a backup.

    The previous contents are kept in a dump, whose folder is printed, and are put back if the restore fails. The server
    keeps its password.

    \b
    kgrag db restore before-upgrade.dump
    kgrag db restore /mnt/backups/kgrag-2026-11-01.dump --yes
    """
    from kgrag.graph.local import backup as dumps

    settings = load_settings()
    server = _local_server("restore")
    dumps.check_backup(file)
    with progress_bars() as progress:
        if not yes and (occupants := dumps.occupants(server, progress)):
            _confirm(occupants)
        report = dumps.restore(server, settings.neo4j_database, file, progress)
    if as_json:
        print_json(report)
    else:
        contents = ", ".join(report.collections) or "no collections"
        click.echo(f"Restored in {report.seconds:.1f} s: {contents}")
        if report.dump is not None:
            click.echo(f"What the database held before is kept in {report.dump}")


def _local_server(command: str) -> "LocalServer":
    """Return the server of the machine itself. Raises ConfigurationError if the settings name another one."""
    from kgrag.graph.local.server import LocalServer

    settings = load_settings()
    if settings.neo4j_uri is not None:
        raise ConfigurationError(
            f"`kgrag db {command}` works on this machine's own Neo4j; KGRAG_NEO4J_URI names {settings.neo4j_uri}.",
            "Use `kgrag export` and `kgrag import`, or neo4j-admin on that server; or unset KGRAG_NEO4J_URI.",
        )
    return LocalServer(settings)


def _confirm(existing: list[str]) -> None:
    """Ask on a terminal; elsewhere refuse."""
    what = ", ".join(existing)
    if not sys.stdin.isatty():
        raise click.UsageError(f"This would replace {what}, and there is no terminal to ask on. Add --yes to do it.")
    click.confirm(f"Replace {what}?", abort=True, err=True)


@click.command()
@click.option("--plugin", "plugins", multiple=True, metavar="NAME", help="Add a plugin (gds); later starts keep it.")
@click.option("--version", type=click.Choice(["5.26", "2026"]), help="The line of Neo4j; upgrades older data to it.")
@click.option("--show-password", is_flag=True, help="Print the password, not only where it is kept.")
@as_json
def up(plugins: tuple[str, ...], version: str | None, show_password: bool, as_json: bool) -> None:
    """Start Neo4j on this machine and say where it is.

    The first start downloads Neo4j (143 MB) and makes a password; later starts need no network. If the server runs
    already, nothing happens. It runs until `kgrag down`. An upgrade to another line of Neo4j cannot be undone; it keeps
    a dump of the data, and says where.

    \b
    kgrag up                      start, or find that it runs
    kgrag up --version 2026       with Neo4j 2026.x: for new data, or as an upgrade
    kgrag up --plugin gds         with the Graph Data Science library (15 MB, GPLv3)
    KGRAG_LOCAL__HEAP=4g kgrag up more memory (for a server that is not running yet)
    """
    from kgrag.graph.local.backup import upgrade
    from kgrag.graph.local.server import LocalServer

    settings = load_settings()
    settings = changed(settings, "local", version=version)
    server = LocalServer(settings)
    line_name = server.line().name
    with progress_bars() as progress:
        dump = None if version is None else upgrade(settings, progress)
        endpoint = server.ensure_running(plugins=plugins, progress=progress)
    if dump is not None:
        note(f"Upgraded from Neo4j {line_name} to {version}. What the data were is kept in {dump}")
    if settings.neo4j_uri is not None:
        note(f"KGRAG_NEO4J_URI is set: the other commands use {without_login(settings.neo4j_uri)}, not this server.")
    answer = {
        "neo4j": server.line().name,
        "uri": endpoint.uri,
        "browser": endpoint.browser_url,
        "user": endpoint.user,
        "database": endpoint.database,
        "password_file": str(server.password_path),
    }
    if show_password:
        answer["password"] = endpoint.password.get_secret_value()
    if as_json:
        print_json(answer)
        return
    titles = {"neo4j": "Neo4j", "uri": "Bolt", "browser": "Browser", "user": "User",
              "password_file": "Password in", "password": "Password"}  # fmt: skip
    print_pairs({title: answer[key] for key, title in titles.items() if key in answer})


@click.command()
def down() -> None:
    """Stop the Neo4j of this machine. Its data stays.

    If the server has not stopped after 30 seconds (KGRAG_LOCAL__STOP_TIMEOUT), it is killed. Committed data is kept,
    and the next start takes a little longer.

    \b
    kgrag down
    """
    from kgrag.graph.local.server import STOP_SECONDS, LocalServer

    how = LocalServer(load_settings()).stop()
    if how == "by force":
        note(f"It did not stop within {STOP_SECONDS:.0f} s, so it was ended by force.")
    click.echo("Stopped." if how else "It was not running.")


@click.command()
@as_json
def status(as_json: bool) -> None:
    """Say whether the server runs, where, and which version it is. Exit with 3 if it does not answer.

    This is the server of KGRAG_NEO4J_URI if that is set, else the one that `kgrag up` starts.

    \b
    kgrag db status
    kgrag db status --json
    kgrag db status || kgrag up
    """
    settings = load_settings()
    if settings.neo4j_uri is not None:
        _remote_status(settings, as_json)
        return
    from kgrag.graph.local.server import LocalServer

    server = LocalServer(settings)
    state = server.status()
    if as_json:
        print_json(_status_json(state, server.home.root))
    elif not state.running:
        click.echo(f"Not running (Neo4j {state.line}). Start it with: kgrag up")
    else:
        assert state.started is not None and state.memory is not None
        rows = {
            "State": "running" if state.answering else f"running, but {state.problem}",
            "Neo4j": " with ".join(filter(None, [state.version, ", ".join(state.plugins)])),
            "Bolt": state.uri or "",
            "Browser": state.browser_url or "",
            "Process": f"{state.pid}, up {_duration(time.time() - state.started)}, {state.memory / 1e6:,.0f} MB",
            "Data": str(server.home.server),
        }
        print_pairs({title: value for title, value in rows.items() if value})
    if not state.answering:
        click.get_current_context().exit(3)


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines, until Ctrl-C.")
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(0), help="Number of lines.")
def logs(follow: bool, lines: int) -> None:
    """Print the end of the local server's log.

    \b
    kgrag db logs
    kgrag db logs -n 200
    kgrag db logs -f
    """
    from kgrag.graph.local.process import tail
    from kgrag.graph.local.server import LocalServer

    path = LocalServer(load_settings()).log_path
    if not path.exists():
        raise NotFoundError("There is no log yet: the local server was never started.", "Start it with: kgrag up")
    size = path.stat().st_size
    for line in tail(path, lines):
        click.echo(line)
    if follow:
        _follow(path, size)


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """Check the server and the models, and say how to fix what fails.

    It checks whether the language model of KGRAG_CHAT__MODEL answers (also in JSON), how quickly, and how much it reads
    at once; this takes some short calls. It checks whether the reranker of KGRAG_RERANKER__BASE_URL ranks an answering
    text above others. If a check fails, the exit code is 1.

    \b
    kgrag doctor
    kgrag doctor --json
    """
    from kgrag.graph.local.checks import run_checks
    from kgrag.models.probe import model_checks

    settings = load_settings()
    end_with_checks(chain(run_checks(settings), model_checks(settings)), as_json)


def _remote_status(settings: "Settings", as_json: bool) -> None:
    from kgrag.graph.local.probe import server_version

    assert settings.neo4j_uri is not None
    number = server_version(settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password)
    if as_json:
        print_json({"local": False, "answering": True, "uri": settings.neo4j_uri, "version": number})
    else:
        print_pairs({"State": "answering", "Neo4j": number, "Bolt": f"{settings.neo4j_uri} (KGRAG_NEO4J_URI)"})


def _status_json(state: "ServerStatus", home: Path) -> dict[str, Any]:
    started = None if state.started is None else datetime.fromtimestamp(state.started, UTC)
    return {
        "local": True, "running": state.running, "answering": state.answering, "uri": state.uri,
        "browser": state.browser_url, "line": state.line, "version": state.version, "plugins": state.plugins,
        "pid": state.pid, "started": started, "memory": state.memory, "home": home, "problem": state.problem,
    }  # fmt: skip


def _follow(path: Path, position: int) -> None:
    """Print the lines added to `path` from `position` on; begins again when the server begins a new file."""
    while True:
        size = path.stat().st_size if path.exists() else 0
        if size < position:
            position = 0
        if size > position:
            with path.open("rb") as file:
                file.seek(position)
                added = file.read(size - position)
            position = size
            click.echo(added.decode("utf-8", "replace"), nl=False)
        time.sleep(0.2)


def _duration(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours >= 48:
        return f"{hours // 24} days"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(seconds)} s"
