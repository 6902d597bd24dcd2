"""Clients generated from /openapi.json by other tools are complete, strictly typed, and work."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from served import SHIPS, Served

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.adapters

_NAME = "generated clients"
_QUESTION = "Who was the captain of the Fjord Queen?"
_ANSWER = "It was Ole Brandvik [1]."
_HERE = Path(__file__).parent / "openapi"
_TOOLS = Path(__file__).parents[2] / ".venv-openapi"


@pytest.fixture(scope="module")
def served(
    asking: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    fill(_NAME, [Document(title, (Section(text),), title) for title, text in SHIPS.items()])
    with Served(asking, tmp_path_factory.mktemp("keys")) as server:
        server.key("everything", "write")
        yield server


@pytest.fixture
def document(served: Served, tmp_path: Path) -> Path:
    """The server's own description."""
    with served.client("everything") as client:
        path = tmp_path / "openapi.json"
        path.write_bytes(client.get("/openapi.json").content)
    return path


def _run(*command: str | Path, cwd: Path) -> str:
    run = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert run.returncode == 0, run.stdout[-5000:]
    return run.stdout


def _check(kg: KnowledgeGraph, said: str) -> None:
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert found["titles"] == [hit.passage.title for hit in kg[_NAME].search(_QUESTION, k=2)]
    assert found["answer"] == _ANSWER
    assert found["kinds"][-1] == "Answered" and "Retrieved" in found["kinds"]
    assert found["refused"]


@pytest.mark.slow
def test_typescript(kg: KnowledgeGraph, served: Served, scripted: Scripted, document: Path, tmp_path: Path) -> None:
    scripted.say("answer", _ANSWER)
    (tmp_path / "node_modules").symlink_to(_TOOLS / "node_modules")
    (tmp_path / "client.ts").write_text((_HERE / "client.ts").read_text())
    (tmp_path / "package.json").write_text('{"type": "commonjs"}')
    tools = _TOOLS / "node_modules" / ".bin"
    _run(tools / "openapi-typescript", document, "-o", "schema.d.ts", "--default-non-nullable=false", cwd=tmp_path)
    strict = ("--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10")
    _run(tools / "tsc", *strict, "--types", "node", "client.ts", cwd=tmp_path)
    key = served.tokens["everything"]
    _check(kg, _run("node", "client.js", served.url, key, _NAME, _QUESTION, cwd=tmp_path))


def test_python(kg: KnowledgeGraph, served: Served, scripted: Scripted, document: Path, tmp_path: Path) -> None:
    scripted.say("answer", _ANSWER)
    tools = _TOOLS / "bin"
    made = _run(tools / "openapi-python-client", "generate", "--path", document, "--meta", "none", cwd=tmp_path)
    assert "Unable to" not in made and "omitted" not in made, made
    (tmp_path / "client.py").write_text((_HERE / "client.py").read_text())
    key = served.tokens["everything"]
    _check(kg, _run(tools / "python", "client.py", served.url, key, _NAME, _QUESTION, cwd=tmp_path))
