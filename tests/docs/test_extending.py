"""docs/extending.md has a section for every group of entry points, with its contract and a working example."""

import dataclasses
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest
from extending import PAGE, Installed, package, sections

from kgrag import Retriever, Strategy
from kgrag.lab.datasets import Format as QuestionFormat
from kgrag.loaders import Format
from kgrag.models.embed import Embedder
from kgrag.passages import PassageIndex
from kgrag.settings import Profile

ROOT = Path(__file__).parents[2]
CONTRACTS: dict[str, type] = {
    "kgrag.commands": click.Command, "kgrag.datasets": QuestionFormat, "kgrag.embedders": Embedder,
    "kgrag.loaders": Format, "kgrag.passage_indexes": PassageIndex, "kgrag.profiles": Profile, "kgrag.readers": Format,
    "kgrag.retrievers": Retriever, "kgrag.strategies": Strategy,
}  # fmt: skip
PUBLIC = {
    line.partition("(")[0].partition(" ")[0]
    for line in (ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8").splitlines()
}
_GROUP = re.compile(r"(?:Plugins\(|group=)\"(kgrag\.\w+)\"")


def wanted(contract: type) -> set[str]:
    """Return the required members of a part: abstract methods, protocol members, fields without a default."""
    if dataclasses.is_dataclass(contract):
        return {f.name for f in dataclasses.fields(contract) if f.default is dataclasses.MISSING}
    if getattr(contract, "_is_protocol", False):
        return {n for n in {*vars(contract), *contract.__annotations__} if not n.startswith("_")}
    return set(getattr(contract, "__abstractmethods__", ()))


def test_every_group_has_a_section() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kgrag").rglob("*.py"))
    code += "".join(path.read_text(encoding="utf-8") for path in (ROOT / "loaders").rglob("*.py"))
    assert set(_GROUP.findall(code)) == sections().keys() == {*declared, "kgrag.queries"}
    assert CONTRACTS.keys() == set(declared)
    listed = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    assert [group for group in sections() if f"| [`{group}`](#" not in listed] == []


@pytest.mark.parametrize("group", CONTRACTS)
def test_a_section_names_its_contract_and_what_that_asks_for(group: str) -> None:
    text, contract = sections()[group], CONTRACTS[group]
    names = re.findall(r"`((?:kgrag|click)\.[\w.]+)`", text)
    assert contract in [getattr(import_module(m), n, None) for m, _, n in (name.rpartition(".") for name in names)]
    assert [name for name in names if name.startswith("kgrag.") and name not in PUBLIC | {"kgrag.values.errors"}] == []
    missing = {n for n in wanted(contract) if not re.search(rf"`{n}`|\bdef {n}\b", text)}
    assert missing == set()


@pytest.mark.parametrize("group", CONTRACTS)
def test_an_example_is_found_and_keeps_its_contract(group: str, tmp_path: Path) -> None:
    installed, files = Installed(tmp_path, {}), package(group)
    installed.install(files)
    ((name, _),) = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"][group].items()
    code = f"""
from kgrag.runtime.plugins import Plugins
from test_extending import CONTRACTS, wanted
part, contract = Plugins({group!r}, "part").find({name!r}), CONTRACTS[{group!r}]
if getattr(contract, "_is_protocol", False):
    part = part("{name}:8") if {group!r} == "kgrag.embedders" else part
    assert all(hasattr(part, member) for member in wanted(contract)), wanted(contract)
elif isinstance(part, type):
    assert issubclass(part, contract) and not part.__abstractmethods__
    assert part.name == {name!r} and part.summary
else:
    assert isinstance(part, contract)
"""
    places = [tmp_path, ROOT / "tests", ROOT / "tests" / "docs"]
    env = installed.env | {"PYTHONPATH": ":".join(map(str, places))}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
