"""Two lines of Neo4j: new homes, upgrades, refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from own_server import query

from kgrag.cli.server import up
from kgrag.graph.local.backup import backup, restore, upgrade
from kgrag.graph.local.releases import LINES, line_named
from kgrag.graph.local.server import LocalServer
from kgrag.settings import LocalSettings, Settings
from kgrag.values.errors import ConfigurationError, LocalServerError, MismatchError
from kgrag.values.events import no_progress

pytestmark = pytest.mark.long

MakeSettings = Callable[..., Settings]
OLD, NEW = "5.26", "2026"
KEEP = "CREATE (n:Thing {name: 'kept'}) RETURN 1"
KEPT = "MATCH (n:Thing) RETURN collect(n.name)"


def asking(settings: Settings, version: str | None, **local: str) -> Settings:
    return settings.model_copy(update={"local": settings.local.model_copy(update={"version": version, **local})})


def test_settings_and_the_command_line_know_every_line() -> None:
    names = tuple(line.name for line in LINES)
    annotation = LocalSettings.model_fields["version"].annotation
    assert get_args(get_args(annotation)[0]) == names
    assert next(tuple(p.type.choices) for p in up.params if p.name == "version") == names  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="does not know Neo4j '2031'"):
        line_named("2031")


def test_data_are_upgraded_only_on_request_and_never_back(make_settings: MakeSettings) -> None:
    old = make_settings(version=OLD, start_timeout=240.0)
    new, server = asking(old, NEW), LocalServer(asking(old, None))
    query(LocalServer(old).ensure_running(), KEEP)
    before = server.status()
    assert (before.line, (before.version or "")[:5]) == (OLD, "5.26.")
    with pytest.raises(MismatchError, match=r"are of Neo4j 5\.26, and 2026 is asked for") as asked:
        LocalServer(new).ensure_running()
    assert "kgrag up --version 2026" in asked.value.remedy
    assert upgrade(old, no_progress) is None
    assert server.status().pid == before.pid

    dump = upgrade(new, no_progress)
    assert dump is not None
    assert {file.name for file in dump.iterdir()} == {"neo4j.dump", "system.dump"}
    after = server.status()
    assert (after.line, after.answering, (after.version or "")[:5]) == (NEW, True, "2026.")
    assert query(server.ensure_running(), KEPT) == ["kept"]
    assert upgrade(new, no_progress) is None
    assert server.status().pid == after.pid
    with pytest.raises(MismatchError, match=r"are of Neo4j 2026, which 5\.26 cannot read") as back:
        LocalServer(old).ensure_running()
    assert "kgrag db restore" in back.value.remedy


def test_an_interrupted_upgrade_puts_the_data_back(make_settings: MakeSettings) -> None:
    old = make_settings(version=OLD, start_timeout=240.0)
    server = LocalServer(old)
    query(server.ensure_running(), KEEP)
    rewritten = server.home.server / "data" / "transactions" / "system" / "neostore.transaction.db.1"

    def interrupt(stage: str, done: int, total: int | None) -> None:
        if stage == "Starting Neo4j" and rewritten.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade(asking(old, NEW), interrupt)
    assert server.status().line == OLD
    assert query(server.ensure_running(), KEPT) == ["kept"]


def test_an_upgrade_that_does_not_start_says_why(make_settings: MakeSettings) -> None:
    old = make_settings(version=OLD, start_timeout=240.0)
    query(LocalServer(old).ensure_running(), KEEP)
    with pytest.raises(LocalServerError, match=r"failed; the data are what they were.*memory setting is invalid"):
        upgrade(asking(old, NEW, heap="1k"), no_progress)
    assert LocalServer(old).line().name == OLD


def test_a_backup_goes_to_a_later_line_and_not_back(make_settings: MakeSettings, tmp_path: Path) -> None:
    """A backup restores into a later line, but not into an earlier one; a dump from before the upgrade restores."""
    files = {}
    for line in (OLD, NEW):
        server = LocalServer(make_settings(line, version=line, start_timeout=240.0))
        query(server.ensure_running(), KEEP)
        files[line] = tmp_path / f"{line}.dump"
        server.stop()
        backup(server, "neo4j", files[line], no_progress, overwrite=False)
    restore(server, "neo4j", files[OLD], no_progress)
    assert query(server.ensure_running(), KEPT) == ["kept"]
    server.stop()
    server = LocalServer(make_settings(OLD, version=OLD, start_timeout=240.0))
    with pytest.raises(LocalServerError, match=r"(?s)the database is unchanged\. .*(does not open|newer version)"):
        restore(server, "neo4j", files[NEW], no_progress)
    assert query(server.ensure_running(), KEPT) == ["kept"]
