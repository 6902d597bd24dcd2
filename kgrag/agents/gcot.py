"""GCoT: after each retrieval the model says only what is missing, or which bridge to look for next.

As the study of iterative retrieval runs it (BDTR paper, section 4.1, figure 12): a prompt in IRCoT's loop.
"""

from kgrag.agents.interleaved import Interleaved


class Gcot(Interleaved):
    """After each retrieval the model names the missing facts, which are the next query.

    Source: BDTR, section 4.1 and figure 12.

    Example:
        >>> system = Gcot(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "gcot"
    summary = "says what is missing, and searches for that; GCoT as a prompt"
    paper = "BDTR, section 4.1 and figure 12"
    task = "gcot"
