"""What requests hold that several routes take."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from kgrag.text.tokens import NO_DATE, iso_moment
from kgrag.values.results import Filter

Question = Annotated[str, Field(min_length=1, max_length=10_000, description="a question, or words")]
Expression = Annotated[str, Field(min_length=1, max_length=500)]
CollectionNames = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
    Field(min_length=1, max_length=16, description="names of collections"),
]
Seconds = Annotated[float, Field(gt=0, le=3600, description="after which it is given up")]


def _with_moment(value: Any) -> Any:
    """Return a filter whose `since` is read by the same rule at every door."""
    since = value.get("since") if isinstance(value, Mapping) else None
    if since is None:
        return value
    if (moment := iso_moment(str(since))) is None:
        raise PydanticCustomError("since", f"since: {since!r} {NO_DATE}".replace("{", "{{"))
    return {**value, "since": moment}


FilterForm = Annotated[Filter, BeforeValidator(_with_moment)]


class RequestForm(BaseModel):
    """The body of a request; a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
