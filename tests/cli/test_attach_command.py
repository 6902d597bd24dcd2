"""kgrag attach, as a user runs it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from naming import own

from kgrag import KnowledgeGraph

LABEL = own("CommandFilm")


@pytest.fixture
def films(kg: KnowledgeGraph) -> Iterator[str]:
    """The label of two films."""
    make = f"CREATE (:`{LABEL}` {{title: 'Amber Harvest', released: 1951}}), (:`{LABEL}` {{title: 'Glass Meridian'}})"
    kg.graph.driver.execute_query(make)
    yield LABEL
    kg.graph.driver.execute_query(f"MATCH (n:`{LABEL}`) DETACH DELETE n")


def test_a_proposal_is_printed_attached_and_brought_in_step(
    cli: CommandLine, kg: KnowledgeGraph, films: str, collection_name: str, tmp_path: Path
) -> None:
    proposal = cli("attach", collection_name, "--labels", films)
    assert proposal.stdout.startswith(f'[labels.{films}]  # 2 nodes\nname = "title"\nkey = "title"\n')
    assert "Nothing is attached yet." in proposal.stderr
    assert collection_name not in kg
    file = tmp_path / "films.toml"
    file.write_text(proposal.stdout, encoding="utf-8")
    assert "2 added, 0 changed, 0 unchanged" in cli("attach", collection_name, str(file)).stdout
    kg.graph.driver.execute_query(f"MATCH (n:`{films}` {{title: 'Glass Meridian'}}) DELETE n")
    report = cli.json("attach", collection_name)
    assert (report["unchanged"], report["pruned"]) == (1, 1)
    assert "1 unchanged" in cli("attach", collection_name, "--labels", films, "--yes").stdout


def test_a_file_says_all(cli: CommandLine) -> None:
    assert "FILE says all" in cli("attach", "films", "films.toml", "--yes", code=2).stderr
