"""Help comes at once: nothing heavy is imported for it, and every command teaches by example."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from kgrag.cli import COMMANDS, SECTIONS, main

HEAVY = ("neo4j", "spacy", "numpy", "wordllama", "pydantic", "rich")


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from kgrag.cli import main
for arguments in {[["--help"], *([name, "--help"] for name in COMMANDS)]!r}:
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code
    print(arguments, [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = run.stderr.splitlines()
    assert len(told) == 1 + len(COMMANDS)
    assert [line for line in told if not line.endswith(" []")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_a_line_in_the_list(name: str) -> None:
    text = CliRunner().invoke(main, [name, "--help"], prog_name="kgrag").output
    assert f"\n  kgrag {name}" in text or f"$(kgrag {name}" in text
    listed = CliRunner().invoke(main, ["--help"], prog_name="kgrag", env={"COLUMNS": "80"}).output
    assert f"\n  {name} " in listed


def test_the_list_has_a_section_for_each_command() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)
