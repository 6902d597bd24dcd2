"""What requests hold that several routes take."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Question = Annotated[str, Field(min_length=1, max_length=10_000, description="a question, or words")]
Expression = Annotated[str, Field(min_length=1, max_length=500)]
CollectionNames = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
    Field(min_length=1, max_length=16, description="names of collections"),
]
Seconds = Annotated[float, Field(gt=0, le=3600, description="after which it is given up")]


class RequestForm(BaseModel):
    """The body of a request; a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
