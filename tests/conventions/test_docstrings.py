"""The docstrings of public objects are complete: parameters, results, and an example of each class."""

import dataclasses
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest
from docstring_parser import DocstringStyle, parse
from pydantic import BaseModel
from test_public import members

import kgrag
from kgrag import loaders

PUBLIC = {name: getattr(package, name) for package in (kgrag, loaders) for name in sorted(package.__all__)}
CLASSES = {name: value for name, value in PUBLIC.items() if isinstance(value, type)}
LONGEST_EXAMPLE = 6
_SEE = re.compile(r"see `(\w+)\.(\w+)`")
"""A twin's reference to the method whose parameters it has."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield public functions, and the public methods of public classes."""
    yield from ((name, value) for name, value in PUBLIC.items() if isinstance(value, FunctionType))
    for name, kind in CLASSES.items():
        for member, value in members(kind):
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if isinstance(plain, FunctionType) and (plain.__doc__ or not member.startswith("__")):
                yield f"{name}.{member}", plain


FUNCTIONS = dict(functions())


def parameters(value: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(value).parameters) - {"self", "cls"}


def documented(text: str | None, section: str = "param") -> set[str]:
    found = parse(inspect.cleandoc(text or ""), DocstringStyle.GOOGLE).params
    return {param.arg_name for param in found if param.args[0] == section}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_and_results_are_documented(name: str) -> None:
    function = FUNCTIONS[name]
    own = inspect.getdoc(function) or ""
    original = next((getattr(CLASSES[kind], method).__doc__ for kind, method in _SEE.findall(own)), "")
    assert documented(own) <= parameters(function), "there are no such parameters"
    assert parameters(function) <= documented(own) | documented(original)
    returned = inspect.signature(function).return_annotation
    said = [parse(inspect.cleandoc(text), DocstringStyle.GOOGLE).returns for text in (own, original) if text]
    assert returned is None or any(said), "it says nothing of its result"


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_an_example_and_their_fields_or_arguments(name: str) -> None:
    kind = CLASSES[name]
    text = inspect.cleandoc(kind.__doc__ or "")
    example = [line for line in text.splitlines() if line.lstrip().startswith((">>>", "..."))]
    assert "Example:" in text.splitlines() and 1 <= len(example) <= LONGEST_EXAMPLE
    assert doctest.DocTestParser().get_examples(text)
    if dataclasses.is_dataclass(kind):
        fields = {field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")}
        assert documented(text, "attribute") == fields
    elif not issubclass(kind, BaseModel) and "__init__" in vars(kind):
        texts = [base.__doc__ for base in kind.__mro__ if base.__module__.startswith("kgrag.")]
        assert parameters(kind) <= set().union(*map(documented, texts))
