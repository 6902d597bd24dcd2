"""Settings of the read-only Cypher gateway."""

from pydantic import BaseModel, ConfigDict, Field


class GatewaySettings(BaseModel):
    """What a Cypher statement that somebody else wrote may take. The rules themselves are fixed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float = Field(10.0, gt=0, le=3600, description="after this long the server ends the statement")
    rows: int = Field(1000, ge=1, description="rows given back; what is left is not fetched")
    megabytes: float = Field(16.0, gt=0, description="size of what is given back, roughly")
    list_items: int = Field(10_000, ge=10, description="values that a list made by the statement may have")
    steps: int = Field(300_000, ge=1000, description="steps over lists within one row, which nothing interrupts")
    hops: int = Field(15, ge=1, description="relationships of a path of variable length, shortest paths apart")
    characters: int = Field(10_000, ge=100, description="length of the statement")
    parameter_items: int = Field(20_000, ge=1, description="values in all parameters together")
    parameter_characters: int = Field(200_000, ge=1, description="characters in all parameters together")
