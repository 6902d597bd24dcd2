"""Verbs of a collection, derived from the methods that declare them: their options, help texts and results.

The command line, jobs, REST and the remote client all use them; a method is the only declaration.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

from annotated_types import Interval

if TYPE_CHECKING:
    from kgrag.client.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

OWNER = "of the owner"
"""Marks a parameter that only the owner of the machine sets, never a client of a server."""
Threads = Annotated[int, Interval(ge=1, le=256), OWNER]
"""The number of concurrent calls of a service."""
MANY = 1_000_000_000
Most = Annotated[int | None, Interval(ge=1, le=MANY)]
"""A limit; None: no limit."""
_ENTRY = re.compile(r"\n    (\w+): (.*?)(?=\n    \w|\Z)", re.DOTALL)
_ABSENT = re.compile(r"; None: [^;.]*")


@dataclass(frozen=True)
class Parameter:
    """An option of a verb. `kind`: its type with its bounds; `help`: its description in the docstring."""

    name: str
    kind: Any
    default: Any
    help: str

    @property
    def is_owners(self) -> bool:
        """Whether only the owner of the machine sets it."""
        return OWNER in get_args(self.kind)


@dataclass(frozen=True)
class Operation:
    """A verb that changes a collection and may take long.

    `ready` raises an error if the verb lacks a requirement. `estimate` names the method that estimates the usage of a
    language model, empty if there is none. `nothing_left` is the message if the model has nothing to do.
    """

    name: str
    method: Callable[..., Any]
    ready: Callable[["Connection", Any], object]
    estimate: str
    nothing_left: str

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.method.__doc__ or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The options, in the order of the method, without `progress`, which only callers in Python pass."""
        entries = _ENTRY.findall((inspect.getdoc(self.method) or "").partition("Args:")[2].partition("\n\n")[0])
        help = {name: _ABSENT.sub("", " ".join(text.split())) for name, text in entries}
        return tuple(
            Parameter(each.name, each.annotation, each.default, help[each.name])
            for each in inspect.signature(self.method).parameters.values()
            if each.name not in ("self", "progress")
        )

    @property
    def offered(self) -> tuple[Parameter, ...]:
        """The options that a client of a server may set."""
        return tuple(each for each in self.parameters if not each.is_owners)

    @cached_property
    def result(self) -> Any:
        """The type of the result, found through the imports of the method's module."""
        kind = inspect.signature(self.method).return_annotation
        if not isinstance(kind, str):
            return kind
        source = ast.parse(inspect.getsource(sys.modules[self.method.__module__]))
        imports = (node for node in ast.walk(source) if isinstance(node, ast.ImportFrom))
        module = next(node.module for node in imports if kind in {alias.name for alias in node.names})
        return getattr(import_module(module or ""), kind)


def operation(
    name: str,
    *,
    ready: Callable[["Connection", Any], object] = lambda kg, options: None,
    estimate: str = "",
    nothing_left: str = "",
) -> Callable[[F], F]:
    """Declare a method of a collection as a verb of that name; see Operation."""

    def declare(method: F) -> F:
        method.operation = Operation(name, method, ready, estimate, nothing_left)  # type: ignore[attr-defined]
        return method

    return declare


def asks_if_wanted(kg: "Connection", options: Any) -> None:
    """Raise ConfigurationError if `ask` is set and no language model is configured."""
    if options.ask:
        kg.language_model()


def bounds(kind: Any) -> tuple[Any, Any, Any]:
    """Return the plain type of a parameter, its minimum and its maximum; None: no bound."""
    inner, *marks = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    plain = next((each for each in get_args(inner) if each is not type(None)), inner)
    limits = next((mark for mark in marks if isinstance(mark, Interval)), Interval())
    return plain, limits.ge, limits.le
