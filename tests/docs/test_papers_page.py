"""docs/papers.md: every named test exists, every option accepts its value, every row has a state."""

import re
from pathlib import Path

import pytest

from kgrag.agents.system import STRATEGIES, check_system
from kgrag.lab.papers import find_paper
from kgrag.retrieval.base import RETRIEVERS, check_retriever

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
PARTS = PAGE[PAGE.index("| what the paper has") :]
ROWS = [line for line in PARTS.splitlines() if line.startswith("| ") and not line.startswith("| what the paper has")]
REFERENCES = ROOT / "tests" / "references"
NAMED = sorted(set(re.findall(r"`(test_\w+)::(test_\w+)`", PAGE)))
WRITTEN = sorted(
    text
    for text in set(re.findall(r"`([a-z0-9+-]+\([^`…]*\)(?:\+[a-z0-9-]+)?)`", PAGE))
    if text.partition("(")[0].partition("+")[0] in {*RETRIEVERS, *STRATEGIES}
)


def test_every_part_has_a_state_and_a_place() -> None:
    assert len(ROWS) > 130
    for row in ROWS:
        part, state, place = (cell.strip() for cell in row.strip("|").split(" | "))
        assert part and place and state in ("done", "option", "left out"), row
        assert state != "left out" or not re.fullmatch(r"`[^`]*`", place), row  # a reason in words


def test_every_test_is_there() -> None:
    tests = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(NAMED) > 80
    assert [name for file, name in NAMED if f"def {name}(" not in tests.get(file, "")] == []


def test_every_reference_is_on_the_page() -> None:
    written = {
        (path.stem, name)
        for path in REFERENCES.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert written == {(file, name) for file, name in NAMED if file.startswith("test_reference_")}


@pytest.mark.parametrize("text", WRITTEN)
def test_every_option_takes_its_value(text: str) -> None:
    if text.partition("(")[0] in RETRIEVERS:
        check_retriever(text)
    else:
        check_system(text if "+" in text else f"{text}+bm25")


@pytest.mark.parametrize("name", ["gear", "kgp", "bdtr", "gnn-ret"])
def test_the_page_names_the_tables_and_figures_that_are_held(name: str) -> None:
    paper = find_paper(name)
    tables, figures = ", ".join(paper.tables), ", ".join(paper.figures)
    assert f"- `{name}`: tables {tables}; figures {figures}." in PAGE.replace("\n  ", " ")
