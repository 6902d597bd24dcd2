"""kgrag export, import, digest --all, backup and restore as a user runs them."""

import json
import subprocess
from pathlib import Path

from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.graph.contents import fingerprint


def test_from_one_command_to_the_next(cli: CommandLine, kg: KnowledgeGraph, ships: str, tmp_path: Path) -> None:
    state = fingerprint(kg.graph, ships)
    file = str(tmp_path / "x.jsonl")
    report = cli.json("export", file, "-c", ships)
    assert report["digest"] == state.total()
    assert cli.json("inspect", ships, "--digest", "--all") == {**state.hashes(), "all": state.total()}
    assert "--overwrite" in cli("export", file, "-c", ships, code=5).stderr
    assert "already" in cli("import", file, code=6).stderr
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with cli.start("export", "-", "-c", ships, **streams) as first:
        whole, _ = first.communicate()
    kg[ships].delete()
    with cli.start("import", "-", "--json", **streams) as second:
        out, _ = second.communicate(whole)
    assert (first.returncode, second.returncode) == (0, 0)
    assert json.loads(out)["digest"] == fingerprint(kg.graph, ships).total() == state.total()


def test_mistakes_are_told(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("export", str(tmp_path / "x.jsonl"), "-c", "nowhere", code=4).stderr
    assert cli("import", str(tmp_path / "nothing"), code=2).stderr
    notes = tmp_path / "notes.txt"
    notes.write_text("Just text.")
    assert "kgrag ingest" in cli("import", str(notes), code=5).stderr
    assert "needs --format" in cli("import", str(notes), "-c", "copy", code=2).stderr
    assert "Is a directory" in cli("import", str(tmp_path), code=5).stderr


def test_backups_are_of_the_local_server(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "x.dump").write_bytes(b"DZV1")
    for command in ("backup", "restore"):
        assert "kgrag export" in cli("db", command, str(tmp_path / "x.dump"), code=2).stderr
