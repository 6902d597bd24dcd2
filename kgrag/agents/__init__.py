"""Agents: strategies that ask a retriever and a language model, step by step, and answer.

The classes are here by their names: `from kgrag.agents import Gear`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.agents.auto import Auto
    from kgrag.agents.bdtr import Bdtr
    from kgrag.agents.gcot import Gcot
    from kgrag.agents.gear import Gear
    from kgrag.agents.gears import Gears
    from kgrag.agents.ircot import Ircot
    from kgrag.agents.iter_retgen import IterRetgen
    from kgrag.agents.rgnn import Rgnn
    from kgrag.agents.self_ask import SelfAsk
    from kgrag.agents.single import ClosedBook, Single
    from kgrag.agents.tog import Tog

__all__ = [
    "Auto",
    "Bdtr",
    "ClosedBook",
    "Gcot",
    "Gear",
    "Gears",
    "Ircot",
    "IterRetgen",
    "Rgnn",
    "SelfAsk",
    "Single",
    "Tog",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from kgrag.agents.system import STRATEGIES

        return STRATEGIES.class_named(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
