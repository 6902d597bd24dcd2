"""The files of docker/: Neo4j knows their settings, ports stay on this machine, and the user accepts the licence."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgrag.graph.local import process
from kgrag.graph.local.java import find_java, run_java
from kgrag.graph.local.server import LocalServer
from kgrag.settings import Settings

_DOCKER = Path(__file__).parents[2] / "docker"
_PLAIN = yaml.safe_load((_DOCKER / "compose.yaml").read_text(encoding="utf-8"))
_CLUSTER = yaml.safe_load((_DOCKER / "cluster.yaml").read_text(encoding="utf-8"))
_OF_IMAGE = {"NEO4J_AUTH", "NEO4J_ACCEPT_LICENSE_AGREEMENT"}
_OF_CLUSTERS = {  # settings that Community lacks; as spelt in the manual of Neo4j 5.26
    "initial.dbms.default_primaries_count": "3",
    "dbms.cluster.minimum_initial_system_primaries_count": "3",
    "dbms.cluster.discovery.version": "V2_ONLY",
    "dbms.cluster.discovery.v2.endpoints": "neo4j:6000,neo4j-2:6000,neo4j-3:6000",
}


def _settings(service: dict[str, Any]) -> dict[str, str]:
    """Return the settings that the image makes from a service's environment: _ becomes a dot, __ becomes _."""
    found = {}
    for name, value in service["environment"].items():
        if name.startswith("NEO4J_") and name not in _OF_IMAGE:
            spelled = name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_")
            found[spelled] = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value)
    return found


def _members() -> dict[str, dict[str, Any]]:
    return {name: service for name, service in _CLUSTER["services"].items() if name.startswith("neo4j")}


def test_a_cluster_has_three_members_that_know_each_other() -> None:
    members = _members()
    assert len(members) == 3
    for name, service in members.items():
        settings = _settings(service)
        assert settings["server.default_advertised_address"] == name
        assert {key: settings[key] for key in _OF_CLUSTERS} == _OF_CLUSTERS
        assert service["image"] == "neo4j:5.26-enterprise"
    endpoints = _OF_CLUSTERS["dbms.cluster.discovery.v2.endpoints"].split(",")
    assert {endpoint.partition(":")[0] for endpoint in endpoints} == {*members}
    assert _CLUSTER["services"]["kgrag"]["environment"] == {"KGRAG_NEO4J_URI": "neo4j://neo4j:7687"}
    assert {*members} - {"neo4j"} == {*_CLUSTER["services"]["kgrag"]["depends_on"]}


def test_nobody_accepts_a_licence_for_the_user() -> None:
    for service in _members().values():
        accepted = service["environment"]["NEO4J_ACCEPT_LICENSE_AGREEMENT"]
        assert re.fullmatch(r"\$\{NEO4J_ACCEPT_LICENSE_AGREEMENT:\?.+\}", accepted)
    assert "\nNEO4J_ACCEPT_LICENSE_AGREEMENT=\n" in (_DOCKER / ".env.example").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [_PLAIN, _CLUSTER], ids=["compose", "cluster"])
def test_ports_stay_on_this_machine_and_volumes_and_variables_exist(file: dict[str, Any]) -> None:
    example = (_DOCKER / ".env.example").read_text(encoding="utf-8")
    for service in file["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        named = {volume.partition(":")[0] for volume in service.get("volumes", ()) if not volume.startswith(("$", "."))}
        assert named <= {*file["volumes"]}
        for name in re.findall(r"\$\{(\w+)", yaml.safe_dump(service)):
            assert f"\n{name}=" in example
        for name in service.get("environment", ()):
            if name.startswith("KGRAG_"):
                assert name.removeprefix("KGRAG_").lower().partition("__")[0] in Settings.model_fields


def test_every_service_has_a_health_check_that_others_wait_for() -> None:
    services = {**_PLAIN["services"], **_members()}
    assert {name for name, service in services.items() if "test" in service.get("healthcheck", {})} == {*services}
    for file in (_PLAIN, _CLUSTER):
        awaited = file["services"]["kgrag"]["depends_on"]
        assert all(name in services and how == {"condition": "service_healthy"} for name, how in awaited.items())


@pytest.mark.parametrize("service", [_PLAIN["services"]["neo4j"], *_members().values()])
@pytest.mark.long
def test_neo4j_knows_the_settings(service: dict[str, Any], graph_settings: Settings, tmp_path: Path) -> None:
    known = {key: value for key, value in _settings(service).items() if key not in _OF_CLUSTERS}
    assert _validated({**known, "server.config.strict_validation.enabled": "true"}, graph_settings, tmp_path) == 0
    misspelled = {**known, "server.memory.pagecache_size": "1g", "server.config.strict_validation.enabled": "true"}
    assert _validated(misspelled, graph_settings, tmp_path) != 0


def _validated(values: dict[str, str], graph_settings: Settings, folder: Path) -> int:
    """Return the result of `neo4j-admin server validate-config` with the Neo4j of the tests."""
    (folder / "neo4j.conf").write_text("".join(f"{key}={value}\n" for key, value in values.items()), encoding="utf-8")
    server = LocalServer(Settings(_env_file=None, home=graph_settings.home))  # type: ignore[call-arg]
    main = "org.neo4j.server.startup.Neo4jAdminCommand"
    command = server.home.admin_command("server", "validate-config")
    command = [main if part == "org.neo4j.cli.AdminTool" else part for part in command]
    env = process.clean_environment() | server.home.admin_environment() | {"NEO4J_CONF": str(folder)}
    return run_java(find_java(server.line().java), command, cwd=server.home.server, env=env, timeout=120)[0]
