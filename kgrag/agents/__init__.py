"""Agents: strategies that ask a retriever and a language model, step by step, and answer.

The classes are here by their names: `from kgrag.agents import Gear`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.agents.gear import Gear
    from kgrag.agents.ircot import Ircot
    from kgrag.agents.single import ClosedBook, Single

__all__ = ["ClosedBook", "Gear", "Ircot", "Single"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from kgrag.agents.system import STRATEGIES

        return STRATEGIES.class_named(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
