"""Agents: strategies that ask a retriever and a language model, step by step, and answer.

The classes are here by their names: `from kgrag.agents import Gear`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.agents.auto import Auto as Auto
    from kgrag.agents.bdtr import Bdtr as Bdtr
    from kgrag.agents.gcot import Gcot as Gcot
    from kgrag.agents.gear import Gear as Gear
    from kgrag.agents.gears import Gears as Gears
    from kgrag.agents.global_search import GlobalSearch as GlobalSearch
    from kgrag.agents.ircot import Ircot as Ircot
    from kgrag.agents.iter_retgen import IterRetgen as IterRetgen
    from kgrag.agents.rgnn import Rgnn as Rgnn
    from kgrag.agents.self_ask import SelfAsk as SelfAsk
    from kgrag.agents.single import ClosedBook as ClosedBook
    from kgrag.agents.single import Single as Single
    from kgrag.agents.strategy import Conclusion as Conclusion
    from kgrag.agents.strategy import Episode as Episode
    from kgrag.agents.strategy import Inquiry as Inquiry
    from kgrag.agents.strategy import Search as Search
    from kgrag.agents.strategy import Strategy as Strategy
    from kgrag.agents.tog import Tog as Tog
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "auto": "Auto",
            "bdtr": "Bdtr",
            "gcot": "Gcot",
            "gear": "Gear",
            "gears": "Gears",
            "global_search": "GlobalSearch",
            "ircot": "Ircot",
            "iter_retgen": "IterRetgen",
            "rgnn": "Rgnn",
            "self_ask": "SelfAsk",
            "single": "ClosedBook Single",
            "strategy": "Conclusion Episode Inquiry Search Strategy",
            "tog": "Tog",
        },
    )
