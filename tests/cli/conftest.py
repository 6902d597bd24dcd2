"""Fixtures for the tests of the command line, which run it as a user does: with arguments, streams and exit codes."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgrag.cli import main
from kgrag.client import KnowledgeGraph
from kgrag.types import Document, Section, Triple

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


@dataclass(frozen=True)
class Cli:
    """Runs kgrag in this process, or in one of its own."""

    env: dict[str, str]

    def __call__(self, *args: str, code: int = 0, env: dict[str, str] | None = None, input: str = "") -> Result:
        result = CliRunner().invoke(main, args, env={**self.env, **(env or {})}, input=input, prog_name="kgrag")
        assert result.exit_code == code, result.output
        return result

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", code=code).stdout)

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "kgrag.cli", *args]


@pytest.fixture(scope="session")
def cli(neo4j_env: dict[str, str]) -> Cli:
    return Cli({**neo4j_env, "COLUMNS": "100"})


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    """A collection of three documents."""
    kg.ingest(DOCUMENTS, collection_name)
    return collection_name
