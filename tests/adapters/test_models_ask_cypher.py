"""LangChain's GraphCypherQAChain and neo4j-graphrag's Text2CypherRetriever read the graph, as owner and as guest."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from served import SHIPS, Served

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.adapters

_ROOT = Path(__file__).parents[2]
_TITLES = "MATCH (d:Document {{collection: '{}'}}) RETURN d.title AS title ORDER BY title"
_LOOP = (
    "MATCH (d:Document {{collection: '{}'}}) WITH collect(d.title) AS l RETURN [t IN l WHERE t CONTAINS 'Q'] AS titles"
)


def test_models_ask_in_cypher_as_owner_and_as_guest(
    kg: KnowledgeGraph, fill: Callable[..., str], neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    name = fill("ships by cypher", [Document(title, (Section(text),), title) for title, text in SHIPS.items()])
    asked = [_TITLES.format(name), _LOOP.format(name), "MATCH (n) DETACH DELETE n", "LOAD CSV FROM 'x' AS r RETURN r"]
    with Served(kg, tmp_path) as server:
        run = subprocess.run(
            [_ROOT / ".venv-text-to-cypher" / "bin" / "python", Path(__file__).with_name("with_text_to_cypher.py"),
             server.url, server.key("analyst", "analyst"), *asked],
            env={**os.environ, **neo4j_env}, capture_output=True, text=True,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    titles, loop, *harmful = json.loads(run.stdout.splitlines()[-1])
    rows = [{"title": title} for title in sorted(SHIPS)]
    for told in (titles["owner"], titles["guest"]):
        assert told == {"langchain": ["So it is.", rows], "graphrag": rows}
    assert loop["owner"]["graphrag"] == [{"titles": ["Fjord Queen"]}] == loop["owner"]["langchain"][1]
    for said in loop["guest"].values():
        assert "A list comprehension over a long list is refused" in said and "UNWIND" in said
    for told in harmful:
        assert all(isinstance(said, str) for level in told.values() for said in level.values())
    assert len(kg[name].cypher("MATCH (d:Document {collection: $collection}) RETURN d")) == len(SHIPS)
