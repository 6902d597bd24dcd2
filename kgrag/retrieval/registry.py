"""The retrievers by name, and those that an expression describes; adding one is a module and an entry point."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kgrag.retrieval.expression import Expression, parse
from kgrag.runtime.plugins import Plugins

if TYPE_CHECKING:
    from kgrag.retrieval.base import Retriever
    from kgrag.retrieval.context import Searchable, SearchContext

RETRIEVERS: "Plugins[type[Retriever]]" = Plugins("kgrag.retrievers", "retriever")
DEFAULT_RETRIEVER = "pathrank"


def make_retriever(expression: str | Expression, context: "SearchContext") -> "Retriever":
    """The retriever that an expression describes: a name, or a composition such as `rrf(hybrid, pathrank(cap=20))`.

    Raises NotFoundError for a name that does not exist, ConfigurationError for an expression or option that is none.
    """
    parsed = parse(expression) if isinstance(expression, str) else expression
    kind = RETRIEVERS.find(parsed.name)
    options = dict(parsed.options)
    if parsed.parts:
        kind.check(options, parsed.parts)
    parts: list[Searchable] = [make_retriever(part, context) for part in parsed.parts]
    return kind(*(parts or [context]), **options)


def check_retriever(expression: str) -> str:
    """The expression in its standard spelling. Raises as `make_retriever` does, without a graph."""
    return str(_checked(parse(expression)))


def check_defaults(defaults: Mapping[str, Mapping[str, object]]) -> None:
    """Raise NotFoundError or ConfigurationError when settings name a retriever or an option that does not exist."""
    for name, options in defaults.items():
        RETRIEVERS.find(name.replace("_", "-")).check(options)


def _checked(expression: Expression) -> Expression:
    kind = RETRIEVERS.find(expression.name)
    kind.check(dict(expression.options), expression.parts)
    return Expression(expression.name, tuple(map(_checked, expression.parts)), expression.options)
