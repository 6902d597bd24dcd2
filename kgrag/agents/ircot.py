"""IRCoT: retrieval interleaved with a chain of thought, in which each sentence is the next query.

This is the variant with which GEAR (section 6.1 and appendix B.1) and HippoRAG compare. The study of iterative
retrieval (figure 10) takes two sentences: `ircot(steps=3)`. GCoT and ToG share the loop of `interleaved`.
"""

from pydantic import Field

from kgrag.agents.interleaved import Interleaved, InterleavedOptions
from kgrag.runtime.options import Count


class IrcotOptions(InterleavedOptions):
    """Options of IRCoT."""

    steps: int = Field(4, ge=1, le=20, description="sentences of reasoning at most (GEAR, appendix B.1)")
    passages: Count = Field(10, description="passages retrieved for each (GEAR, appendix B.2)")
    read: Count = Field(15, description="passages found so far that the model is shown at most")


class Ircot(Interleaved):
    """The model writes a sentence of reasoning after each retrieval, until one gives the answer.

    Source: IRCoT; GEAR, appendix B.1; BDTR, figure 10.

    Example:
        >>> system = Ircot(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "ircot"
    summary = "thinks sentence by sentence; each is the next query; IRCoT"
    paper = "IRCoT; GEAR, appendix B.1; BDTR, figure 10"
    options = IrcotOptions
    settings: IrcotOptions
    task = "think"
