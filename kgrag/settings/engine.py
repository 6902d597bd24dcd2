"""Where the work of indexing is done."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class EngineSettings(BaseModel):
    """What cuts, reads and embeds documents, and looks for names and words in passages, while ingesting."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Literal["here", "processes", "ray"] = Field(
        "here", description="here: the process itself; processes: several; ray: a cluster of machines"
    )
    workers: int = Field(0, ge=0, le=10_000, description="how many of them; 0: one for each core, 8 processes at most")
    address: str | None = Field(
        None,
        description="of ray: HOST:PORT of its head node, or auto; unset: one on this machine, meanwhile",
    )
    gpus: float = Field(
        0.0, ge=0, description="of ray: GPUs that each worker which embeds holds, such as 0.5; 0: it embeds on a CPU"
    )
