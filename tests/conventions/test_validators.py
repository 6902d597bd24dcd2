"""The validators of other tools accept kgrag's files for them, and reject each with a fault."""

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import kgrag
from kgrag.settings import Settings

pytestmark = pytest.mark.adapters

ROOT = Path(__file__).parents[2]
_HERE = ROOT / ".venv-conventions"
_BIN = _HERE / "bin"
_CHART = "docker/helm/kgrag"
_FORMS = ".github/ISSUE_TEMPLATE"
_NAMES = ["localhost", "notes-kgrag", *(f"notes-kgrag.reading{end}" for end in ("", ".svc", ".svc.cluster.local"))]

_OUTSIDE = {"neo4j": {"uri": "neo4j+s://graph.example.com"}}
_INSIDE = {
    "neo4j": {"enabled": True, "storage": {"className": "fast"}},
    "ingress": {"enabled": True, "host": "kgrag.example.com", "className": "nginx", "tlsSecret": "tls",
                "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "256m"}},
    "storage": {"className": "fast"}, "hosts": ["kgrag.office"], "imagePullSecrets": [{"name": "pull"}],
    "env": [{"name": "KGRAG_CHAT__MODEL", "value": "qwen3:8b"}], "envFrom": [{"secretRef": {"name": "model"}}],
    "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "graph", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
}  # fmt: skip


def _run(*command: str | Path) -> tuple[int, str]:
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return run.returncode, run.stdout


def _builtin(name: str) -> Callable[[Path], tuple[int, str]]:
    return lambda path: _run(_BIN / "check-jsonschema", "--builtin-schema", name, path)


def _of_registry(path: Path) -> tuple[int, str]:
    """Return the faults of server.json by the schema of the MCP registry."""
    [registry] = (_HERE / "go/pkg/mod/github.com/modelcontextprotocol").glob("registry@*")
    date = json.loads(path.read_text(encoding="utf-8"))["$schema"].split("/")[-2]
    schema = registry / "internal/validators/schemas" / f"{date}.json"
    return _run(_BIN / "check-jsonschema", "--schemafile", schema, path)


def _actionlint(path: Path) -> tuple[int, str]:
    return _run(_BIN / "actionlint", "-shellcheck=", "-pyflakes=", path)


def _zizmor(path: Path) -> tuple[int, str]:
    return _run(_BIN / "zizmor", "--offline", "--no-progress", "--config", ROOT / ".github/zizmor.yml", path)


_FILES = [
    ("server.json", _of_registry, '"identifier"', '"identifer"'),
    ("docker/compose.yaml", _builtin("vendor.compose-spec"), "healthcheck:", "health:"),
    ("docker/cluster.yaml", _builtin("vendor.compose-spec"), "image:", "picture:"),
    (f"{_FORMS}/config.yml", _builtin("vendor.github-issue-config"), "enabled: false", "enabled: never"),
    (f"{_FORMS}/bug.yml", _builtin("vendor.github-issue-forms"), "type: textarea", "type: text"),
    (f"{_FORMS}/idea.yml", _builtin("vendor.github-issue-forms"), "attributes:", "attribute:"),
    (f"{_FORMS}/question.yml", _builtin("vendor.github-issue-forms"), "description:", "about:"),
    (".github/dependabot.yml", _builtin("vendor.dependabot"), "interval: weekly", "interval: often"),
    (".github/workflows/ci.yml", _builtin("vendor.github-workflows"), "runs-on:", "run-on:"),
    (".github/workflows/publish.yml", _builtin("vendor.github-workflows"), "id-token: write", "id-token: yes"),
    (".github/workflows/ci.yml", _builtin("custom.github-workflows-require-timeout"), "timeout-minutes: 90", ""),
    (".github/workflows/ci.yml", _actionlint, "matrix.python }}", "matrix.pyton }}"),
    (".github/workflows/publish.yml", _actionlint, "needs: build", "needs: bild"),
    (".github/workflows/ci.yml", _zizmor, "with: {persist-credentials: false}", ""),
    (".github/workflows/publish.yml", _zizmor, "make dist sbom", "make dist ${{ github.head_ref }}"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "validate", "right", "wrong"), _FILES)
def test_files_are_accepted_and_refused_with_a_fault(
    file: str, validate: Callable[[Path], tuple[int, str]], right: str, wrong: str, tmp_path: Path
) -> None:
    code, said = validate(ROOT / file)
    assert code == 0, said
    text = (ROOT / file).read_text(encoding="utf-8")
    assert right in text
    copy = tmp_path / file
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text.replace(right, wrong), encoding="utf-8")
    code, said = validate(copy)
    assert code != 0 and copy.name in said, said


def test_the_bundle_for_desktops_is_packed(tmp_path: Path) -> None:
    mcpb = (_BIN / "node", _HERE / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")
    bundle = tmp_path / "kgrag.mcpb"
    code, said = _run(*mcpb, "pack", ROOT / "desktop", bundle)
    assert code == 0, said
    with zipfile.ZipFile(bundle) as archive:
        assert {*archive.namelist()} == {"manifest.json", "pyproject.toml", "server.py"}
        broken = archive.read("manifest.json").replace(b'"type": "uv"', b'"type": "uvx"')
    (tmp_path / "manifest.json").write_bytes(broken)
    code, said = _run(*mcpb, "validate", tmp_path / "manifest.json")
    assert code == 1 and "server" in said


def _rendered(values: dict[str, Any], chart: Path = ROOT / _CHART) -> tuple[int, str]:
    return _run(_BIN / "python", Path(__file__).with_name("render_chart.py"), chart, json.dumps(values))


def _checked(manifests: str, folder: Path) -> tuple[int, str]:
    path = folder / "rendered.yaml"
    path.write_text(manifests, encoding="utf-8")
    return _run(_BIN / "kubernetes-validate", "--strict", path)


@pytest.mark.parametrize(("values", "kinds"), [
    (_OUTSIDE, ["Deployment", "PersistentVolumeClaim", "Service"]),
    (_INSIDE, ["Deployment", "Ingress", "PersistentVolumeClaim", "Service", "Service", "StatefulSet"]),
], ids=["outside", "inside"])  # fmt: skip
def test_kubernetes_knows_what_the_chart_makes(values: dict[str, Any], kinds: list[str], tmp_path: Path) -> None:
    code, manifests = _rendered(values)
    assert code == 0, manifests
    code, said = _checked(manifests, tmp_path)
    assert code == 0 and said.count("passed for resource") == len(kinds), said
    made = [found for found in yaml.safe_load_all(manifests) if found]
    assert sorted(found["kind"] for found in made) == kinds
    services = {found["metadata"]["name"]: found["spec"] for found in made if found["kind"] == "Service"}
    for found in made:
        if found["kind"] in ("Deployment", "StatefulSet"):
            labels = found["spec"]["template"]["metadata"]["labels"]
            assert found["spec"]["selector"]["matchLabels"] == services[found["metadata"]["name"]]["selector"]
            assert found["spec"]["selector"]["matchLabels"].items() <= labels.items()
            _confined(found["spec"]["template"]["spec"])


def _confined(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    assert not pod["enableServiceLinks"]
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        own = container["securityContext"]
        assert own["capabilities"] == {"drop": ["ALL"]} and not own["allowPrivilegeEscalation"]
        assert own.get("readOnlyRootFilesystem", False) == (container["name"] != "neo4j")
        assert {mount["name"] for mount in container["volumeMounts"]} <= {v["name"] for v in pod["volumes"]} | {"data"}
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= pod["containers"][0].keys()


def test_the_chart_sets_what_kgrag_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {found["kind"]: found for found in yaml.safe_load_all(_rendered(_INSIDE)[1]) if found}
    [container] = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(f":{kgrag.__version__}")
    for variable in container["env"]:
        secret = variable.get("valueFrom", {}).get("secretKeyRef", {})
        monkeypatch.setenv(variable["name"], variable.get("value") or f"{secret['name']}/{secret['key']}")
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    assert settings.neo4j_uri == "bolt://notes-kgrag-neo4j:7687"
    assert settings.neo4j_password is not None
    assert settings.neo4j_password.get_secret_value() == "kgrag-neo4j/password"
    assert settings.serve.hosts == (*_NAMES, "kgrag.example.com", "kgrag.office") and settings.serve.secure_cookie
    assert settings.chat.model == "qwen3:8b"
    asked = {name: probe["httpGet"] for name, probe in container.items() if name.endswith("Probe")}
    assert {name: probe["path"] for name, probe in asked.items()} == {
        "startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"
    }  # fmt: skip
    for probe in asked.values():
        assert probe["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    server = made["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "NEO4J_AUTH", "value": "neo4j/$(PASSWORD)"} in server["env"]


def test_faults_of_the_chart_are_found(tmp_path: Path) -> None:
    code, said = _rendered({})
    assert code == 1 and "Set neo4j.uri, or neo4j.enabled" in said
    chart = shutil.copytree(ROOT / _CHART, tmp_path / "kgrag")
    template = chart / "templates/kgrag.yaml"
    text = template.read_text(encoding="utf-8")
    template.write_text(text.replace("periodSeconds:", "period:"), encoding="utf-8")
    code, said = _checked(_rendered(_OUTSIDE, chart)[1], tmp_path)
    assert code != 0 and "period" in said, said
    template.write_text(text.replace("{{- end }}", "", 1), encoding="utf-8")
    assert _rendered(_OUTSIDE, chart)[0] != 0


def test_a_bill_of_materials_keeps_to_its_schema(tmp_path: Path) -> None:
    bill = tmp_path / "kgrag.cdx.json"
    code, said = _run(_BIN / "cyclonedx-py", "environment", "--no-validate", "-o", bill, sys.executable)
    assert code == 0, said
    [folder] = _HERE.glob("lib/python3*/site-packages/cyclonedx/schema/_res")
    check = (_BIN / "check-jsonschema", "--base-uri", f"{folder.as_uri()}/", "--schemafile",
             folder / "bom-1.6.SNAPSHOT.schema.json")  # fmt: skip
    code, said = _run(*check, bill)
    assert code == 0, said
    found = json.loads(bill.read_text(encoding="utf-8"))
    versions = {component["name"]: component["version"] for component in found["components"]}
    assert versions["kgrag"] == kgrag.__version__ and {"neo4j", "numpy", "pydantic"} <= versions.keys()
    found["components"] = [{"type": "library", "version": "1"}]
    bill.write_text(json.dumps(found), encoding="utf-8")
    code, said = _run(*check, bill)
    assert code == 1 and "'name' is a required property" in said
