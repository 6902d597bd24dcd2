"""kgrag db backup, restore: the whole database of this machine's Neo4j as one file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, print_json, progress_bars
from kgrag.values.errors import ConfigurationError

if TYPE_CHECKING:
    from kgrag.graph.local.server import LocalServer


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace a file of that name.")
@as_json
def backup(file: Path, overwrite: bool, as_json: bool) -> None:
    """Back up the whole database of this machine's Neo4j into a file.

    It is a dump of neo4j-admin. The server is down meanwhile, for seconds up to some gigabytes, and runs again
    afterwards if it ran before. For one collection, or for another server, there is `kgrag export`.

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

    What it held before is kept in a dump, whose folder is named, and put back if the restore fails. The password stays
    this server's own.

    \b
    kgrag db restore before-upgrade.dump
    kgrag db restore /mnt/backups/kgrag-2026-11-01.dump --yes
    """
    from kgrag.graph.local import backup as dumps

    settings = load_settings()
    server = _local_server("restore")
    dumps.check_backup(file)
    with progress_bars() as progress:
        if not yes and (found := dumps.occupants(server, progress)):
            _confirm(found)
        report = dumps.restore(server, settings.neo4j_database, file, progress)
    if as_json:
        print_json(report)
    else:
        held = ", ".join(report.collections) or "no collections"
        click.echo(f"Restored in {report.seconds:.1f} s: {held}")
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


def _confirm(found: list[str]) -> None:
    """Ask on a terminal; elsewhere refuse."""
    what = ", ".join(found)
    if not sys.stdin.isatty():
        raise click.UsageError(f"This would replace {what}, and there is no terminal to ask on. Add --yes to do it.")
    click.confirm(f"Replace {what}?", abort=True, err=True)
