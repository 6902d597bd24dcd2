"""Forms of requests and replies that several routes share."""

from dataclasses import make_dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgrag.wire import VERSION

Question = Annotated[str, Field(min_length=1, max_length=10_000, description="a question, or words")]
Expression = Annotated[str, Field(min_length=1, max_length=500)]
CollectionNames = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
    Field(min_length=1, max_length=16, description="names of collections"),
]
Seconds = Annotated[float, Field(gt=0, le=3600, description="after which the request times out")]


class RequestForm(BaseModel):
    """The body of a request; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


WHOLE = ConfigDict(json_schema_serialization_defaults_required=True)
"""Settings of replies: in OpenAPI every key is required."""


def versioned(kind: type, name: str = "", **more: Any) -> Any:
    """Return the type of a reply for OpenAPI: a dataclass with `version` and `more` fields."""
    name, fields = name or f"{kind.__name__}Reply", [("version", Literal[VERSION]), *more.items()]
    own = {"__doc__": kind.__doc__, "__pydantic_config__": WHOLE}
    return make_dataclass(name, fields, bases=(kind,), namespace=own, frozen=True, kw_only=True)
