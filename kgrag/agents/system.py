"""Systems by name, a strategy over a retriever: `gear+pathrank`, `ircot(steps=2)+ppr`, `single+rrf(bm25, ppr)`.

A strategy alone uses its default retriever, and a retriever alone is used with `single`: `gear`, `pathrank`.
"""

import difflib
from collections.abc import Mapping

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.strategy import DEPTH, Strategy
from kgrag.retrieval.base import RETRIEVERS, check_retriever, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.expression import Expression, parse
from kgrag.runtime.options import resolve
from kgrag.runtime.plugins import Plugins
from kgrag.values.errors import ConfigurationError, NotFoundError

__all__ = ["DEFAULT_SYSTEM", "DEPTH", "STRATEGIES", "check_system", "make_system", "retriever_of", "split_system"]

DEFAULT_SYSTEM = "gear+pathrank"
STRATEGIES: Plugins[type[Strategy]] = Plugins("kgrag.strategies", "strategy")


def make_system(name: str, context: SearchContext) -> Strategy:
    """Return the system of that name.

    Raises NotFoundError for a name that does not exist, ConfigurationError for bad options.

    `context.llm` is the language model; without one, the system can be created but not asked.
    """
    strategy, retriever = split_system(name)
    return STRATEGIES[strategy.name](make_retriever(retriever, context), **dict(strategy.options))


def check_system(name: str) -> str:
    """Return the name in its standard spelling. Raises as `make_system` does, without a graph."""
    strategy, retriever = split_system(name)
    kind = STRATEGIES[strategy.name]
    kind.check(dict(strategy.options))
    return kind.spelt(strategy, check_retriever(retriever))


def check_options(agents: Mapping[str, Mapping[str, object]]) -> None:
    """Raise NotFoundError or ConfigurationError if settings name a strategy or an option that does not exist."""
    for name, options in agents.items():
        if name == "answer":
            resolve(AnswerOptions, name, options, {})
        else:
            STRATEGIES.find(name.replace("_", "-")).check(options)


def retriever_of(name: str) -> str:
    """Return the retriever that a system uses. Raises as `make_system` does."""
    return check_retriever(split_system(name)[1])


def split_system(name: str) -> tuple[Expression, str]:
    """Return the strategy and the retriever of a system's name. Raises NotFoundError for an unknown strategy."""
    first, plus, rest = _at_plus(name)
    strategy = parse(first)
    if not plus and strategy.name in RETRIEVERS:
        return Expression("single"), first
    if strategy.name not in STRATEGIES:
        near = difflib.get_close_matches(strategy.name, [*STRATEGIES, *RETRIEVERS], n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise NotFoundError(
            f"There is no system {strategy.name!r}.",
            f"{hint}Write STRATEGY+RETRIEVER, as in gear+pathrank. Strategies: {', '.join(STRATEGIES)}; "
            f"retrievers: {', '.join(RETRIEVERS)}.",
        )
    if strategy.parts:
        raise ConfigurationError(
            f"{name!r} does not say what is asked.",
            f"Write the retriever after a plus: {strategy.name}+{strategy.parts[0]}",
        )
    return strategy, rest.strip() or STRATEGIES[strategy.name].over


def _at_plus(name: str) -> tuple[str, str, str]:
    """Return the name split at the first plus outside parentheses."""
    depth = 0
    for place, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if letter == "+" and depth == 0:
            return name[:place], "+", name[place + 1 :]
    return name, "", ""
