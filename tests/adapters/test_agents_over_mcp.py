"""The programs of docs/agents.md run as each framework's users run them, with a scripted model."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from code_blocks import Block, blocks
from scripted import Scripted
from served import Served

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.adapters

_ROOT = Path(__file__).parents[2]
_HERE = Path(__file__).parent / "agents"
_PAGE = _ROOT / "docs" / "agents.md"
_NAME = "ships for agents"
_QUESTION = "Which river runs through the home town of the designer of the Fram?"
_TEXTS = {
    "Fram": "The Fram was designed by Colin Archer. Roald Amundsen took the ship south.",
    "Colin Archer": "Colin Archer, who designed the Fram, lived in Larvik.",
    "Larvik": "Larvik is a town in Norway. The river Numedalslågen runs through it.",
    "Gränna": "Gränna is a town by the lake Vättern.",
    "Vättern": "Vättern is a lake. The river Motala ström leaves it.",
}
_PROGRAMS = [block for block in blocks(_PAGE) if block.environment]


@pytest.fixture(scope="module")
def served(kg: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    fill(_NAME, [Document(title, (Section(text),), title) for title, text in _TEXTS.items()])
    with Served(kg, tmp_path_factory.mktemp("keys")) as server:
        server.key("agent", "read", _NAME)
        yield server


def test_each_framework_has_a_program_and_its_packages_stand_on_the_page() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in _HERE.glob("*.txt")}
    assert files.keys() == {block.environment for block in _PROGRAMS}
    page = _PAGE.read_text(encoding="utf-8")
    for lines in files.values():
        packages = " ".join(line.partition("==")[0] for line in lines.split())
        assert f"`pip install {packages}`" in page.replace("'", "")


@pytest.mark.parametrize("block", _PROGRAMS, ids=lambda block: f"{block.environment}, line {block.line}")
def test_a_program_of_the_page_asks_kgrag_and_answers_from_its_passages(
    block: Block, kg: KnowledgeGraph, served: Served, scripted: Scripted, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    scripted.brain(_HERE / "brain.py")
    text = block.text.replace("http://localhost:8000", served.url).replace('"notes"', repr(_NAME))
    ours = {
        "KGRAG_KEY": served.tokens["agent"], "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": scripted.base_url,
        "OPENAI_AGENTS_DISABLE_TRACING": "1", "CREWAI_DISABLE_TELEMETRY": "true", "HAYSTACK_TELEMETRY_ENABLED": "False",
        "PATH": f"{_ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path),
    }  # fmt: skip
    run = subprocess.run(
        [_ROOT / f".venv-{block.environment}" / "bin" / "python", "-c", text],
        env={**os.environ, **neo4j_env, **ours},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.rstrip().endswith("It is the Numedalslågen."), run.stdout

    asked, told = scripted.calls
    offered = {tool["function"]["name"].rpartition("_")[2] for tool in asked["tools"]}
    assert {"search", "passage"} <= offered and "read-cypher" not in offered  # the key is limited to one collection
    call = next(call for message in told["messages"] for call in message.get("tool_calls") or ())
    assert json.loads(call["function"]["arguments"]) == {"question": _QUESTION, "k": 3}
    reply = str(next(message["content"] for message in told["messages"] if message["role"] == "tool"))
    for hit in (ranking := kg[_NAME].search(_QUESTION, k=3)):
        assert hit.passage.text in reply
    missing = _TEXTS.keys() - {hit.passage.title for hit in ranking}
    assert len(missing) == 2 and not any(_TEXTS[title] in reply for title in missing)
