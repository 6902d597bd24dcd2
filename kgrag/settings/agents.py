"""The constants of the agents."""

from pydantic import BaseModel, ConfigDict, Field


class GearSettings(BaseModel):
    """Constants of the GEAR agent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(4, ge=1, le=20, description="steps at most; 2 for questions of two hops (appendix B.1)")
    passages: int = Field(10, ge=1, description="base passages that the model reads in each step (appendix B.2)")
    gist: int = Field(15, ge=1, description="expanded passages that it reads into the memory from the second step on")
    link: int = Field(5, ge=1, description="passages that each fact of the gist memory is linked to (section 5.4)")


class IrcotSettings(BaseModel):
    """Constants of IRCoT."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(4, ge=1, le=20, description="sentences of reasoning at most (GEAR, appendix B.1)")
    passages: int = Field(10, ge=1, description="passages retrieved for each (GEAR, appendix B.2)")
    read: int = Field(15, ge=1, description="passages found so far that the model is shown at most")


class AnswerSettings(BaseModel):
    """Constants of answering."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence: int = Field(5, ge=1, description="best passages that the answer is read from (GEAR, Table 3)")
    words: int = Field(6, ge=1, description="length of a short answer (GEAR, appendix J.3)")
    structure: bool = Field(True, description="look up the pages, tables and sections that a question names (KGP)")


class AgentSettings(BaseModel):
    """Constants of the agents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gear: GearSettings = Field(default_factory=GearSettings)
    ircot: IrcotSettings = Field(default_factory=IrcotSettings)
    answer: AnswerSettings = Field(default_factory=AnswerSettings)
