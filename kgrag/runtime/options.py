"""Options of retrievers and strategies, with defaults that the environment and the caller can change."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgrag.values.errors import ConfigurationError

Count = Annotated[int, Field(ge=1, le=10_000)]
"""A number of items."""
Weight = Annotated[float, Field(ge=-1_000, le=1_000)]
"""The weight of a term in a score."""


class Options(BaseModel):
    """The options of a part, each with its default and a description that names the section of the paper.

    Any caller of a server may set them, so each number has bounds that protect the memory and time of the server.

    Example:
        >>> class MyOptions(Options):
        ...     depth: int = 10
        >>> MyOptions(depth=5).depth
        5
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


O = TypeVar("O", bound=Options)  # noqa: E741


def resolve(
    kind: type[O],
    name: str,
    explicit: Mapping[str, Any],
    own: Mapping[str, Any],
    shared: Mapping[str, Any] | None = None,
) -> O:
    """Return the options of the part `name`: `explicit` values, then its `own` defaults, then matching `shared` ones.

    Raises ConfigurationError for an unknown option or an invalid value.
    """
    fields = kind.model_fields
    for key in (*explicit, *own):
        if key not in fields:
            own_first = sorted(fields, key=lambda field: field not in kind.__annotations__)
            hint = f"It has: {', '.join(own_first)}." if fields else "It has none."
            raise ConfigurationError(f"{name!r} has no option {key!r}.", hint)
    values = {key: value for key, value in (shared or {}).items() if key in fields} | dict(own) | dict(explicit)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        key = str(problem["loc"][0]) if problem["loc"] else next(iter(values))
        field = fields[key]
        raise ConfigurationError(
            f"{name}: {key}={values.get(key)!r} is invalid: {problem['msg']}.",
            f"{key}: {field.description} (default: {field.get_default(call_default_factory=True)}).",
        ) from error
