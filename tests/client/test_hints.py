"""Messages of the command line on unknown settings, and on documents if there is no terminal to ask."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgrag import KnowledgeGraph
from kgrag.cli import main


def run(*arguments: str, env: dict[str, str]) -> Result:
    return CliRunner().invoke(main, arguments, env=env, prog_name="kgrag")


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("KGRAG_EMBEDER", "KGRAG_EMBEDDER"),
        ("KGRAG_CHATT__MODEL", "KGRAG_CHAT__MODEL"),
        ("KGRAG_CHAT__MODLE", "KGRAG_CHAT__MODEL"),
        ("KGRAG_EMBEDDING__BASEURL", "KGRAG_EMBEDDING__BASE_URL"),
        ("KGRAG_INDEXING__PASAGE_TOKENS", "KGRAG_INDEXING__PASSAGE_TOKENS"),
    ],
)
def test_a_misspelt_setting_is_named_with_the_nearest(variable: str, meant: str) -> None:
    said = " ".join(run("list", "settings", env={variable: "1"}).output.split())
    assert variable in said and f"Did you mean {meant}?" in said


def test_unknown_variables_of_a_file_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("KGRAG_WRITRES=3\nKGRAG_COLLECTION=a\nKGRAG_ZZZ=1\nOTHER=1\n", encoding="utf-8")
    said = run("list", "settings", "writers", env={}).output
    hints = ("Did you mean KGRAG_WRITERS?", "It is read from the environment", "KGRAG_ZZZ is not a setting")
    assert all(hint in said for hint in hints)
    assert "OTHER" not in said


def test_other_variables_are_passed_over_in_silence() -> None:
    env = {"KGRAG_XYZZY": "1", "KGRAG_CHAT__MODEL": "m"}
    assert "Did you mean" not in run("list", "settings", env=env).output


def test_prune_without_a_terminal_lists_what_would_go(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], collection_name: str, tmp_path: Path
) -> None:
    for name in ("fram", "larvik"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} lies in the fjord.")
    run("ingest", str(tmp_path), "-c", collection_name, env=neo4j_env)
    (tmp_path / "larvik.txt").unlink()
    said = run("ingest", str(tmp_path), "-c", collection_name, "--prune", env=neo4j_env)
    assert said.exit_code == 2
    assert str(tmp_path / "larvik.txt") in said.output and "--yes" in said.output
    assert kg[collection_name].info().counts["Document"] == 2
    assert run("ingest", str(tmp_path), "-c", collection_name, "--prune", "--yes", env=neo4j_env).exit_code == 0
    assert kg[collection_name].info().counts["Document"] == 1
