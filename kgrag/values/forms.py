"""JSON forms of values: one adapter of pydantic for each type writes them, reads them and describes them in OpenAPI.

pydantic is imported with the first adapter, so a command that neither reads nor writes JSON starts without it.
"""

import dataclasses
from collections.abc import Hashable
from functools import cache
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from kgrag.values.errors import InputError, KgragError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> "TypeAdapter[tuple[Any]]":
    """Return the adapter of a type; the tuple around it lets a dataclass take the settings."""
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(arbitrary_types_allowed=True, ser_json_bytes="base64", ser_json_inf_nan="strings")
    alone: Any = tuple[kind]  # type: ignore[valid-type]
    return TypeAdapter(alone, config=config)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: dataclasses and models by their fields, arrays of numpy as lists.

    NaN and infinite numbers become words.
    """
    kind = type(value) if dataclasses.is_dataclass(value) else Any
    (form,) = _adapter(cast(Hashable, kind)).dump_python((value,), mode="json", warnings=False, fallback=_other)
    return _finite(form)


def read(kind: type[T], form: Any) -> T:
    """Return the value of a type, such as a dataclass or a list of these, from its form.

    Unknown keys are ignored. Raises InputError if the form does not fit.
    """
    from pydantic import ValidationError

    try:
        (value,) = _adapter(cast(Hashable, kind)).validate_python((form,))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][1:])) or "it"
        args = get_args(kind)
        raise InputError(
            f"This JSON is not a valid {(args[0] if args else kind).__name__}: {place}: {first['msg']}.",
            "Pass the JSON that `kgrag … --json` printed, unchanged.",
        ) from error
    return cast(T, value)


def schema(kind: Any) -> Any:
    """Return the JSON schema of a type's form."""
    whole = _adapter(kind).json_schema(mode="serialization")
    (items,) = whole.pop("prefixItems")
    name = items.get("$ref", "").rpartition("/")[2]
    return {**(whole["$defs"][name] if name else items), "$defs": whole.get("$defs", {})}


def _other(value: Any) -> Any:
    if isinstance(value, KgragError):
        return {"type": type(value).__name__, "message": value.message, "remedy": value.remedy}
    return value.tolist() if hasattr(value, "tolist") else str(value)  # numpy, which is not imported for this


def _finite(form: Any) -> Any:
    if isinstance(form, float) and not isfinite(form):
        return "NaN" if isnan(form) else "Infinity" if form > 0 else "-Infinity"
    if isinstance(form, dict):
        return {key: _finite(item) for key, item in form.items()}
    return [_finite(item) for item in form] if isinstance(form, list) else form
