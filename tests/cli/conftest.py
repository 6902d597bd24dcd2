"""Fixtures for the tests of the command line."""

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple

DOCUMENTS = [
    Document(key, (Section(text),), title=title, source=f"{folder}/{key}.md", metadata=metadata, triples=triples)
    for folder, key, title, text, metadata, triples in (
        ("ships", "fram", "Fram (ship)",
         "The Fram was designed by Colin Archer. Captains praised the ships of the designer.",
         {"kind": "ship", "year": 1892}, (Triple("Fram", "designed by", "Colin Archer"),)),
        ("people", "archer", "Colin Archer",
         "Colin Archer was a naval architect. He lived in Larvik, where his yard stood.",
         {"kind": "person", "year": 1832}, ()),
        ("places", "larvik", "Larvik", "Larvik is a town on the coast of Norway. Its harbour is old.",
         {"kind": "place"}, ()),
    )
]  # fmt: skip


@pytest.fixture(scope="session")
def cli(neo4j_env: dict[str, str]) -> CommandLine:
    return CommandLine({**neo4j_env, "COLUMNS": "100"})


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    """A collection of three documents."""
    kg[collection_name].ingest(DOCUMENTS)
    return collection_name
