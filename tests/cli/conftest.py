"""Fixtures for the tests of the command line."""

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple

DOCUMENTS = [
    Document(
        "fram",
        (Section("The Fram was designed by Colin Archer. Captains praised the ships of the designer."),),
        title="Fram (ship)",
        source="ships/fram.md",
        metadata={"kind": "ship", "year": 1892},
        triples=(Triple("Fram", "designed by", "Colin Archer"),),
    ),
    Document(
        "archer",
        (Section("Colin Archer was a naval architect. He lived in Larvik, where his yard stood."),),
        title="Colin Archer",
        source="people/archer.md",
        metadata={"kind": "person", "year": 1832},
    ),
    Document(
        "larvik",
        (Section("Larvik is a town on the coast of Norway. Its harbour is old."),),
        title="Larvik",
        source="places/larvik.md",
        metadata={"kind": "place"},
    ),
]


@pytest.fixture(scope="session")
def cli(neo4j_env: dict[str, str]) -> CommandLine:
    return CommandLine({**neo4j_env, "COLUMNS": "100"})


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    """A collection of three documents."""
    kg[collection_name].ingest(DOCUMENTS)
    return collection_name
