"""Structural questions ("page 3", "table 2 on page 7", "how many tables"): words -> what is named -> what stands there.

`words` reads a question, `headings` those that name a section by its words, `parts` finds what they name in documents,
and `lookup` leads from one to the other.
"""

from kgrag.agents.structure.lookup import Lookup, look_up

__all__ = ["Lookup", "look_up"]
