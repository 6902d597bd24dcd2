"""ToG: after each retrieval the model judges whether the passages suffice, else says what more is needed.

As the study of iterative retrieval runs it (BDTR paper, section 4.1, figure 11): a prompt in IRCoT's loop. The ToG that
it is named after walks a graph, which this does not.
"""

from kgrag.agents.interleaved import Interleaved


class Tog(Interleaved):
    """The model judges the passages after each retrieval; the missing facts are the next query.

    Source: BDTR, section 4.1 and figure 11.

    Example:
        >>> system = Tog(PathRank(collection.context), steps=2)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "tog"
    summary = "judges whether the passages suffice, and searches for what they lack; ToG as a prompt"
    paper = "BDTR, section 4.1 and figure 11"
    task = "tog"
