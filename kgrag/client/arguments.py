"""Argument checks of a client's methods, before any work; errors suggest the argument that was probably meant."""

import difflib
import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

P = ParamSpec("P")
R = TypeVar("R")

_MEANT = {"top_k": "k", "limit": "k", "n": "k", "strategy": "system"} | {f.name: "filter" for f in fields(Filter)}
"""Argument names of other libraries and fields of a filter -> the argument that is probably meant."""


def suggest_keywords(method: Callable[P, R]) -> Callable[P, R]:
    """Return the method wrapped to reject unknown keywords with a ConfigurationError that suggests the nearest one."""
    parameters = list(inspect.signature(method).parameters)

    @wraps(method)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in parameters:
                raise unknown_argument(f"{method.__name__}()", name, [each for each in parameters if each != "self"])
        if not isinstance(kwargs.get("filter"), Filter | None):
            raise ConfigurationError(f"The filter is {_kind(kwargs['filter'])}.", "Give a Filter(where={...}).")
        return method(*args, **kwargs)

    return called


def unknown_argument(call: str, name: str, names: list[str]) -> ConfigurationError:
    """Return the error for an unknown argument of a method, a tool or a route; it suggests the nearest valid name."""
    near = [_MEANT[name]] if _MEANT.get(name) in names else difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return ConfigurationError(f"{call} has no argument {name!r}.", f"{hint}It has: {', '.join(names)}.")


def check_asked(question: Any, k: Any) -> None:
    """Raise ConfigurationError for a question that is empty or not a text, and for an invalid number of passages."""
    if not isinstance(question, str):
        raise ConfigurationError(f"A question is a text, not {_kind(question)}.", "Give it as a str.")
    if not question.strip():
        raise ConfigurationError("The question is empty.", "Ask one, or give words to search for.")
    if isinstance(k, bool) or not isinstance(k, int):
        raise ConfigurationError(f"k is invalid: {k!r} is no whole number.", "Give an int, such as k=8.")
    if k < 1:
        raise ConfigurationError(f"k is invalid: {k} passages.", "Ask for 1 or more.")


def check_part(part: Any, kind: type[object], name: str) -> None:
    """Raise ConfigurationError unless the value is a retriever, a system, or the name of one."""
    if not isinstance(part, str | kind):
        raise ConfigurationError(
            f"The {name} is {_kind(part)}.",
            f"Give its name, as `kgrag list {name}s` shows them, or one that collection.{name}(...) made.",
        )


def _kind(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"
