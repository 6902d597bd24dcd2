"""Options of a command from the fields of pydantic models, which its function receives."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from inspect import get_annotations
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

import click
from click.core import ParameterSource
from pydantic import BaseModel
from pydantic.fields import FieldInfo

F = TypeVar("F", bound=Callable[..., Any])
_TYPES = {int: click.INT, float: click.FLOAT, Path: click.Path(path_type=Path)}
_METAVARS = {int: "N", float: "X", Path: "FILE", str: "NAME"}


def options(command: F) -> F:
    """Give a command the options that the models in its signature describe; it is called with these models.

    A field `per_question: int | None` is --per-question N, with the bounds, the default and the description that it
    has; a flag if it is a bool, repeatable if it is a tuple. Its title is how else it is written: "-r --retriever
    EXPR". One that must be given and has no title is an argument. A model holds as set what the user gave.
    """
    models = {name: kind for name, kind in get_annotations(command).items() if isinstance(kind, type(BaseModel))}

    @wraps(command)
    def called(**given: Any) -> Any:
        source = click.get_current_context().get_parameter_source
        for name, model in models.items():
            its = {key: given.pop(key) for key in model.model_fields}
            given[name] = model(**{key: its[key] for key in its if source(key) is ParameterSource.COMMANDLINE})
        return command(**given)

    decorated: Any = called
    for model in reversed(models.values()):
        own_first = dict.fromkeys(name for kind in model.__mro__ for name in getattr(kind, "__annotations__", ()))
        for name in reversed([name for name in own_first if name in model.model_fields]):
            decorated = _parameter(name, model.model_fields[name])(decorated)
    return cast(F, decorated)


def _parameter(name: str, field: FieldInfo) -> Callable[[F], F]:
    words = (field.title or "").split()
    flags = [word for word in words if word.startswith("-")]
    if not any(flag.startswith("--") for flag in flags):
        flags.append(f"--{name.rstrip('_').replace('_', '-')}")
    kind, bounds = field.annotation, field.metadata
    several = get_origin(kind) is tuple
    if get_origin(kind) not in (None, Literal):  # the type of one value, where there may be none or several
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is Annotated:
        kind, *bounds = get_args(kind)
    if kind is bool:
        return click.option(*flags, name, is_flag=True, help=field.description)
    type_: Any = _TYPES.get(cast(Any, kind), click.STRING)
    if get_origin(kind) is Literal:
        type_ = click.Choice(get_args(kind))
    elif bounds:
        ends = {side: end for bound in bounds for side, end in asdict(bound).items()}
        least, most = ends.get("ge", ends.get("gt")), ends.get("le", ends.get("lt"))
        open_ = {"min_open": "gt" in ends, "max_open": "lt" in ends}
        type_ = click.IntRange(least, most, **open_) if kind is int else click.FloatRange(least, most, **open_)
    if field.is_required() and not words:
        return click.argument(name, type=type_)
    metavar = next((word for word in words if not word.startswith("-")), _METAVARS.get(cast(Any, kind)))
    shown: dict[str, Any] = {"metavar": metavar, "multiple": several, "required": field.is_required()}
    if not field.is_required() and field.default not in (None, ()):
        shown |= {"default": field.default, "show_default": True}
    return click.option(*flags, name, type=type_, help=field.description, **shown)
