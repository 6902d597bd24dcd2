"""The tables of docs/field.md match the ranks stored beside it."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgrag.cli import main
from kgrag.lab.records import read_ranks

DOCS = Path(__file__).parents[2] / "docs"
ANSWERABLE = 460  # questions of musique-1000


def _table(command: str) -> dict[str, list[float]]:
    """Return the rows of the first table after a command: retriever -> its numbers, except those of calls."""
    page = (DOCS / "field.md").read_text("utf-8")
    lines = (
        page.split(f"kgrag lab eval {command} -r ", 1)[1].split("\n| retriever", 1)[1].split("\n\n", 1)[0].splitlines()
    )
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {name: list(map(float, numbers[:-2])) for name, *numbers in cells}


def test_the_table_of_2wiki() -> None:
    rows = read_ranks(DOCS / "ranks" / "2wiki-1000.jsonl.gz", at=(2, 5, 8, 10)).rows
    measures = ("R@2", "R@5", "R@10", "perfect@5", "perfect@8", "perfect@10")
    found = {name: [row[m] for m in measures] for name, row in rows.items()}
    table = _table("2wiki-1000")
    assert table.keys() == found.keys()
    for name, numbers in table.items():
        assert numbers[:3] == pytest.approx(found[name][:3], abs=0.06)
        assert numbers[3:] == pytest.approx(found[name][3:], abs=0.0006)


def test_the_table_of_musique() -> None:
    result = read_ranks(DOCS / "ranks" / "musique-1000.jsonl.gz", at=(5, 10))
    table = _table("musique-1000")
    assert table.keys() == result.rows.keys()
    for name, row in result.rows.items():
        shares = [float(row["answer@5"]), float(row["answer@10"])]
        assert row["questions"] == 480
        possible = [share * 480 / ANSWERABLE for share in shares]
        assert table[name] == pytest.approx([*shares, *possible], abs=0.11)  # both are rounded


@pytest.mark.parametrize("name", ["2wiki-1000", "musique-1000"])
def test_ranks_are_read_by_the_command_and_name_no_path(name: str) -> None:
    path = DOCS / "ranks" / f"{name}.jsonl.gz"
    assert path.stat().st_size < 50_000
    result = CliRunner().invoke(main, ["lab", "ranks", str(path), "--baseline", "hybrid"])
    assert result.exit_code == 0, result.output
    assert re.search(r"pathrank +\d", result.stdout)
    assert f"--ranks docs/ranks/{name}.jsonl.gz" in result.stderr
