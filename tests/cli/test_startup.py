"""Help appears at once: it imports nothing heavy, and every command teaches by example."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from kgrag import __version__
from kgrag.cli import COMMANDS, GROUPS, SECTIONS, main
from kgrag.graph.local.releases import LINES, locked_version

ALONE = {name for names in SECTIONS.values() for name in names}
GROUPED = {name: [group, name] for group, (_, names) in GROUPS.items() for name in names if name not in ALONE}
HEAVY = ("neo4j", "spacy", "numpy", "wordllama", "pydantic", "rich")
MEASURING = GROUPS["lab"][1]
"""Commands whose options are made from pydantic models."""


def test_help_imports_nothing_heavy() -> None:
    order = sorted(COMMANDS, key=lambda name: name in MEASURING)
    named = [GROUPED.get(name, [name]) for name in order]
    code = f"""
import sys
from kgrag.cli import main
for arguments in {[["--help"], *([*words, "--help"] for words in named)]!r}:
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code
    print(arguments, [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [line for line in run.stderr.splitlines() if line.startswith("[")]
    assert len(told) == 1 + len(COMMANDS)
    heavy = [line for line in told if not line.endswith(" []")]
    assert len(heavy) == len(MEASURING) and all(line.endswith("['pydantic']") for line in heavy)


def help_of(*words: str) -> str:
    result = CliRunner().invoke(main, [*words, "--help"], prog_name="kgrag", env={"COLUMNS": "80"})
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_a_line_in_the_list(name: str) -> None:
    words = GROUPED.get(name, [name])
    text = help_of(*words)
    assert f"\n  kgrag {' '.join(words)}" in text or f"$(kgrag {name}" in text
    assert f"\n  {name} " in help_of(*words[:-1])


def test_the_list_fits_a_screen_and_has_all() -> None:
    shown = help_of()
    assert len(shown.splitlines()) <= 41
    assert "..." not in shown.partition("Documents and questions:")[2]
    listed = [name for names in SECTIONS.values() for name in names]
    assert len(listed) <= 21
    assert sorted([*listed, *GROUPED]) == sorted(COMMANDS)


def test_a_command_of_a_group_is_named_with_it() -> None:
    result = CliRunner().invoke(main, ["repair"], prog_name="kgrag")
    assert result.exit_code == 2
    assert "Did you mean 'db repair'?" in result.stderr


def test_the_version_names_those_of_neo4j() -> None:
    said = CliRunner().invoke(main, ["--version"]).stdout
    assert said == f"kgrag {__version__} (Neo4j 5.26 or later; as its own {' or '.join(map(locked_version, LINES))})\n"
