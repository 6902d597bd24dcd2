"""pyproject.toml lists the packages, data and dependencies in the folders."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kgrag import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUP = PROJECT["tool"]["setuptools"]
FOLDERS = {name: ROOT / folder for name, folder in SETUP["package-dir"].items()}


def folder(package: str) -> Path:
    """Return the folder of a package's source."""
    root = max((name for name in FOLDERS if f"{package}.".startswith(f"{name}.")), key=len)
    return FOLDERS[root].joinpath(*package.removeprefix(root).strip(".").split("."))


def files() -> Iterator[Path]:
    for root in FOLDERS.values():
        yield from (p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def test_every_package_is_listed() -> None:
    assert {folder(package) for package in SETUP["packages"]} == {p.parent for p in files() if p.name == "__init__.py"}


def test_every_file_is_installed() -> None:
    data = {
        (package, pattern): set(folder(package).glob(pattern))
        for package, patterns in SETUP["package-data"].items()
        for pattern in patterns
    }
    assert [place for place, found in data.items() if not found] == []
    assert [p for p in files() if p.suffix != ".py" and p not in set().union(*data.values())] == []


def test_every_dependency_is_pinned_to_a_version_that_it_allows() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [Requirement(line) for group in (PROJECT["project"]["dependencies"], *extras) for line in group]
    missing = [str(r) for r in wanted if not r.specifier.contains(pins.get(canonicalize_name(r.name), "0"))]
    assert missing == []


def test_every_extra_that_is_named_is_there() -> None:
    """`make extra EXTRA=a,b` in pages, `install_hint("a")` in messages, `'.[a,b]'` in direct pip calls."""
    named = re.compile(r"(?:(?:kgrag|'\.|\"\.)\[|install_hint\(['\"]|\bEXTRA=)([a-z][a-z0-9\-, ]*)")
    places = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *files(), *(ROOT / "docker").rglob("*.*")]
    found = {
        (extra.strip(), path.relative_to(ROOT).as_posix())
        for path in places
        if path.suffix in (".py", ".md", ".js", ".yaml", ".yml", ".toml", ".service")
        for match in named.findall(path.read_text(encoding="utf-8"))
        for extra in match.split(",")
    }
    assert len(found) > 30
    assert [place for place in found if place[0] not in PROJECT["project"]["optional-dependencies"]] == []


def test_there_is_an_entry_a_version() -> None:
    """The versions of CHANGELOG.md are unique and in descending order, starting with the current one."""
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == __version__
    assert versions == sorted(set(versions), key=Version, reverse=True)
