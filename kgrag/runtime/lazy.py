"""Names that a package offers, each imported when it is asked for: what is light to import stays so."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def offered(
    package: str, homes: Mapping[str, str], *own: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a package that offers names of its modules, and its `own` ones.

    `homes`: module -> the names that it has there, with spaces between. Hidden from mypy, which otherwise takes a
    package with a `__getattr__` to have any name.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}
    names = sorted((*modules, *own))

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return names, find, lambda: names
