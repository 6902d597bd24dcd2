"""The public names are one list, tests/public_names.txt; `python tests/test_public.py --write` updates it."""

import dataclasses
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, GenericAlias
from typing import Any

import pytest
from pydantic import BaseModel

from kgrag import Retriever, Strategy

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "public_names.txt"
PACKAGES = (
    "kgrag", "kgrag.values.errors", "kgrag.values.documents", "kgrag.lab.datasets", "kgrag.values.events",
    "kgrag.indexing.knowledge", "kgrag.loaders", "kgrag.models.embed", "kgrag.runtime.options",
    "kgrag.passages", "kgrag.values.rows", "kgrag.values.results", "kgrag.settings",
)  # fmt: skip
REGISTERED = ("kgrag.retrievers", "kgrag.strategies")
"""Groups of entry points whose classes users import; other groups' objects are used by name."""
NOT_LISTED = {"kgrag.adapters": "each needs another framework, and has an environment of its own (tests/adapters)"}
"""Names that documents import although the list lacks them, and the reason."""
SPOKEN = ("__aiter__", "__contains__", "__getitem__", "__iter__", "__len__")
"""Methods called through Python syntax."""
METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def names(package: str) -> list[str]:
    """Return the public names of a package: its list, or without one its classes and functions."""
    module = import_module(package)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    made = inspect.getmembers(module, lambda value: isinstance(value, type | FunctionType))
    return sorted(name for name, value in made if value.__module__ == package and not name.startswith("_"))


PUBLIC = {f"{package}.{name}": getattr(import_module(package), name) for package in PACKAGES for name in names(package)}
_LISTED = {kind for kind in PUBLIC.values() if isinstance(kind, type)}


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Return the methods and properties that a class defines or declares, without those of a public base class."""
    known = {name for base in kind.__mro__[1:] if base in _LISTED for name in _has(base)}
    for name in sorted(_has(kind) - known):
        home = next(base for base in kind.__mro__ if name in vars(base) or name in inspect.get_annotations(base))
        if not home.__module__.startswith("kgrag.") or (name.startswith("_") and name not in SPOKEN):
            continue
        value = inspect.getattr_static(kind, name, None)
        record = dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel)  # its fields are arguments
        told = name in inspect.get_annotations(home) and not record
        if isinstance(value, METHODS) or told:
            yield name, value


def _has(kind: type) -> set[str]:
    return {*dir(kind), *(name for base in kind.__mro__ for name in inspect.get_annotations(base))}


def signature(value: Any) -> str:
    """Return the arguments of a function or class with their defaults, "" for a plain value; mypy checks types."""
    if isinstance(value, type) and issubclass(value, BaseModel):
        return _of_fields(value, "*")
    if isinstance(value, type) and issubclass(value, Retriever | Strategy) and value not in (Retriever, Strategy):
        return _of_fields(value.options, "*on" if issubclass(value, Retriever) else "on, *")
    if not callable(value) or isinstance(value, GenericAlias) or getattr(value, "_is_protocol", False):
        return ""
    try:
        found = inspect.signature(value)
    except ValueError:  # an exception without its own constructor
        return ""
    own = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name not in ("self", "cls")]
    return _ADDRESS.sub("", str(found.replace(parameters=own, return_annotation=found.empty)))


def _of_fields(model: type[BaseModel], first: str) -> str:
    fields = model.model_fields.items()
    given = (
        name if field.is_required() else f"{name}={'<factory>' if field.default_factory else repr(field.default)}"
        for name, field in fields
    )
    return f"({', '.join([first, *given] if fields or first != '*' else [])})"


def lines() -> Iterator[str]:
    """Yield a line for each name; a name in several packages is shown in full only in its own."""
    for name, value in PUBLIC.items():
        first = max((other for other in PUBLIC if PUBLIC[other] is value), key=len)
        if isinstance(value, type | FunctionType) and first != name:
            yield f"{name} = {first}"
            continue
        yield name + signature(value)
        for member, its in members(value) if isinstance(value, type) else ():
            its = its.__func__ if isinstance(its, classmethod | staticmethod) else its
            yield f"{name}.{member}{signature(its) if isinstance(its, FunctionType) else ''}"


def test_the_list_is_what_can_be_imported() -> None:
    told = "If users may know of the change: python tests/test_public.py --write"
    assert list(lines()) == LIST.read_text(encoding="utf-8").splitlines(), told


def test_every_public_name_says_what_it_is() -> None:
    silent = [name for name, value in PUBLIC.items() if isinstance(value, type | FunctionType) and not _said(value)]
    for name, kind in PUBLIC.items():
        its = members(kind) if isinstance(kind, type) else ()
        silent += [
            f"{name}.{m}"
            for m, value in its
            if not m.startswith("_") and isinstance(value, METHODS) and not value.__doc__
        ]
    assert sorted(set(silent)) == []


def _said(value: Any) -> bool:
    """Return whether an object has its own docstring, not a generated one of dataclass."""
    return bool(value.__doc__) and not value.__doc__.startswith(f"{value.__name__}(")


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_listed_is_found_in_every_way(package: str) -> None:
    module = import_module(package)
    assert set(names(package)) <= set(dir(module))
    assert not hasattr(module, "nothing_of_that_name")
    starred: dict[str, Any] = {}
    exec(f"from {package} import *", starred)
    assert set(names(package)) <= starred.keys()


def test_every_class_that_is_registered_is_imported_from_kgrag() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    for group in REGISTERED:
        assert {entry.partition(":")[2] for entry in groups[group].values()} <= set(names("kgrag")), group


def test_documents_import_what_is_public() -> None:
    imported = re.compile(r"^\s*(?:>>> )?from (kgrag[\w.]*) import ([\w, ]+)$", re.MULTILINE)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = {
        f"{package}.{name.partition(' as ')[0].strip()}"
        for page in pages
        for package, names in imported.findall(page.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert len(found) > 10
    excused = tuple(f"{package}." for package in NOT_LISTED)
    assert sorted(name for name in found if name not in PUBLIC and not name.startswith(excused)) == []
    face = set(names("kgrag"))
    assert sorted(n for n in found if n.rpartition(".")[2] in face and n.rpartition(".")[0] != "kgrag") == []


def test_the_face_is_imported_at_once() -> None:
    heavy = ("neo4j", "numpy", "pydantic", "torch", "spacy", "pandas")
    code = f"import kgrag, sys; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    LIST.write_text("\n".join(lines()) + "\n", encoding="utf-8")
