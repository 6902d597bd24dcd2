"""Unknown labels, types and properties of a statement are reported, with suggestions."""

from collections.abc import Callable

import pytest
from command_line import run_kgrag

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section
from kgrag.values.rows import Rows
from kgrag.wire import from_json, to_json

COLLECTION = "unknown-names"


@pytest.fixture(scope="module")
def fram(fill: Callable[..., str]) -> str:
    return fill(COLLECTION, [Document("fram", (Section("The Fram was built in Larvik."),), "Fram")])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MATCH (p:Passge {collection: $collection}) RETURN p.text", "label Passge. Did you mean Passage?"),
        ("MATCH (p:Passage {collection: $collection}) RETURN p.titel", "property titel. Did you mean title?"),
        ("MATCH (:Document)-[:HAS_PASAGE]->(p:Passage) RETURN p.text", "HAS_PASAGE. Did you mean HAS_PASSAGE?"),
    ],
)
def test_a_name_that_nothing_has_is_told(
    kg: KnowledgeGraph, fram: str, neo4j_env: dict[str, str], statement: str, said: str
) -> None:
    rows = kg[fram].cypher(statement)
    assert [said in note for note in rows.notes] == [True], rows.notes
    assert from_json(Rows, to_json(rows)).notes == rows.notes
    assert said in " ".join(run_kgrag(neo4j_env, "cypher", statement, "-c", fram).output.split())


def test_names_that_are_there_are_not_told(kg: KnowledgeGraph, fram: str) -> None:
    assert kg[fram].cypher("MATCH (p:Passage {collection: $collection}) RETURN p.title").notes == ()


def test_a_statement_that_reads_all_collections_says_so(fram: str, neo4j_env: dict[str, str]) -> None:
    statement = "MATCH (p:Passage) RETURN count(p) AS n"
    shown = run_kgrag(neo4j_env, "cypher", statement, "-c", fram).output
    assert "reads all collections" in " ".join(shown.split())
