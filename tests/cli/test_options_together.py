"""Options that conflict, or need others, are refused at once, without asking or starting a server."""

from pathlib import Path

import pytest
from command_line import CommandLine

_NOWHERE = {"KGRAG_NEO4J_URI": "bolt://127.0.0.1:1", "KGRAG_NEO4J_PASSWORD": "x", "NO_COLOR": "1"}


@pytest.fixture
def alone(tmp_path: Path) -> CommandLine:
    """The command line without a Neo4j."""
    return CommandLine({**_NOWHERE, "KGRAG_HOME": str(tmp_path / "home")})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("enrich tree --remove --ask", "--remove goes without --ask."),
        ("enrich communities --remove --ask", "--remove goes without --ask."),
        ("enrich tree --dry-run", "--dry-run goes with --ask: without a model there is nothing to pay."),
        ("enrich communities --dry-run", "--dry-run goes with --ask"),
        ("enrich extract --cancel --dry-run", "--cancel goes without --dry-run."),
        ("ingest . --replace-database", "--replace-database goes with --bulk."),
        ("ingest . --yes", "--yes and --force go with --prune."),
        ("ingest . --force", "--yes and --force go with --prune."),
        ("ingest . --files out", "--files goes with --bulk, and without --replace-database."),
        ("ingest . --bulk --files out --replace-database", "--files goes with --bulk, and without"),
        ("ingest . --bulk --prune", "--bulk makes a new collection: there is nothing to --prune."),
        ("delete", "Say what to delete: --document KEY, or --collection NAME for a whole collection."),
        ("cypher hubs --json --csv", "Choose one of --json and --csv."),
        ("cypher --ask Who? --json --csv", "Choose one of --json and --csv."),
        ("cypher", "Give the name of a saved query or a statement"),
        ("cypher hubs --list", "Give the name of a saved query or a statement"),
        ("enrich resolve ships --undo --apply", "--undo goes with neither --apply nor --ask."),
        ("list systems gear --paper gear", "NAME and --paper exclude each other."),
        ("search", "Missing argument 'QUESTION"),
        ("search pier -c a -c b", "--collection is given 2 times, and takes one value."),
        ("search pier -k 5 -k 6", "-k is given 2 times"),
        ("ask pier --since 2024 --since 2025", "--since is given 2 times"),
        ("show pier --limit 3 --limit 4", "--limit is given 2 times"),
        ("serach Who?", "No such command 'serach'. Did you mean 'search'?"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(alone: CommandLine, tmp_path: Path, command: str, said: str) -> None:
    result = alone(*command.split(), code=2)
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not list(tmp_path.rglob("neo4j*"))


def test_a_server_that_is_not_there_is_told_with_a_remedy(alone: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe Fram lay at Larvik.")
    for command in (
        ["ingest", str(tmp_path / "a.md")],
        ["search", "Who?"],
        ["enrich", "tree"],
        ["delete", "-c", "x", "--yes"],
    ):
        result = alone(*command, code=3)
        assert "Neo4j at bolt://127.0.0.1:1 does not answer." in result.stderr
        assert "check KGRAG_NEO4J_URI" in " ".join(result.stderr.split())
        assert result.stdout == ""
