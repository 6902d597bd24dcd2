"""Files for other tools match this version, these tools and these settings."""

import asyncio
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client, StdioServerParameters

import kgrag
from kgrag import KnowledgeGraph
from kgrag.server.mcp import Tools, mcp_server
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

ROOT = Path(__file__).parents[2]
DESKTOP = ROOT / "desktop"
REGISTRY = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
MANIFEST = json.loads((DESKTOP / "manifest.json").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
_NAME = "a desktop's"


def test_all_name_this_version() -> None:
    project = tomllib.loads((DESKTOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    chart = yaml.safe_load((ROOT / "docker/helm/kgrag/Chart.yaml").read_text(encoding="utf-8"))
    [package] = REGISTRY["packages"]
    named = [REGISTRY["version"], package["version"], MANIFEST["version"], project["version"], chart["version"]]
    assert {*named, chart["appVersion"]} == {kgrag.__version__}
    assert project["dependencies"] == [f"kgrag[local,mcp]=={kgrag.__version__}"]


def test_what_they_ask_for_are_settings() -> None:
    [package] = REGISTRY["packages"]
    asked = {variable["name"]: variable for variable in package["environmentVariables"]}
    env = MANIFEST["server"]["mcp_config"]["env"]
    for name in {*asked, *env} - {"COLLECTIONS"}:
        assert name.removeprefix("KGRAG_").lower() in Settings.model_fields, name
    assert [name for name, variable in asked.items() if variable.get("isSecret")] == ["KGRAG_NEO4J_PASSWORD"]
    options = MANIFEST["user_config"]
    assert [name for name, option in options.items() if option.get("sensitive")] == ["neo4j_password"]
    assert {*env.values()} == {f"${{user_config.{name}}}" for name in options}


@pytest.fixture(scope="module")
def collection(fill: Callable[..., str]) -> str:
    return fill(_NAME, [Document("Fjord Queen", (Section("The Fjord Queen was a steamer."),), "Fjord Queen")])


def _started(answers: dict[str, str], environment: dict[str, str]) -> list[str]:
    """Return the tools of the bundle's program, started as an assistant does with a user's answers."""
    values = {name: answers.get(name, option["default"]) for name, option in MANIFEST["user_config"].items()}
    given = MANIFEST["server"]["mcp_config"]["env"]
    env = {variable: values[text[len("${user_config.") : -1]] for variable, text in given.items()}
    server = StdioServerParameters(
        command=sys.executable, args=[str(DESKTOP / "server.py")], env={**os.environ, **env, **environment}
    )

    async def session() -> list[str]:
        async with Client(server, read_timeout_seconds=60) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    return asyncio.run(session())


def test_a_desktop_is_offered_the_tools_that_its_manifest_lists(
    kg: KnowledgeGraph, collection: str, neo4j_env: dict[str, str]
) -> None:
    offered = {tool.name: tool.title for tool in asyncio.run(mcp_server(Tools(kg)).list_tools())}
    listed: dict[str, Any] = {tool["name"]: tool["description"] for tool in MANIFEST["tools"]}
    assert listed == offered
    user = {"neo4j_uri": neo4j_env["KGRAG_NEO4J_URI"], "neo4j_password": neo4j_env["KGRAG_NEO4J_PASSWORD"]}
    others = {name: value for name, value in neo4j_env.items() if name not in MANIFEST["server"]["mcp_config"]["env"]}
    assert {*_started(user, others)} == {*listed}
    alone = _started(user | {"collections": f" {collection} ,"}, others)
    assert {*listed} - {*alone} == {"get-schema", "read-cypher"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_that_there_are(workflow: Path) -> None:
    targets = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    tiers = [tier for job in jobs for tier in job.get("strategy", {}).get("matrix", {}).get("tier", ())]
    lines = [step["run"] for job in jobs for step in job["steps"] if step.get("run", "").startswith("make ")]
    named = [word for line in lines for word in line.split()[1:] if word != '"$TIER"']
    assert named
    assert [name for name in named + tiers if name not in targets] == []
